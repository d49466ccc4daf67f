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

from .engine import is_closing, open_download_slot, sleep
from .places import Places, at_the_door, counted_in

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
        key = self._crawler.engine.downloader.get_slot_key(request)
        open_download_slot(self._crawler, request)
        queue = self._queues.setdefault(key, _Queue())
        turn: Deferred[None] = Deferred()
        queue.turns.append(turn)
        queue.came_seated += seated
        with counted_in(self._slot(key), key, request, self._counts):
            self._seat(key, queue)
            self._look_closely()
            if self._opening is None:
                opening = start(self._open())
                self._opening = None if opening.called else opening
            try:
                await maybe_deferred_to_future(turn)
            finally:
                if not is_closing(self._crawler):
                    self._on_their_way[request] = key
        return not is_closing(self._crawler)

    def _slot(self, key: str) -> Any:
        return getattr(self._crawler.engine.downloader, "slots", {}).get(key)

    async def _open(self) -> None:
        """Let them go one by one.

        On asyncio a download slot counts a request only when its task has started, a turn of the
        loop after it was taken from the queue: who leaves together passes every limit together.
        """
        self._listen(self._crawler.signals.connect)
        try:
            while self._queues and not is_closing(self._crawler):
                self._forget_the_ended()
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

    def _arrived(self, request: Request) -> None:
        self._on_their_way.pop(request, None)
        self._look_closely()

    def _forget_the_ended(self) -> None:
        """Forget who has arrived while nobody listened, and whom a middleware behind us has dropped."""
        downloader = self._crawler.engine.downloader
        active = getattr(downloader, "active", ())
        for request in list(self._on_their_way):
            slot = self._slot(downloader.get_slot_key(request))
            if request not in active or (slot is not None and request in slot.active):
                self._arrived(request)

    def _next(self) -> str | None:
        """The download slot that has the fewest requests; None while all have as many as they may transfer."""
        inside = {key: self._inside(key) for key, queue in self._queues.items() if self._seat(key, queue)}
        return min(inside, key=inside.__getitem__, default=None)

    def _seat(self, key: str, queue: _Queue) -> int:
        """Seat those whom download slot *key* could not take now; how many it could."""
        slot = self._slot(key)
        standing = len(queue.turns)
        room = max(slot.concurrency - self._inside(key), 0) if slot is not None else standing
        queue.came_seated = min(queue.came_seated, standing)
        wanted = min(queue.came_seated, max(standing - room, 0))
        queue.seats += self._places.lend(wanted - queue.seats)
        return room

    def _inside(self, key: str) -> int:
        """The active requests of download slot *key* that are not standing here, and those on their way to it."""
        slot = self._slot(key)
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
