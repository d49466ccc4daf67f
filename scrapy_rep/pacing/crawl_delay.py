"""Keeps every download slot to the delays that robots.txt files request, and to its back-off.

The gate, the queue of hosts or, with Scrapy's own middleware, ``signals.robots_parsed`` pass the robots.txt in.
Where several processes share a delay, a request also needs the permit of a rate limiter.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.utils.httpobj import urlparse_cached

from scrapy_rep.clock import clock
from scrapy_rep.pacing.delay_report import CrawlForecast, DelayReport
from scrapy_rep.pacing.download_slots import SlotStates
from scrapy_rep.pacing.limiter import RateLimiter
from scrapy_rep.pacing.limiters import RedisRateLimiter, SqliteRateLimiter
from scrapy_rep.pacing.outcomes import Backoffs
from scrapy_rep.pacing.permits import Permits
from scrapy_rep.pacing.requested_delays import NO_DELAYS, Delay, DelayLimits, RequestedDelays, requested_delays
from scrapy_rep.pacing.slots import SlotState
from scrapy_rep.policy.meta import drop_stale_slot, has_no_delay, pin_slot
from scrapy_rep.protocol import Origin, Reason
from scrapy_rep.robots.registry import Registry
from scrapy_rep.robots.request import is_robots_txt
from scrapy_rep.robots.stores.redis_connection import RedisConnection
from scrapy_rep.robots.stores.sqlite import SqliteStore
from scrapy_rep.runtime.crawl import Crawl
from scrapy_rep.runtime.event_loop import pause, start
from scrapy_rep.runtime.product_tokens import from_setting
from scrapy_rep.settings import asks_robots

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.robotstxt import RobotParser
    from typing_extensions import Self

    from scrapy_rep.robots.robots import Robots

logger = logging.getLogger(__name__)

_NO_DELAY: Final = "The parser back-end failed: the delay that robots.txt asks for %s is unknown."

_MAX_TOKENS: Final = 16  # sets of product tokens per robots.txt; bounds a crawl that keeps changing its name

_SENT_BACK: Final = "rep_sent_back"  # meta key: the crawl that was closing when it rescheduled the request

# A server counts arrivals, which jitter by the noise of event loops and networks.
_MARGIN: Final = 0.01  # seconds
_MARGIN_SHARE: Final = 0.02  # of the delay, at most

_FULL_CHECK: Final = 0.05  # seconds between two checks of a full download slot


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why robots.txt does not let a request start; ``wait`` is the seconds until it does, None for never."""

    reason: Reason
    line: int
    wait: float | None = None


