"""Sitemap spiders that record their pages; ours, Scrapy's, and one that listens to the signal."""

from __future__ import annotations

from time import monotonic
from typing import Any

from scrapy import Request
from scrapy.spiders import SitemapSpider

from scrapy_rep import RepSitemapSpider
from scrapy_rep.signals import sitemaps_found
from tests.support.run_crawl import Recorder


class Records:
    """What the two kinds of sitemap spider share: every page is recorded that is not older than ``newest``."""

    sitemap_rules: Any = [("", "page")]
    began = 0.0
    newest = ""
    page: Any = Recorder.page

    def sitemap_filter(self, entries: Any) -> Any:
        return (entry for entry in entries if entry.get("lastmod", self.newest) >= self.newest)


class Ours(Records, RepSitemapSpider):
    """Told sites."""

    name = "ours"


class ToldLater(Ours):
    """Told in ``start()`` what it crawls."""

    name = "told-later"
    later: dict[str, Any] = {}

    async def start(self) -> Any:
        vars(self).update(self.later)
        async for request in super().start():
            yield request


class Scrapys(Records, SitemapSpider):
    """As Scrapy has it, and beside its sitemaps the pages that a test asks for."""

    name = "scrapys"
    first_pages: list[str] = []

    async def start(self) -> Any:
        for url in self.first_pages:
            yield Request(url, self.page)
        async for request in super().start():
            yield request


class Listens(Recorder):
    """A plain spider that puts the sitemaps it hears of into the stats."""

    name = "listens"

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.listen, signal=sitemaps_found)
        spider.began = monotonic()
        return spider

    async def listen(self, urls: Any, origin: Any, request: Any) -> None:
        self.crawler.stats.set_value(f"heard/{origin}", f"{' '.join(urls)} because of {request.url}")


class MakesOutputAsync:
    """A spider middleware that makes an asynchronous iterator of what any callback returns."""

    async def process_spider_output(self, response: Any, result: Any) -> Any:
        async for each in result:
            yield each
