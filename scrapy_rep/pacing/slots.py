"""The requests that wait in the scheduler, by download slot and origin.

When two origins share a download slot (http and https, or two ports), a robots.txt that hangs at one of them does
not hold up the requests of the other. What they wait for, and until when, is up to `slot_tracker`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Generic, TypeVar

from .stored_queue import HEAD, Rank, StoredQueue, UnreadableError

if TYPE_CHECKING:
    from scrapy import Request

    from scrapy_rep.protocol import Origin
    from scrapy_rep.robots.origins import OriginState

    from .download_slots import SlotState

T = TypeVar("T")

_numbers = count()


class ReadySlots(Generic[T]):
    """The download slots that could start a request: the least busy first, and equally busy ones in rotation.

    Scrapy's own queue has the same order, but looks at every download slot for each request.
    """

    def __init__(self) -> None:
        self._by_load: dict[int, OrderedDict[T, None]] = {}
        self._loads: dict[T, int] = {}

    def add(self, slot: T, load: int) -> bool:
        """Add *slot* after the others that have *load* requests under way; return whether it is new."""
        previous = self._loads.get(slot)
        if previous == load:
            return False
        if previous is not None:
            self.discard(slot)
        self._loads[slot] = load
        self._by_load.setdefault(load, OrderedDict())[slot] = None
        return previous is None

    def discard(self, slot: T) -> None:
        """Remove *slot*, if it is here."""
        load = self._loads.pop(slot, None)
        if load is not None:
            same = self._by_load[load]
            del same[slot]
            if not same:
                del self._by_load[load]

    def first(self) -> T | None:
        """The download slot to use next; there are few loads, at most the concurrency of a download slot."""
        return next(iter(self._by_load[min(self._by_load)])) if self._by_load else None

    def __contains__(self, slot: object) -> bool:
        return slot in self._loads

    def __len__(self) -> int:
        return len(self._loads)

    def __repr__(self) -> str:
        return f"<ReadySlots {len(self)}>"


@dataclass(frozen=True, slots=True)
class Storage:
    """How one queue of the scheduler stores requests, and which of its download slots are ``ready``.

    ``rank`` gives the rank of a request, ``queue`` the stored queue of an origin, which may be None, in a download
    slot; ``lost`` is called for requests that cannot be read.
    """

    rank: Callable[[Request], Rank]
    queue: Callable[[str, Origin | None], StoredQueue]
    lost: Callable[[UnreadableError], None]
    ready: ReadySlots[SlotRequests]


class OriginRequests:
    """The requests of one origin in a download slot; ``state`` is None for those that need no robots.txt.

    They have an ``entry`` in the heap of their download slot, or wait for robots.txt or for a Visit-time.
    """

    __slots__ = ("_head", "_stored", "admitted_at", "entry", "is_admitted", "slot", "state")

    def __init__(self, slot: SlotRequests, state: OriginState | None, stored: StoredQueue) -> None:
        self.state = state
        self.entry: _Entry | None = None
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
        if self.entry is not None and self._head is None and rank < self.entry[0]:
            self.enqueue()

    def enqueue(self) -> None:
        """Let the requests go, those of the best rank in the download slot first, and equal ones in turns."""
        self.entry = (self.rank, next(_numbers), self)
        heappush(self.slot.heap, self.entry)

    def pop(self) -> Request | None:
        """Remove and return the first request; None when it cannot be read."""
        self.entry, self.is_admitted = None, False
        try:
            return self._take()
        finally:
            if self:
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


_Entry = tuple[Rank, int, OriginRequests]
"""An entry in the heap of a download slot; origins of equal rank take turns by number."""


class SlotRequests:
    """The requests of download slot *key* in one queue of the scheduler, which stores them by *storage*.

    ``state`` is that of the download slot, which may have more keys.
    """

    __slots__ = ("heap", "key", "origins", "ready", "state", "storage", "unsorted")

    def __init__(self, key: str, state: SlotState, storage: Storage) -> None:
        self.key = key
        self.state = state
        self.storage = storage
        self.ready = storage.ready
        self.origins: dict[OriginState | None, OriginRequests] = {}
        self.heap: list[_Entry] = []  # outdated entries stay, and are skipped
        self.unsorted: StoredQueue | None = None
        """What Scrapy's own queue left: grouped by origin as it comes up."""
        state.queued.append(self)

    def first(self) -> OriginRequests | None:
        """The requests of the origin that may go next, or None."""
        heap = self.heap
        while heap:
            entry = heap[0]
            if entry[2].entry is entry:
                return entry[2]
            heappop(heap)
        return None

    def lose(self, error: UnreadableError) -> None:
        """Count out requests that cannot be read, and report them."""
        self.state.size -= error.lost
        self.storage.lost(error)

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
        return f"<SlotRequests {self.key} origins={len(self.origins)} entries={len(self.heap)}>"
