"""The crawls of ``benchmarks.crawl_cost``, each in a process of its own, and what is measured inside them.

A job is JSON in the first argument, the figures are JSON on standard output.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import sys
from collections.abc import AsyncIterator, Iterator
from itertools import islice
from pathlib import Path
from statistics import fmean
from time import thread_time
from typing import Any, Final

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.misc import load_object

from scrapy_rep import RepMiddleware

from .any_origin import DELAYED, FORBIDDEN, address

AT_ONCE: Final = 16
BLOCK: Final = 100  # pages
WARM: Final = 4  # blocks that do not count
BATCH: Final = 1_000  # requests timed in one go; more than urllib's cache of split URLs holds
QUIET: Final = {"TELNETCONSOLE_ENABLED": False, "MEMUSAGE_ENABLED": False, "LOG_LEVEL": "WARNING"}


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def resident_octets() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


class Chains(Spider):
    """So many requests at once, each page asking for the next: no queue that would be measured, too."""

    name = "chains"
    port: int
    count: int
    figures: dict[str, Any]
    done = 0

    async def start(self) -> AsyncIterator[Request]:
        self.left = self.requests()
        for request in islice(self.left, AT_ONCE):
            yield request

    def requests(self) -> Iterator[Request]:
        raise NotImplementedError

    async def parse(self, _: Response) -> AsyncIterator[Request]:
        self.done += 1
        await self.measure()
        for request in islice(self.left, self.wanted()):
            yield request

    def wanted(self) -> int:
        """How many requests follow a page."""
        return 1

    async def measure(self) -> None:
        raise NotImplementedError


class Pages(Chains):
    """Many pages of one origin: CPU seconds per page, then those of the middleware alone.

    The pages come in blocks, and half of the blocks are exempt from robots.txt: two blocks that ran
    one after the other in one process are alike as two crawls never are.
    """

    batches = 10
    began = 0.0

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.took: list[float] = []  # seconds per page of each block

    def requests(self) -> Iterator[Request]:
        for number, url in enumerate(self.numbered(range(self.count))):
            self.asked = number + 1
            yield Request(url, meta={"dont_obey_robotstxt": not obeys(number // BLOCK)})

    def wanted(self) -> int:
        """A block begins when the last page of the one before has come: at no other time is nothing half done."""
        if self.done % BLOCK == 0:
            return AT_ONCE
        return 1 if self.asked % BLOCK else 0

    def numbered(self, numbers: range) -> Iterator[str]:
        path = "catalogue/category-{}/article-{}.html?page={}"
        return (f"http://127.0.0.1:{self.port}/{path.format(n % 50, n, n % 7)}" for n in numbers)

    async def measure(self) -> None:
        if self.done % BLOCK == 0:
            self.next_block()
        if self.done == self.count:
            self.figures.update(by_block(self.took))
            self.figures["request"] = [await self.alone(batch) for batch in range(self.batches)]
            await self.refuses()

    def next_block(self) -> None:
        """Collect garbage off the clock: one full collection, whosever turn it is, costs as much as many pages."""
        self.took.append((cpu_seconds() - self.began) / BLOCK)
        gc.disable()
        gc.collect()
        self.began = cpu_seconds()

    def gate(self) -> Any:
        """The middleware of this crawl; without one, what Scrapy's downloader does with every request anyway.

        It gives None instead of an awaitable if there is nothing to wait for.
        """
        for middleware in (RepMiddleware, RobotsTxtMiddleware):
            found: Any = self.crawler.get_downloader_middleware(middleware)
            if found:
                return found.process_request
        return split

    async def alone(self, batch: int) -> float:
        """Seconds per request, for requests that nobody has looked at before."""
        gate = self.gate()
        requests = list(map(Request, self.numbered(range(batch * BATCH, (batch + 1) * BATCH))))
        gc.collect()
        gc.disable()
        began = thread_time()
        for request in requests:
            if (waits := gate(request)) is not None:
                await waits
        took = thread_time() - began
        gc.enable()
        return took / BATCH

    async def refuses(self) -> None:
        """Note whether the middleware is at work at all."""
        try:
            if (waits := self.gate()(Request(f"http://127.0.0.1:{self.port}{FORBIDDEN}"))) is not None:
                await waits
        except IgnoreRequest:
            self.figures["refuses"] = True


def obeys(block: int) -> bool:
    """Exempt, obeys, obeys, exempt, and again: what grows dearer with time does so for both alike."""
    return block % 4 in (1, 2)


def by_block(took: list[float]) -> dict[str, Any]:
    """Seconds per page that obeys; how much more that is than for an exempt page, per four blocks."""
    fours = [took[start : start + 4] for start in range(WARM, len(took), 4)]
    return {
        "page": fmean(second + third for _, second, third, _ in fours) / 2,
        "more": [(second + third - first - fourth) / 2 for first, second, third, fourth in fours],
    }


def split(request: Request) -> None:
    urlparse_cached(request)


class PagesBesideDelay(Pages):
    """The same while another origin asks for a delay, so that each request passes what keeps delays."""

    async def start(self) -> AsyncIterator[Request]:
        yield Request(f"http://{DELAYED}:{self.port}/", self.no_page)
        async for request in super().start():
            yield request

    def no_page(self, _: Response) -> None:
        """It is not measured."""


class Origins(Chains):
    """One page of each of many origins: resident octets as they grow in number."""

    every = 1_000

    def requests(self) -> Iterator[Request]:
        return (Request(f"http://{address(number)}:{self.port}/") for number in range(self.count))

    async def measure(self) -> None:
        if self.done % self.every == 0:
            self.tidy()
            self.figures.setdefault("resident", []).append(resident_octets())

    def tidy(self) -> None:
        """What Scrapy does each minute, now: a slow crawl must not seem small because more slots have left."""
        engine: Any = self.crawler.engine
        engine.downloader._slot_gc(0)
        gc.collect()


class NewOrigins(Origins):
    """CPU seconds per origin, once the first ones have been seen."""

    first = 200
    began = 0.0

    async def measure(self) -> None:
        if self.done == self.first:
            gc.collect()
            self.began = cpu_seconds()
        if self.done == self.count:
            self.figures["origin"] = (cpu_seconds() - self.began) / (self.count - self.first)


def run(job: dict[str, Any]) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    process = AsyncCrawlerProcess({**QUIET, "CONCURRENT_REQUESTS_PER_DOMAIN": AT_ONCE, **job["settings"]})
    crawler = process.create_crawler(load_object(f"{__spec__.name}.{job['spider']}"))
    process.crawl(crawler, port=job["port"], count=job["count"], figures=figures)
    process.start()
    stats = crawler.stats.get_stats()
    names = ("response_received_count", "robotstxt/request_count", "log_count/ERROR", "rep/memory/evicted_count")
    return {**figures, "stats": {name: stats.get(name, 0) for name in names}}


if __name__ == "__main__":
    print(json.dumps(run(json.loads(sys.argv[1]))))
