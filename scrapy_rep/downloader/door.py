"""Where requests that have waited for a robots.txt go on: one by one, and by turns of their download slots.

A slow host whose requests have waited must not stand in the way of a fast one, be its requests here too or
still with the scheduler.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred

from scrapy_rep.background import start

from .engine import is_closing, sleep
from .places import Places, at_the_door

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

_CHECK: Final = 0.005  # seconds: how soon a free place is noticed
_CLOSE_LOOKS: Final = 10  # checks after somebody came or left, for a place to become free
_SELDOM: Final = 50  # every so many checks there is a look though nobody did


class _Queue:
    """Those who stand before one download slot: *came_seated* of them may keep a seat, ``seats`` have one now."""

    __slots__ = ("came_seated", "seats", "turns")

    def __init__(self) -> None:
        self.turns: deque[Deferred[None]] = deque()
        self.came_seated = 0
        self.seats = 0


class Door:
    """Lets requests go on as places are free: next is always the download slot that has the fewest.

    Those whom their download slot could take want places, and so come before what the scheduler still
    holds. The others keep their seats and take none, but count as active in their download slot: the
    scheduler gives places to other hosts. Requests that come later queue up behind, without a seat, and
    inherit those of the ones that leave.
    """

    def __init__(self, crawler: Crawler, places: Places) -> None:
        self._crawler = crawler
        self._places = places
        self._counts = at_the_door(crawler)
        self._queues: dict[str, _Queue] = {}
        # They have left, and their download slots do not count them yet.
        self._on_their_way: WeakKeyDictionary[Request, str] = WeakKeyDictionary()
        self._opening: Deferred[None] | None = None
        self._checks = 0  # since somebody came or left

    def has_queue(self, request: Request) -> bool:
        """Whether others of the same download slot stand here."""
        return bool(self._queues) and self._crawler.engine.downloader.get_slot_key(request) in self._queues

    async def pass_through(self, request: Request, *, seated: bool) -> bool:
        """Wait for a place for *request*, which is *seated* when it has waited before.

        False, and at once, when the crawl begins to close meanwhile.
        """
        if self._opening is None:
            self._forget_the_arrived()
        key = self._crawler.engine.downloader.get_slot_key(request)
        active = self._active(key, request)
        queue = self._queues.setdefault(key, _Queue())
        turn: Deferred[None] = Deferred()
        queue.turns.append(turn)
        queue.came_seated += seated
        active.add(request)
        self._counts[key] += 1
        self._seat(key, queue)
        self._look_closely()
        if self._opening is None:
            opening = start(self._open())
            self._opening = None if opening.called else opening
        try:
            await maybe_deferred_to_future(turn)
        finally:
            active.discard(request)
            if not is_closing(self._crawler):
                self._on_their_way[request] = key
            self._counts[key] -= 1
            if not self._counts[key]:
                del self._counts[key]
        return not is_closing(self._crawler)

    def _active(self, key: str, request: Request) -> set[Request]:
        """The active requests of a download slot; it is made when there is none, as by its first request."""
        downloader: Any = self._crawler.engine.downloader
        slots = getattr(downloader, "slots", {})
        if key not in slots:
            getattr(downloader, "_get_slot", lambda _: None)(request)
        return slots[key].active if key in slots else set()

    async def _open(self) -> None:
        """Let them go one by one.

        On asyncio a download slot counts a request only when its task has started, a turn of the
        loop after it was taken from the queue: who leaves together passes every limit together.
        """
        self._listen(self._crawler.signals.connect)
        try:
            while self._queues and not is_closing(self._crawler):
                self._forget_the_lost()
                key = self._next() if self._is_time_to_look() else None
                if key is None or self._places.free() <= 0:
                    await sleep(_CHECK)
                    continue
                self._let_one_go(key)
                await sleep(0)
                await sleep(0)
        finally:
            self._listen(self._crawler.signals.disconnect)
            self._opening = None
            while self._queues:
                self._let_one_go(next(iter(self._queues)))

    def _listen(self, switch: Callable[..., object]) -> None:
        """Only while the door is open: a listener costs every request of a crawl some microseconds."""
        switch(self._arrived, signal=signals.request_reached_downloader)
        switch(self._look_closely, signal=signals.request_left_downloader)

    def _look_closely(self) -> None:
        self._checks = 0

    def _is_time_to_look(self) -> bool:
        """With many queues a look takes its time, and mostly nothing has changed since the last one."""
        self._checks += 1
        return self._checks <= _CLOSE_LOOKS or not self._checks % _SELDOM or bool(self._on_their_way)

    def _forget_the_arrived(self) -> None:
        """Those who have arrived while the door was closed, and nobody listened."""
        downloader = self._crawler.engine.downloader
        slots = getattr(downloader, "slots", {})
        for request in list(self._on_their_way):
            slot = slots.get(downloader.get_slot_key(request))
            if slot is not None and request in slot.active:
                del self._on_their_way[request]

    def _arrived(self, request: Request) -> None:
        self._on_their_way.pop(request, None)
        self._look_closely()

    def _forget_the_lost(self) -> None:
        """Those who ended on their way, in a middleware behind us, which may take its time."""
        active = getattr(self._crawler.engine.downloader, "active", ())
        for request in [request for request in self._on_their_way if request not in active]:
            del self._on_their_way[request]
            self._look_closely()

    def _next(self) -> str | None:
        """The download slot that has the fewest requests; None while all have as many as they may transfer."""
        inside = {key: self._inside(key) for key, queue in self._queues.items() if self._seat(key, queue)}
        return min(inside, key=inside.__getitem__, default=None)

    def _seat(self, key: str, queue: _Queue) -> int:
        """Seat those whom download slot *key* could not take now; how many it could."""
        slot = getattr(self._crawler.engine.downloader, "slots", {}).get(key)
        standing = len(queue.turns)
        room = max(slot.concurrency - self._inside(key), 0) if slot is not None else standing
        queue.came_seated = min(queue.came_seated, standing)
        wanted = min(queue.came_seated, max(standing - room, 0))
        queue.seats += self._places.lend(wanted - queue.seats)
        return room

    def _inside(self, key: str) -> int:
        """The active requests of download slot *key* that are not standing here, and those on their way to it."""
        slot = getattr(self._crawler.engine.downloader, "slots", {}).get(key)
        coming = sum(other == key for other in self._on_their_way.values())
        return coming + (len(slot.active) - self._counts[key] if slot is not None else 0)

    def _let_one_go(self, key: str) -> None:
        self._look_closely()
        queue = self._queues[key]
        turn = queue.turns.popleft()
        self._seat(key, queue)
        if not queue.turns:
            del self._queues[key]
        if not turn.called:  # else it was cancelled
            turn.callback(None)