class CrawlDelay:
    """Keeps every download slot to the largest of its own delay, of its back-off and of what robots.txt requests.

    ``states`` are the download slots, ``has_delays`` is whether any of them has such a delay, ``visit_times`` are
    the origins that request a Visit-time; ``backoffs`` is None without ``REP_BACKOFF``. ``switched`` are called
    when the first delay comes into force, and when the last is gone.
    """

    def __init__(self, crawler: Crawler) -> None:
        """Raises ``NotConfigured`` when no setting asks for delays, `InvalidSettingError` for a bad setting."""
        self._crawl = crawl = Crawl.of(crawler)
        self._settings = settings = crawl.settings
        crawl.keeps_delays = asks_robots(crawler.settings) and (
            settings.crawl_delay or settings.rate_and_visit_time
        )
        if not (crawl.keeps_delays or settings.backoff):
            raise NotConfigured
        from_setting(crawler.settings)
        self.has_delays = False
        self._handlers_repeat = True
        self.visit_times: dict[Origin, RequestedDelays] = {}
        self.report = DelayReport(crawl)
        self._download_slots = crawl.download_slots
        self._targets = crawl.targets
        self._limits = DelayLimits.of(settings, crawler.settings)
        self.states = SlotStates(self._download_slots, settings.memory_entries)
        self.states.kept = self._connect
        self.forecast = CrawlForecast(crawl, self.states)
        self.backoffs = Backoffs(crawl, self.states, self._limiter) if settings.backoff else None
        if self.backoffs is not None:
            self.backoffs.asked.append(self.report.asked_to_slow_down)
        self.switched: list[Callable[[], None]] = []
        self._parsers: dict[str, RobotParser] = {}  # by host and port, of Scrapy's own middleware
        self._requested: WeakKeyDictionary[RobotParser, dict[tuple[str, ...], RequestedDelays]]
        self._requested = WeakKeyDictionary()
        crawler.signals.connect(self._spider_opened, signal=signals.spider_opened)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    @property
    def is_busy(self) -> bool:
        """Whether there is a delay or a Visit-time: else no request or origin needs a question."""
        return bool(self.states.delayed or self.visit_times)

    def prepare_known(self, request: Request) -> None:
        """Apply the delay of the robots.txt in memory to the download slot of *request*. Never raises."""
        try:
            if self._registry is not None and not self._is_excepted(request):
                robots = self._registry.current(self._targets.of(request))
                if robots is not None:
                    self.prepare(request, robots.parser)
        except Exception:  # a parser back-end failed; it fails again in the gate, with the request
            logger.exception(_NO_DELAY, self._targets.name(request))

    def _is_excepted(self, request: Request) -> bool:
        """Whether delays do not apply to *request*."""
        return self._registry is not None and has_no_delay(request, self._registry.policy, self._targets)

    def prepare(self, request: Request, parser: RobotParser) -> None:
        """Apply the delay that *parser* requests to the download slot of *request*."""
        self._apply(request, self._delays_for(request, parser))

    def refusal(self, request: Request, parser: RobotParser, excepted: Collection[Reason] = ()) -> Refusal | None:
        """As `prepare`; return why *request* must not start, or not yet. *excepted* reasons do not apply."""
        requested = self._delays_for(request, parser)
        keeps_delay = Reason.CRAWL_DELAY not in excepted
        if keeps_delay:
            self._apply(request, requested)
        if requested is NO_DELAYS:
            return None
        now = clock.time()
        delay, visit = requested.delay(now), requested.next_visit_time(now)
        if delay and keeps_delay and self._is_skipped(self._download_slots.key(request), delay):
            self.report.skipped(Origin.from_url(self._targets.of(request)), delay)
            return Refusal(Reason.CRAWL_DELAY, delay.line)
        if visit and Reason.VISIT_TIME not in excepted:
            return Refusal(Reason.VISIT_TIME, visit.line, visit.window.opens_in(now))
        return None

    def lifted(self, request: Request, parser: RobotParser, excepted: Collection[Reason]) -> Reason | None:
        """Which of the *excepted* reasons *parser* would delay *request* for now, or None."""
        requested, now = self._delays_for(request, parser), clock.time()
        if Reason.CRAWL_DELAY in excepted and requested.delay(now):
            return Reason.CRAWL_DELAY
        return Reason.VISIT_TIME if Reason.VISIT_TIME in excepted and requested.next_visit_time(now) else None

    def _apply(self, request: Request, requested: RequestedDelays) -> None:
        if requested is NO_DELAYS and not self.is_busy:
            return
        key, delay = self._download_slots.key(request), requested.delay(clock.time())
        if requested is NO_DELAYS and self.states.delayed_at(key) is None and not self.visit_times:
            return
        origin = Origin.from_url(self._targets.of(request))
        self._set_visit_times(origin, requested)
        if not self._is_skipped(key, delay):
            self._require(key, request, origin, delay)

    def pin_slot(self, request: Request) -> None:
        """Keep the download slot of *request*, if that has a delay, for what a middleware derives from it."""
        if self._has_delay(request):
            pin_slot(request, self._download_slots.key(request))

    def delayed_slot(self, request: Request) -> SlotState | None:
        """The download slot of *request*, if that has a floor."""
        return self.states.delayed_at(self._download_slots.key(request))

    async def _answered(self, robots: Robots, cause: Request) -> None:
        """Start the delay that *robots* requests now: the server has just answered the fetch for *cause*."""
        try:
            if (robots.may_request_delays or self.is_busy) and not self._is_excepted(cause):
                self.prepare(cause, robots.parser)
                await self._restart_delay(self._download_slots.key(cause))
        except Exception:  # a parser back-end failed; it fails again in the gate, with the request
            logger.exception(_NO_DELAY, self._targets.name(cause))

    async def _restart_delay(self, key: str) -> None:
        slot = self.states.delayed_at(key)
        if slot is not None:
            self._download_slots.restart_delay(key)
            if self.permits is not None and slot.is_shared:
                await self.permits.of(slot).restart_delay()

    @cached_property
    def permits(self) -> Permits | None:
        """The permits of download slots that share their delay; None without a rate limiter."""
        limiter = self._open_rate_limiter()
        return Permits(self._crawl, limiter, self.states.changed) if limiter is not None else None

    def _limiter(self) -> RateLimiter | None:
        return self.permits.limiter if self.permits is not None else None

    def _open_rate_limiter(self) -> RateLimiter | None:
        """The rate limiter in Redis, else the one in the SQLite file of the store, else None."""
        store = self._registry.store if self._registry is not None else None
        redis = self._crawl.find(RedisConnection)
        worker = f"{os.getpid()}-{uuid4().hex}"
        if store is not None and redis is not None:
            return RedisRateLimiter(redis, worker)
        connection = store.connection if isinstance(store, SqliteStore) else None
        return SqliteRateLimiter(connection, worker) if connection is not None else None

    def seconds_to_visit_time(self, origin: Origin) -> float:
        """Seconds until the Visit-time of *origin*; 0 when it is open, or too far away to wait for."""
        requested, now = self.visit_times.get(origin), clock.time()
        visit = requested.next_visit_time(now) if requested else None
        seconds = visit.window.opens_in(now) if visit else 0.0
        return seconds if seconds <= self._settings.crawl_delay_max else 0.0

    def _set_visit_times(self, origin: Origin, requested: RequestedDelays) -> None:
        self.visit_times.pop(origin, None)
        if requested.visit_times:
            if len(self.visit_times) >= self._settings.memory_entries:
                self.visit_times.clear()
            self.visit_times[origin] = requested

    def _is_skipped(self, key: str, delay: Delay | None) -> bool:
        """Whether *delay* is so long that the pages are forbidden; only our gate can drop a request."""
        return delay is not None and self._crawl.has_gate and self._limits.forbids(key, delay)

    def _delays_for(self, request: Request, parser: RobotParser) -> RequestedDelays:
        """What *parser* requests of the crawler that *request* names; computed once per name."""
        tokens = self._crawl.product_tokens.of(request)
        by_tokens = self._requested.setdefault(parser, {})
        if tokens not in by_tokens:
            if len(by_tokens) >= _MAX_TOKENS:
                by_tokens.clear()
            settings = self._settings
            by_tokens[tokens] = requested_delays(
                parser, tokens, crawl_delay=settings.crawl_delay, times=settings.rate_and_visit_time
            )
        return by_tokens[tokens]

    def _require(self, key: str, request: Request, origin: Origin, delay: Delay | None) -> None:
        if delay and key in self._limits.own:
            self.report.overridden(key, self._limits.own[key], origin, delay)
            return
        is_shared = self._settings.shares(origin)
        source = (origin, self._crawl.product_tokens.of(request))
        if self.states.require(key, source, self._seconds_to_keep(delay), is_shared=is_shared):
            self._crawl.stats.inc_value("rep/crawl_delay/slot_count")
        if delay:
            self.report.obeyed(origin, delay)

    def _seconds_to_keep(self, delay: Delay | None) -> float:
        """The delay with its margin; with "skip", but without our gate, that is the full delay."""
        seconds = self._limits.kept(delay) if delay else 0.0
        return seconds + min(_MARGIN, _MARGIN_SHARE * seconds)

    def _connect(self) -> None:
        """Listen to requests only while there are delays: it costs each request some microseconds."""
        if self.has_delays == bool(self.states.delayed):
            return
        self.has_delays = bool(self.states.delayed)
        switch = self._crawl.crawler.signals.connect if self.has_delays else self._crawl.crawler.signals.disconnect
        switch(self._reached_downloader, signal=signals.request_reached_downloader)
        switch(self._response_downloaded, signal=signals.response_downloaded)
        self.states.permits = self.permits
        for listener in self.switched:
            listener()
        self.forecast.start()
        if self._handlers_repeat:
            self._handlers_repeat = False
            self._crawl.downloader.end_repeats(self._has_delay)

    def _has_delay(self, request: Request) -> bool:
        return self.states.delayed_at(self._download_slots.key(request)) is not None

    def _reached_downloader(self, request: Request) -> None:
        """Apply the delay when the download slot exists and the request is not yet in its queue."""
        url, key = urlparse_cached(request), self._download_slots.key(request)
        parser = self._parsers.get(url.netloc)
        if parser is not None:
            self.prepare(request, parser)
        elif key != (url.hostname or ""):
            self.prepare_known(request)  # a middleware after the gate may have chosen the download slot
        self.states.apply(key)

    def _response_downloaded(self, request: Request) -> None:
        """Undo what AutoThrottle, which connects earlier, does after every response: it lowers the delay."""
        self.states.apply(self._download_slots.key(request))

    def _spider_opened(self) -> None:
        """Listen to our registry; without our gate, to Scrapy's own middleware."""
        if self._registry is not None:
            self._registry.answered.append(self._answered)
        robots_parsed: Any = getattr(signals, "robots_parsed", None)  # Scrapy >= 2.18
        if robots_parsed is not None and not self._crawl.has_gate:
            self._crawl.crawler.signals.connect(self._robots_parsed, signal=robots_parsed)
            self._crawl.crawler.signals.connect(self._request_scheduled, signal=signals.request_scheduled)

    def _request_scheduled(self, request: Request) -> None:
        drop_stale_slot(request, self._download_slots, self._targets)

    def _robots_parsed(self, robotparser: RobotParser, request: Request) -> None:
        """Apply a robots.txt of Scrapy's own middleware, which keeps one per host and port to the end."""
        if self._delays_for(request, robotparser) is not NO_DELAYS:
            self._parsers[urlparse_cached(request).netloc] = robotparser
            self.prepare(request, robotparser)
            self._download_slots.restart_delay(self._download_slots.key(request))

    @cached_property
    def _registry(self) -> Registry | None:
        return self._crawl.find(Registry)

    def __repr__(self) -> str:
        return f"<CrawlDelay {self.states!r}>"


