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
from scrapy_rep.crawl.pacing.download_slots import SlotStates
from scrapy_rep.crawl.pacing.prefetch import Prefetcher
from scrapy_rep.crawl.pacing.slots import OriginRequests, SlotRequests, SlotState, Storage
from scrapy_rep.crawl.pacing.stored_queue import StoredQueue, UnreadableError
from scrapy_rep.crawl.policy.judge import Judge
from scrapy_rep.crawl.policy.meta import SLOT, choose_slot
from scrapy_rep.crawl.robots.origins import OriginState
from scrapy_rep.crawl.runtime.event_loop import Timer

if TYPE_CHECKING:
    from scrapy import Request

    from scrapy_rep.crawl.runtime.crawl import Crawl
    from scrapy_rep.protocol import Origin

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
        self.queues: list[Storage] = []  # in memory, on disk
        self.waiting = 0
        """The number of requests in all queues."""
        self._handed_out: dict[Request, str] = {}  # the key of its download slot
        self.last: Request | None = None
        """The request that was handed out last, until `check_last` has looked at it."""
        self.states = crawl.part(SlotStates)
        self._waits = self.states.waits
        if self.crawl_delay is not None:
            self.crawl_delay.forecast.watch(self.timer)
        self.states.listeners.append(self.update)
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
        seconds = self.states.seconds_to_start(self.states.of(self.download_slots.key(request)))
        if seconds:
            self.timer.call_after(seconds, self._engine.wake)
        return seconds == 0

    # The requests of origins: which may go, and what the others wait for.

    def push(self, slot: SlotRequests, request: Request) -> None:
        """Store *request*. Raises what `StoredQueue.push` raises."""
        origins = slot.origins
        state = self.judge.state_to_ask(request) if self.judge is not None else None
        requests = origins.get(state)
        if requests is None:
            stored = slot.storage.queue(slot.key, state.origin if state is not None else None)
            requests = origins[state] = OriginRequests(slot, state, stored)
        is_first = not requests
        if is_first and state is not None:
            self._events.met.send(state.origin.host)
        try:
            requests.push(slot.storage.rank(request), request)
        except BaseException:
            if not requests:
                self._remove_origin(requests)
            raise
        if is_first:
            self._settle(requests, request)

    def pop(self, slot: SlotRequests) -> Request | None:
        """Remove and return the first request of *slot* that may go, or None.

        None although there was one: it waits again, as its robots.txt has expired, or it cannot be read.
        """
        requests, request = slot.turns.first(), None
        if requests is None:
            return None
        if self._needs_robots(requests):
            self._settle(requests)
        else:
            request = requests.pop()
        if not requests:
            self._remove_origin(requests)
        return request

    def resume(self, slot: SlotRequests, origin: Origin | None, stored: StoredQueue) -> None:
        """Go on with the requests of *origin* that an earlier crawl left in *slot*."""
        state = None
        if origin is not None:
            state = self.judge.registry.origins.of(origin) if self.judge is not None else OriginState(origin)
        requests = slot.origins[state] = OriginRequests(slot, state, stored)
        self._settle(requests)

    def sort(self, slot: SlotRequests) -> None:
        """Move those of the unsorted requests of *slot* to their origins that rank before all others."""
        while slot.unsorted:
            others = min((requests.rank for requests in slot.origins.values() if requests), default=None)
            if others is not None and others <= slot.unsorted.first:
                return
            try:
                self.push(slot, slot.unsorted.pop())
            except UnreadableError as error:
                slot.lose(error)
            except Exception as error:  # noqa: BLE001  # it is in no queue any more, and must not be counted
                slot.lose(UnreadableError(1, error))

    def admit(self, requests: OriginRequests) -> None:
        """Let *requests* stop waiting: robots.txt has been fetched."""
        requests.admitted_at, requests.is_admitted = clock.monotonic(), True
        self._settle(requests)

    def _settle(self, requests: OriginRequests, request: Request | None = None) -> None:
        """Let *requests* go or wait, whichever applies now; *request* is one of them, which saves reading one."""
        if self.prefetcher is not None and self._needs_robots(requests):
            requests.slot.turns.discard(requests)
            self.prefetcher.add(requests)
            return
        robots, delays = requests.state.robots if requests.state is not None else None, self.crawl_delay
        if (robots is not None and delays is not None) and (robots.may_request_delays or delays.states.delayed):
            request = request or requests.peek()
            if request is None:
                self._remove_origin(requests)
                return
            delays.prepare_known(request)
        requests.enqueue()
        if requests.slot not in requests.slot.ready:
            self.update(requests.slot.state)

    def _needs_robots(self, requests: OriginRequests) -> bool:
        """Whether *requests* wait until their robots.txt has been fetched."""
        state = requests.state
        if state is None or self.judge is None or requests.is_admitted or state.is_known:
            return False
        return clock.monotonic() >= requests.admitted_at + _GRACE

    def _remove_origin(self, requests: OriginRequests) -> None:
        """Remove an origin that has no requests left; the last one stays until the download slot is forgotten."""
        slot = requests.slot
        if slot.unsorted or len(slot.origins) > 1:
            if slot.origins.get(requests.state) is requests:
                del slot.origins[requests.state]
            self.sort(slot)

    # Download slots: which could start a request.

    def update(self, state: SlotState) -> None:
        """Find out what a download slot waits for now.

        One that becomes ready wakes the engine, which otherwise asks its scheduler only when a request ends.
        """
        if not state.size:
            self._rest(state)
            return
        startable = [slot for slot in state.queued if slot.turns.first() is not None]
        seconds = self._seconds_to_start(state) if startable else None
        if startable and seconds != 0 and not self._sees_departures:
            self._see_departures()
            seconds = self._seconds_to_start(state)
        for slot in state.queued:
            if seconds != 0 or slot not in startable:
                slot.ready.discard(slot)
            elif slot.ready.add(slot, len(state.handed_out)):
                self._engine.wake()
        if seconds:
            self._waits.begin(state, self)
            self._update_after(state, seconds)
        elif self._waits.now:
            self._waits.end(state, self)

    def _rest(self, state: SlotState) -> None:
        """No request waits here for a download slot; one of another scheduler may."""
        if self._serves_another:
            self._engine.wake()
            return
        if self._waits.now:
            self._waits.end(state, self)
        for slot in state.queued:
            slot.ready.discard(slot)

    def remove(self, slot: SlotRequests) -> None:
        """Forget a download slot in one queue, which has no requests for it."""
        slot.state.queued.remove(slot)
        self.update(slot.state)

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

    def check_last(self) -> None:
        """Treat the request that was handed out last as ended if it never reached the downloader.

        To be called before the next request is taken. The engine passes each request to the downloader before it
        asks for the next one, but a scheduler of the project may have dropped it, and nothing signals that.
        """
        last, self.last = self.last, None
        if last is not None and last in self._handed_out and not self.download_slots.has(last):
            self._request_ended(last)

    def hand_out(self, request: Request, state: SlotState) -> None:
        """Count *request*, which goes to the downloader, in its download slot.

        One that robots.txt forbids does not count: the gate drops it, so it neither starts nor uses the delay.
        """
        if self.judge is not None and state.floor and self.judge.forbids(request):
            return
        self.last = request
        self._handed_out[request] = state.key
        state.handed_out.add(request)
        self.update(state)

    def _seconds_to_start(self, state: SlotState) -> float | None:
        if not self.states.delayed:
            return self.download_slots.seconds_to_start(state.key, state.handed_out)
        return self.states.seconds_to_start(state)

    def _see_departures(self) -> None:
        """Listen to requests that leave their download slot, once one of them can start no more: each costs it."""
        self._sees_departures = True
        self._signals.connect(self._left_slot, signal=signals.request_left_downloader)
        for state in map(self.states.of, set(self._handed_out.values())):
            state.handed_out -= {each for each in state.handed_out if self.download_slots.has_left(each)}

    def _left_slot(self, request: Request) -> None:
        """A response has left its download slot, and middlewares may hold it for long."""
        state = self.states.by_key.get(self._handed_out.get(request, ""))
        if state is not None:
            state.handed_out.discard(request)
            if state.size:
                self.update(state)

    def _request_ended(self, request: Request) -> None:
        """A request has left the downloader; requests of pipelines and for robots.txt come from no queue."""
        key = self._handed_out.pop(request, None)
        state = self.states.by_key.get(self.download_slots.key(request) if key is None else key)
        if state is not None:
            state.handed_out.discard(request)
            if state.size or self.states.delayed:
                self.update(state)

    def _has_enough_ready(self) -> bool:
        return sum(len(queue.ready) for queue in self.queues) >= self._enough_ready

    def _needs_backout(self) -> bool:
        """Whether the engine takes no request, or a lazy ``start()`` waits: ``REP_MAX_WAITING`` are queued."""
        if self._is_downloader_full():
            return True
        return self.waiting >= self._max_waiting and not any(queue.ready for queue in self.queues)

    def __repr__(self) -> str:
        return f"<SlotTracker {self.states!r} handed_out={len(self._handed_out)} {self.prefetcher!r}>"
