"""The spider: it enters every site at its front page and follows every link and every sitemap."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final
from urllib.parse import urlsplit

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.spiders import SitemapSpider
from typing_extensions import Self

from .notes import GIVEN_UP, RETRIED, START, Notes
from .world import FRONT, World

_WALL_CLOCK: Final = 1e9  # seconds: later is POSIX time, earlier is the monotonic clock
_SOON: Final = 60.0  # seconds: more than any process waits for a CPU


class Soak(SitemapSpider):
    """A sitemap spider, so that ``REP_FOLLOW_SITEMAPS`` has whom to hand sitemaps to.

    It notes what `benchmarks.soak.notes` lists.
    """

    name = "soak"
    world: World
    process: int
    notes: Notes
    disobeyed = ""
    """A host whose robots.txt it ignores: the judge must find that."""

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
                self.note_page(RETRIED, request)
            return download(request)

        downloader.handlers.download_request_async = start

    def note_start(self, key: str, seen: float) -> None:
        self.notes.add(START, key, seen if seen < _WALL_CLOCK else on_monotonic_clock(seen))

    def note_page(self, what: str, request: Request) -> None:
        url = urlsplit(request.url)
        query = f"?{url.query}" if url.query else ""
        self.notes.add(what, f"{url.hostname}{url.path}{query}", time.monotonic())

    async def start(self) -> AsyncIterator[Request]:
        """Enter every other site; each leads to the one after it."""
        due = [host for host in self.world.hosts() if self.world.site(host).is_due(FRONT, self.process)]
        for number in range(0, len(due), 2):
            yield self.request(self.world.url(due[number]), then=due[number + 1] if number + 1 < len(due) else "")

    def request(self, url: str, then: str = "", **kwargs: Any) -> Request:
        if urlsplit(url).hostname == self.disobeyed:
            kwargs["meta"] = {**kwargs.get("meta", {}), "dont_obey_robotstxt": True}
        return Request(url, self.parse, errback=self.failed, cb_kwargs={"then": then}, **kwargs)

    def parse(self, response: Response, then: str = "") -> Iterator[Request]:
        if then:
            yield self.request(self.world.url(then), meta=response.meta)  # of another host, download slot included
        for link in response.css("a::attr(href)"):
            url = response.urljoin(link.get())
            if self.is_due(url):
                yield self.request(url)

    def is_due(self, url: str) -> bool:
        parts = urlsplit(url)
        site = self.world.site(parts.hostname or "")
        page = site.page(f"{parts.path}?{parts.query}" if parts.query else parts.path)
        return page is not None and site.is_due(page, self.process)

    def _parse_sitemap(self, response: Response) -> Iterator[Request]:
        """Give what a sitemap leads to an errback as well: without one, Scrapy logs a traceback per failure."""
        for request in super()._parse_sitemap(response):
            if self.is_due(request.url):
                yield request.replace(errback=self.failed)

    def failed(self, failure: Any) -> Iterator[Request]:
        """Requests of this world end in many ways; the judge counts, the log need not."""
        if not failure.check(IgnoreRequest):
            self.note_page(GIVEN_UP, failure.request)
        if then := failure.request.cb_kwargs.get("then"):
            yield self.request(self.world.url(then))


def on_monotonic_clock(seen: float) -> float:
    """The moment *seen* of the wall clock, which was just now; if that clock was turned since then, it is now.

    Not simply now: a busy machine may have interrupted the process since, and the next start would seem early.
    """
    since = time.time() - seen
    return time.monotonic() - (since if 0 <= since < _SOON else 0.0)