class RateLimiterMiddleware:
    """The last downloader middleware: a request waits here for its back-off and its permit.

    After it, nothing delays a request or answers it in the server's place, so a permit is used exactly when the
    request starts. A request of the queue of hosts has waited there; one from elsewhere waits here, where it ends
    when the crawl closes and takes no place of a request for another host.
    """

    def __init__(self, crawler: Crawler) -> None:
        """Raises ``NotConfigured`` when there is no back-off and no delay is shared."""
        crawl_delay = crawler.get_extension(CrawlDelay)
        if crawl_delay is None or (crawl_delay.permits is None and crawl_delay.backoffs is None):
            raise NotConfigured
        self._crawl_delay = crawl_delay
        self._permits = crawl_delay.permits
        self._crawl = uuid4().hex
        self._held: set[SlotState] = set()
        crawl = Crawl.of(crawler)
        self._engine, self._downloader, self._download_slots = crawl.engine, crawl.downloader, crawl.download_slots
        crawl_delay.switched.append(self._switch)
        if crawl_delay.backoffs is not None:
            crawl_delay.backoffs.held.append(self._hold_inside)
        crawler.signals.connect(self._switch, signal=signals.spider_opened)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def _switch(self) -> None:
        """See requests only while there is a delay: a middleware costs each of them."""
        self._downloader.set_method(self.process_request, is_on=self._crawl_delay.has_delays)

    async def process_request(self, request: Request) -> Request | None:
        """Wait for the site, and for a permit; return *request* to the scheduler when the crawl closes."""
        slot = self._crawl_delay.delayed_slot(request)
        if slot is None:
            return None
        is_first = is_robots_txt(request)
        may_start = await self._wait_for_site(slot) and await self._wait_for_permit(slot, is_first=is_first)
        return None if may_start else self._reschedule(request)

    async def _wait_for_permit(self, slot: SlotState, *, is_first: bool) -> bool:
        if self._permits is None or not slot.is_shared or self._permits.of(slot).use():
            return True
        began = clock.monotonic()
        has_permit = await self._permits.of(slot).wait(first=is_first)
        self._crawl_delay.report.waited_seconds += clock.monotonic() - began
        return has_permit

    async def _wait_for_site(self, slot: SlotState) -> bool:
        """Wait while a back-off keeps *slot* from starting a request; False when the crawl closes."""
        if self._seconds_to_wait(slot) == 0:
            return True
        with self._lent_places(1):
            while (seconds := self._seconds_to_wait(slot)) != 0:
                if not await pause(self._engine, seconds or _FULL_CHECK):
                    return False
        return True

    @contextmanager
    def _lent_places(self, count: int) -> Iterator[None]:
        with self._downloader.lent_places(count if self._crawl_delay.states.has_queue else 0):
            self._engine.wake()
            yield

    def _hold_inside(self, slot: SlotState) -> None:
        """Let what waits inside *slot* take no place either, and end when the crawl closes.

        It came before the site asked, past the queue of hosts; what comes later waits in `process_request`.
        """
        if slot not in self._held and (count := len(self._download_slots.queued(slot.key))):
            start(self._wait_inside(slot, count))

    async def _wait_inside(self, slot: SlotState, count: int) -> None:
        self._held.add(slot)
        with self._lent_places(count):
            while slot.backoff is not None and (seconds := slot.backoff.seconds_left()) > 0:
                if not await pause(self._engine, seconds):
                    self._download_slots.give_back(slot.key, self._reschedule)
                    break
        self._held.discard(slot)

    def _seconds_to_wait(self, slot: SlotState) -> float | None:
        """Seconds for which a back-off keeps *slot* from starting a request; None until one has ended."""
        has_floor = slot.backoff is not None and slot.backoff.floor > 0
        return self._download_slots.seconds_to_start(slot.key, ()) if has_floor else 0.0

    def _reschedule(self, request: Request) -> Request:
        """Return *request* for the scheduler, where a ``JOBDIR`` or a shared queue keeps it.

        Once per request: code that calls ``engine.download_async`` gets it as the result, and may call again. A
        robots.txt is no longer needed.
        """
        if is_robots_txt(request) or request.meta.get(_SENT_BACK) == self._crawl:
            raise IgnoreRequest("the crawl is closing")
        return request.replace(dont_filter=True, meta={**request.meta, _SENT_BACK: self._crawl})

    def __repr__(self) -> str:
        return f"<RateLimiterMiddleware {self._permits!r}>"
