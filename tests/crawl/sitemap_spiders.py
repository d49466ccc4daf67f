"""Sitemap spiders that record their pages; ours, Scrapy's, and one that listens to the signal."""

from __future__ import annotations

from datetime import datetime
from itertools import islice
from time import monotonic
from typing import Any

from scrapy import Request, signals
from scrapy.spiders import SitemapSpider
from scrapy.utils.sitemap import sitemap_urls_from_robots

from scrapy_rep import RepSitemapSpider
from scrapy_rep.crawl.robots.stores import NullStore
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


class FirstEntry(Ours):
    """Reads no more than the first entry of each sitemap."""

    name = "first-entry"

    def sitemap_filter(self, entries: Any) -> Any:
        yield from islice(entries, 1)


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


def as_json(value: Any) -> Any:
    """*value* with its dates as text: what becomes of a crawl is handed on as JSON."""
    if isinstance(value, dict):
        return {name: as_json(each) for name, each in value.items()}
    if isinstance(value, list):
        return [*map(as_json, value)]
    return value.isoformat() if isinstance(value, datetime) else value


class TellsEntries(Records):
    """Records the entry of each page as its tag."""

    def page(self, response: Any) -> None:
        response.meta["tag"] = as_json(response.meta["rep_sitemap"])
        Recorder.page(self, response)  # type: ignore[arg-type]


class OursTellsEntries(TellsEntries, Ours):
    name = "ours-entries"


class ScrapysTellsEntries(TellsEntries, Scrapys):
    name = "scrapys-entries"


class MakesRequests(Ours):
    """Makes a request of each entry, and none of those of low priority."""

    name = "makes-requests"

    def sitemap_request(self, entry: Any, request: Any) -> Any:
        if entry["priority"] == 0.0:
            return None
        return request.replace(meta={**request.meta, "tag": as_json(entry["lastmod"])})


class Fails(Ours):
    """Fails at the entry of the page ``fails_at``."""

    name = "fails"
    fails_at = ""

    def sitemap_request(self, entry: Any, request: Any) -> Any:
        if request.url == self.fails_at:
            raise RuntimeError
        return request


class FedBySignal(Scrapys):
    """Requests the sitemaps that ``robots_parsed`` tells of, as Scrapy's pull request 8069 proposes."""

    name = "fed-by-signal"

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.robots_parsed, signal=signals.robots_parsed)
        return spider

    def robots_parsed(self, robotparser: Any, request: Any) -> None:
        for url in sitemap_urls_from_robots(robotparser.robotstxt.body, base_url=request.url):
            self.crawler.engine.crawl(Request(url, self._parse_sitemap))


class OursFilters(OursTellsEntries):
    """Crawls another URL of the entries that have a priority."""

    name = "filters"

    def sitemap_filter(self, entries: Any) -> Any:
        for entry in entries:
            if entry["rep_sitemap"]["priority"] == 0.5 and entry["priority"] == "0.5":
                yield {**entry, "loc": f"{entry['loc']}?print"}


class KeepsNoNotes:
    """A store with what a crawl needed before there were notes, and no more."""

    get = NullStore.get
    put = NullStore.put
    acquire_lease = NullStore.acquire_lease
    release_lease = NullStore.release_lease
    close = NullStore.close


class OwnBody(ScrapysTellsEntries):
    """Gets the body of a sitemap in its own way, as Scrapy's issue 6293 proposes."""

    name = "own-body"

    def _get_sitemap_body(self, response: Any) -> Any:
        return response.body.replace(b"[page]", self.sitemap_urls[0].encode())


class OwnParser(Scrapys):
    """Adds to what Scrapy's spider makes of a sitemap."""

    name = "own-parser"

    def _parse_sitemap(self, response: Any) -> Any:
        for request in super()._parse_sitemap(response):
            yield request.replace(meta={"tag": "own"})
