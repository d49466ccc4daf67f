"""One record of each download slot, and the requests that wait for it in the scheduler, by origin.

When two origins share a download slot (http and https, or two ports), a robots.txt that hangs at one of them does
not hold up the requests of the other. What they wait for, and until when, is up to `slot_tracker`.

Scrapy's ``Slot`` takes no attributes and is dropped after an idle minute: what a crawl knows of it is kept here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from .permits import SharedSlot
from .stored_queue import HEAD, Rank, StoredQueue, UnreadableError

if TYPE_CHECKING:
    from scrapy import Request

    from scrapy_rep.protocol import Origin
    from scrapy_rep.robots.origins import OriginState

    from .backoff import SlotBackoff


T = TypeVar("T")

DelaySource = tuple["Origin", tuple[str, ...]]
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

    They are in the ``turns`` of their download slot, or wait for robots.txt or for a Visit-time.
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


class SlotState(SharedSlot):
    """One download slot: its delays, its requests in each queue, and those handed out that have not left it."""

    __slots__ = (
        "_required", "applied", "backoff", "handed_out", "is_shared", "keys", "own_delay", "own_jitter",
        "queued", "requested", "size", "update_at", "waiting_since",
    )  # fmt: skip

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.keys = [key]  # the first one is its ``key``
        self.is_shared = False
        """Whether other processes may request pages of the same site."""
        self.applied: float | None = None
        """The delay that we set last; any other value was set by another component, such as AutoThrottle."""
        self.own_delay = self.own_jitter = 0.0
        self._required: dict[DelaySource, float] = {}
        self.requested = 0.0
        """The seconds between two requests that robots.txt files require, 0 for none."""
        self.backoff: SlotBackoff | None = None
        self.queued: list[SlotRequests] = []
        self.size = 0
        """The number of requests in all queues."""
        self.handed_out: set[Request] = set()
        self.update_at: float | None = None
        """When the timer updates it."""
        self.waiting_since: float | None = None
        """Since when it has requests that only wait for the delay."""

    def require(self, source: DelaySource, seconds: float) -> None:
        """Require *seconds* for *source*, 0 for none."""
        before = self._required.pop(source, 0.0)
        if seconds:
            self._required[source] = seconds
        if seconds >= self.requested:
            self.requested = seconds
        elif before == self.requested:
            self.requested = max(self._required.values(), default=0.0)
        self.set_floor()

    def set_floor(self) -> None:
        """Let the floor be the larger of what robots.txt requires and of the back-off."""
        self.floor = max(self.requested, self.backoff.floor if self.backoff is not None else 0.0)

    def join(self, other: SlotState) -> Iterator[Origin]:
        """Become one with *other*; return the origins that this one brings along."""
        self.keys = sorted({*self.keys, *other.keys})
        self.is_shared = self.is_shared or other.is_shared
        for queue in other.queued:
            queue.state = self
        self.queued, other.queued = [*self.queued, *other.queued], []
        self.size, other.size = self.size + other.size, 0
        self.handed_out |= other.handed_out
        self.waiting_since = self.waiting_since or other.waiting_since
        other.update_at = None
        self.backoff = max(filter(None, (self.backoff, other.backoff)), key=lambda one: one.until, default=None)
        other.release()
        if self.key != self.keys[0]:
            self.release()
            self.key, self.permits = self.keys[0], None
        for source, seconds in other._required.items():
            self.require(source, seconds)
            yield source[0]
        self.set_floor()

    @property
    def is_resting(self) -> bool:
        """Whether it has neither requests nor a permit, and holds none back."""
        is_idle = self.permits is None or self.permits.is_idle
        return is_idle and not (self.queued or self.handed_out or self.backoff)

    def release(self) -> None:
        """Let other processes have the permit: no request here is left to use it."""
        if self.permits is not None:
            self.permits.release()

    def __repr__(self) -> str:
        return f"<SlotState {self.key} floor={self.floor:g} handed_out={len(self.handed_out)}>"
