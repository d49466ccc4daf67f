"""The records of pacing: each site, each download slot, and the requests that wait for it in the scheduler.

A site is one host name that requests fetch from. It asks for pauses: by a Crawl-delay in robots.txt, or by
answers such as 429. Download slots do not ask for anything, and they make a poor key. A project names them
freely, two of them may fetch from one site, and another process may use a third. So every reason to wait lives
with its `Site`, beside the time of the last start, and processes share it by the name of the site.
`Site.start_in` is the only question about time. Three places ask it:

* the queue of hosts and Scrapy's download slots ask early, so that waiting costs nothing;
* the door asks last, so that the promise holds whatever happened before.

Requests that reach the door too early take turns. Only the first of them has a timer and talks to the limiter.

A `SlotState` is what a crawl knows of a download slot. Scrapy's ``Slot`` takes no attributes, and is dropped
after an idle minute. Its requests are grouped by origin: when two origins share a download slot (http and https,
or two ports), a robots.txt that hangs at one of them does not hold up the other. `slot_tracker` knows what they
wait for.
"""

from __future__ import annotations

from bisect import insort
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from math import inf
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from scrapy.utils.asyncio import call_later
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred

from scrapy_rep.clock import clock
from scrapy_rep.crawl.pacing.stored_queue import HEAD, Rank, StoredQueue, UnreadableError
from scrapy_rep.protocol import Origin

if TYPE_CHECKING:
    from scrapy import Request

    from scrapy_rep.crawl.robots.origins import OriginState
T = TypeVar("T")

DelaySource = tuple[Origin, tuple[str, ...]]
"""The origin whose robots.txt requires a delay, and the product tokens that it was read for."""

_numbers = count()

_MANY_OUTDATED: Final = 8  # entries for each that counts, in a heap that is then made anew


class Turns(Generic[T]):
    """Items by rank, the lowest first; those of equal rank take turns."""

    def __init__(self) -> None:
        self._entries: dict[T, tuple[Any, int, T]] = {}
        self._heap: list[tuple[Any, int, T]] = []  # outdated entries stay, and are skipped

    def add(self, item: T, rank: Any) -> bool:
        """Add *item* after the others of *rank*; return whether it is new. At the same rank it keeps its turn."""
        before = self._entries.get(item)
        if before is None or before[0] != rank:
            entry = self._entries[item] = rank, next(_numbers), item
            if len(self._heap) > _MANY_OUTDATED * (len(self._entries) + 1):
                self._heap = sorted(self._entries.values())
            else:
                heappush(self._heap, entry)
        return before is None

    def discard(self, item: T) -> None:
        """Remove *item*, if it is here."""
        self._entries.pop(item, None)

    def first(self) -> T | None:
        """The item whose turn it is."""
        heap = self._heap
        while heap:
            entry = heap[0]
            if self._entries.get(entry[2]) is entry:
                return entry[2]
            heappop(heap)
        return None

    def rank(self, item: T) -> Any:
        """The rank of *item*, None if it is not here."""
        entry = self._entries.get(item)
        return entry[0] if entry is not None else None

    def __contains__(self, item: object) -> bool:
        return item in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"<Turns {len(self)}>"


@dataclass(eq=False, slots=True)
class Storage:
    """One queue of the scheduler: how it stores its requests, how many, and which download slots are ``ready``.

    ``rank`` gives the rank of a request, ``queue`` the stored queue of an origin, which may be None, in a download
    slot; ``lose`` is called for requests that cannot be read.
    """

    rank: Callable[[Request], Rank]
    queue: Callable[[str, Origin | None], StoredQueue]
    lose: Callable[[SlotRequests, UnreadableError], None]
    ready: Turns[SlotRequests] = field(default_factory=Turns)
    size: int = 0


