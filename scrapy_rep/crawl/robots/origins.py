"""The origins that a crawl knows, one `OriginState` each, bounded in number and memory, and their fetches."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Collection, Coroutine, Mapping, Sized
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar
from weakref import WeakValueDictionary

from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from scrapy_rep.clock import clock
from scrapy_rep.crawl.runtime.event_loop import start
from scrapy_rep.protocol import Origin

if TYPE_CHECKING:
    from scrapy_rep.crawl.robots.robots import Robots

T = TypeVar("T")

# How nearly every URL starts. Of URLs with equal starts the origins are equal.
_START: Final = re.compile(r"https?://[a-z0-9.-]+(?::[0-9]+)?(?=[/?#]|\Z)")


class SingleFlight(Generic[T]):
    """Work that runs once, in the background, for any number of waiters. Cancelling a waiter affects no other.

    Scrapy's own middleware lets all waiting requests await one shared Deferred: the first one consumes its result,
    the others read None, which means "allowed". Here every waiter has a future of its own, and all of them are
    released however the work ends.
    """

    def __init__(self, ended: Callable[[], None]) -> None:
        """*ended* is called when the work has ended, before the waiters resume."""
        self._ended = ended
        self._waiters: list[Deferred[T]] = []
        self._release: Callable[[Deferred[T]], None] | None = None  # once it has ended
        self._running: Deferred[None] | None = None

    def start(self, work: Coroutine[Any, Any, T]) -> None:
        """Start *work*, which may end before this returns."""
        self._running = start(self._run(work))

    @property
    def waiting(self) -> int:
        """How many await the result."""
        return len(self._waiters)

    async def join(self) -> T:
        """Wait for the result of the work; raise what the work raised."""
        waiter: Deferred[T] = Deferred()
        if self._release is None:
            self._waiters.append(waiter)
        else:
            self._release(waiter)
        return await maybe_deferred_to_future(waiter)

    def cancel(self) -> None:
        """Cancel the work; waiters get an error."""
        if self._running is not None:
            self._running.cancel()

    async def _run(self, work: Coroutine[Any, Any, T]) -> None:
        try:
            result = await work
        except Exception as error:  # noqa: BLE001  # the waiters handle it
            self._end(_failing(error))
        except BaseException:  # also on cancellation and on a forced stop
            self._end(_failing(RuntimeError("the fetch of robots.txt was cancelled")))
            raise
        else:
            self._end(lambda waiter: waiter.callback(result))

    def _end(self, release: Callable[[Deferred[T]], None]) -> None:
        self._release = release
        waiters, self._waiters = self._waiters, []
        try:
            self._ended()
        finally:
            for waiter in waiters:
                release(waiter)

    def __repr__(self) -> str:
        state = "ended" if self._release else "running"
        return f"<SingleFlight {state} waiters={len(self._waiters)}>"


def _failing(error: Exception) -> Callable[[Deferred[Any]], None]:
    return lambda waiter: waiter.errback(Failure(error))  # type: ignore[no-untyped-call]


_NONE: Final[Mapping[str, Any]] = MappingProxyType({})


class OriginState:
    """What a crawl knows of one origin: its ``robots``, current or not, and the ``flight`` that fetches them.

    ``refusals`` are what to tell requests while a proxy, or none that the request names, refuses to fetch the
    robots.txt: by `proxy_of`. They say nothing about the origin, so they are in no store, and gone in seconds.

    Whoever waits for the origin holds its state: another one would not hear of the end of the flight.
    """

    __slots__ = ("__weakref__", "asks_network", "flight", "origin", "queued", "refusals", "robots")

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.robots: Robots | None = None
        # Whether a page goes to the network, so that Scrapy's HTTP cache may not answer for its robots.txt.
        self.asks_network = False
        self.flight: SingleFlight[Robots] | None = None
        self.refusals: Mapping[str, Robots] = _NONE
        # What `pacing` holds back until the flight lands, for the count of those that wait.
        self.queued: Collection[Sized] = ()

    @property
    def waiting(self) -> int:
        """The number of requests that wait for the robots.txt."""
        return sum(map(len, self.queued)) + (self.flight.waiting if self.flight is not None else 0)

    @property
    def is_known(self) -> bool:
        """Whether the robots.txt is in memory and has not expired."""
        return self.robots is not None and clock.time() < self.robots.until


class Origins:
    """The states of origins. Of too many robots.txt files, the least recently used are evicted."""

    def __init__(self, max_origins: int, max_octets: int) -> None:
        self._max_origins = max_origins
        self._max_octets = max_octets
        self._states: WeakValueDictionary[Origin, OriginState] = WeakValueDictionary()
        self._by_start: dict[str, OriginState] = {}  # saves nearly every URL its way to an `Origin`
        self._kept: OrderedDict[OriginState, int] = OrderedDict()  # those with robots, and the octets these take
        self._octets = 0
        self.evicted = 0

    def at(self, url: str) -> OriginState:
        """The state of the origin of *url*. Raises ``ValueError`` for a URL that has no robots.txt."""
        start = _START.match(url)
        if start is None:
            return self.of(Origin.from_url(url))
        state = self._by_start.get(start[0])
        if state is None:
            state = self.of(Origin.from_url(url))
            if len(self._by_start) >= 2 * self._max_origins:
                self._by_start.clear()
            self._by_start[start[0]] = state
        return state

    def of(self, origin: Origin) -> OriginState:
        """The state of *origin*."""
        state = self._states.get(origin)
        if state is None:
            state = self._states[origin] = OriginState(origin)
        return state

    def current(self, state: OriginState) -> Robots | None:
        """The robots.txt of *state* if it applies now; that origin is then the most recently used one."""
        robots = state.robots
        if robots is None or not robots.not_before <= clock.time() < robots.until:
            return None
        self._kept.move_to_end(state)
        return robots

    def put(self, state: OriginState, robots: Robots, octets: int) -> None:
        """Keep *robots*, which take *octets* of memory; without room for them alone they are not kept."""
        self._octets -= self._kept.pop(state, 0)
        if octets > self._max_octets:
            state.robots = None
            self.evicted += 1
            return
        state.robots = robots
        self._octets += octets
        self._kept[state] = octets
        while self._octets > self._max_octets or len(self._kept) > self._max_origins:
            evicted, freed = self._kept.popitem(last=False)
            evicted.robots = None
            self._octets -= freed
            self.evicted += 1

    def resize(self, robots: Robots, kept_octets: int) -> None:
        """Note that extras keep *kept_octets* for *robots*, which count as long as it is in memory."""
        robots.kept_octets = kept_octets
        state = self._states.get(robots.entry.origin)
        if state is not None and state.robots is robots:
            self.put(state, robots, robots.octets)

    def __len__(self) -> int:
        return len(self._kept)

    def __repr__(self) -> str:
        octets = f"{self._octets} of {self._max_octets} octets"
        return f"<Origins {len(self)} of {self._max_origins} in memory, {octets}>"
