"""Spiders and middlewares for the tests of the queue."""

from __future__ import annotations

import errno
from collections import deque
from typing import Any

from scrapy import Request, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.squeues import PickleFifoDiskQueue, PickleLifoDiskQueue
from typing_extensions import Self

from scrapy_rep import RepExtension
from scrapy_rep.crawl.runtime.event_loop import sleep, start
from tests.support.run_crawl import Recorder


class Prioritized(Recorder):
    """Start requests, others, and priorities, while the first one is under way."""

    name = "prioritized"

    async def start(self) -> Any:
        self.began = 0.0
        (arguments,) = self.requests
        origin = arguments["url"]
        engine: Any = self.crawler.engine
        scheduler = engine._slot.scheduler
        yield self.page_of(origin, 1)
        for number, priority in ((5, 0), (2, 1)):
            scheduler.enqueue_request(self.page_of(origin, number, priority))
        for number, priority in ((6, 0), (3, 1), (4, 1), (7, 0)):
            yield self.page_of(origin, number, priority)

    def page_of(self, origin: str, number: int, priority: int = 0) -> Request:
        return Request(f"{origin}/{number}", callback=self.page, errback=self.failure, priority=priority)


class Lazy(Recorder):
    """Reads its URLs as the documentation of Scrapy does, to keep few in the scheduler."""

    name = "lazy"
    pattern = ""
    many = 0
    least = 0
    """When so many were read, the crawl has half a second to read too many, and is stopped."""

    async def start(self) -> Any:
        self.began = 0.0
        if self.least:
            start(self.stop_later())
        for number in range(self.many):
            if self.pattern == "scheduler_empty" or self.crawler.engine.needs_backout():
                await self.crawler.signals.wait_for(signals.scheduler_empty)
            self.crawler.stats.inc_value("read")
            origin = self.requests[number % len(self.requests)]["url"]
            yield Request(f"{origin}/{number}", callback=self.page, errback=self.failure)

    async def stop_later(self) -> None:
        while self.crawler.stats.get_value("read", 0) < self.least:
            await sleep(0.02)
        await sleep(0.5)
        await self.crawler.stop_async()


class UsesService:
    """Has each page rendered by a service, which is asked no robots.txt."""

    def __init__(self, service: str) -> None:
        self.service = service

    @classmethod
    def from_crawler(cls, crawler: Any) -> Self:
        return cls(crawler.settings["SERVICE"])

    def process_request(self, request: Request) -> Request | None:
        if "dont_obey_robotstxt" in request.meta:
            return None
        meta = {**request.meta, "dont_obey_robotstxt": True}
        return request.replace(url=f"{self.service}/render?url={request.url}", meta=meta, dont_filter=True)


class OpensSlowly:
    """A pipeline that has something to do before the spider is open."""

    async def open_spider(self) -> None:
        await sleep(0.3)

    def process_item(self, item: Any) -> Any:
        return item


class AsksFirst(BaseScheduler):
    """A scheduler that is not Scrapy's, and asks what could start."""

    def __init__(self, crawler: Any) -> None:
        self.extension = crawler.get_extension(RepExtension)
        self.waiting: deque[Request] = deque()

    @classmethod
    def from_crawler(cls, crawler: Any) -> Self:
        return cls(crawler)

    def has_pending_requests(self) -> bool:
        return bool(self.waiting)

    def enqueue_request(self, request: Request) -> bool:
        self.waiting.append(request)
        return True

    def next_request(self) -> Request | None:
        for _ in range(len(self.waiting)):
            request = self.waiting.popleft()
            if self.extension.can_start(request):
                return request
            self.waiting.append(request)
        return None


class Doubled(Recorder):
    """Runs a second crawl of the same requests in this process, and ends when that has."""

    name = "doubled"
    is_second = False

    async def start(self) -> Any:
        if not self.is_second:
            settings = {name: self.crawler.settings[name] for name in ("REP_STORE", "REP_STORE_PATH")}
            addons = {"ADDONS": {"scrapy_rep.Addon": 300}, "TELNETCONSOLE_ENABLED": False}
            runner = AsyncCrawlerRunner({name: value for name, value in settings.items() if value} | addons)
            self.second = runner.crawl(Doubled, requests=self.requests, facts=self.facts, is_second=True)
        async for request in super().start():
            yield request

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.wait_for_second, signal=signals.spider_closed)
        return spider

    async def wait_for_second(self) -> None:
        if not self.is_second:
            await self.second


class Tree(Recorder):
    """Follows each page to four others, twice."""

    name = "tree"

    def page(self, response: Any) -> Any:
        super().page(response)
        if response.url.count("/") < TREE_DEPTH:
            for number in range(4):
                yield Request(f"{response.url}/{number}", callback=self.page, errback=self.failure)


TREE_DEPTH = 6  # slashes


class Keeps(Recorder):
    """Keeps every response, and with it its request."""

    name = "keeps"

    def page(self, response: Any) -> None:
        super().page(response)
        self.kept = [*getattr(self, "kept", []), response]


class CopiesMeta(Recorder):
    """Follows each page of another site to three of ``target``, with the meta of the response; tags its slots."""

    name = "copies-meta"
    target = ""

    def page(self, response: Any) -> Any:
        response.meta["tag"] = response.meta["download_slot"]
        super().page(response)
        known = len(self.facts["pages"])  # before another page comes in between: no URL twice
        if self.target and not response.url.startswith(self.target):
            for number in range(3):
                url = f"{self.target}/{known}/{number}"
                yield Request(url, meta=response.meta, callback=self.page, errback=self.failure)


class FullDisk(PickleLifoDiskQueue):  # type: ignore[misc,valid-type]
    """A queue whose disk has room for three requests."""

    def push(self, request: Request) -> None:
        if len(self) == 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        super().push(request)


class CannotEnd(PickleFifoDiskQueue):  # type: ignore[misc,valid-type]
    """A queue whose disk has no room for what is written at its end."""

    def close(self) -> None:
        super().close()
        raise OSError(errno.ENOSPC, "No space left on device")