class OriginRequests:
    """The requests of one origin in a download slot; ``state`` is None for those that need no robots.txt.

    They are in the ``turns`` of their download slot, or wait for robots.txt.
    """

    __slots__ = ("_head", "_stored", "admitted_at", "is_admitted", "slot", "state")

    def __init__(self, slot: SlotRequests, state: OriginState | None, stored: StoredQueue) -> None:
        self.state = state
        self.is_admitted = False
        """Whether the wait ended and no request has left since.

        At least one request may leave after a fetch, even if its delay is longer than the robots.txt is valid.
        """
        self.admitted_at = float("-inf")
        """When the last wait ended, monotonic."""
        self.slot = slot
        self._stored = stored
        self._head: tuple[Rank, Request] | None = None
        """The first request, if it has been read: robots.txt is fetched with its headers and its proxy.

        It has left its queue then, so it is held here and goes first, even if one of a better rank is pushed.
        """

    @property
    def rank(self) -> Rank:
        """The rank of the first request."""
        return self._head[0] if self._head else self._stored.first

    def push(self, rank: Rank, request: Request) -> None:
        """Raises what `StoredQueue.push` raises."""
        self._stored.push(rank, request)
        if self._head is None and (before := self.slot.turns.rank(self)) is not None and rank < before:
            self.slot.turns.add(self, rank)

    def enqueue(self) -> None:
        """Let the requests go, those of the best rank in the download slot first, and equal ones in turns."""
        self.slot.turns.add(self, self.rank)

    def pop(self) -> Request | None:
        """Remove and return the first request; None when it cannot be read."""
        self.slot.turns.discard(self)
        self.is_admitted = False
        try:
            return self._take()
        finally:
            if self._head is not None or self._stored:
                self.enqueue()

    def _take(self) -> Request | None:
        if self._head is not None:
            (_, request), self._head = self._head, None
            return request
        try:
            return self._stored.pop()
        except UnreadableError as error:
            self.slot.lose(error)
            return None

    def peek(self) -> Request | None:
        """The first readable request, held until `pop`; None when there is none."""
        while self._head is None and self._stored:
            rank, request = self._stored.first, self._take()
            if request is not None:
                self._head = rank, request
        return self._head[1] if self._head else None

    def close(self) -> list[int]:
        """Close all files; return what `StoredQueue.close` returns."""
        if self._head is not None:
            try:
                rank, request = self._head
                self._stored.push(Rank(rank.priority, HEAD), request)  # before the others, in files of any order
            except Exception as error:  # noqa: BLE001  # project code changed it; the other requests must survive
                self.slot.lose(UnreadableError(1, error))
            self._head = None
        return self._stored.close(self.slot.lose)

    def __bool__(self) -> bool:
        return self._head is not None or bool(self._stored)

    def __len__(self) -> int:
        return len(self._stored) + (self._head is not None)


class SlotRequests:
    """The requests of download slot *key* in one queue of the scheduler, which stores them by *storage*.

    ``state`` is that of the download slot, which may have more keys.
    """

    __slots__ = ("key", "origins", "ready", "state", "storage", "turns", "unsorted")

    def __init__(self, key: str, state: SlotState, storage: Storage) -> None:
        self.key = key
        self.state = state
        self.storage = storage
        self.ready = storage.ready
        self.origins: dict[OriginState | None, OriginRequests] = {}
        self.turns: Turns[OriginRequests] = Turns()  # of those that may go
        self.unsorted: StoredQueue | None = None
        """What Scrapy's own queue left: grouped by origin as it comes up."""
        state.queued.append(self)

    def lose(self, error: UnreadableError) -> None:
        """Count out requests that cannot be read, and report them."""
        self.storage.lose(self, error)

    def close(self) -> list[tuple[str | None, list[int]]]:
        """Close all files; return the priorities by origin: "" is for no origin, None for unsorted requests."""
        left: list[tuple[str | None, list[int]]] = [
            (str(state.origin) if state else "", requests.close())
            for state, requests in self.origins.items()
            if requests
        ]
        if self.unsorted:
            left.append((None, self.unsorted.close(self.lose)))
        return left

    def __bool__(self) -> bool:
        return any(self.origins.values()) or bool(self.unsorted)

    def __repr__(self) -> str:
        return f"<SlotRequests {self.key} origins={len(self.origins)} turns={len(self.turns)}>"


