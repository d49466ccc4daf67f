"""Applies the delays that a site's robots.txt requests, and its back-off.

The gate, the host queue or, with Scrapy's own middleware, ``signals.robots_parsed`` pass a robots.txt in. Its
delay is recorded with the site, and becomes the delay of the download slot, where waiting costs nothing. The
`Door` sends no request before its time.
"""

from __future__ import annotations

import logging
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final
from warnings import warn
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.exceptions import NotConfigured, ScrapyDeprecationWarning
from scrapy.utils.httpobj import urlparse_cached

from scrapy_rep.clock import clock
from scrapy_rep.crawl.pacing.delay_report import CrawlForecast, DelayReport
from scrapy_rep.crawl.pacing.door import Door
from scrapy_rep.crawl.pacing.requested_delays import DelayLimits, RequestedDelay, requested_delay
from scrapy_rep.crawl.pacing.slots import Slots
from scrapy_rep.crawl.policy.meta import drop_stale_slot, pin_slot
from scrapy_rep.crawl.policy.policy import Judge
from scrapy_rep.crawl.runtime.crawl import Crawl
from scrapy_rep.crawl.runtime.product_tokens import from_setting
from scrapy_rep.protocol import Origin
from scrapy_rep.settings import asks_robots

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.robotstxt import RobotParser
    from typing_extensions import Self

    from scrapy_rep.crawl.pacing.slots import Site, Slot
    from scrapy_rep.crawl.robots.robots import Robots

logger = logging.getLogger(__name__)

_NO_DELAY: Final = "The parser back-end failed, so the delay for %s is unknown."

_MAX_TOKENS: Final = 16  # sets of product tokens per robots.txt; bounds a crawl that keeps changing its name


