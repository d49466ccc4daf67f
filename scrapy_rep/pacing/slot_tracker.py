"""Tracks which download slots could start a request now, and when the others could.

A download slot with queued requests is in one of three states, and `SlotTracker.update` moves it between them:

* ready: it could start a request now, and the queue of hosts may hand one out;
* waiting for a time: its delay has not passed, and a timer updates it then;
* waiting for an event: it is full, or none of its requests has its robots.txt cached. The end of a request
  or of a fetch updates it.

One tracker serves all queues of a crawl, in memory and on disk.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar
from weakref import WeakKeyDictionary

from scrapy import signals

from scrapy_rep.clock import clock
from scrapy_rep.pacing.crawl_delay import CrawlDelay
from scrapy_rep.pacing.prefetch import Prefetcher
from scrapy_rep.pacing.robots_source import RobotsSource
from scrapy_rep.pacing.timer import Timer
from scrapy_rep.runtime.scrapy_internals import Downloader, Engine
from scrapy_rep.settings import RepSettings

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from scrapy_rep.pacing.limiter import Permits

_MIN_READY: Final = 32
"""Ready download slots that suffice: more robots.txt files would be fetched long before they are used."""

T = TypeVar("T")


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


class QueuedSlot(Protocol):
    """The requests of one download slot in one queue of the scheduler."""

    state: SlotState

    @property
    def ready(self) -> ReadySlots[QueuedSlot]:
        """The ready download slots of that queue."""

    def can_pop(self) -> bool:
        """Whether one of the requests has its robots.txt cached, so that it may be handed out."""


class Queue(Protocol):
    """A queue of the scheduler."""

    @property
    def ready(self) -> ReadySlots[QueuedSlot]: ...

    def __len__(self) -> int: ...


class SlotState:
    """One download slot: its requests in each queue, and those that were handed out and have not left it."""

    __slots__ = ("handed_out", "key", "queued", "size", "update_at", "waiting_since")

    def __init__(self, key: str) -> None:
        self.key = key
        self.queued: list[QueuedSlot] = []
        self.size = 0
        """The number of requests in all queues."""
        self.handed_out: set[Request] = set()
        self.update_at: float | None = None
        """When the timer updates it."""
        self.waiting_since: float | None = None
        """Since when it has requests that only wait for the delay."""

    def __repr__(self) -> str:
        return f"<SlotState {self.key} handed_out={len(self.handed_out)} update_at={self.update_at}>"


class SlotTracker:
    """The download slots of one crawl."""

    def __init__(self, crawler: Crawler) -> None:
        self.downloader = Downloader(crawler)
        self.timer = Timer()
        self.robots = crawler.get_extension(RobotsSource)  # type: ignore[type-abstract]
        self.crawl_delay = crawler.get_extension(CrawlDelay)
        self._crawler = crawler
        self._engine = Engine(crawler)
        self._max_waiting = RepSettings.from_crawler(crawler).max_waiting
        self._enough_ready = max(_MIN_READY, 2 * crawler.settings.getint("CONCURRENT_REQUESTS"))
        self.prefetcher = (
            Prefetcher(self.robots, self._engine, self.timer, self._has_enough_ready, crawler.stats)
            if self.robots is not None
            else None
        )
        self.has_delays = False
        """Whether robots.txt requires a delay of any download slot. Other processes may have to keep it too."""
        self._queues: list[Queue] = []
        self._slots: dict[str, SlotState] = {}
        self._handed_out: dict[Request, SlotState] = {}
        self.last: Request | None = None
        """The request that was handed out last, until `check_last` has looked at it."""
        if self.crawl_delay is not None:
            self.crawl_delay.on_switch(self._delays_switched)
            self._delays_switched()
            self.crawl_delay.on_permit_change(self._permit_changed)
            self.crawl_delay.forecast.watch(self.timer, self._waiting)
        self.downloader.on_request_end(self._request_ended)
        self.downloader.add_backout(self._is_start_paused)
        crawler.signals.connect(self._left_slot, signal=signals.request_left_downloader)
        crawler.signals.connect(self._spider_closed, signal=signals.spider_closed)

    @classmethod
    def for_crawler(cls, crawler: Crawler) -> SlotTracker:
        """The one tracker of *crawler*."""
        if crawler not in _trackers:
            _trackers[crawler] = cls(crawler)
        return _trackers[crawler]

    def add_queue(self, queue: Queue) -> None:
        """Add a queue of the crawl: in memory, or on disk."""
        self._queues.append(queue)

    def state(self, key: str) -> SlotState:
        """The state of download slot *key*, created if necessary."""
        key = self._name(key)
        state = self._slots.get(key)
        if state is None:
            state = self._slots[key] = SlotState(key)
        return state

    def update(self, state: SlotState) -> None:
        """Find out what a download slot waits for now.

        One that becomes ready wakes the engine, which otherwise asks its scheduler only when a request ends.
        """
        if not state.size:
            self._rest(state)
            return
        startable = [slot for slot in state.queued if slot.can_pop()]
        seconds = self._seconds_to_start(state) if startable else None
        for slot in state.queued:
            if seconds != 0 or slot not in startable:
                slot.ready.discard(slot)
            elif slot.ready.add(slot, self._turn(state)):
                self._engine.wake()
        if bool(seconds) != (state.waiting_since is not None):
            self._count_wait(state, is_waiting=bool(seconds))
        if seconds:
            self._update_after(state, seconds)

    def _rest(self, state: SlotState) -> None:
        """No request waits in a download slot: others may use its permit. Forget it if no queue knows it."""
        if state.waiting_since is not None:
            self._count_wait(state, is_waiting=False)
        for slot in state.queued:
            slot.ready.discard(slot)
        if state.handed_out:
            return
        if self.has_delays:
            self._release_permit(state.key)
        if not state.queued and self._slots.get(state.key) is state:
            del self._slots[state.key]

    def remove(self, slot: QueuedSlot) -> None:
        """Forget a download slot in one queue, which has no requests for it."""
        slot.state.queued.remove(slot)
        self.update(slot.state)

    def _delays_switched(self) -> None:
        self.has_delays = self.crawl_delay is not None and self.crawl_delay.has_delays

    def _seconds_to_start(self, state: SlotState) -> float | None:
        if self.crawl_delay is None or not self.has_delays:
            return self.downloader.seconds_to_start(state.key, state.handed_out)
        return self.crawl_delay.seconds_to_start(state.key, state.handed_out)

    def _turn(self, state: SlotState) -> int:
        """When a ready download slot is used: one that holds a permit first, because that soon expires."""
        permits = self._permits if self.has_delays else None
        return -1 if permits is not None and permits.holds(state.key) else len(state.handed_out)

    @property
    def _permits(self) -> Permits | None:
        """The permits of download slots that share their delay; None without a rate limiter."""
        return self.crawl_delay.permits if self.crawl_delay is not None else None

    def _waiting(self, key: str) -> int:
        """The number of requests that wait for download slot *key*."""
        state = self._slots.get(key)
        return state.size if state is not None else 0

    def _has_delay(self, key: str) -> bool:
        """Whether robots.txt requires a delay of download slot *key*."""
        return self.has_delays and self.crawl_delay is not None and self.crawl_delay.floor(key) > 0

    def _count_wait(self, state: SlotState, *, is_waiting: bool) -> None:
        if is_waiting:
            state.waiting_since = clock.monotonic()
        elif state.waiting_since is not None:
            if self.crawl_delay is not None and self._has_delay(state.key):
                self.crawl_delay.report.waited_seconds += clock.monotonic() - state.waiting_since
            state.waiting_since = None

    def _update_after(self, state: SlotState, seconds: float) -> None:
        now = clock.monotonic()
        if state.update_at is not None and now < state.update_at <= now + seconds:
            return
        due = state.update_at = now + seconds
        self.timer.call_after(seconds, lambda: self._update_at(state, due))

    def _update_at(self, state: SlotState, due: float) -> None:
        if state.update_at == due:  # else an earlier update replaced this one
            state.update_at = None
            self.update(state)

    def _name(self, key: str) -> str:
        return self.crawl_delay.name(key) if self.has_delays and self.crawl_delay is not None else key

    def _permit_changed(self, key: str) -> None:
        state = self._slots.get(key)
        if state is not None and self._name(key) != key:
            self._join(state, self.state(key))
        elif state is not None:
            self.update(state)
        else:
            self._release_permit(key)

    def _join(self, state: SlotState, other: SlotState) -> None:
        """Make *state* one with *other*: their download slots have become one."""
        del self._slots[state.key]
        for slot in state.queued:
            slot.state = other
        other.queued += state.queued
        other.size += state.size
        other.handed_out |= state.handed_out
        self._handed_out.update(dict.fromkeys(state.handed_out, other))
        self._count_wait(state, is_waiting=False)
        state.update_at = None
        self._release_permit(state.key)
        self.update(other)

    def _release_permit(self, key: str) -> None:
        """Let other processes have a permit that no request here is left to use."""
        permits = self._permits
        if permits is not None:
            permits.release(key)

    def check_last(self) -> None:
        """Treat the request that was handed out last as ended if it never reached the downloader.

        To be called before the next request is taken. The engine passes each request to the downloader before it
        asks for the next one, but a scheduler of the project may have dropped it, and nothing signals that.
        """
        last, self.last = self.last, None
        if last is not None and last in self._handed_out and not self.downloader.is_active(last):
            self._request_ended(last)
        elif self.has_delays:
            self._update_slot_waiting_for_downloader()

    def hand_out(self, request: Request, state: SlotState) -> None:
        """Count *request*, which goes to the downloader, in its download slot.

        One that robots.txt forbids does not count: the gate drops it, so it neither starts nor uses the delay.
        """
        if self.robots is not None and self._has_delay(state.key) and self.robots.forbids(request):
            return
        self.last = request
        self._handed_out[request] = state
        state.handed_out.add(request)
        self.downloader.create_slot(state.key, request)
        self.update(state)

    def _left_slot(self, request: Request) -> None:
        """A response has left its download slot, and middlewares may hold it for long."""
        state = self._handed_out.get(request)
        if state is not None:
            state.handed_out.discard(request)
            if state.size:
                self.update(state)

    def _request_ended(self, request: Request) -> None:
        """A request has left the downloader; requests of pipelines and for robots.txt come from no queue."""
        state = self._handed_out.pop(request, None)
        if state is not None:
            state.handed_out.discard(request)
        else:
            state = self._slots.get(self._name(self.downloader.slot_key(request)))
        if state is not None:
            self.update(state)
        if self.has_delays:
            self._update_slot_waiting_for_downloader()

    def _update_slot_waiting_for_downloader(self) -> None:
        """Update one download slot that acquired no permit because the whole downloader was full."""
        permits = self._permits
        while permits is not None and permits.slots_waiting:
            state = self._slots.get(permits.slots_waiting.popitem(last=False)[0])
            if state is not None and state.size and any(slot.can_pop() for slot in state.queued):
                self.update(state)
                return

    def _has_enough_ready(self) -> bool:
        return sum(len(queue.ready) for queue in self._queues) >= self._enough_ready

    @property
    def waiting(self) -> int:
        """The number of requests in all queues."""
        return sum(map(len, self._queues))

    def _is_start_paused(self) -> bool:
        """Whether a lazy ``start()`` must wait: ``REP_MAX_WAITING`` requests are queued, and none could start."""
        return self.waiting >= self._max_waiting and not any(queue.ready for queue in self._queues)

    def _spider_closed(self) -> None:
        self.timer.stop()
        _trackers.pop(self._crawler, None)

    def __repr__(self) -> str:
        return f"<SlotTracker slots={len(self._slots)} handed_out={len(self._handed_out)} {self.prefetcher!r}>"


_trackers: WeakKeyDictionary[Crawler, SlotTracker] = WeakKeyDictionary()
