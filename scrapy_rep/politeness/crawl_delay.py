"""Keeps every download slot to the delays that robots.txt files ask for.

Told by the gate, by the queue of hosts, or, with Scrapy's own middleware, by ``signals.robots_parsed``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import inf
from time import time
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.httpobj import urlparse_cached

from scrapy_rep.crawl.product_tokens import ProductTokens, from_setting
from scrapy_rep.crawl.scrapy_internals import Downloader, Engine
from scrapy_rep.protocol import Origin, Reason
from scrapy_rep.settings import RepSettings, asks_robots

from . import download_slot
from .delay_report import DelayReport
from .robots_source import Gate, RobotsSource
from .slot_delays import SlotDelays
from .timing import NOTHING, Delay, Timing, timing_of
from .turns import Sharing, Turns

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.robotstxt import RobotParser
    from typing_extensions import Self

_TOKENS_KEPT: Final = 16  # timings of so many tokens; a crawl under ever new names stays bounded

# The server counts arrivals, and those come with the noise of event loops and networks.
_MARGIN: Final = 0.01  # seconds
_MARGIN_SHARE: Final = 0.02  # of the delay, at the most


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why robots.txt does not let a request start: in how many seconds it does, or None for never."""

    reason: Reason
    line: int
    wait: float | None = None