# A server counts arrivals, which jitter by the noise of event loops and networks.
_MARGIN: Final = 0.01  # seconds
_MARGIN_SHARE: Final = 0.02  # of the delay, at most


def with_margin(seconds: float) -> float:
    """The seconds to leave between two starts so that arrivals are *seconds* apart."""
    return seconds + min(_MARGIN, _MARGIN_SHARE * seconds)


class Pause:
    """A reason for a site to get its requests slowly, which an extra adds; it may change at any time."""

    floor: float
    """Seconds between two starts; 0 for none."""
    until: float
    """Before this there is no start (monotonic seconds)."""
    pace: float
    """What the floor falls to in the long run; 0 where it does not fall."""


def _begin(turn: Deferred[None]) -> None:
    if not turn.called:  # else it was cancelled
        turn.callback(None)


class Site:
    """The site *name*. Times are monotonic seconds."""

    __slots__ = (
        "__weakref__", "_required", "_turn", "_turns", "backoff", "is_shared", "last_start", "name", "requested",
        "slot",
    )  # fmt: skip

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_shared = False
        """Whether other processes may request its pages. Once true, it stays true."""
        self.slot: SlotState | None = None
        """The download slot of its requests, while it has a floor. `SlotStates` joins download slots to one."""
        self.requested = 0.0
        """The seconds between two starts that robots.txt files require: the largest of ``_required``."""
        self._required: dict[DelaySource, float] = {}
        self.backoff: Pause | None = None
        """What an extra asks for beside robots.txt."""
        self.last_start = -inf
        """When the door let the last request out, or when robots.txt arrived."""
        self._turn: object = None
        """The request whose turn it is at the door, None if none waits."""
        self._turns: deque[Deferred[None]] = deque()
        """The requests behind it, in order. Each fires when its turn comes, or is cancelled."""

    def require(self, source: DelaySource, seconds: float) -> None:
        """Require *seconds* between two starts for *source*; 0 for none."""
        before = self._required.pop(source, 0.0)
        if seconds:
            self._required[source] = seconds
        if seconds >= self.requested:
            self.requested = seconds
        elif before == self.requested:
            self.requested = max(self._required.values(), default=0.0)

    def requires(self, source: DelaySource) -> float:
        """The seconds that *source* requires."""
        return self._required.get(source, 0.0)

    @property
    def floor(self) -> float:
        """The seconds that must lie between two starts now; 0 for none."""
        return max(self.requested, self.backoff.floor) if self.backoff is not None else self.requested

    @property
    def held_for(self) -> float:
        """Seconds for which a back-off lets nothing start."""
        return max(self.backoff.until - clock.monotonic(), 0.0) if self.backoff is not None else 0.0

    def start_in(self, now: float) -> float:
        """Seconds until a request may start, as far as this process knows; 0 for now."""
        return max(self.last_start + self.floor - now, self.held_for, 0.0)

    def start(self, now: float) -> None:
        """Count the delay from *now* on: a request starts, or robots.txt has arrived.

        The process may stand still before the request has left. So the time is taken once more in the next turn of
        the event loop, when it has.
        """
        self.last_start = now
        call_later(0, self._has_started)

    def _has_started(self) -> None:
        self.last_start = clock.monotonic()

    @property
    def due(self) -> float:
        """When a request may start, as far as this process knows; now if that is over."""
        now = clock.monotonic()
        return now + self.start_in(now)

    @property
    def since_last_start(self) -> float | None:
        """Seconds since the last start; None before the first."""
        return None if self.last_start == -inf else clock.monotonic() - self.last_start

    # Turns at the door.

    @property
    def is_waited_for(self) -> bool:
        """Whether a request waits at the door."""
        return self._turn is not None

    @property
    def has_more_waiting(self) -> bool:
        """Whether others come after the one that waits at the door."""
        return bool(self._turns)

    async def enter(self, *, first: bool) -> None:
        """Wait for the turn of a request, which `leave` ends; *first* puts it before the others that wait."""
        turn: Deferred[None] = Deferred()
        if self._turn is None:
            self._turn = turn
            if self.slot is not None:
                self.slot.at_door.add(self)
            return
        if first:
            self._turns.appendleft(turn)
        else:
            self._turns.append(turn)
        try:
            await maybe_deferred_to_future(turn)
        except BaseException:
            if self._turn is turn:  # cancelled after its turn had come and before it resumed
                self.leave()
            raise

    def leave(self) -> None:
        """End the turn of the request that waits, and begin the next one."""
        self._turn = None
        while self._turns and self._turn is None:
            turn = self._turns.popleft()
            if not turn.called:  # else it was cancelled
                self._turn = turn
                call_later(0, _begin, turn)  # not now: without asyncio each would resume inside the one before
        if self._turn is None and self.slot is not None:
            self.slot.at_door.discard(self)

    def __repr__(self) -> str:
        return f"<Site {self.name} floor={self.floor:g} waiting={len(self._turns) + self.is_waited_for}>"


