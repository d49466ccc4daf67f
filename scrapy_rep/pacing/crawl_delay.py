"""Keeps every download slot to the delays that robots.txt files request.

The gate, the queue of hosts or, with Scrapy's own middleware, ``signals.robots_parsed`` pass the robots.txt in.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.httpobj import urlparse_cached

from scrapy_rep.clock import clock
from scrapy_rep.pacing import open_rate_limiter
from scrapy_rep.pacing.delay_report import DelayReport
from scrapy_rep.pacing.download_slots import SlotDelays, drop_stale_slot, pin_slot
from scrapy_rep.pacing.forecast import CrawlForecast
from scrapy_rep.pacing.limiter import LimiterSetup, Permits
from scrapy_rep.pacing.requested_delays import NO_DELAYS, Delay, RequestedDelays, requested_delays
from scrapy_rep.policy.requests import has_no_delay
from scrapy_rep.protocol import Origin, Reason
from scrapy_rep.robots.registry import Registry
from scrapy_rep.robots.stores.redis_connection import RedisConnection
from scrapy_rep.runtime.crawl import Crawl
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

# A server counts arrivals, which jitter by the noise of event loops and networks.
_MARGIN: Final = 0.01  # seconds
_MARGIN_SHARE: Final = 0.02  # of the delay, at most


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why robots.txt does not let a request start; ``wait`` is the seconds until it does, None for never."""

    reason: Reason
    line: int
    wait: float | None = None


