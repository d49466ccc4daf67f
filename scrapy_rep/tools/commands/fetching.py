"""Fetch robots.txt files for a command: one crawl in which the project's own extension asks for them.

So statuses, redirects, attempts, the store and politeness are those of every crawl, with the project's
settings and ``-s``. A process runs one such crawl in its life. Knows nothing of what the files say.
"""

from __future__ import annotations

import asyncio
import re
import signal
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from time import time
from typing import TYPE_CHECKING, Any, Final

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerProcess, CrawlerProcess
from scrapy.http.request import NO_CALLBACK
from scrapy.settings import default_settings
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.defer import CancelledError, Deferred, DeferredList, FirstError

from scrapy_rep.crawl.origin_log import describe
from scrapy_rep.crawl.robot_parser import RepRobotParser
from scrapy_rep.crawl.scrapy_internals import Engine
from scrapy_rep.exceptions import InvalidSettingError
from scrapy_rep.gate.extension import RepExtension
from scrapy_rep.settings import RepSettings
from scrapy_rep.stores.sqlite import path_of_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings, Settings

    from scrapy_rep.gate.robots import Robots
    from scrapy_rep.protocol import Origin, RobotsTxt
    from scrapy_rep.protocol.freshness import Entry

_MODEST: Final[dict[str, Any]] = {
    "CONCURRENT_REQUESTS": 64,  # every one to another host
    "REACTOR_THREADPOOL_MAXSIZE": 32,  # which look up names
    "REP_RETRY_TIMES": 1,
    "REP_UNREACHABLE_WAIT": 5.0,
    "TELNETCONSOLE_ENABLED": False,
}
"""Nobody at a shell waits for minutes; the project's settings and ``-s`` win."""

_OF_CRAWLS: Final[dict[str, Any]] = {
    "CLOSESPIDER_ERRORCOUNT": 0,
    "CLOSESPIDER_PAGECOUNT": 0,
    "CLOSESPIDER_TIMEOUT": 0,
    "CLOSESPIDER_TIMEOUT_NO_ITEM": 0,
    "FEEDS": {},
    "ITEM_PIPELINES": {},
    "JOBDIR": None,
    "ROBOTSTXT_PARSER": RepRobotParser,
    "SCHEDULER": default_settings.SCHEDULER,
    "SPIDER_MIDDLEWARES": {},
}
"""What a project has for its pages must not end, feed or be fed by a command's crawl; ``-s`` wins."""

_FAILURE: Final = re.compile(
    r"\[<twisted\.python\.failure\.Failure [\w.]+: (.*)>\]"
)  # as Twisted prints it in a list
_OVER_PROJECT: Final = 25  # a priority between that of the project's settings and that of ``-s``


@dataclass(frozen=True, slots=True)
class Fetched:
    """The robots.txt of ``origin``, come to hand; ``is_fresh`` when asked for now, not found in the store."""

    origin: Origin
    robots: Robots
    is_fresh: bool

    @property
    def entry(self) -> Entry:
        """What is known of the origin: status, final URL, hops, body, dates."""
        return self.robots.entry

    @property
    def problem(self) -> str:
        """One line about why the origin is unreachable; empty when it is not."""
        return _FAILURE.sub(r"\1", describe(self.robots.error)) if self.robots.error else ""

    @property
    def robotstxt(self) -> RobotsTxt:
        """The rules that hold: those of the body, or none or all, as the access says."""
        parser = self.robots.parser
        assert isinstance(parser, RepRobotParser)  # noqa: S101  # the settings say so
        return parser.robotstxt


