"""Spiders, pipelines and middlewares whose requests reach the network past the queue, or past the gate."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from time import monotonic, process_time
from typing import Any
from urllib.parse import urlsplit

from scrapy import Request, signals
from scrapy.core.downloader import Downloader
from scrapy.core.downloader.handlers import DownloadHandlers
from scrapy.core.downloader.middleware import DownloaderMiddlewareManager
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.defer import deferred_from_coro
from twisted.internet.defer import Deferred
from typing_extensions import Self

from scrapy_rep.crawl.runtime.crawl import Crawl
from scrapy_rep.crawl.runtime.event_loop import sleep
from tests.support.run_crawl import Recorder


class Component:
    """A component of a project, made of its crawler."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)


class DownloadsFiles(Component):
    """A pipeline that downloads the files of an item through the engine, all at once."""

    async def process_item(self, item: Any) -> Any:
        engine: Any = self._crawler.engine
        files = (engine.download_async(Request(url, callback=NO_CALLBACK)) for url in item["file_urls"])
        await asyncio.gather(*files, return_exceptions=True)
        return item


async def cpu_share(seconds: float) -> float:
    """The part of a core that this process uses in so many *seconds*."""
    cpu, began = process_time(), monotonic()
    await sleep(seconds)
    return (process_time() - cpu) / (monotonic() - began)


class WaitsForMedia(Recorder):
    """Has a media pipeline download ``files`` once their host has answered ``busy``, and measures their wait.

    Then it makes its own requests, and at the end that for ``last``.
    """

    name = "waits-for-media"
    busy = ""
    files: list[str] = []
    last = ""

    async def start(self) -> Any:
        yield Request(self.busy, callback=self.page, errback=lambda _: None)
        while not self.crawler.stats.get_value("rep/backoff/event_count"):
            await sleep(0.02)
        yield Request("data:,start", callback=self.media)
        for _ in range(30):  # until all have come to where they wait
            if await cpu_share(0.3) < 0.05:
                break
        self.crawler.stats.set_value("waiting/cpu_share", await cpu_share(2.0))
        self.began = monotonic()
        for arguments in self.requests:
            yield Request(**arguments, callback=self.page, errback=self.failure)
        while len(self.facts["pages"]) < len(self.requests):
            await sleep(0.02)
        yield Request(self.last, callback=self.page)

    def media(self, _: Any) -> Any:
        return {"file_urls": self.files}


class ChangesUrl:
    """A middleware behind the gate that sends each request for a page called ``open`` elsewhere, in place."""

    def process_request(self, request: Request) -> None:
        request._set_url(request.url.replace("/open", "/private"))


class ChangesTarget:
    """A middleware behind the gate that has a service fetch a page of the next host, in place."""

    def process_request(self, request: Request) -> None:
        request._set_url(request.url.replace("127.0.96.1", "127.0.96.2").replace("/open", "/private"))


class AsksTheHandlers(Recorder):
    """Hands the URL ``url`` to the download handlers itself, when its page has come."""

    name = "asks-the-handlers"
    url = ""

    async def page(self, response: Any) -> None:  # type: ignore[override]
        super().page(response)
        handlers: Any = self.crawler.engine.downloader.handlers
        try:
            await handlers.download_request_async(Request(self.url))
        except IgnoreRequest:
            return


class WithoutHandlers(Downloader):
    """A downloader of a project that sends requests by an object of its own."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._transport = self.handlers
        del self.handlers

    def fetch(self, request: Request, *_: Any) -> Deferred[Any]:
        return deferred_from_coro(self.middleware.download_async(self._send, request))

    async def _send(self, request: Request) -> Response:
        return await self._transport.download_request_async(request)


class WithoutSlots:
    """A downloader as a later version of Scrapy may have it: with the handlers, and without download slots."""

    def __init__(self, crawler: Crawler) -> None:
        self.active: set[Request] = set()
        self.handlers = DownloadHandlers(crawler)
        self.total_concurrency = crawler.settings.getint("CONCURRENT_REQUESTS")
        self.middleware = DownloaderMiddlewareManager.from_crawler(crawler)

    def fetch(self, request: Request, *_: Any) -> Deferred[Any]:
        self.active.add(request)  # at once: the engine asks whether the crawl is idle
        return deferred_from_coro(self._fetch(request))

    async def _fetch(self, request: Request) -> Any:
        try:
            return await self.middleware.download_async(self.handlers.download_request_async, request)
        finally:
            self.active.remove(request)

    def get_slot_key(self, request: Request) -> str:
        return request.meta.get("download_slot") or urlsplit(request.url).hostname or ""

    def needs_backout(self) -> bool:
        return len(self.active) >= self.total_concurrency

    def close(self) -> None:
        """Nothing runs beside the requests."""


class LowersDelays(Component):
    """An extension that sets the delay of each download slot to zero after every response, and after ours."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        crawler.signals.connect(self._connect, signal=signals.request_left_downloader)

    def _connect(self, request: Request) -> None:
        """Listen from the end of the first page on: whoever keeps delays listens already."""
        if not request.url.endswith("/robots.txt"):
            self._crawler.signals.disconnect(self._connect, signal=signals.request_left_downloader)
            self._crawler.signals.connect(self._lower, signal=signals.response_downloaded)

    def _lower(self) -> None:
        downloader: Any = self._crawler.engine.downloader
        for slot in downloader.slots.values():
            slot.delay = 0.0


