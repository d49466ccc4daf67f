"""Tracks which download slots could start a request now, and when the others could.

A download slot with queued requests is in one of three states, and `SlotTracker.update` moves it between them:

* ready: it could start a request now, and the queue of hosts may hand one out;
* waiting for a time: its delay has not passed, and a timer updates it then;
* waiting for an event: it is full, or none of its requests has its robots.txt cached. The end of a request
  or of a fetch updates it.

One tracker serves all queues of a crawl, in memory and on disk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scrapy import signals

from scrapy_rep.clock import clock
from scrapy_rep.crawl.pacing.crawl_delay import CrawlDelay
from scrapy_rep.crawl.pacing.prefetch import Prefetcher
from scrapy_rep.crawl.pacing.slots import Slots
from scrapy_rep.crawl.policy.judge import Judge
from scrapy_rep.crawl.policy.meta import SLOT, choose_slot
from scrapy_rep.crawl.runtime.event_loop import Timer

if TYPE_CHECKING:
    from scrapy import Request

    from scrapy_rep.crawl.pacing.origin_queue import OriginQueue
    from scrapy_rep.crawl.pacing.priority_queue import RepPriorityQueue
    from scrapy_rep.crawl.pacing.slots import Slot
    from scrapy_rep.crawl.runtime.crawl import Crawl

_MIN_READY: Final = 32
"""Ready download slots that suffice: more robots.txt files would be fetched long before they are used."""

_GRACE: Final = 1.0
"""Seconds for which an origin may hand out requests after a fetch of robots.txt, although none is cached.

