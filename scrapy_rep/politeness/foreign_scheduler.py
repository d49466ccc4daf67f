"""For a scheduler that is not Scrapy's: whether a request of its queue could start at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals

from scrapy_rep.crawl.event_loop import CLOSING_CHECK
from scrapy_rep.crawl.scrapy_internals import Downloader, Engine

from .alarm import Alarm
from .crawl_delay import CrawlDelay
from .start_times import StartTimes

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from scrapy_rep.protocol import Origin

    from .robots_source import RobotsSource


class ForeignScheduler:
    """What its queue may ask, in one crawl."""

    def __init__(self, crawler: Crawler, robots: RobotsSource) -> None:
        self._robots = robots
        self._engine = Engine(crawler)
        self._downloader = Downloader(crawler)
        self._times = StartTimes(crawler, self._downloader)
        self._alarm = Alarm()
        self._fetching: set[Origin] = set()
        self._is_watching = False
        crawl_delay = crawler.get_extension(CrawlDelay)
        if crawl_delay is not None:
            crawl_delay.call_with_turns(lambda _: self._engine.wake())
        crawler.signals.connect(self._alarm.stop, signal=signals.spider_closed)

    def can_start(self, request: Request) -> bool:
        """Whether *request* could start at once; if not, the engine is woken when that may have changed."""
        origin = self._robots.origin_to_ask(request)
        if origin is not None:
            if not self._robots.is_in_hand(origin):
                self._fetch(request, origin)
                return False
            self._robots.prepare(request)
        seconds = self._times.seconds_to_start(self._downloader.slot_key(request), ())
        if seconds:
            self._alarm.after(seconds, self._engine.wake)
        return seconds == 0

    def _fetch(self, request: Request, origin: Origin) -> None:
        if origin in self._fetching:
            return

        def ended() -> None:
            self._fetching.discard(origin)
            self._engine.wake()

        self._fetching.add(origin)
        self._watch()
        self._robots.prefetch(request, ended, lambda: 1)

    def _watch(self) -> None:
        """While fetches are under way, look now and then whether the crawl is closing."""
        if not self._is_watching:
            self._is_watching = True
            self._alarm.after(CLOSING_CHECK, self._check)

    def _check(self) -> None:
        self._is_watching = False
        if self._engine.is_closing:
            self._robots.cancel_prefetches()
        elif self._fetching:
            self._watch()
