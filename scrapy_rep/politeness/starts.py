"""Which download slots could start a request now, and when the others could: shared by the queues of one crawl.

A download slot with requests is ready, or waits for a time (its delay), or for an event: it has no room, or
none of its requests has its robots.txt in hand. `Starts.look` moves it from one to the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol
from weakref import WeakKeyDictionary

from scrapy import signals

from scrapy_rep.crawl.scrapy_internals import Downloader, Engine
from scrapy_rep.settings import RepSettings

from .alarm import Alarm
from .crawl_delay import CrawlDelay
from .prefetch import Prefetcher, WaitsForRobots
from .robots_source import RobotsSource
from .start_times import StartTimes

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from scrapy_rep.protocol import Origin

    from .ready_slots import ReadySlots

_READY: Final = 32
"""Download slots that are enough to be ready; more robots.txt would be fetched long before they are used."""


class QueuedSlot(Protocol):
    """The requests of one download slot in one queue of the scheduler."""

    @property
    def ready(self) -> ReadySlots[QueuedSlot]:
        """Where it stands while one of them could start."""

    def can_pop(self) -> bool:
        """Whether one of them may go: its robots.txt is in hand."""


class SlotState:
    """One download slot: its requests in each queue, and those that were handed out and are not over there."""

    __slots__ = ("due", "handed_out", "key", "queued", "waits_since")

    def __init__(self, key: str) -> None:
        self.key = key
        self.queued: list[QueuedSlot] = []
        self.handed_out: set[Request] = set()
        self.due: float | None = None
        """When the alarm calls for another look."""
        self.waits_since: float | None = None
        """Since when there are requests that wait for the delay alone."""

    def __repr__(self) -> str:
        return f"<SlotState {self.key} handed_out={len(self.handed_out)} due={self.due}>"


class Queue(Protocol):
    """A queue of the scheduler."""

    @property
    def ready(self) -> ReadySlots[QueuedSlot]: ...

    def __len__(self) -> int: ...


class Starts:
    """The download slots of one crawl."""

    def __init__(self, crawler: Crawler) -> None:
        self.downloader = Downloader(crawler)
        self.alarm = Alarm()
        self.robots = crawler.get_extension(RobotsSource)  # type: ignore[type-abstract]
        self._crawler = crawler
        self._engine = Engine(crawler)
        self._times = StartTimes(crawler, self.downloader)
        self._most_waiting = RepSettings.from_crawler(crawler).max_waiting
        self._most_ready = max(_READY, 2 * crawler.settings.getint("CONCURRENT_REQUESTS"))
        self._prefetcher = (
            Prefetcher(self.robots, self._engine, self.alarm, self._are_enough_ready, crawler.stats)
            if self.robots is not None
            else None
        )
        self._queues: list[Queue] = []
        self._slots: dict[str, SlotState] = {}
        self._out: dict[Request, SlotState] = {}
        self._last: Request | None = None
        crawl_delay = crawler.get_extension(CrawlDelay)
        if crawl_delay is not None:
            crawl_delay.call_with_turns(self._has_turn)
        self.downloader.call_when_ended(self._ended)
        self.downloader.hold_back_when(self._holds_back)
        crawler.signals.connect(self._transferred, signal=signals.request_left_downloader)
        crawler.signals.connect(self._spider_closed, signal=signals.spider_closed)

    @classmethod
    def of(cls, crawler: Crawler) -> Starts:
        """The one of *crawler*."""
        if crawler not in _of_crawlers:
            _of_crawlers[crawler] = cls(crawler)
        return _of_crawlers[crawler]

    def add(self, queue: Queue) -> None:
        """*queue* is one of the crawl: in memory, or on disk."""
        self._queues.append(queue)

    def state(self, key: str) -> SlotState:
        """The state of a download slot that is about to get requests."""
        state = self._slots.get(key)
        if state is None:
            state = self._slots[key] = SlotState(key)
        return state

    def look(self, state: SlotState) -> None:
        """Move a download slot to where it belongs now; wakes the engine when it has become ready."""
        queued = [slot for slot in state.queued if slot.can_pop()]
        seconds = self._times.seconds_to_start(state.key, state.handed_out) if queued else None
        for slot in state.queued:
            if seconds == 0 and slot in queued:
                if slot not in slot.ready:
                    self._engine.wake()
                slot.ready.add(slot, len(state.handed_out))
            else:
                slot.ready.discard(slot)
        self._count_wait(state, waits=bool(seconds))
        if seconds:
            self._look_after(state, seconds)
        elif not state.queued and not state.handed_out and self._slots.get(state.key) is state:
            del self._slots[state.key]
            self._times.give_turn_back(state.key)

    def _count_wait(self, state: SlotState, *, waits: bool) -> None:
        if waits and state.waits_since is None:
            state.waits_since = self.alarm.now()
        elif not waits and state.waits_since is not None:
            self._times.waited(state.key, self.alarm.now() - state.waits_since)
            state.waits_since = None

    def _look_after(self, state: SlotState, seconds: float) -> None:
        now = self.alarm.now()
        if state.due is not None and now < state.due <= now + seconds:
            return
        due = state.due = now + seconds
        self.alarm.after(seconds, lambda: self._ring(state, due))

    def _ring(self, state: SlotState, due: float) -> None:
        if state.due == due:
            state.due = None
            self.look(state)

    def _has_turn(self, key: str) -> None:
        state = self._slots.get(key)
        if state is not None:
            self.look(state)
        else:
            self._times.give_turn_back(key)

    def settle(self) -> None:
        """To be called before the next request is taken: what was handed out last and did not start has ended.

        The engine gives a request to the downloader before it asks for the next; a scheduler of the user's
        own may have dropped it.
        """
        last, self._last = self._last, None
        if last is not None and last in self._out and not self.downloader.is_active(last):
            self._ended(last)
        self._look_for_room()

    def hand_out(self, request: Request, state: SlotState) -> None:
        """*request* goes to the downloader; one that robots.txt forbids will not start, and waits for no delay."""
        if self.robots is not None and self._times.is_paced(state.key) and self.robots.forbids(request):
            return
        self._last = request
        self._out[request] = state
        state.handed_out.add(request)
        self.downloader.open(state.key, request)
        self.look(state)

    def _transferred(self, request: Request) -> None:
        """It has left its download slot, and may be with the middlewares for long."""
        state = self._out.get(request)
        if state is not None:
            state.handed_out.discard(request)
            self.look(state)

    def _ended(self, request: Request) -> None:
        """A request has left the downloader, be it from the scheduler, from a pipeline or for a robots.txt."""
        state = self._out.pop(request, None)
        if state is not None:
            state.handed_out.discard(request)
        else:
            state = self._slots.get(self.downloader.slot_key(request))
        if state is not None:
            self.look(state)
        self._look_for_room()

    def _look_for_room(self) -> None:
        """There may be room for a download slot that has asked for no turn because the downloader was full."""
        while (key := self._times.next_for_room()) is not None:
            state = self._slots.get(key)
            if state is not None and any(slot.can_pop() for slot in state.queued):
                self.look(state)
                return

    def origin_to_ask(self, request: Request) -> Origin | None:
        """The origin whose robots.txt has to be in hand before *request* starts; None for none."""
        return self.robots.origin_to_ask(request) if self.robots is not None else None

    def prepare(self, request: Request) -> None:
        """Put what robots.txt asks for on the download slot of *request*."""
        if self.robots is not None:
            self.robots.prepare(request)

    def await_robots(self, requests: WaitsForRobots) -> None:
        """*requests* are admitted when their robots.txt has been fetched."""
        if self._prefetcher is not None:
            self._prefetcher.add(requests)

    def prefetch(self) -> None:
        """Start to fetch what may be fetched now: there may be fewer ready requests than before."""
        if self._prefetcher is not None:
            self._prefetcher.start()

    def _are_enough_ready(self) -> bool:
        return sum(len(queue.ready) for queue in self._queues) >= self._most_ready

    def _holds_back(self) -> bool:
        """Whether so many requests wait that a lazy ``start()`` is to read no more: none can go anyway."""
        return not any(queue.ready for queue in self._queues) and sum(map(len, self._queues)) >= self._most_waiting

    def _spider_closed(self) -> None:
        self.alarm.stop()
        _of_crawlers.pop(self._crawler, None)

    def __repr__(self) -> str:
        return f"<Starts slots={len(self._slots)} handed_out={len(self._out)} {self._prefetcher!r}>"


_of_crawlers: WeakKeyDictionary[Crawler, Starts] = WeakKeyDictionary()
