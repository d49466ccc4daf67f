"""Spiders and callables for crawls through rendering services and scraping APIs."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from scrapy import Request, signals
from scrapy.utils.misc import load_object

from scrapy_rep import RepExtension, abort_forbidden
from scrapy_rep.crawl.runtime.event_loop import in_reactor_thread, in_thread, sleep, start
from tests.support.run_crawl import Recorder

KEY = "s3cret-key"
"""The key of a customer of the API: no output of ours may show it."""


def api_url(api: str, target: str) -> str:
    """The URL that asks the *api* for *target*."""
    return f"{api}/?api_key={KEY}&url={quote(target, safe='')}"


def target_in_path(request: Request) -> str | None:
    """For an API that takes the URL in its path; no other request goes to such a path."""
    prefix, _, target = urlsplit(request.url).path.partition("/fetch/")
    return target if not prefix and target else None


def target_or_error(request: Request) -> str | None:
    return parse_qs(urlsplit(request.url).query)["missing"][0]


class Stamps(Recorder):
    """Tags each page with the stamp, the download slot and the flags of its response."""

    name = "stamps"

    def page(self, response: Any) -> Any:
        slot, stamp = response.meta.get("download_slot"), response.meta.get("rep")
        response.meta["tag"] = {"stamp": stamp, "slot": slot, "flags": response.flags}
        super().page(response)


class CopiesMeta(Stamps):
    """Follows a link of its first page with the meta of that page, as many spiders do."""

    name = "copies-meta"
    link = ""

    def page(self, response: Any) -> Any:
        super().page(response)
        if len(self.facts["pages"]) == 1:
            yield Request(self.link, self.page, errback=self.failure, meta=response.meta)


class AsksCanStart(Recorder):
    """Asks whether its first request could start, as the queue of another scheduler does, and notes its slot."""

    name = "asks-can-start"

    def page(self, response: Any) -> None:
        super().page(response)
        extension: Any = self.crawler.get_extension(RepExtension)
        request = Request(self.requests[0]["url"])
        extension.can_start(request)
        self.crawler.stats.set_value("slot", request.meta.get("download_slot"))


class SeesMethods(Recorder):
    """Counts the functions that see the response of its page and are no methods of middlewares."""

    name = "sees-methods"

    def page(self, response: Any) -> None:
        super().page(response)
        engine: Any = self.crawler.engine
        methods = engine.downloader.middleware.methods["process_response"]
        self.crawler.stats.set_value("functions", sum(not hasattr(one, "__self__") for one in methods))


class WaitsUntilItCanStart(Recorder):
    """Asks until its first request could start, as the queue of another scheduler does, or ten seconds long."""

    name = "waits-until-it-can-start"

    async def start(self) -> Any:
        extension: Any = self.crawler.get_extension(RepExtension)
        first = self.requests[0]
        for _ in range(100):
            if could_start := extension.can_start(Request(first["url"], meta=first["meta"])):
                break
            await sleep(0.1)
        self.crawler.stats.set_value("could_start", could_start)
        async for request in super().start():
            yield request


def through_api(robots_request: Request, cause: Request) -> Request:
    """A ``REP_REQUEST_HOOK`` that sends robots.txt through the API of *cause*."""
    parts = urlsplit(cause.url)
    return robots_request.replace(url=api_url(f"{parts.scheme}://{parts.netloc}", robots_request.url))


@dataclass
class BrowserRequest:
    """As much of a request of Playwright as is looked at; *page* is the URL that a navigation leaves."""

    url: str
    page: str = ""

    def is_navigation_request(self) -> bool:
        return bool(self.page)

    @property
    def frame(self) -> Any:
        return SimpleNamespace(parent_frame=None, url=self.page)


class Browses(Stamps):
    """Asks about each URL in ``loads`` for its pages, as scrapy-playwright does; the answers are stats."""

    name = "browses"
    loads: list[str] = []

    async def page(self, response: Any) -> None:  # type: ignore[override]
        super().page(response)
        await self.ask()

    async def ask(self) -> None:
        ask = load_object(self.crawler.settings["PLAYWRIGHT_ABORT_REQUEST"])
        answers = [await ask(BrowserRequest(url)) for url in self.loads]
        self.crawler.stats.set_value("aborted", sum(answers))
        for url, answer in zip(self.loads, answers, strict=True):
            self.crawler.stats.set_value(f"aborts {url}", int(answer))


class BrowsesWhileLoading(Browses):
    """Asks while its page is being downloaded."""

    name = "browses-while-loading"

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.reached, signal=signals.request_reached_downloader)
        return spider

    def reached(self, request: Request) -> None:
        if request.url.endswith("/page"):
            start(self.ask_later())

    async def ask_later(self) -> None:
        await sleep(0.3)
        await self.ask()

    async def page(self, response: Any) -> None:  # type: ignore[override]
        Stamps.page(self, response)


class AsksFromThread(Recorder):
    """Notes in which thread the work of another thread with a loop of its own is done, and its error."""

    name = "asks-from-thread"

    async def page(self, response: Any) -> None:  # type: ignore[override]
        super().page(response)
        self.crawler.stats.set_value("thread", await in_thread(asyncio.run, in_reactor_thread(self.work)))
        try:
            await in_thread(asyncio.run, in_reactor_thread(self.fail))
        except ZeroDivisionError as error:
            self.crawler.stats.set_value("error", type(error).__name__)

    async def work(self) -> str:
        return threading.current_thread().name

    async def fail(self) -> float:
        return 1 / 0


async def images_and_forbidden(request: Any) -> bool:
    """A function of a project for ``PLAYWRIGHT_ABORT_REQUEST``."""
    return request.url.endswith(".png") or await abort_forbidden(request)
