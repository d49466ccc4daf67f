"""Run a coroutine inside a crawl that requests no pages, with the settings of a project or of one of its spiders.

So a command fetches as every crawl of the project does, with the project's settings and ``-s``. A process runs
one such crawl in its life. Knows nothing of what the coroutine does.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from scrapy import Spider
from scrapy.crawler import AsyncCrawlerProcess, Crawler, CrawlerProcess
from scrapy.settings import default_settings
from scrapy.spiderloader import get_spider_loader
from twisted.internet.defer import CancelledError, Deferred

from scrapy_rep.crawl.gate.extension import RepExtension
from scrapy_rep.crawl.robots.parser import RepRobotParser
from scrapy_rep.crawl.robots.stores.sqlite import path_of_store
from scrapy_rep.crawl.runtime.log import describe
from scrapy_rep.exceptions import InvalidSettingError
from scrapy_rep.protocol.display import perhaps
from scrapy_rep.settings import RepSettings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.settings import BaseSettings, Settings
    from scrapy.spiderloader import SpiderLoaderProtocol

Work = Callable[[Crawler], Awaitable[None]]

_SHELL_DEFAULTS: Final[dict[str, Any]] = {
    "CONCURRENT_REQUESTS": 64,  # each to another host
    "REACTOR_THREADPOOL_MAXSIZE": 32,  # for name look-ups
    "REP_BACKOFF": False,
    "REP_RETRY_TIMES": 1,
    "REP_UNREACHABLE_WAIT": 5.0,
    "TELNETCONSOLE_ENABLED": False,
}
"""A user at a shell should not wait for minutes. The project's settings and ``-s`` win."""

ABOVE_SHELL_DEFAULTS: Final = 15
"""A priority between that of these defaults and that of the project's settings."""

_NOT_FROM_THE_PROJECT: Final[dict[str, Any]] = {
    "CLOSESPIDER_ERRORCOUNT": 0,
    "CLOSESPIDER_PAGECOUNT": 0,
    "CLOSESPIDER_TIMEOUT": 0,
    "CLOSESPIDER_TIMEOUT_NO_ITEM": 0,
    "FEEDS": {},
    "ITEM_PIPELINES": {},
    "JOBDIR": None,
    "REP_AUDIT": "",
    "REP_AUDIT_BODIES": "",
    "REP_AUDIT_REQUIRED": False,
    "ROBOTSTXT_PARSER": RepRobotParser,
    "SCHEDULER": default_settings.SCHEDULER,
    "SPIDER_MIDDLEWARES": {},
}
"""What a project sets up for its pages must not end this crawl, nor read or write its data. ``-s`` wins."""

_ABOVE_PROJECT: Final = 25  # a priority between that of the project's settings and that of ``-s``


def run_in_crawl(settings: BaseSettings, work: Work) -> None:
    """Run *work* in a crawl with the *settings* of a project; return when it is done.

    Raises `InvalidSettingError`, what *work* raises, what keeps the crawl from starting, and
    ``KeyboardInterrupt`` when the crawl ends before *work* is done.
    """
    process = _process(crawl_settings(settings))
    problems: list[BaseException] = []
    done: list[bool] = []
    running: Any = process.crawl(_WorkSpider, work=work, problems=problems, done=done)
    if isinstance(running, Deferred):
        running.addErrback(lambda failure: problems.append(failure.value))  # type: ignore[call-overload]
    process.start()
    if not isinstance(running, Deferred) and running.done() and not running.cancelled() and running.exception():
        problems.append(running.exception())
    if problems:
        raise problems[0]
    if not done:
        raise KeyboardInterrupt


class _WorkSpider(Spider):
    """Runs its work instead of requesting pages."""

    name = "robots"
    work: Work
    problems: list[BaseException]
    done: list[bool]

    async def start(self) -> AsyncIterator[Any]:
        try:
            await self.work(self.crawler)
            self.done.append(True)
        except (asyncio.CancelledError, CancelledError):
            # After Ctrl-C: a second signal drops what is under way, which could take minutes to finish.
            signal.raise_signal(signal.SIGINT)
            raise
        except Exception as error:  # noqa: BLE001  # the caller of run_in_crawl handles it
            self.problems.append(error)
        return
        yield  # type: ignore[unreachable]  # makes this an asynchronous iterator, as Scrapy requires


def crawl_settings(settings: BaseSettings) -> Settings:
    """Return the *settings* for the crawl of a command. Raises `InvalidSettingError`."""
    chosen: Any = settings.copy()
    chosen.setdict(_SHELL_DEFAULTS, priority="command")
    chosen.setdict(_NOT_FROM_THE_PROJECT, priority=_ABOVE_PROJECT)
    chosen.setdefault_in_component_priority_dict("EXTENSIONS", RepExtension, 0)
    parsed = RepSettings.from_settings(chosen)
    if path_of_store(parsed) is None:
        chosen.set("REP_STORE", "memory", priority="command")  # as in a crawl, without the warning
    chosen.set("REP_AI_SIGNALS", "report", priority="cmdline")  # a command makes no use of what it reads
    return chosen  # type: ignore[no-any-return]


def _process(settings: Settings) -> AsyncCrawlerProcess | CrawlerProcess:
    """The process class that Scrapy chooses for its own commands."""
    has_default_reactor = settings["TWISTED_REACTOR"] == default_settings.TWISTED_REACTOR
    on_asyncio = has_default_reactor and not settings.getbool("FORCE_CRAWLER_PROCESS")
    without_reactor = not settings.getbool("TWISTED_REACTOR_ENABLED", True)
    return AsyncCrawlerProcess(settings) if on_asyncio or without_reactor else CrawlerProcess(settings)


# The settings of spiders, for the commands that take ``--spider``.


def with_spider(settings: BaseSettings, name: str | None) -> BaseSettings:
    """The *settings* as a crawl of the spider called *name* has them. Raises `InvalidSettingError`."""
    if name is None:
        return settings
    loader = _loader(settings)
    try:
        return _settings_of(loader.load(name), settings)
    except KeyError:
        hint = perhaps(name, loader.list())
        raise InvalidSettingError(f"there is no spider called {name!r} in this project{hint}") from None


def with_each_spider(settings: BaseSettings) -> Iterator[tuple[str, BaseSettings]]:
    """Each spider of the project by its name, with its *settings*. Raises `InvalidSettingError`.

    One after the other: those of the thousands of spiders of some projects take half a gigabyte together.
    """
    loader = _loader(settings)
    return ((name, _settings_of(loader.load(name), settings)) for name in sorted(loader.list()))


def _loader(settings: BaseSettings) -> SpiderLoaderProtocol:
    try:
        return get_spider_loader(settings)
    except Exception as error:  # noqa: BLE001  # whatever a module of the project raises when it is imported
        raise InvalidSettingError(f"the spiders of this project cannot be loaded: {describe(error)}") from None


def _settings_of(spider: type[Spider], settings: BaseSettings) -> BaseSettings:
    chosen: Any = settings.copy()
    spider.update_settings(chosen)
    if agent := getattr(spider, "user_agent", None):  # which Scrapy prefers to every setting
        chosen.set("USER_AGENT", agent, priority="cmdline")
    return chosen  # type: ignore[no-any-return]