class CrawlDelay:
    """Gives every download slot the largest of its own delay, its back-off and the delays in robots.txt.

    ``records`` holds the sites and download slots; ``has_delays`` says whether any site may ask for a pause.
    """

    def __init__(self, crawler: Crawler) -> None:
        """Raises ``NotConfigured`` if no setting asks for delays, `InvalidSettingError` for a bad setting."""
        self._crawl = crawl = Crawl.of(crawler)
        self._settings = settings = crawl.settings
        crawl.keeps_delays = asks_robots(crawler.settings) and settings.crawl_delay
        if not (crawl.keeps_delays or settings.backoff):
            raise NotConfigured
        from_setting(crawler.settings)
        crawl.start_extras()
        self._events = crawl.events
        self.has_delays = False
        self._handlers_repeat = True
        self.report = DelayReport(crawl)
        self._download_slots = crawl.download_slots
        self._targets = crawl.targets
        self._limits = DelayLimits.of(settings, crawler.settings)
        self.records = crawl.part(Slots)
        self.records.kept = self._kept
        self._door = crawl.part(Door)
        self.forecast = CrawlForecast(crawl, self.records)
        self._parsers: dict[str, RobotParser] = {}  # by host and port, of Scrapy's own middleware
        self._requested: WeakKeyDictionary[RobotParser, dict[tuple[str, ...], RequestedDelay | None]]
        self._requested = WeakKeyDictionary()
        # Sites that already keep the delay of a robots.txt, by download slot key and product tokens. Nearly every
        # request finds its site here.
        self._obeyed: WeakKeyDictionary[RobotParser, dict[tuple[str, tuple[str, ...]], Site]] = WeakKeyDictionary()
        crawl.events.opened.subscribe(self._opened)
        crawl.events.delayed.subscribe(self._connect)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def prepare_known(self, request: Request) -> None:
        """Apply the delay of the robots.txt in memory to the download slot of *request*. Never raises."""
        try:
            if self._judge is not None and not self._judge.has_no_delay(request):
                robots = self._judge.registry.current(self._targets.of(request))
                if robots is not None:
                    self.prepare(request, robots.parser)
        except Exception:  # a parser back-end failed; it fails again in the gate, with the request
            logger.exception(_NO_DELAY, self._targets.name(request))

    def prepare(self, request: Request, parser: RobotParser) -> RequestedDelay | None:
        """Apply the delay that *parser* requests to the download slot of *request*.

        Return the delay, unapplied, if it is so long that *request* must not start.
        """
        key, tokens = self._download_slots.key(request), self._crawl.product_tokens.of(request)
        obeyed = self._obeyed.get(parser, {}).get((key, tokens))
        if obeyed is not None and self.records.by_key.get(key) in obeyed.places:
            return None
        delay = self.requested(request, parser)
        if delay is not None and self._crawl.has_gate and self._limits.forbids(key, delay):
            return delay  # without our gate, nothing would drop the request
        if delay is not None or self.records.delayed_at(key) is not None:
            site = self._require(key, request, delay)
            if delay is not None and site is not None:
                self._obeyed.setdefault(parser, {})[key, tokens] = site
        return None

    def requested(self, request: Request, parser: RobotParser) -> RequestedDelay | None:
        """Return the delay that *parser* requests of the crawler named by *request*; computed once per name."""
        if not self._settings.crawl_delay:
            return None
        tokens = self._crawl.product_tokens.of(request)
        by_tokens = self._requested.setdefault(parser, {})
        if tokens not in by_tokens:
            if len(by_tokens) >= _MAX_TOKENS:
                by_tokens.clear()
            by_tokens[tokens] = requested_delay(parser, tokens)
        return by_tokens[tokens]

    def pin_slot(self, request: Request) -> None:
        """Pin the download slot of *request*, if it has a delay, for requests that middlewares derive from it."""
        if self._has_delay(request):
            pin_slot(request, self._download_slots.key(request))

    def site(self, request: Request) -> Site | None:
        """Return the site of *request* if the site asks for a pause, else None."""
        if not self.has_delays:
            return None
        name = self._targets.site(request)
        if self._events.met.subscribers:
            self._events.met.send(name)
        site = self.records.sites.get(name)
        return site if site is not None and site.floor else None

    async def _answered(self, robots: Robots, cause: Request) -> None:
        """Start the delay that *robots* requests: the server has just answered the fetch for *cause*."""
        try:
            is_excepted = self._judge is not None and self._judge.has_no_delay(cause)
            if (robots.may_request_delays or self.records.delayed) and not is_excepted:
                self.prepare(cause, robots.parser)
                site = self._restart_delay(cause)
                if site is not None and site.is_shared:
                    await self._events.restarted.send_async(site)
        except Exception:  # a parser back-end failed; it fails again in the gate, with the request
            logger.exception(_NO_DELAY, self._targets.name(cause))

    def _restart_delay(self, cause: Request) -> Site | None:
        """Count the delay of the site of *cause* from now: it has just answered a request for its robots.txt."""
        site = self.site(cause)
        if site is not None:
            site.start(clock.monotonic())
            self._download_slots.restart_delay(self._download_slots.key(cause))
        return site

    def _require(self, key: str, request: Request, delay: RequestedDelay | None) -> Site | None:
        origin = Origin.from_url(self._targets.of(request))
        if delay and key in self._limits.own:
            self.report.overridden(key, self._limits.own[key], origin, delay)
            return None
        is_shared = self._settings.shares(origin)
        source = (origin, self._crawl.product_tokens.of(request))
        if self.records.require(key, source, self._limits.kept(delay) if delay else 0.0, is_shared=is_shared):
            self._crawl.stats.inc_value("rep/crawl_delay/slot_count")
        if delay:
            self.report.obeyed(origin, delay)
        return self.records.sites.get(origin.host)

    def _kept(self, slot: Slot) -> None:
        """Make requests that are already in *slot* wait like requests that arrive later."""
        self._connect()
        for request, _ in self._download_slots.queued(slot.key) if slot.floor else ():
            self._door.reached(request, slot)

    def _connect(self) -> None:
        """Watch requests only while there are delays: it costs each request some microseconds."""
        has_delays = bool(self.records.delayed or self._events.met)
        if self.has_delays == has_delays:
            return
        self.has_delays, self._door.site = has_delays, self.site if has_delays else None
        switch = self._crawl.crawler.signals.connect if has_delays else self._crawl.crawler.signals.disconnect
        switch(self._reached_downloader, signal=signals.request_reached_downloader)
        switch(self._response_downloaded, signal=signals.response_downloaded)
        self.forecast.start()
        if self._handlers_repeat:
            self._handlers_repeat = False
            self._events.delays.subscribe(self._has_delay)
            self._crawl.downloader.end_repeats()

    def _has_delay(self, request: Request) -> bool:
        return self.records.delayed_at(self._download_slots.key(request)) is not None

    def _reached_downloader(self, request: Request) -> None:
        """Apply the delay when the download slot exists and the request is not yet in its queue."""
        url, key = urlparse_cached(request), self._download_slots.key(request)
        parser = self._parsers.get(url.netloc)
        if parser is not None:
            self.prepare(request, parser)
        elif key != (url.hostname or ""):
            self.prepare_known(request)  # a middleware after the gate may have chosen the download slot
        is_usual = self._targets.is_plain and key == url.hostname
        name = key if is_usual else self._targets.site(request)
        if self._events.met.subscribers:
            self._events.met.send(name)
        slot = self.records.place(key, name)
        if slot is not None:
            self.records.keep_applied(slot)
            self._door.reached(request, slot)

    def _response_downloaded(self, request: Request) -> None:
        """Restore the delay, which AutoThrottle, connected earlier, lowers after every response."""
        slot = self.records.delayed_at(self._download_slots.key(request))
        if slot is not None:
            self.records.keep_applied(slot)

    def _opened(self) -> None:
        """Subscribe to our registry or, without our gate, to Scrapy's own middleware."""
        if self._judge is not None:
            self._events.answered.subscribe(self._answered)
        robots_parsed: Any = getattr(signals, "robots_parsed", None)  # Scrapy >= 2.18
        if robots_parsed is not None and not self._crawl.has_gate:
            self._crawl.crawler.signals.connect(self._robots_parsed, signal=robots_parsed)
            self._crawl.crawler.signals.connect(self._request_scheduled, signal=signals.request_scheduled)

    def _request_scheduled(self, request: Request) -> None:
        drop_stale_slot(request, self._download_slots, self._targets)

    def _robots_parsed(self, robotparser: RobotParser, request: Request) -> None:
        """Apply a robots.txt of Scrapy's own middleware, which keeps its parser for the whole crawl."""
        if self.requested(request, robotparser) is not None:
            self._parsers[urlparse_cached(request).netloc] = robotparser
            self.prepare(request, robotparser)
            self._restart_delay(request)

    @cached_property
    def _judge(self) -> Judge | None:
        return self._crawl.find(Judge)

    def __repr__(self) -> str:
        return f"<CrawlDelay {self.records!r}>"


class RateLimiterMiddleware:
    """Deprecated: does nothing. Requests wait at the `Door`."""

    def __init__(self, crawler: Crawler) -> None:  # noqa: ARG002
        """Raises ``NotConfigured``."""
        text = "scrapy_rep.RateLimiterMiddleware does nothing: remove it from DOWNLOADER_MIDDLEWARES"
        warn(text, ScrapyDeprecationWarning, stacklevel=2)
        raise NotConfigured

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)