class ChoosesSlotByPage:
    """A middleware behind the gate that puts each page into the download slot of one of two proxies."""

    def process_request(self, request: Request) -> None:
        if not request.url.endswith("/robots.txt"):
            request.meta["download_slot"] = f"proxy-{int(request.url[-1]) % 2}"


class AddsSession:
    """A middleware behind the gate that adds a session to each URL without one, in place."""

    def process_request(self, request: Request) -> None:
        if "?" not in request.url and not request.url.endswith("/robots.txt"):
            request._set_url(f"{request.url}?session=1")


class HandlesFailures:
    """A middleware that makes a response of each failure."""

    def process_exception(self, request: Request, exception: Exception) -> Response:
        return Response(request.url, status=599, body=type(exception).__name__.encode(), request=request)


class _FrozenHandlers:
    """Download handlers that take no new attributes."""

    __slots__ = ("_handlers",)

    def __init__(self, handlers: DownloadHandlers) -> None:
        self._handlers = handlers

    async def download_request_async(self, request: Request) -> Response:
        return await self._handlers.download_request_async(request)


class WithFrozenHandlers(Downloader):
    """A downloader of a project whose handlers cannot be changed."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.handlers: Any = _FrozenHandlers(self.handlers)


class HasFiles(Recorder):
    """Has ``files`` that its pipelines know of."""

    name = "has-files"
    files: list[str] = []


class OpensWithFiles(Component):
    """A pipeline that downloads the ``files`` of the spider when it is opened."""

    async def open_spider(self) -> None:
        engine: Any = self._crawler.engine
        for url in self._crawler.spider.files:  # type: ignore[union-attr]
            with suppress(IgnoreRequest):  # Scrapy 2.14 filters by site only when the spider has been opened
                await engine.download_async(Request(url, callback=NO_CALLBACK, dont_filter=True))

    def process_item(self, item: Any) -> Any:
        return item


class CountsPlaces(Component):
    """An extension that writes at the end how many requests Scrapy would download at once."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        crawler.signals.connect(self._write, signal=signals.spider_closed)

    def _write(self) -> None:
        engine: Any = self._crawler.engine
        self._crawler.stats.set_value("places", engine.downloader.total_concurrency)


class ChecksNoDelay(Component):
    """An extension after ours that makes download slots start all requests at once, so that the door is alone."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        crawler.signals.connect(self._change, signal=signals.spider_opened)

    def _change(self) -> None:
        downloader: Any = self._crawler.engine.downloader
        process_queue = downloader._process_queue

        def process_without_delay(slot: Any) -> None:
            slot.delay = slot.lastseen = 0.0
            if slot.latercall:
                slot.latercall.cancel()
                slot.latercall = None
            process_queue(slot)

        downloader._process_queue = process_without_delay


class _Downloads(Recorder):
    """Downloads ``files`` through the engine, all at once, when its page has come."""

    files: list[str] = []

    async def page(self, response: Any) -> None:  # type: ignore[override]
        super().page(response)
        await asyncio.gather(*map(self.download, self.files), return_exceptions=True)

    async def download(self, url: str) -> None:
        engine: Any = self.crawler.engine
        await engine.download_async(Request(url, callback=NO_CALLBACK))


class AsksLater(_Downloads):
    """Asks for ``later``, too, when the robots.txt in memory has expired."""

    name = "asks-later"
    later = ""

    async def page(self, response: Any) -> None:  # type: ignore[override]
        files = asyncio.ensure_future(super().page(response))
        await sleep(2.0)
        await asyncio.gather(self.download(self.later), files, return_exceptions=True)


class GivesUp(_Downloads):
    """Gives each download up after a while, as ``asyncio.wait_for`` does."""

    name = "gives-up"

    async def download(self, url: str) -> None:
        try:
            await asyncio.wait_for(super().download(url), 1.5)
        except asyncio.TimeoutError:
            self.crawler.stats.inc_value("given_up")


class AsksAfterwards(Recorder):
    """Makes the requests for ``later`` a second after the others."""

    name = "asks-afterwards"
    later: list[str] = []
    later_meta: dict[str, Any] = {}

    async def start(self) -> Any:
        async for request in super().start():
            yield request
        await sleep(1.0)
        for url in self.later:
            yield Request(url, callback=self.page, errback=self.failure, meta={**self.later_meta})


class BreaksStart(Component):
    """An extension whose part of the door cannot begin."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        Crawl.of(crawler).events.opened.subscribe(self._fail)

    def _fail(self) -> None:
        raise ArithmeticError("a fault at the start")
