"""Spiders whose callbacks yield links and items, for the tests of what becomes of those."""

from __future__ import annotations

import gc
import importlib
import importlib.util
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass
from time import monotonic
from typing import Any
from urllib.parse import urljoin, urlsplit

import attrs
import scrapy
from itemadapter import ItemAdapter
from scrapy import Request, Spider, signals
from scrapy.extensions.feedexport import ItemFilter
from scrapy.http import Response
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule
from scrapy.utils.trackref import iter_all
from typing_extensions import Self

from scrapy_rep import signals as rep_signals
from scrapy_rep.crawl.runtime.event_loop import sleep
from tests.support.run_crawl import Recorder


class Links(Recorder):
    """Its first page yields ``links``: URLs, arguments of requests, or texts without a scheme, which become items.

    Notes in the stats what is scheduled and filtered, and when the first page had been processed.
    """

    name = "links"
    links: list[Any] = []
    fails = False

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.scheduled, signal=signals.request_scheduled)
        crawler.signals.connect(spider.filtered, signal=rep_signals.link_filtered)
        crawler.signals.connect(spider.scraped, signal=signals.item_scraped)
        return spider

    def page(self, response: Any) -> Any:
        super().page(response)
        if len(self.facts["pages"]) == 1:
            return self.output()
        return None

    def output(self) -> Any:
        yield from map(self.make, self.links)
        if self.fails:
            raise ZeroDivisionError

    def make(self, link: Any) -> Any:
        if isinstance(link, str) and "://" not in link:
            return {"name": link}
        arguments = {"url": link} if isinstance(link, str) else dict(link)
        if arguments.pop("errback", False):
            arguments["errback"] = self.failure
        return Request(callback=self.page, **arguments)

    def scheduled(self, request: Request) -> None:
        self.note("scheduled", request.url)

    def scraped(self, item: Any) -> None:
        self.note("scheduled", item["name"])

    def filtered(self, request: Request, verdict: Any, response: Any) -> None:
        self.note("filtered", f"{request.url}|{verdict.rule}|{response.url}")

    def note(self, what: str, text: str) -> None:
        known = self.crawler.stats.get_value(f"noted/{what}", "")
        self.crawler.stats.set_value(f"noted/{what}", f"{known} {text}".strip())
        self.crawler.stats.set_value(f"noted/{what}_after", monotonic() - self.began)


class LinksAsync(Links):
    """The same with an asynchronous generator that takes its time before the last output."""

    name = "links-async"
    pause = 0.0

    async def output(self) -> AsyncIterator[Any]:
        for number, link in enumerate(self.links, start=1):
            if number == len(self.links):
                await sleep(self.pause)
            yield self.make(link)


class Follows(CrawlSpider):
    """Scrapy's CrawlSpider, with or without an errback in its rule."""

    name = "follows"
    requests: list[dict[str, Any]] = []
    facts: dict[str, Any] = {}
    handles = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        errback = "failed" if kwargs.get("handles") else None
        self.rules = [Rule(LinkExtractor(), callback="page", errback=errback, follow=True)]
        super().__init__(*args, **kwargs)

    async def start(self) -> Any:
        for arguments in self.requests:
            yield Request(**arguments)

    def page(self, _: Any) -> None: ...

    def failed(self, _: Any) -> None:
        self.crawler.stats.inc_value("failed")


class Field(scrapy.Item):
    name = scrapy.Field()
    robots = scrapy.Field()


class NoField(scrapy.Item):
    name = scrapy.Field()


@dataclass
class Data:
    name: str
    robots: dict[str, Any] | None = None


@dataclass
class NoData:
    name: str


@dataclass(frozen=True)
class FrozenData:
    name: str
    robots: dict[str, Any] | None = None


@attrs.define
class Attrs:
    name: str
    robots: dict[str, Any] | None = None


ITEMS: dict[str, Callable[..., Any]] = {
    "dict": dict,
    "item": Field,
    "data": Data,
    "attrs": Attrs,
    "no item": NoField,
    "no data": NoData,
    "frozen": FrozenData,
}
if importlib.util.find_spec("pydantic"):
    pydantic = importlib.import_module("pydantic")
    optional = (dict[str, Any] | None, None)
    ITEMS["pydantic"] = pydantic.create_model("Model", name=str, robots=optional)
    ITEMS["no pydantic"] = pydantic.create_model("NoModel", name=str)


def value(item: Any, field: str) -> Any:
    if isinstance(item, (dict, scrapy.Item)):
        return item.get(field, "missing")
    return getattr(item, field, "missing")


