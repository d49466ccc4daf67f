"""The crawls of ``benchmarks.broad``, each in a process of its own, and what is measured inside them.

`alone` makes no crawl: the queue of the scheduler alone is filled, and asked.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Iterator
from itertools import count
from statistics import median
from time import perf_counter, thread_time
from typing import Any, Final, NoReturn

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.exceptions import CloseSpider
from scrapy.http import Response
from scrapy.squeues import FifoMemoryQueue, LifoMemoryQueue
from scrapy.utils.misc import load_object
from scrapy.utils.reactor import install_reactor

from .any_origin import address
from .crawl_subject import QUIET, cpu_seconds

SLICE: Final = 100  # hosts between which the event loop runs
EVEN: Final = 8  # robots.txt
POPS: Final = 1_000
ENOUGH: Final = 4.0  # seconds after which no further request is popped
PROBLEMS: Final = ("log_count/ERROR", "log_count/WARNING", "downloader/exception_count")


class Broad(Spider):
    """So many hosts wait in the scheduler all the time: each page leads to a host that nobody has met."""

    name = "broad"
    port: int
    hosts: int
    warm: int
    pages: int
    figures: dict[str, Any]
    done = 0
    first = 0  # page behind which they count

    async def start(self) -> AsyncIterator[Request]:
        self.left = self.requests()
        yield next(self.left)

    def requests(self) -> Iterator[Request]:
        return (Request(f"http://{address(number)}:{self.port}/") for number in count())

    async def parse(self, _: Response) -> AsyncIterator[Request]:
        """The first page leads to all hosts, each further page to one more.

        What is measured begins, and ends, with as many robots.txt ahead: no page gets its own for nothing.
        """
        if self.figures:
            return
        self.done += 1
        if self.done == 1:
            await self.fill()
        if not self.first and self.done >= self.warm and self.ahead <= self.warm:
            self.begin()
        if self.first and self.done >= self.first + self.pages and abs(self.ahead - self.ahead_then) <= EVEN:
            self.end()
        else:
            yield next(self.left)

    @property
    def ahead(self) -> int:
        """How many robots.txt have been asked for ahead of their pages."""
        return self.robots_txt() - self.done if self.robots_txt() else 0

    async def fill(self) -> None:
        """Nothing starts meanwhile, or the crawl would be ahead of itself when it is measured."""
        self.crawler.engine.pause()
        for number in range(self.hosts):
            self.crawler.engine.crawl(next(self.left))
            if number % SLICE == 0:
                await asyncio.sleep(0)
        self.crawler.engine.unpause()
        self.engine_slot.nextcall.schedule()

    @property
    def engine_slot(self) -> Any:
        return self.crawler.engine._slot

    def begin(self) -> None:
        gc.collect()
        self.first, self.ahead_then = self.done, self.ahead
        self.robots, self.cpu = self.robots_txt(), cpu_seconds()

    def end(self) -> NoReturn:
        cpu = cpu_seconds() - self.cpu
        pages = self.done - self.first
        self.figures.update(
            cpu=cpu / pages,
            robots=(self.robots_txt() - self.robots) / pages,
            waiting=len(self.engine_slot.scheduler),
        )
        raise CloseSpider("measured")

    def robots_txt(self) -> int:
        fetched: int = self.crawler.stats.get_value("robotstxt/request_count", 0)
        return fetched


def crawl(job: dict[str, Any]) -> dict[str, Any]:
    """CPU seconds and robots.txt files per page, once the hosts wait."""
    figures: dict[str, Any] = {}
    process = AsyncCrawlerProcess({**QUIET, **job["settings"]})
    crawler = process.create_crawler(Broad)
    arguments = {name: job[name] for name in ("port", "hosts", "warm", "pages")}
    process.crawl(crawler, figures=figures, **arguments)
    process.start()
    stats = crawler.stats.get_stats()
    return {**figures, "problems": {name: stats.get(name, 0) for name in PROBLEMS}}


def alone(job: dict[str, Any]) -> dict[str, Any]:
    """CPU seconds of a `push` and of a `pop`, with one request each for so many hosts in the queue."""
    queue, downloader = queue_of(job["settings"])
    for number in range(job["hosts"]):
        queue.push(Request(f"http://host-{number}.example/"))
    pushes: list[float] = []
    pops: list[float] = []
    until = perf_counter() + ENOUGH
    gc.collect()
    gc.disable()
    while len(pops) < POPS and perf_counter() < until:
        began = thread_time()
        request = queue.pop()
        popped = thread_time()
        downloader.active.add(request)  # as if it were downloaded at once
        downloader.active.remove(request)
        pops.append(popped - began)
        began = thread_time()
        queue.push(request)
        pushes.append(thread_time() - began)
    return {"push": median(pushes), "pop": median(pops)}


def queue_of(settings: dict[str, Any]) -> tuple[Any, Any]:
    """A queue as the scheduler makes it, in memory, and the downloader of its crawl, which is not started."""
    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    crawler: Any = Crawler(Spider, {**QUIET, **settings, "LOG_ENABLED": False})
    crawler.spider = Spider("queue")
    crawler._apply_settings()
    crawler.engine = crawler._create_engine()
    queue_class = load_object(crawler.settings["SCHEDULER_PRIORITY_QUEUE"])
    queue = queue_class.from_crawler(crawler, LifoMemoryQueue, "", start_queue_cls=FifoMemoryQueue)
    return queue, crawler.engine.downloader