class CrawlDelay:
    """Keeps every download slot to the largest of its own delay and those that robots.txt files request.

    ``has_delays`` is whether any download slot has such a delay, ``visit_times`` are the origins that request a
    Visit-time. ``is_busy`` is whether there is one or the other: else no request or origin needs a question.
    """

    def __init__(self, crawler: Crawler) -> None:
        """Raises ``NotConfigured`` when no setting asks for delays, `InvalidSettingError` for a bad setting."""
        self._crawl = crawl = Crawl.of(crawler)
        self._settings = settings = crawl.settings
        if not asks_robots(crawler.settings) or not (settings.crawl_delay or settings.rate_and_visit_time):
            raise NotConfigured
        from_setting(crawler.settings)
        crawl.keeps_delays = True
        self.has_delays = self.is_busy = False
        self._handlers_repeat = True
        self.visit_times: dict[Origin, RequestedDelays] = {}
        self.report = DelayReport(crawler, settings)
        self._downloader = crawl.downloader
        self._targets = crawl.targets
        self._longest = settings.crawl_delay_max if settings.crawl_delay_over_max == "cap" else inf
        self._user_delays = _user_delays(crawler)
        self._delays = SlotDelays(self._downloader, settings.memory_entries, self._joined)
        self.forecast = CrawlForecast(crawler, self._delays, self._downloader)
        self._switch_listeners: list[Callable[[], None]] = []
        self._permit_listeners: list[Callable[[str], None]] = []
        self._parsers: dict[str, RobotParser] = {}  # by host and port, of Scrapy's own middleware
        self._requested: WeakKeyDictionary[RobotParser, dict[tuple[str, ...], RequestedDelays]]
        self._requested = WeakKeyDictionary()
        crawler.signals.connect(self._spider_opened, signal=signals.spider_opened)
        crawler.signals.connect(self.report.close, signal=signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

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
        if delay and keeps_delay and self._is_skipped(self._downloader.slot_key(request), delay):
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
        key, delay = self._downloader.slot_key(request), requested.delay(clock.time())
        if requested is NO_DELAYS and key not in self._delays and not self.visit_times:
            return
        origin = Origin.from_url(self._targets.of(request))
        self._set_visit_times(origin, requested)
        self.is_busy = bool(self._delays or self.visit_times)
        if not self._is_skipped(key, delay):
            self._require(key, request, origin, delay)

    def pin_slot(self, request: Request) -> None:
        """Keep the download slot of *request*, if that has a delay, for what a middleware derives from it."""
        key = self._downloader.slot_key(request)
        if key in self._delays:
            pin_slot(request, key)

    def seconds_to_start(self, key: str, handed_out: Collection[Request] = ()) -> float | None:
        """Seconds until download slot *key* could start one more request; 0 for now, None until something changes.

        *handed_out* as for `Downloader.seconds_to_start`. A shared delay needs a permit as well.
        """
        if self.has_delays:
            self._delays.apply(key)
        seconds = self._downloader.seconds_to_start(key, handed_out)
        if seconds is None or self.permits is None or not self._delays.is_shared(key):
            return seconds
        return self.permits.seconds_to_start(self._delays.name(key), seconds)

    def name(self, key: str) -> str:
        """The one key that stands for download slot *key* and those that fetch from the same origin."""
        return self._delays.name(key)

    def floor(self, key: str) -> float:
        """Seconds that robots.txt requires between two requests of download slot *key*; 0 for none."""
        return self._delays.floor(key)

    def shared_slot(self, request: Request) -> str | None:
        """The key of the download slot of *request*, if that shares its delay with other processes."""
        key = self._downloader.slot_key(request)
        return self._delays.name(key) if self._delays.is_shared(key) else None

    async def _answered(self, robots: Robots, cause: Request) -> None:
        """Start the delay that *robots* requests now: the server has just answered the fetch for *cause*."""
        try:
            if (robots.may_request_delays or self.is_busy) and not self._is_excepted(cause):
                await self._start_delay(cause, robots.parser)
        except Exception:  # a parser back-end failed; it fails again in the gate, with the request
            logger.exception(_NO_DELAY, self._targets.name(cause))

    async def _start_delay(self, request: Request, parser: RobotParser) -> None:
        self.prepare(request, parser)
        key = self._downloader.slot_key(request)
        if key in self._delays:
            self._downloader.restart_delay(key)
        if self.permits is not None and self._delays.is_shared(key):
            await self.permits.slot(self._delays.name(key)).restart_delay()

    @cached_property
    def permits(self) -> Permits | None:
        """The permits of download slots that share their delay; None without a rate limiter."""
        crawl, settings = self._crawl, self._settings
        store = self._registry.store if self._registry is not None else None
        limiter = open_rate_limiter(store, crawl.find(RedisConnection)) if store else None
        if limiter is None:
            return None
        setup = LimiterSetup(
            limiter, crawl.engine, self._downloader, crawl.stats, self.floor,
            self._permit_changed, settings.workers, settings.crawl_delay_max,
        )  # fmt: skip
        return Permits(setup, settings.memory_entries)

    def on_switch(self, listener: Callable[[], None]) -> None:
        """Call *listener* when the first delay comes into force, and when the last one is gone."""
        self._switch_listeners.append(listener)

    def on_permit_change(self, listener: Callable[[str], None]) -> None:
        """Call *listener* with the key of a download slot whose permit came or went, or which has a new `name`."""
        self._permit_listeners.append(listener)

    def _permit_changed(self, key: str) -> None:
        for listener in self._permit_listeners:
            listener(key)

    def _joined(self, keys: Sequence[str]) -> None:
        for key in keys:
            self._permit_changed(key)

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
        settings = self._settings
        is_over = delay is not None and delay.seconds > settings.crawl_delay_max
        return (
            is_over
            and settings.crawl_delay_over_max == "skip"
            and self._crawl.has_gate
            and key not in self._user_delays
        )

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
        if delay and key in self._user_delays:
            self.report.overridden(key, self._user_delays[key], origin, delay)
            return
        is_shared = not origin.is_loopback or self._settings.shares_loopback
        source = (origin, self._crawl.product_tokens.of(request))
        if self._delays.require(key, source, self._seconds_to_keep(delay), is_shared=is_shared):
            self._crawl.stats.inc_value("rep/crawl_delay/slot_count")
        if delay:
            self.report.obeyed(origin, delay)
        self._connect()

    def _seconds_to_keep(self, delay: Delay | None) -> float:
        """The delay with its margin; with "skip", but without our gate, that is the full delay."""
        seconds = min(delay.seconds, self._longest) if delay else 0.0
        return seconds + min(_MARGIN, _MARGIN_SHARE * seconds)

    def _connect(self) -> None:
        """Listen to requests only while there are delays: it costs each request some microseconds."""
        self.is_busy = bool(self._delays or self.visit_times)
        if self.has_delays == bool(self._delays):
            return
        self.has_delays = bool(self._delays)
        switch = self._crawl.crawler.signals.connect if self.has_delays else self._crawl.crawler.signals.disconnect
        switch(self._reached_downloader, signal=signals.request_reached_downloader)
        switch(self._response_downloaded, signal=signals.response_downloaded)
        for listener in self._switch_listeners:
            listener()
        self.forecast.start()
        if self._handlers_repeat:
            self._handlers_repeat = False
            self._downloader.end_repeats(lambda request: self._downloader.slot_key(request) in self._delays)

    def _reached_downloader(self, request: Request) -> None:
        """Apply the delay when the download slot exists and the request is not yet in its queue."""
        url, key = urlparse_cached(request), self._downloader.slot_key(request)
        parser = self._parsers.get(url.netloc)
        if parser is not None:
            self.prepare(request, parser)
        elif key != (url.hostname or ""):
            self.prepare_known(request)  # a middleware after the gate may have chosen the download slot
        self._delays.apply(key)

    def _response_downloaded(self, request: Request) -> None:
        """Undo what AutoThrottle, which connects earlier, does after every response: it lowers the delay."""
        self._delays.apply(self._downloader.slot_key(request))

    def _spider_opened(self) -> None:
        """Listen to our registry; without our gate, to Scrapy's own middleware."""
        if self._registry is not None:
            self._registry.answered.append(self._answered)
        robots_parsed: Any = getattr(signals, "robots_parsed", None)  # Scrapy >= 2.18
        if robots_parsed is not None and not self._crawl.has_gate:
            self._crawl.crawler.signals.connect(self._robots_parsed, signal=robots_parsed)
            self._crawl.crawler.signals.connect(self._request_scheduled, signal=signals.request_scheduled)

    def _request_scheduled(self, request: Request) -> None:
        drop_stale_slot(request, self._downloader, self._targets)

    def _robots_parsed(self, robotparser: RobotParser, request: Request) -> None:
        """Apply a robots.txt of Scrapy's own middleware, which keeps one per host and port to the end."""
        if self._delays_for(request, robotparser) is not NO_DELAYS:
            self._parsers[urlparse_cached(request).netloc] = robotparser
            self.prepare(request, robotparser)
            self._downloader.restart_delay(self._downloader.slot_key(request))

    @cached_property
    def _registry(self) -> Registry | None:
        return self._crawl.find(Registry)

    def __repr__(self) -> str:
        return f"<CrawlDelay {self._delays!r}>"


def _user_delays(crawler: Crawler) -> dict[str, float]:
    """The delays that ``DOWNLOAD_SLOTS`` gives to single download slots; they win."""
    slots = crawler.settings.getdict("DOWNLOAD_SLOTS").items()
    return {key: float(slot["delay"]) for key, slot in slots if "delay" in slot}
