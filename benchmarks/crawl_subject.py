"""The crawls of ``benchmarks.crawl_cost``, each in a process of its own, and what is measured inside them."""

from __future__ import annotations

import gc
import os
import re
import resource
from collections.abc import AsyncIterator, Iterator
from itertools import islice
from pathlib import Path
from time import thread_time
from typing import Any, Final

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.utils.httpobj import urlparse_cached

from scrapy_rep import RepMiddleware

from .any_origin import FORBIDDEN, address

AT_ONCE: Final = 16
WARM: Final = 400  # pages that do not count
BATCH: Final = 1_000  # requests timed in one go; more than urllib's cache of split URLs holds
QUIET: Final = {"TELNETCONSOLE_ENABLED": False, "MEMUSAGE_ENABLED": False, "LOG_LEVEL": "WARNING"}


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def resident_octets() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def peak_octets() -> int:
    """The most that this process ever held; ``getrusage`` counts what the one that started it held, too."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text("ascii"))
    return int(found[1]) * 1_024 if found else 0


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
        for request in islice(self.left, 1):
            yield request

    async def measure(self) -> None:
        raise NotImplementedError


class Pages(Chains):
    """Many pages of one origin: CPU seconds per page, then those of the middleware alone."""

    batches = 10
    began = 0.0

    def requests(self) -> Iterator[Request]:
        return map(Request, self.numbered(range(self.count)))

    def numbered(self, numbers: range) -> Iterator[str]:
        path = "catalogue/category-{}/article-{}.html?page={}"
        return (f"http://127.0.0.1:{self.port}/{path.format(n % 50, n, n % 7)}" for n in numbers)

    async def measure(self) -> None:
        if self.done == WARM:
            gc.collect()
            gc.disable()
            self.began = cpu_seconds()
        if self.done == self.count:
            self.figures["page"] = (cpu_seconds() - self.began) / (self.count - WARM)
            self.figures["request"] = [await self.alone(batch) for batch in range(self.batches)]
            await self.refuses()

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


def split(request: Request) -> None:
    urlparse_cached(request)


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


def run(spider: str, port: int, count: int, settings: dict[str, Any]) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    process = AsyncCrawlerProcess({**QUIET, "CONCURRENT_REQUESTS_PER_DOMAIN": AT_ONCE, **settings})
    crawler = process.create_crawler({"Pages": Pages, "Origins": Origins}[spider])
    process.crawl(crawler, port=port, count=count, figures=figures)
    process.start()
    stats = crawler.stats.get_stats()
    names = ("response_received_count", "robotstxt/request_count", "log_count/ERROR")
    return {**figures, "stats": {name: stats.get(name, 0) for name in names}}
