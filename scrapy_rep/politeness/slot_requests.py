"""The requests of one download slot in one queue of the scheduler, sorted by origin.

Of two origins in one download slot (http and https, two ports) one whose robots.txt hangs does not hold up
the other.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Final, Protocol

from scrapy_rep.protocol import Origin

from .stored_queue import Rank, StoredQueue, UnreadableError

if TYPE_CHECKING:
    from scrapy import Request

    from .ready_slots import ReadySlots
    from .starts import QueuedSlot, SlotState, Starts

_GRACE: Final = 1.0
"""Seconds for which a fetch of robots.txt that has just ended counts although nothing is in hand.

It failed in a way that the gate has to tell, or what it brought may not be kept at all.
"""

_numbers = count()


class OriginRequests:
    """The requests of one origin, at least one: in line, or waiting for robots.txt or for a Visit-time."""

    __slots__ = ("_admitted_at", "_head", "_is_admitted", "_place", "_slot", "_stored", "origin")

    def __init__(self, slot: SlotRequests, origin: Origin | None, stored: StoredQueue) -> None:
        """*origin* is None for requests that ask no robots.txt."""
        self.origin = origin
        self._stored = stored
        self._head: tuple[Rank, Request] | None = None
        """The request for whose sake robots.txt was fetched: it has left its queue, and goes first."""
        self._slot = slot
        self._place: _Place | None = None
        self._admitted_at = -_GRACE
        self._is_admitted = False
        """What was fetched is for one request at least, be it that its delay is longer than robots.txt counts."""

    @property
    def rank(self) -> Rank:
        """That of the first request."""
        return self._head[0] if self._head else self._stored.first

    def push(self, rank: Rank, request: Request) -> None:
        """Raises what `StoredQueue.push` raises."""
        is_only = not self
        self._stored.push(rank, request)
        if is_only:
            self.look_again(request)
        elif self._place is not None and self.rank < self._place[0]:
            self._stand_in_line()

    def pop(self) -> Request | None:
        """The first request; None when it cannot be read."""
        self._place, self._is_admitted = None, False
        request = self._take()
        if self:
            self._stand_in_line()
        return request

    def _take(self) -> Request | None:
        if self._head is not None:
            (_, request), self._head = self._head, None
            return request
        try:
            return self._stored.pop()
        except UnreadableError as error:
            self._slot.lose(error)
            return None

    def peek(self) -> Request | None:
        """The first request that can be read; None when there is none. It is read once, and kept until `pop`."""
        while self._head is None and self._stored:
            rank, request = self._stored.first, self._take()
            if request is not None:
                self._head = rank, request
        if self._head is None:
            self._slot.forget(self)
        return self._head[1] if self._head else None

    def close(self) -> list[int]:
        """Close all files; returns what `StoredQueue.close` does."""
        if self._head is not None:
            try:
                self._stored.push(*self._head)
            except Exception as error:  # noqa: BLE001  # somebody has changed it; the others must not go with it
                self._slot.lose(UnreadableError(1, error))
            self._head = None
        return self._stored.close()

    def admit(self) -> None:
        """What was waited for has come: robots.txt, or the Visit-time."""
        self._admitted_at, self._is_admitted = self._slot.starts.alarm.now(), True
        self.look_again()

    def look_again(self, request: Request | None = None) -> None:
        """Stand in line, or wait; *request* is one of them, which spares to read one."""
        starts, seconds = self._slot.starts, self.seconds_to_wait()
        if seconds == 0 and self.origin is not None:
            request = request or self.peek()
            if request is None:
                return
            starts.prepare(request)
            seconds = self.seconds_to_wait()
        if seconds == 0:
            self._stand_in_line()
            return
        self._place = None
        if seconds is None:
            starts.await_robots(self)
        else:
            starts.alarm.after(seconds, self.admit)

    def seconds_to_wait(self) -> float | None:
        """Until the Visit-time, 0 for not at all, None for until robots.txt has been fetched."""
        starts = self._slot.starts
        if self.origin is None or starts.robots is None:
            return 0.0
        is_in_hand = self._is_admitted or starts.robots.is_in_hand(self.origin)
        if is_in_hand or starts.alarm.now() < self._admitted_at + _GRACE:
            return starts.robots.opens_in(self.origin)
        return None

    def _stand_in_line(self) -> None:
        self._place = (self.rank, next(_numbers), self)
        self._slot.stand_in_line(self._place)

    def __len__(self) -> int:
        return len(self._stored) + (self._head is not None)

    def stands_at(self, place: _Place) -> bool:
        """Whether *place* is where it stands now."""
        return self._place is place


_Place = tuple[Rank, int, OriginRequests]
"""In line before a download slot: by rank, and among equals in turn."""


class Owner(Protocol):
    """The queue of the scheduler that they are in."""

    @property
    def ready(self) -> ReadySlots[QueuedSlot]: ...

    def rank(self, request: Request) -> Rank: ...

    def store(self, key: str, origin: Origin | None) -> StoredQueue: ...

    def lose(self, error: UnreadableError) -> None: ...

    def forget(self, slot: SlotRequests) -> None: ...


class SlotRequests:
    """The requests of the download slot *state* in *queue*."""

    __slots__ = ("_line", "_origins", "_queue", "_unsorted", "starts", "state")

    def __init__(self, state: SlotState, queue: Owner, starts: Starts) -> None:
        self.state = state
        self.starts = starts
        self._queue = queue
        self._origins: dict[Origin | None, OriginRequests] = {}
        self._line: list[_Place] = []  # a heap; places that were left are skipped
        self._unsorted: StoredQueue | None = None
        state.queued.append(self)

    def push(self, request: Request) -> None:
        """Raises what `StoredQueue.push` raises."""
        origin = self.starts.origin_to_ask(request)
        requests = self._origins.get(origin)
        if requests is None:
            stored = self._queue.store(self.state.key, origin)
            requests = self._origins[origin] = OriginRequests(self, origin, stored)
        try:
            requests.push(self._queue.rank(request), request)
        finally:
            if not requests:
                self.forget(requests)

    def pop(self) -> Request | None:
        """The first request that may go; None when there is none, or it cannot be read."""
        if not self.can_pop():
            return None
        requests, request = self._line[0][2], None
        if requests.seconds_to_wait() == 0:
            request = requests.pop()
        else:
            requests.look_again()
        if not requests:
            self.forget(requests)
        return request

    def peek(self) -> Request | None:
        """What `pop` would return."""
        return self._line[0][2].peek() if self.can_pop() else None

    def can_pop(self) -> bool:
        """Whether an origin stands in line."""
        while self._line and not self._line[0][2].stands_at(self._line[0]):
            heappop(self._line)
        return bool(self._line)

    @property
    def ready(self) -> ReadySlots[QueuedSlot]:
        """Where the download slot stands while it could start one of these requests."""
        return self._queue.ready

    def stand_in_line(self, place: _Place) -> None:
        """Requests of an origin may go."""
        heappush(self._line, place)
        if self not in self._queue.ready:
            self.starts.look(self.state)

    def resume(self, origin: Origin | None, stored: StoredQueue) -> None:
        """Go on with what an earlier crawl has left of *origin*."""
        requests = self._origins[origin] = OriginRequests(self, origin, stored)
        requests.look_again()

    def resume_unsorted(self, stored: StoredQueue) -> None:
        """Go on with requests of any origin, which are sorted as they come up."""
        self._unsorted = stored
        self._sort()

    def _sort(self) -> None:
        """Sort the first of those requests, if none of the others comes before it."""
        while self._unsorted:
            others = min((requests.rank for requests in self._origins.values()), default=None)
            if others is not None and others <= self._unsorted.first:
                return
            try:
                self.push(self._unsorted.pop())
            except UnreadableError as error:
                self.lose(error)
            except Exception as error:  # noqa: BLE001  # it is in no queue any more, and must not count on
                self.lose(UnreadableError(1, error))

    def lose(self, error: UnreadableError) -> None:
        """Requests could not be read."""
        self._queue.lose(error)

    def forget(self, requests: OriginRequests) -> None:
        """No request of that origin is left."""
        if self._origins.get(requests.origin) is requests:
            del self._origins[requests.origin]
        self._sort()
        if not self._origins and self in self.state.queued:
            self.state.queued.remove(self)
            self._queue.forget(self)

    def close(self) -> list[tuple[str | None, list[int]]]:
        """Close all files; the priorities of each origin, of "" for none, and of None for what is not sorted."""
        left: list[tuple[str | None, list[int]]] = [
            (str(origin or ""), requests.close()) for origin, requests in self._origins.items()
        ]
        if self._unsorted:
            left.append((None, self._unsorted.close()))
        return left

    def __repr__(self) -> str:
        return f"<SlotRequests {self.state.key} origins={len(self._origins)} in_line={len(self._line)}>"