class SlotState:
    """One download slot: its sites, its requests in each queue, and those handed out that have not left it."""

    __slots__ = (
        "_largest", "applied", "at_door", "floor", "handed_out", "held_until", "key", "keys", "own_delay",
        "own_jitter", "queued", "sites", "size", "update_at",
    )  # fmt: skip

    def __init__(self, key: str) -> None:
        self.key = key
        self.keys = [key]  # the first one is its ``key``
        self.sites: dict[Site, None] = {}
        """The sites that ask for a pause and are requested through this download slot."""
        self.floor = 0.0
        """The largest floor of its sites, that of ``_largest``."""
        self._largest: Site | None = None
        self.held_until = -inf
        """When the last hold of its sites ends, in monotonic seconds; a hold is never shortened."""
        self.at_door: set[Site] = set()
        """The sites of its requests that wait at the door: then it hands out no other."""
        self.applied: float | None = None
        """The delay that we set last; any other value was set by another component, such as AutoThrottle."""
        self.own_delay = self.own_jitter = 0.0
        self.queued: list[SlotRequests] = []
        self.size = 0
        """The number of requests in all queues."""
        self.handed_out: set[Request] = set()
        self.update_at: float | None = None
        """When the timer updates it."""

    def weigh(self, site: Site) -> None:
        """Take in that the floor of *site*, one of its sites, may have changed; without a floor it leaves."""
        floor = site.floor
        if floor:
            self.sites[site] = None
        else:
            self.sites.pop(site, None)
            self.at_door.discard(site)
        if floor >= self.floor or self._largest is None:
            self._largest, self.floor = site, floor
        elif self._largest is site:  # else it is as it was: a download slot may have thousands of sites
            self._weigh_all()
        if site.backoff is not None:
            self.held_until = max(self.held_until, site.backoff.until)

    def _weigh_all(self) -> None:
        self._largest = max(self.sites, key=lambda site: site.floor, default=None)
        self.floor = self._largest.floor if self._largest is not None else 0.0

    @property
    def is_shared(self) -> bool:
        """Whether other processes may request pages of the site with the largest floor."""
        return self._largest is not None and self._largest.is_shared and self.floor > 0

    @property
    def held_for(self) -> float:
        """Seconds for which a back-off lets nothing start."""
        return max(self.held_until - clock.monotonic(), 0.0)

    def join(self, other: SlotState) -> None:
        """Become one with *other*."""
        for key in other.keys:
            insort(self.keys, key)
        self.key = self.keys[0]
        for site in other.sites:
            site.slot = self
        self.sites |= other.sites
        self.held_until = max(self.held_until, other.held_until)
        self.at_door |= other.at_door
        for queue in other.queued:
            queue.state = self
        self.queued, other.queued = [*self.queued, *other.queued], []
        self.size, other.size = self.size + other.size, 0
        self.handed_out |= other.handed_out
        other.update_at = None
        self._weigh_all()

    @property
    def is_resting(self) -> bool:
        """Whether it has no requests, and holds none back."""
        return not (self.queued or self.handed_out or self.at_door or any(site.backoff for site in self.sites))

    def __repr__(self) -> str:
        return f"<SlotState {self.key} floor={self.floor:g} handed_out={len(self.handed_out)}>"