class CrawlDelay:
    """Keeps every download slot to the largest of its own delay and those that robots.txt files ask for."""

    def __init__(self, crawler: Crawler) -> None:
        """Raises ``NotConfigured`` when nobody asks for delays, `InvalidSettingError` for a bad setting."""
        self._settings = settings = RepSettings.from_crawler(crawler)
        if not asks_robots(crawler.settings) or not (settings.crawl_delay or settings.rate_and_visit_time):
            raise NotConfigured
        from_setting(crawler.settings)
        self._crawler = crawler
        self._downloader = Downloader(crawler)
        self._most = settings.crawl_delay_max if settings.crawl_delay_over_max == "cap" else inf
        self._chosen = _chosen_delays(crawler)
        self._delays = SlotDelays(self._downloader, settings.memory_entries)
        self._is_holding = False
        self._listeners: list[Callable[[str], None]] = []
        self.report = DelayReport(crawler, settings)
        self._parsers: dict[str, RobotParser] = {}
        self._timings: WeakKeyDictionary[RobotParser, dict[tuple[str, ...], Timing]] = WeakKeyDictionary()
        self._visits: dict[Origin, Timing] = {}
        crawler.signals.connect(self._spider_opened, signal=signals.spider_opened)
        crawler.signals.connect(self._spider_closed, signal=signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def prepare(self, request: Request, parser: RobotParser) -> None:
        """Put the delay that *parser* asks for on the download slot of *request*."""
        self._prepare(request, self._timing(request, parser))

    def refusal(self, request: Request, parser: RobotParser) -> Refusal | None:
        """As `prepare`; and why *request* must not start, or not yet."""
        timing = self._timing(request, parser)
        self._prepare(request, timing)
        if timing is NOTHING:
            return None
        now = time()
        delay, visit = timing.delay(now), timing.next_visit(now)
        if delay and self._is_skipped(self._downloader.slot_key(request), delay):
            self.report.skipped(Origin.from_url(request.url), delay)
            return Refusal(Reason.CRAWL_DELAY, delay.line)
        return Refusal(Reason.VISIT_TIME, visit.line, visit.window.opens_in(now)) if visit else None

    def _prepare(self, request: Request, timing: Timing) -> None:
        if timing is NOTHING and not self._delays and not self._visits:
            return
        key, delay = self._downloader.slot_key(request), timing.delay(time())
        if timing is NOTHING and key not in self._delays and not self._visits:
            return
        origin = Origin.from_url(request.url)
        self._note_visits(origin, timing)
        if not self._is_skipped(key, delay):
            self._ask(key, request, origin, delay)

    def keep_slot(self, request: Request) -> None:
        """Let what a middleware makes of *request* be paced as the site that it is for."""
        if self._delays and (key := self._downloader.slot_key(request)) in self._delays:
            download_slot.keep(request, key)

    def hold(self, key: str) -> None:
        """See that the download slot has its delay before a request of it starts."""
        if self._delays:
            self._delays.hold(key)

    def floor(self, key: str) -> float:
        """The seconds that robots.txt files ask for between two requests of a download slot; 0 for nothing."""
        return self._delays.floor(key)

    def shared_slot(self, request: Request) -> str | None:
        """The download slot of *request*, if it shares its delay with other processes."""
        key = self._downloader.slot_key(request)
        return key if self._delays.is_shared(key) else None

    def is_shared(self, key: str) -> bool:
        """Whether a download slot shares its delay with other processes."""
        return self._delays.is_shared(key)

    async def robots_answered(self, request: Request, parser: RobotParser) -> None:
        """A robots.txt has just come that speaks for *request*: the delay that it asks for runs from now."""
        self.prepare(request, parser)
        key = self._downloader.slot_key(request)
        if key in self._delays:
            self._downloader.count_from_now(key)
        if self.turns is not None and self._delays.is_shared(key):
            await self.turns.of(key).mark()

    @cached_property
    def turns(self) -> Turns | None:
        """The turns at download slots that share their delay; None where there is no rate limiter."""
        source = self._source
        if source is None or source.limiter is None:
            return None
        settings = self._settings
        sharing = Sharing(
            source.limiter, Engine(self._crawler), self._downloader, self._crawler.stats, self.floor,
            self._has_turn, settings.workers, settings.crawl_delay_max,
        )  # fmt: skip
        return Turns(sharing, settings.memory_entries)

    def call_with_turns(self, has_turn: Callable[[str], None]) -> None:
        """Call *has_turn* with a download slot whose turn has come, or has to be asked for anew."""
        self._listeners.append(has_turn)

    def _has_turn(self, key: str) -> None:
        for has_turn in self._listeners:
            has_turn(key)

    def opens_in(self, origin: Origin) -> float:
        """Seconds until the Visit-time of *origin* opens; 0 when it is open, or too far away to wait for."""
        timing, now = self._visits.get(origin), time()
        visit = timing.next_visit(now) if timing else None
        seconds = visit.window.opens_in(now) if visit else 0.0
        return seconds if seconds <= self._settings.crawl_delay_max else 0.0

    def _note_visits(self, origin: Origin, timing: Timing) -> None:
        self._visits.pop(origin, None)
        if timing.visits:
            if len(self._visits) >= self._settings.memory_entries:
                self._visits.clear()
            self._visits[origin] = timing

    def _is_skipped(self, key: str, delay: Delay | None) -> bool:
        """Whether *delay* forbids the pages: our gate alone can end a request."""
        settings = self._settings
        is_over = delay is not None and delay.seconds > settings.crawl_delay_max
        return is_over and settings.crawl_delay_over_max == "skip" and self._has_gate and key not in self._chosen

    def _timing(self, request: Request, parser: RobotParser) -> Timing:
        """What *parser* asks of the crawler that *request* names; a file is read for it once."""
        tokens = self._identity.tokens(request)
        known = self._timings.setdefault(parser, {})
        if tokens not in known:
            if len(known) >= _TOKENS_KEPT:
                known.clear()
            settings = self._settings
            known[tokens] = timing_of(
                parser, tokens, crawl_delay=settings.crawl_delay, times=settings.rate_and_visit_time
            )
        return known[tokens]

    def _ask(self, key: str, request: Request, origin: Origin, delay: Delay | None) -> None:
        if delay and key in self._chosen:
            self.report.overruled(key, self._chosen[key], origin, delay)
            return
        is_shared = not origin.is_loopback or self._settings.shares_loopback
        asker = (origin, self._identity.tokens(request))
        if self._delays.ask(key, asker, self._bounded(delay), is_shared=is_shared):
            self._crawler.stats.inc_value("rep/crawl_delay/slot_count")
        if delay:
            self.report.paced(origin, delay)
        self._listen()

    def _bounded(self, delay: Delay | None) -> float:
        """Seconds to keep; "skip" without our gate means the full delay."""
        seconds = min(delay.seconds, self._most) if delay else 0.0
        return seconds + min(_MARGIN, _MARGIN_SHARE * seconds)

    def _listen(self) -> None:
        """Listen to every request while a delay is asked for, and only then: it costs each some microseconds."""
        if self._is_holding == bool(self._delays):
            return
        self._is_holding = bool(self._delays)
        switch = self._crawler.signals.connect if self._is_holding else self._crawler.signals.disconnect
        switch(self._reached_downloader, signal=signals.request_reached_downloader)
        switch(self._response_downloaded, signal=signals.response_downloaded)

    def _reached_downloader(self, request: Request) -> None:
        """The download slot exists, and the request is not yet in its queue."""
        url, key = urlparse_cached(request), self._downloader.slot_key(request)
        parser = self._parsers.get(url.netloc)
        if parser is not None:
            self.prepare(request, parser)
        elif key != url.hostname and key not in self._delays and self._source is not None:
            self._source.prepare(request)  # a middleware behind the gate may have chosen the download slot
        self.hold(key)

    def _response_downloaded(self, request: Request) -> None:
        """After AutoThrottle, which connects earlier: it lowers the delay after every response."""
        self.hold(self._downloader.slot_key(request))

    def _spider_opened(self) -> None:
        """With Scrapy's own middleware, signals tell what the gate and the queue of hosts would."""
        robots_parsed: Any = getattr(signals, "robots_parsed", None)  # Scrapy >= 2.18
        if robots_parsed is not None and not self._has_gate:
            self._crawler.signals.connect(self._robots_parsed, signal=robots_parsed)
            self._crawler.signals.connect(self._request_scheduled, signal=signals.request_scheduled)

    def _request_scheduled(self, request: Request) -> None:
        download_slot.leave_old_host(request, self._downloader)

    def _robots_parsed(self, robotparser: RobotParser, request: Request) -> None:
        """Scrapy's own middleware has a robots.txt, which it keeps for each host and port to the end."""
        if self._timing(request, robotparser) is not NOTHING:
            self._parsers[urlparse_cached(request).netloc] = robotparser
            self.prepare(request, robotparser)
            self._downloader.count_from_now(self._downloader.slot_key(request))

    @cached_property
    def _has_gate(self) -> bool:
        """Whether our middleware stands, which alone can end a request."""
        return self._crawler.get_downloader_middleware(Gate) is not None

    @cached_property
    def _source(self) -> RobotsSource | None:
        return self._crawler.get_extension(RobotsSource)  # type: ignore[type-abstract]

    @cached_property
    def _identity(self) -> ProductTokens:
        return self._source.identity if self._source is not None else ProductTokens(self._crawler)

    def _spider_closed(self) -> None:
        self.report.close()

    def __repr__(self) -> str:
        return f"<CrawlDelay {self._delays!r}>"


def _chosen_delays(crawler: Crawler) -> dict[str, float]:
    """The delays that the user gave to single download slots; they win."""
    entries = crawler.settings.getdict("DOWNLOAD_SLOTS").items()
    return {key: float(entry["delay"]) for key, entry in entries if "delay" in entry}
