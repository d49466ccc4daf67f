"""The origins of a crawl, bounded in number and memory, with one `OriginState` per origin, and their fetches."""

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

# The start of nearly every URL. URLs with equal starts have equal origins.
_START: Final = re.compile(r"https?://[a-z0-9.-]+(?::[0-9]+)?(?=[/?#]|\Z)")


class SingleFlight(Generic[T]):
    """Work that runs once, in the background, for any number of waiters. Cancelling a waiter affects no other.

    Scrapy's own middleware lets all waiting requests await one shared Deferred: the first request consumes the
    result, the others read None, which means "allowed". Here every waiter has its own future, and all of them
    resume however the work ends.
    """

    def __init__(self, ended: Callable[[], None]) -> None:
        """Call *ended* when the work has ended, before the waiters resume."""
        self._ended = ended
        self._waiters: list[Deferred[T]] = []
        self._release: Callable[[Deferred[T]], None] | None = None  # set when the work has ended
        self._running: Deferred[None] | None = None

    def start(self, work: Coroutine[Any, Any, T]) -> None:
        """Start *work*, which may end before this returns."""
        self._running = start(self._run(work))

    @property
    def waiting(self) -> int:
        """The number of waiters."""
        return len(self._waiters)

    async def join(self) -> T:
        """Wait for the result of the work, and return it, or raise its exception."""
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
    """A crawl's state of an origin: its ``robots``, current or expired, and the ``flight`` that fetches them.

    ``refusals`` are the answers for requests whose proxy refuses to fetch the robots.txt, by `proxy_of` (empty if
    the request names no proxy). They say nothing about the origin: no store keeps them, and they last seconds.

    Whoever waits for the origin holds its state, because a new state would not learn of the flight's end.
    """

    __slots__ = ("__weakref__", "asks_network", "flight", "origin", "queued", "refusals", "robots")

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.robots: Robots | None = None
        # Whether a page goes to the network: Scrapy's HTTP cache may then not answer for its robots.txt.
        self.asks_network = False
        self.flight: SingleFlight[Robots] | None = None
        self.refusals: Mapping[str, Robots] = _NONE
        # Requests that `pacing` holds back until the flight lands; `waiting` counts them.
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
    """The states of origins; at the limits, the least recently used robots.txt files are evicted."""

    def __init__(self, max_origins: int, max_octets: int) -> None:
        self._max_origins = max_origins
        self._max_octets = max_octets
        self._states: WeakValueDictionary[Origin, OriginState] = WeakValueDictionary()
        self._by_start: dict[str, OriginState] = {}  # spares nearly every URL the parsing of its `Origin`
        self._kept: OrderedDict[OriginState, int] = OrderedDict()  # states with robots, and the bytes of those
        self._octets = 0
        self.evicted = 0

    def at(self, url: str) -> OriginState:
        """Return the state of the origin of *url*. Raises ``ValueError`` for a URL that has no robots.txt."""
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
        """Return the state of *origin*."""
        state = self._states.get(origin)
        if state is None:
            state = self._states[origin] = OriginState(origin)
        return state

    def current(self, state: OriginState) -> Robots | None:
        """Return the robots.txt of *state* if it applies now, and mark the origin as most recently used."""
        robots = state.robots
        if robots is None or not robots.not_before <= clock.time() < robots.until:
            return None
        self._kept.move_to_end(state)
        return robots

    def put(self, state: OriginState, robots: Robots, octets: int) -> None:
        """Keep *robots*, which take *octets* bytes of memory, unless they exceed the limit alone."""
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
        """Count *kept_octets*, the bytes that extras keep for *robots*, while it is in memory."""
        robots.kept_octets = kept_octets
        state = self._states.get(robots.entry.origin)
        if state is not None and state.robots is robots:
            self.put(state, robots, robots.octets)

    def __len__(self) -> int:
        return len(self._kept)

    def __repr__(self) -> str:
        octets = f"{self._octets} of {self._max_octets} octets"
        return f"<Origins {len(self)} of {self._max_origins} in memory, {octets}>"
