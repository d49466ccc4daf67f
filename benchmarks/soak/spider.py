"""The spider: it enters every site at its front page and follows every link and every sitemap."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final
from urllib.parse import urlsplit

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.spiders import SitemapSpider
from typing_extensions import Self

from .notes import PARSED, RETRIED, START, Notes
from .world import LIST, World

_WALL_CLOCK: Final = 1e9  # seconds: later is POSIX time, earlier is the monotonic clock
_SOON: Final = 60.0  # seconds: more than any process waits for a CPU


class Soak(SitemapSpider):
    """A sitemap spider, so that ``REP_FOLLOW_SITEMAPS`` has whom to hand sitemaps to.

    It notes what `benchmarks.soak.notes` lists.
    """

    name = "soak"
    world: World
    notes: Notes

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.opened, signal=signals.spider_opened)
        return spider

    def opened(self) -> None:
        """Have noted when the downloader decides to start which request, by the clock of its download slots."""
        downloader: Any = self.crawler.engine.downloader
        download = downloader.handlers.download_request_async
        paced = {host for host in self.world.hosts() if self.world.site(host).delay}

        def start(request: Request) -> Any:
            key = request.meta["download_slot"]
            if key in paced:
                self.note_start(key, downloader.slots[key].lastseen)
            if "retry_times" in request.meta:
                self.note_retry(request)
            return download(request)

        downloader.handlers.download_request_async = start

    def note_start(self, key: str, seen: float) -> None:
        self.notes.add(START, key, seen if seen < _WALL_CLOCK else on_monotonic_clock(seen))

    def note_retry(self, request: Request) -> None:
        url = urlsplit(request.url)
        query = f"?{url.query}" if url.query else ""
        self.notes.add(RETRIED, f"{url.hostname}{url.path}{query}", time.monotonic())

    async def start(self) -> AsyncIterator[Request]:
        for host in self.world.hosts():
            yield Request(self.world.url(host), self.parse, errback=self.failed)

    def parse(self, response: Response) -> Iterator[Request]:
        for link in response.css("a::attr(href)"):
            yield Request(response.urljoin(link.get()), self.parse, errback=self.failed)
        host, path = urlsplit(response.url).hostname or "", urlsplit(response.url).path
        page = self.world.site(host).page(path)
        if page is not None and page.part == LIST:
            self.notes.add(PARSED, f"{host}/{page.number}", time.monotonic())

    def _parse_sitemap(self, response: Response) -> Iterator[Request]:
        """Give what a sitemap leads to an errback as well: without one, Scrapy logs a traceback per failure."""
        for request in super()._parse_sitemap(response):
            yield request.replace(errback=self.failed)

    def failed(self, _: object) -> None:
        """Requests of this world end in many ways; the judge counts, the log need not."""


def on_monotonic_clock(seen: float) -> float:
    """The moment *seen* of the wall clock, which was just now; if that clock was turned since then, it is now.

    Not simply now: a busy machine may have interrupted the process since, and the next start would seem early.
    """
    since = time.time() - seen
    return time.monotonic() - (since if 0 <= since < _SOON else 0.0)
