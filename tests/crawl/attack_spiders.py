"""What test_attack.py puts into crawls."""

from __future__ import annotations

import asyncio
from typing import Any

from scrapy import Request, signals
from scrapy.core.downloader import Downloader
from scrapy.http import HtmlResponse, Response
from scrapy.http.request import NO_CALLBACK

from scrapy_rep.pacing.door import Door
from scrapy_rep.pacing.download_slots import SlotStates
from scrapy_rep.runtime.crawl import Crawl
from tests.support.run_crawl import Recorder


class Facts:
    """An extension that writes the state of the door into the stats at the end."""

    def __init__(self, crawler: Any) -> None:
        self.crawler = crawler
        crawler.signals.connect(self._closed, signal=signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Any) -> Any:
        return cls(crawler)

    def _closed(self) -> None:
        crawl, stats = Crawl.of(self.crawler), self.crawler.stats
        door, states = crawl.find(Door), crawl.find(SlotStates)
        stats.set_value("attack/judged", len(door.judged))
        stats.set_value("attack/outside", len(door._outside))
        stats.set_value("attack/total", self.crawler.engine.downloader.total_concurrency)
        stats.set_value("attack/closing", len(crawl.engine.closing._listeners))
        stats.set_value("attack/sites", len(states.sites))
        stats.set_value("attack/keys", max((len(s.keys) for s in states.by_key.values()), default=0))
        slots = self.crawler.engine.downloader.slots
        stats.set_value("attack/slots", len(slots))
        stats.set_value("attack/slot_objects", len({id(s) for s in slots.values()}))


class Answers:
    """A middleware behind the gate that answers pages itself, as those of Selenium do."""

    def process_request(self, request: Request) -> Response | None:
        if "robots.txt" in request.url:
            return None
        return HtmlResponse(request.url, body=b"<p>page</p>", request=request)


class Media(Recorder):
    """Downloads ``files`` through the engine, all at once."""

    name = "media"
    files: list[str] = []

    async def page(self, response: Any) -> Any:  # type: ignore[override]
        Recorder.page(self, response)
        from scrapy.utils.defer import deferred_from_coro

        self.done = {}
        for url in self.files:
            deferred_from_coro(self._one(url))

    async def _one(self, url: str) -> None:
        try:
            response = await self.crawler.engine.download_async(Request(url, callback=NO_CALLBACK))
            self.crawler.stats.inc_value("attack/got")
            self.crawler.stats.set_value(f"attack/file/{url}", response.status)
        except BaseException as error:
            self.crawler.stats.inc_value(f"attack/error/{type(error).__name__}")
            raise SystemExit if False else error


class AddsSession:
    """Changes the URL of what has not got one, behind the gate, in place."""

    def process_request(self, request: Request) -> None:
        if "/a" in request.url and "sid" not in request.url:
            request._set_url(request.url + "?sid=1")


class SavesFailures:
    """A middleware that turns every failure into a response."""

    def process_exception(self, request: Request, exception: Exception) -> Response:
        return HtmlResponse(request.url, status=599, body=type(exception).__name__.encode(), request=request)


class _Frozen:
    __slots__ = ("_handlers",)

    def __init__(self, handlers: Any) -> None:
        self._handlers = handlers

    async def download_request_async(self, request: Request) -> Response:
        return await self._handlers.download_request_async(request)

    def _get_handler(self, scheme: str) -> Any:
        return self._handlers._get_handler(scheme)


class FrozenHandlers(Downloader):
    """A downloader whose handlers take no attributes."""

    def __init__(self, crawler: Any) -> None:
        super().__init__(crawler)
        self.handlers = _Frozen(self.handlers)


class OpensWithFiles:
    """A pipeline that downloads files when it is opened, as one that loads a price list does."""

    def __init__(self, crawler: Any) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Any) -> Any:
        return cls(crawler)

    async def open_spider(self, spider: Any = None) -> None:
        for url in self.crawler.spider.files:
            await self.crawler.engine.download_async(Request(url, callback=NO_CALLBACK))

    def process_item(self, item: Any) -> Any:
        return item


class Files(Recorder):
    name = "files"
    files: list[str] = []


class Rigid(Request):
    """A request that cannot be copied."""

    def __init__(self, url: str, number: int, **kwargs: Any) -> None:
        super().__init__(url, **kwargs)
        self.number = number


class MakesRigid(Recorder):
    name = "makes-rigid"

    async def start(self) -> Any:
        self.began = 0.0
        for number, arguments in enumerate(self.requests):
            yield Rigid(**arguments, number=number, callback=self.page, errback=self.failure, dont_filter=True)


class Refreshes(Media):
    """Asks for another page after a while, so that robots.txt is fetched anew."""

    name = "refreshes"
    later = ""
    after = 2.0

    async def page(self, response: Any) -> Any:
        await Media.page(self, response)
        if self.later:
            from scrapy_rep.runtime.event_loop import sleep

            await sleep(self.after)
            later, self.later = self.later, ""
            try:
                await self.crawler.engine.download_async(Request(later, callback=NO_CALLBACK))
            except Exception:
                pass


class LowersAll:
    """Sets the delay of every download slot to zero whenever a request reaches it, after ours."""

    def __init__(self, crawler: Any) -> None:
        self.crawler = crawler
        crawler.signals.connect(self._opened, signal=signals.spider_opened)

    @classmethod
    def from_crawler(cls, crawler: Any) -> Any:
        return cls(crawler)

    def _opened(self) -> None:
        from twisted.internet.defer import Deferred  # noqa

        self._connect()

    def _connect(self) -> None:
        downloader = self.crawler.engine.downloader
        process = downloader._process_queue

        def lowered(slot: Any) -> None:
            slot.delay, slot.lastseen = 0.0, 0.0
            if slot.latercall:
                slot.latercall.cancel()
                slot.latercall = None
            process(slot)

        downloader._process_queue = lowered


class Late(Recorder):
    """Makes its requests, and then ``late`` ones when the first ones are over, through two download slots."""

    name = "late"
    late: list[dict[str, Any]] = []
    wait = 0.0

    async def start(self) -> Any:
        from time import monotonic

        from scrapy_rep.runtime.event_loop import sleep

        self.began = monotonic()
        for arguments in self.requests:
            yield Request(callback=self.page, errback=self.failure, **{"dont_filter": True, **arguments})
        await sleep(self.wait)
        for arguments in self.late:
            yield Request(callback=self.page, errback=self.failure, **{"dont_filter": True, **arguments})