The fetch may have failed in a way that the gate reports for each request, or the robots.txt may not be cacheable.
"""


class SlotTracker:
    """The download slots of one crawl, and the requests that wait for them."""

    def __init__(self, crawl: Crawl) -> None:
        self.timer = Timer()
        self._events = crawl.events
        self.judge = crawl.find(Judge)
        self.crawl_delay = crawl.crawler.get_extension(CrawlDelay)
        self.download_slots = crawl.download_slots
        self.targets = crawl.targets
        self._engine = crawl.engine
        self._max_waiting = crawl.settings.max_waiting
        self._enough_ready = max(_MIN_READY, 2 * crawl.crawler.settings.getint("CONCURRENT_REQUESTS"))
        self.prefetcher = None
        if self.judge is not None:
            self.prefetcher = Prefetcher(crawl, self.judge, self.timer, self._has_enough_ready, self.admit)
        self.queues: list[RepPriorityQueue] = []  # in memory, on disk
        self.waiting = 0
        """The number of requests in all queues."""
        self._handed_out: dict[Request, Slot] = {}
        self.last: Request | None = None
        """The request that was handed out last, until `check_last` has looked at it."""
        self.slots = crawl.part(Slots)
        self.slots.tracker = self
        self._waits = self.slots.waits
        if self.crawl_delay is not None:
            self.crawl_delay.forecast.watch(self.timer)
        crawl.events.ended.subscribe(self._request_ended)
        crawl.downloader.tell_ends()
        self._is_downloader_full = crawl.downloader.set_backout(self._needs_backout)
        self._signals = crawl.crawler.signals
        self._sees_departures = self._serves_another = False
        crawl.crawler.signals.connect(self.timer.stop, signal=signals.spider_closed)

    def can_start(self, request: Request) -> bool:
        """Whether *request* of another scheduler's queue could start at once; if not, the engine is woken then."""
        self._serves_another = True
        if SLOT in request.meta or not self.targets.is_plain:
            choose_slot(request, self.download_slots, self.targets)
        state = self.judge.state_to_ask(request) if self.judge is not None else None
        if (state is not None and self.judge is not None) and not (
            state.is_known or self.judge.registry.refusal(state, request)
        ):
            if state.flight is None and self.prefetcher is not None:
                self.prefetcher.ask(request)
            return False
        if state is not None and self.crawl_delay is not None:
            self.crawl_delay.prepare_known(request)
        seconds = self.slots.seconds_to_start(self.slots.of(self.download_slots.key(request)))
        if seconds:
            self.timer.call_after(seconds, self._engine.wake)
        return seconds == 0

    # The requests of origins: which may go, and what the others wait for.

    def admit(self, requests: OriginQueue) -> None:
        """Let *requests* stop waiting: robots.txt has been fetched."""
        requests.admitted_at, requests.is_admitted = clock.monotonic(), True
        self.settle(requests)

    def settle(self, requests: OriginQueue, request: Request | None = None) -> None:
        """Let *requests* go or wait, whichever applies now; *request* is one of them, which saves reading one."""
        state, slot, queue = requests.state, requests.slot, requests.owner
        if state is not None:
            if self.needs_robots(requests) and self.prefetcher is not None:
                slot.turns[queue].discard(requests)
                self.prefetcher.add(requests)
                return
            robots, delays = state.robots, self.crawl_delay
            if robots is not None and delays is not None and (robots.may_request_delays or self.slots.delayed):
                request = request or queue.peek_in(requests)
                if request is None:
                    queue.remove(requests)
                    return
                delays.prepare_known(request)
        slot.turns[queue].add(requests, requests.rank)
        if slot not in queue.ready:
            self.update(slot)

    def needs_robots(self, requests: OriginQueue) -> bool:
        """Whether *requests* wait until their robots.txt has been fetched."""
        state = requests.state
        if state is None or requests.is_admitted or state.is_known or self.judge is None:
            return False
        return clock.monotonic() >= requests.admitted_at + _GRACE

    # Download slots: which could start a request.

    def update(self, slot: Slot) -> None:
        """Find out what a download slot waits for now.

        One that becomes ready wakes the engine, which otherwise asks its scheduler only when a request ends.
        """
        if not slot.size:
            self._rest(slot)
            return
        startable = [queue for queue, turns in slot.turns.items() if turns.first() is not None]
        seconds = self.slots.seconds_to_start(slot) if startable else None
        if startable and seconds != 0 and not self._sees_departures:
            self._see_departures()
            seconds = self.slots.seconds_to_start(slot)
        for queue in slot.turns:
            if seconds != 0 or queue not in startable:
                queue.ready.discard(slot)
            elif queue.ready.add(slot, len(slot.handed_out)):
                self._engine.wake()
        if seconds:
            self._waits.begin(slot, self)
            self._update_after(slot, seconds)
        elif self._waits.now:
            self._waits.end(slot, self)

    def _rest(self, slot: Slot) -> None:
        """No request waits here for a download slot; one of another scheduler may."""
        if self._serves_another:
            self._engine.wake()
            return
        if self._waits.now:
            self._waits.end(slot, self)
        for queue in slot.turns:
            queue.ready.discard(slot)

    def _update_after(self, slot: Slot, seconds: float) -> None:
        now = clock.monotonic()
        if slot.update_at is not None and now < slot.update_at <= now + seconds:
            return
        due = slot.update_at = now + seconds
        self.timer.call_after(seconds, lambda: self._update_at(slot, due))

    def _update_at(self, slot: Slot, due: float) -> None:
        if slot.update_at == due:  # else an earlier update replaced this one
            slot.update_at = None
            self.update(slot)

    def check_last(self) -> None:
        """Treat the request that was handed out last as ended if it never reached the downloader.

        To be called before the next request is taken. The engine passes each request to the downloader before it
        asks for the next one, but a scheduler of the project may have dropped it, and nothing signals that.
        """
        last, self.last = self.last, None
        if last is not None and last in self._handed_out and not self.download_slots.has(last):
            self._request_ended(last)

    def hand_out(self, request: Request, slot: Slot) -> None:
        """Count *request*, which goes to the downloader, in its download slot.

        One that robots.txt forbids does not count: the gate drops it, so it neither starts nor uses the delay.
        """
        if slot.floor and self.judge is not None and self.judge.forbids(request):
            return
        self.last = request
        self._handed_out[request] = slot
        slot.handed_out.add(request)
        self.update(slot)

    def _see_departures(self) -> None:
        """Listen to requests that leave their download slot, once one of them can start no more: each costs it."""
        self._sees_departures = True
        self._signals.connect(self._left_slot, signal=signals.request_left_downloader)
        for slot in {*self._handed_out.values()}:
            slot.handed_out -= {each for each in slot.handed_out if self.download_slots.has_left(each)}

    def _left_slot(self, request: Request) -> None:
        """A response has left its download slot, and middlewares may hold it for long."""
        slot = self._handed_out.get(request)
        if slot is not None:
            slot.handed_out.discard(request)
            if slot.size:
                self.update(slot)

    def _request_ended(self, request: Request) -> None:
        """A request has left the downloader; requests of pipelines and for robots.txt come from no queue."""
        slot = self._handed_out.pop(request, None) or self.slots.by_key.get(self.download_slots.key(request))
        if slot is not None:
            slot.handed_out.discard(request)
            if slot.size or self.slots.delayed:
                self.update(slot)

    def _has_enough_ready(self) -> bool:
        return sum(len(queue.ready) for queue in self.queues) >= self._enough_ready

    def _needs_backout(self) -> bool:
        """Whether the engine takes no request, or a lazy ``start()`` waits: ``REP_MAX_WAITING`` are queued."""
        if self._is_downloader_full():
            return True
        return self.waiting >= self._max_waiting and not any(queue.ready for queue in self.queues)

    def __repr__(self) -> str:
        return f"<SlotTracker {self.slots!r} handed_out={len(self._handed_out)} {self.prefetcher!r}>"
