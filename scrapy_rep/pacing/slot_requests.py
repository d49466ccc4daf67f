"""The requests of one download slot in one queue of the scheduler, grouped by origin.

When two origins share a download slot (http and https, or two ports), a robots.txt that hangs at one of them
does not hold up the requests of the other.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Final, Protocol

from scrapy_rep.clock import clock
from scrapy_rep.pacing.stored_queue import HEAD, Rank, StoredQueue, UnreadableError
from scrapy_rep.protocol import Origin

if TYPE_CHECKING:
    from scrapy import Request

    from scrapy_rep.pacing.slot_tracker import QueuedSlot, ReadySlots, SlotTracker

_GRACE: Final = 1.0
"""Seconds for which an origin may hand out requests after a fetch of robots.txt, although none is cached.

The fetch may have failed in a way that the gate reports for each request, or the robots.txt may not be cacheable.
"""

_numbers = count()


class OriginRequests:
    """The requests of one origin, at least one.

    They have an ``entry`` in the heap of their download slot, or wait for robots.txt or for a Visit-time.
    """

    __slots__ = ("_admitted_at", "_head", "_is_admitted", "_slot", "_stored", "entry", "origin")

    def __init__(self, slot: SlotRequests, origin: Origin | None, stored: StoredQueue) -> None:
        """*origin* is None for requests that need no robots.txt."""
        self.origin = origin
        self.entry: _Entry | None = None
        self._slot = slot
        self._stored = stored
        self._head: tuple[Rank, Request] | None = None
        """The first request, if it has been read: robots.txt is fetched with its headers and its proxy.

        It has left its queue then, so it is held here and goes first, even if one of a better rank is pushed.
        """
        self._is_admitted = False
        """Whether the wait ended and no request has left since.

        At least one request may leave after a fetch, even if its delay is longer than the robots.txt is valid.
        """
        self._admitted_at = -_GRACE

    @property
    def rank(self) -> Rank:
        """The rank of the first request."""
        return self._head[0] if self._head else self._stored.first

    def push(self, rank: Rank, request: Request) -> None:
        """Raises what `StoredQueue.push` raises."""
        is_first = not self
        self._stored.push(rank, request)
        if is_first:
            self.update(request)
        elif self.entry is not None and self.rank < self.entry[0]:
            self._enqueue()

    def pop(self) -> Request | None:
        """Remove and return the first request; None when it cannot be read."""
        self.entry, self._is_admitted = None, False
        try:
            return self._take()
        finally:
            if self:
                self._enqueue()

    def _take(self) -> Request | None:
        if self._head is not None:
            (_, request), self._head = self._head, None
            return request
        try:
            return self._stored.pop()
        except UnreadableError as error:
            self._slot.report_lost(error)
            return None

    def peek(self) -> Request | None:
        """The first readable request, held until `pop`; None when there is none."""
        while self._head is None and self._stored:
            rank, request = self._stored.first, self._take()
            if request is not None:
                self._head = rank, request
        if self._head is None:
            self._slot.remove(self)
        return self._head[1] if self._head else None

    def close(self) -> list[int]:
        """Close all files; return what `StoredQueue.close` returns."""
        if self._head is not None:
            try:
                rank, request = self._head
                self._stored.push(Rank(rank.priority, HEAD), request)  # before the others, in files of any order
            except Exception as error:  # noqa: BLE001  # project code changed it; the other requests must survive
                self._slot.report_lost(UnreadableError(1, error))
            self._head = None
        return self._stored.close(self._slot.report_lost)

    def admit(self) -> None:
        """Stop waiting: robots.txt has been fetched, or the Visit-time has begun."""
        self._admitted_at, self._is_admitted = clock.monotonic(), True
        self.update()

    def update(self, request: Request | None = None) -> None:
        """Enqueue or wait, whichever applies now; *request* is one of them, which saves reading one."""
        tracker, origin, seconds = self._slot.tracker, self.origin, self.seconds_to_wait()
        robots = tracker.robots if seconds == 0 else None
        if robots is not None and origin is not None and robots.has_delays(origin):
            request = request or self.peek()
            if request is None:
                return
            robots.prepare(request)  # may find a Visit-time
            seconds = self._seconds_to_visit_time(origin)
        if seconds == 0:
            self._enqueue()
            return
        self.entry = None
        if seconds is not None:
            tracker.timer.call_after(seconds, self.admit)
        elif tracker.prefetcher is not None:
            tracker.prefetcher.add(self)

    def seconds_to_wait(self) -> float | None:
        """Seconds until the Visit-time, 0 for no wait, None until robots.txt has been fetched."""
        tracker = self._slot.tracker
        if self.origin is None or tracker.robots is None:
            return 0.0
        has_robots = self._is_admitted or tracker.robots.is_cached(self.origin)
        if not has_robots and clock.monotonic() >= self._admitted_at + _GRACE:
            return None
        delays = tracker.crawl_delay
        return self._seconds_to_visit_time(self.origin) if delays is not None and delays.visit_times else 0.0

    def _seconds_to_visit_time(self, origin: Origin) -> float:
        crawl_delay = self._slot.tracker.crawl_delay
        return crawl_delay.seconds_to_visit_time(origin) if crawl_delay is not None else 0.0

    def _enqueue(self) -> None:
        self.entry = (self.rank, next(_numbers), self)
        self._slot.enqueue(self.entry)

    def __bool__(self) -> bool:
        return self._head is not None or bool(self._stored)

    def __len__(self) -> int:
        return len(self._stored) + (self._head is not None)


_Entry = tuple[Rank, int, OriginRequests]
"""An entry in the heap of a download slot; origins of equal rank take turns by number."""


class ParentQueue(Protocol):
    """The queue of the scheduler that a `SlotRequests` belongs to."""

    @property
    def ready(self) -> ReadySlots[QueuedSlot]: ...

    def rank(self, request: Request) -> Rank: ...

    def stored_queue(self, key: str, origin: Origin | None) -> StoredQueue: ...

    def report_lost(self, error: UnreadableError) -> None: ...


class SlotRequests:
    """The requests of download slot *key* in *queue*; ``state`` is that of the slot, which may have more keys."""

    __slots__ = ("_heap", "_origins", "_queue", "_unsorted", "key", "ready", "state", "tracker")

    def __init__(self, key: str, queue: ParentQueue, tracker: SlotTracker) -> None:
        self.key = key
        self.state = state = tracker.state(key)
        self.tracker = tracker
        self.ready = queue.ready
        self._queue = queue
        self._origins: dict[Origin | None, OriginRequests] = {}
        self._heap: list[_Entry] = []  # outdated entries stay, and are skipped
        self._unsorted: StoredQueue | None = None
        state.queued.append(self)

    def push(self, request: Request) -> None:
        """Raises what `StoredQueue.push` raises."""
        robots = self.tracker.robots
        origin = robots.origin_to_ask(request) if robots is not None else None
        requests = self._origins.get(origin)
        if requests is None:
            stored = self._queue.stored_queue(self.key, origin)
            requests = self._origins[origin] = OriginRequests(self, origin, stored)
        try:
            requests.push(self._queue.rank(request), request)
        except BaseException:
            if not requests:
                self.remove(requests)
            raise

    def pop(self) -> Request | None:
        """Remove and return the first request that may go, or None.

        None although there was an entry: its robots.txt has expired since or its Visit-time is over, so that it
        waits again, or the request cannot be read.
        """
        if not self.can_pop():
            return None
        requests, request = self._heap[0][2], None
        if requests.seconds_to_wait() == 0:
            request = requests.pop()
        else:
            requests.update()
        if not requests:
            self.remove(requests)
        return request

    def peek(self) -> Request | None:
        """The request that `pop` would return."""
        return self._heap[0][2].peek() if self.can_pop() else None

    def can_pop(self) -> bool:
        """Whether requests of an origin may go."""
        heap = self._heap
        while heap and heap[0][2].entry is not heap[0]:
            heappop(heap)
        return bool(heap)

    def enqueue(self, entry: _Entry) -> None:
        """Let the requests of an origin go."""
        heappush(self._heap, entry)
        if self not in self.ready:
            self.tracker.update(self.state)

    def resume(self, origin: Origin | None, stored: StoredQueue) -> None:
        """Go on with the requests of *origin* that an earlier crawl left."""
        requests = self._origins[origin] = OriginRequests(self, origin, stored)
        requests.update()

    def resume_unsorted(self, stored: StoredQueue) -> None:
        """Go on with requests that Scrapy's own queue left: they are grouped by origin as they come up."""
        self._unsorted = stored
        self._sort()

    def _sort(self) -> None:
        """Move those of the unsorted requests to their origins that rank before all others."""
        while self._unsorted:
            others = min((requests.rank for requests in self._origins.values()), default=None)
            if others is not None and others <= self._unsorted.first:
                return
            try:
                self.push(self._unsorted.pop())
            except UnreadableError as error:
                self.report_lost(error)
            except Exception as error:  # noqa: BLE001  # it is in no queue any more, and must not be counted
                self.report_lost(UnreadableError(1, error))

    def report_lost(self, error: UnreadableError) -> None:
        """Report requests that could not be read."""
        self.state.size -= error.lost
        self._queue.report_lost(error)

    def remove(self, requests: OriginRequests) -> None:
        """Remove an origin that has no requests left; the last one stays until the download slot is forgotten."""
        if self._unsorted or len(self._origins) > 1:
            if self._origins.get(requests.origin) is requests:
                del self._origins[requests.origin]
            self._sort()

    def __bool__(self) -> bool:
        return any(self._origins.values()) or bool(self._unsorted)

    def close(self) -> list[tuple[str | None, list[int]]]:
        """Close all files; return the priorities by origin: "" is for no origin, None for unsorted requests."""
        left: list[tuple[str | None, list[int]]] = [
            (str(origin or ""), requests.close()) for origin, requests in self._origins.items() if requests
        ]
        if self._unsorted:
            left.append((None, self._unsorted.close(self.report_lost)))
        return left

    def __repr__(self) -> str:
        return f"<SlotRequests {self.key} origins={len(self._origins)} entries={len(self._heap)}>"