class Source:
    """The robots.txt files that one crawl can have; at most one fetch per origin."""

    def __init__(self, crawler: Crawler) -> None:
        extension = crawler.get_extension(RepExtension)
        if extension is None:
            raise InvalidSettingError("EXTENSIONS switches scrapy_rep.RepExtension off, which fetches robots.txt")
        self._crawler = crawler
        self._extension = extension
        self._began = time()

    async def get(self, origin: Origin) -> Fetched:
        """The robots.txt of *origin*; an origin that is unreachable gives an entry that says so."""
        robots = await self._extension.robots(origin.robots_url)
        return Fetched(origin, robots, is_fresh=robots.entry.tried_at >= self._began)

    @property
    def is_closing(self) -> bool:
        """Whether the crawl ends before its work is done: after Ctrl-C."""
        return Engine(self._crawler).is_closing

    async def page(self, url: str) -> Response:
        """The answer at *url*, which a command needs besides: a sitemap. Raises what Scrapy's downloader does."""
        request = Request(url, callback=NO_CALLBACK, dont_filter=True)
        return await self._crawler.engine.download_async(request)

    async def each(self, origins: Iterable[Origin], found: Callable[[Fetched], object]) -> None:
        """Hand the robots.txt of each of *origins* to *found* as it comes, ``CONCURRENT_REQUESTS`` at a time.

        Takes no more of *origins* than it is at, and none once the crawl closes. What *found* raises ends it.
        """
        left = iter(origins)

        async def work() -> None:
            for origin in left:
                found(await self.get(origin))
                if Engine(self._crawler).is_closing:
                    break

        number = self._crawler.settings.getint("CONCURRENT_REQUESTS")
        workers = [deferred_from_coro(work()) for _ in range(max(number, 1))]
        try:
            await maybe_deferred_to_future(DeferredList(workers, fireOnOneErrback=True, consumeErrors=True))
        except FirstError as error:
            raise error.subFailure.value from None  # type: ignore[misc]  # an exception


def fetch(origins: Iterable[Origin], settings: BaseSettings, found: Callable[[Fetched], object]) -> None:
    """Fetch the robots.txt of each of *origins*, concurrently, and hand it to *found* as it comes.

    Returns when all have come. Raises `InvalidSettingError`, what *found* raises, and ``KeyboardInterrupt``
    after Ctrl-C, when what is under way is dropped.
    """
    crawl(settings, lambda source: source.each(origins, found))


def crawl(settings: BaseSettings, work: Callable[[Source], Awaitable[None]]) -> None:
    """Run *work* in a crawl with the *settings* of a project.

    Raises `InvalidSettingError`, what *work* raises, what kept the crawl from starting, and
    ``KeyboardInterrupt`` when it ended before its work was done.
    """
    chosen = settings_of_crawl(settings)
    process = _process(chosen)
    problems: list[BaseException] = []
    done: list[bool] = []
    running: Any = process.crawl(_Errand, work=work, problems=problems, done=done)
    if isinstance(running, Deferred):
        running.addErrback(lambda failure: problems.append(failure.value))  # type: ignore[call-overload]
    process.start()
    if not isinstance(running, Deferred) and running.done() and not running.cancelled() and running.exception():
        problems.append(running.exception())
    if problems:
        raise problems[0]
    if not done:
        raise KeyboardInterrupt


class _Errand(Spider):
    """Requests no page: does its work and ends."""

    name = "robots"
    work: Callable[[Source], Awaitable[None]]
    problems: list[BaseException]
    done: list[bool]

    async def start(self) -> AsyncIterator[Any]:
        try:
            await self.work(Source(self.crawler))
            self.done.append(True)
        except (asyncio.CancelledError, CancelledError):
            # Somebody pressed Ctrl-C. Nothing under way is worth the time that it may take.
            signal.raise_signal(signal.SIGINT)
            raise
        except Exception as error:  # noqa: BLE001  # it is for the command to handle
            self.problems.append(error)
        return
        yield  # type: ignore[unreachable]  # it makes this an iterator, which Scrapy wants


def settings_of_crawl(settings: BaseSettings) -> Settings:
    """The *settings* that a command fetches with. Raises `InvalidSettingError`."""
    chosen: Any = settings.copy()
    chosen.setdict(_MODEST, priority="command")
    chosen.setdict(_OF_CRAWLS, priority=_OVER_PROJECT)
    chosen.setdefault_in_component_priority_dict("EXTENSIONS", RepExtension, 0)
    parsed = RepSettings.from_settings(chosen)
    if path_of_store(parsed) is None:
        chosen.set("REP_STORE", "memory", priority="command")  # as in a crawl, without the warning
    return chosen  # type: ignore[no-any-return]


def _process(settings: Settings) -> AsyncCrawlerProcess | CrawlerProcess:
    """As Scrapy chooses it for its own commands."""
    on_asyncio = (
        settings["TWISTED_REACTOR"] == default_settings.TWISTED_REACTOR
        and not settings.getbool("FORCE_CRAWLER_PROCESS")
    )  # fmt: skip
    without_reactor = not settings.getbool("TWISTED_REACTOR_ENABLED", True)
    return AsyncCrawlerProcess(settings) if on_asyncio or without_reactor else CrawlerProcess(settings)
