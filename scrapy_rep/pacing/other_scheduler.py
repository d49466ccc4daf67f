"""Tells a scheduler other than Scrapy's, such as that of scrapy-redis, whether a request could start now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals

from scrapy_rep.pacing.crawl_delay import CrawlDelay
from scrapy_rep.pacing.download_slots import SLOT, choose_slot
from scrapy_rep.pacing.timer import Timer
from scrapy_rep.runtime.event_loop import CLOSING_CHECK
from scrapy_rep.runtime.scrapy_internals import Downloader, Engine
from scrapy_rep.runtime.targets import Targets

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from scrapy_rep.pacing.robots_source import RobotsSource
    from scrapy_rep.protocol import Origin


class OtherScheduler:
    """What the queue of another scheduler can ask, in one crawl."""

    def __init__(self, crawler: Crawler, robots: RobotsSource) -> None:
        self._robots = robots
        self._engine = Engine(crawler)
        self._downloader = Downloader(crawler)
        self._targets = Targets.for_crawler(crawler)
        self._crawl_delay = crawler.get_extension(CrawlDelay)
        self._timer = Timer()
        self._fetching: set[Origin] = set()
        self._is_check_due = False
        if self._crawl_delay is not None:
            self._crawl_delay.on_permit_change(lambda _: self._engine.wake())
        crawler.signals.connect(self._timer.stop, signal=signals.spider_closed)

    def can_start(self, request: Request) -> bool:
        """Whether *request* could start at once; if not, the engine is woken when that may have changed."""
        if SLOT in request.meta or not self._targets.is_plain:
            choose_slot(request, self._downloader, self._targets)
        origin = self._robots.origin_to_ask(request)
        if origin is not None:
            if not self._robots.is_cached(origin):
                self._fetch(request, origin)
                return False
            self._robots.prepare(request)
        slots = self._crawl_delay or self._downloader
        seconds = slots.seconds_to_start(self._downloader.slot_key(request), ())
        if seconds:
            self._timer.call_after(seconds, self._engine.wake)
        return seconds == 0

    def _fetch(self, request: Request, origin: Origin) -> None:
        if origin in self._fetching:
            return

        def ended() -> None:
            self._fetching.discard(origin)
            self._engine.wake()

        self._fetching.add(origin)
        self._check_later()
        self._robots.prefetch(request, ended, lambda: 1)

    def _check_later(self) -> None:
        """Check soon whether the crawl is closing, while fetches are under way: nothing signals that."""
        if not self._is_check_due:
            self._is_check_due = True
            self._timer.call_after(CLOSING_CHECK, self._check)

    def _check(self) -> None:
        self._is_check_due = False
        if self._engine.is_closing:
            self._robots.cancel_prefetches()
        elif self._fetching:
            self._check_later()