class Recovers:
    """A spider middleware that replaces the failure of a callback by a link."""

    def __init__(self, crawler: Any) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Any) -> Self:
        return cls(crawler)

    def process_spider_exception(self, response: Any, exception: Exception) -> Any:
        spider: Spider | None = self.crawler.spider
        return [Request(response.urljoin("/recovered"), spider.page)]  # type: ignore[union-attr]


class Answers:
    """A downloader middleware that answers a page itself, and notes whether the scheduler stored a stamp."""

    def __init__(self, crawler: Any) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Any) -> Self:
        return cls(crawler)

    def process_request(self, request: Request) -> Response | None:
        if not request.url.endswith("/answered"):
            return None
        self.crawler.stats.set_value("stored_stamps", int("rep" in request.meta))
        return Response(request.url)


class GoesElsewhere(Recorder):
    """Requests another page, ``elsewhere``, when a request fails."""

    name = "goes-elsewhere"
    elsewhere = ""

    def failure(self, failure: Any) -> Any:
        super().failure(failure)
        return Request(self.elsewhere, self.page)


class Allowed(ItemFilter):
    """A filter of a feed, as the documentation shows it."""

    def accepts(self, item: Any) -> bool:
        stamp = ItemAdapter(item).get("robots") or {}
        return super().accepts(item) and stamp.get("verdict") == "allowed"


class Scrapes(Recorder):
    """Each page yields an item, a request for each of its links, and the ``extra`` requests for its path."""

    name = "scrapes"
    extra: dict[str, list[dict[str, Any]]] = {}

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.scraped, signal=signals.item_scraped)
        crawler.signals.connect(spider.heard, signal=rep_signals.page_directives)
        return spider

    def page(self, response: Any) -> Any:
        super().page(response)
        yield {"name": response.url}
        yield from self.links(response)

    def links(self, response: Any) -> Iterator[Request]:
        if b"<a" in response.body:  # of the others, some cannot be parsed
            for href in response.css("a::attr(href), area::attr(href)").getall():
                yield response.follow(href, self.page)
        for arguments in self.extra.get(urlsplit(response.url).path, []):
            yield Request(callback=self.page, **{**arguments, "url": urljoin(response.url, arguments["url"])})

    def scraped(self, item: Any) -> None:
        url, stamp = f"item:{value(item, 'name')}", value(item, "robots")
        self.facts["pages"].append({"url": url, "status": 0, "length": 0, "tag": stamp, "time": 0.0})

    def heard(self, response: Any, directives: Any) -> None:
        self.crawler.stats.set_value(f"heard/{response.url}", str(directives))


class Saves(Scrapes):
    """Each item asks a pipeline for the file next to its page."""

    name = "saves"

    def page(self, response: Any) -> Any:
        for output in super().page(response):
            if isinstance(output, dict):
                output["file_urls"] = [urljoin(response.url, "photo.jpg")]
            yield output


class Forgets(Scrapes):
    """Counts, when it ends, the responses that are still in memory."""

    name = "forgets"

    def closed(self, _: str) -> None:
        gc.collect()
        self.crawler.stats.set_value("alive", sum(1 for _ in iter_all("HtmlResponse")))


class CopiesMeta(Scrapes):
    """The first page is followed by a request with its own meta."""

    name = "copies-meta"

    def links(self, response: Any) -> Iterator[Request]:
        if not response.url.endswith("/next"):
            yield response.follow("/next", self.page, meta=response.meta)


class Items(Scrapes):
    """Yields an item of each of the ``kinds`` from each page, one from start(), and notes what pipelines get."""

    name = "items"
    kinds: list[str] = ["dict"]
    copies_meta = ""
    marks = False
    marked = 0

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.scheduled, signal=signals.request_scheduled)
        return spider

    async def start(self) -> Any:
        yield {"name": "start"}
        async for request in super().start():
            yield request

    def page(self, response: Any) -> Any:
        Recorder.page(self, response)
        return self.output(response)

    def output(self, response: Any) -> Iterable[Any]:
        yield from (ITEMS[kind](name=response.url) for kind in self.kinds)
        if self.copies_meta and not response.url.endswith(self.copies_meta):
            yield response.follow(self.copies_meta, self.page, meta=response.meta)

    def scraped(self, item: Any) -> None:
        stamp = value(item, "robots")
        if self.marks and stamp != "missing":
            self.marked += 1
            for part in (stamp, stamp.get("exception")):
                if part is not None:
                    part["mark"] = self.marked
        super().scraped(item)

    def scheduled(self, request: Request) -> None:
        self.crawler.stats.inc_value("stamped_requests", int("rep" in request.meta))


class ItemsAsync(Items):
    """The same with an asynchronous generator."""

    name = "items-async"

    async def output(self, response: Any) -> AsyncIterator[Any]:  # type: ignore[override]
        for output in super().output(response):
            yield output
