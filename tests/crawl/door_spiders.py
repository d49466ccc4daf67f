"""Spiders, pipelines and middlewares whose requests reach the network past the queue, or past the gate."""

from __future__ import annotations

import asyncio
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

from scrapy_rep.runtime.event_loop import sleep
from tests.support.run_crawl import Recorder


class DownloadsFiles:
    """A pipeline that downloads the files of an item through the engine, all at once."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

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


class LowersDelays:
    """An extension that sets the delay of each download slot to zero after every response, and after ours."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        crawler.signals.connect(self._connect, signal=signals.request_left_downloader)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

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
