"""What forbidden links cost that wait in the queue, and what REP_FILTER_LINKS saves: a shop with facets.

Each crawl is a process of its own and crawls a real server on 127.0.0.1: every category page links to so many
facets of itself, all of which robots.txt forbids. Needs no extra.
"""

from __future__ import annotations

import re
import resource
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from scrapy import Request, Spider, signals
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import Response

from .any_origin import AnyOrigin
from .apart import apart
from .crawl_subject import QUIET, cpu_seconds
from .figures import Benchmark, main, table

BREADTH_FIRST: Final = {
    "DEPTH_PRIORITY": 1,
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
}
ORDERS: Final[dict[str, dict[str, Any]]] = {
    "Scrapy's order": {},
    "breadth first": BREADTH_FIRST,
    "breadth first, JOBDIR": {**BREADTH_FIRST, "JOBDIR": "here"},
}
CHOICES: Final = ("off", "known")


class Shop(Spider):
    """Follows every link; notes how long the queue and how large its folder gets."""

    name = "shop"
    custom_settings = {**QUIET, "ADDONS": {"scrapy_rep.Addon": 300}}  # noqa: RUF012
    site: str
    folder: str
    longest = largest = 0

    async def start(self) -> AsyncIterator[Request]:
        self.crawler.signals.connect(self.scheduled, signal=signals.request_scheduled)
        yield Request(self.site)

    def parse(self, response: Response) -> Iterator[Request]:
        for path in re.findall(rb'href="([^"]+)"', response.body):
            yield Request(self.site + path.decode())
        self.note_folder()

    def scheduled(self) -> None:
        engine: Any = self.crawler.engine
        self.longest = max(self.longest, len(engine._slot.scheduler))

    def note_folder(self) -> None:
        if self.folder:
            octets = sum(path.stat().st_size for path in Path(self.folder).rglob("*") if path.is_file())
            self.largest = max(self.largest, octets)


def subject(job: dict[str, Any]) -> dict[str, Any]:
    """One crawl; its figures."""
    process = AsyncCrawlerProcess(job["settings"])
    crawler = process.create_crawler(Shop)
    began = perf_counter()
    process.crawl(crawler, site=job["site"], folder=job["settings"].get("JOBDIR", ""))
    process.start()
    stats, spider = crawler.stats.get_stats(), crawler.spider
    return {
        "seconds": perf_counter() - began,
        "cpu": cpu_seconds(),
        "resident": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1_024,
        "longest": spider.longest,
        "largest": spider.largest,
        "errors": stats.get("log_count/ERROR", 0),
        "pages": stats.get("response_received_count", 0),
        "forbidden": stats.get("robotstxt/forbidden", 0) + stats.get("rep/links/filtered_count", 0),
    }


@contextmanager
def site(categories: int, facets: int) -> Iterator[str]:
    """A shop with so many categories, which link to so many facets each; its origin."""
    with AnyOrigin(lasting=True) as server:
        server.files[b"/robots.txt"] = b"User-agent: *\nDisallow: /*?*filter=\nDisallow: /cart\n"
        server.files[b"/"] = page(f"/category-{number}" for number in range(categories))
        for number in range(categories):
            links = (f"/category-{number}?colour={n % 20}&filter=size-{n // 20}" for n in range(facets))
            server.files[b"/category-%d" % number] = page(links)
        yield f"http://127.0.0.1:{server.port}"


def page(links: Iterator[str]) -> bytes:
    return "".join(f'<a href="{link}">link</a>\n' for link in links).encode()


def crawl(order: str, choice: str, categories: int, facets: int) -> dict[str, Any]:
    with site(categories, facets) as origin, tempfile.TemporaryDirectory() as folder:
        settings = {**ORDERS[order], "REP_FILTER_LINKS": choice}
        if "JOBDIR" in settings:
            settings["JOBDIR"] = folder
        figures: dict[str, Any] = apart(subject, {"site": origin, "settings": settings})
    is_whole = figures["pages"] >= categories and figures["forbidden"] == categories * facets
    if not is_whole or figures["errors"]:
        raise SystemExit(f"the crawl broke: {figures}")
    return {"order": order, "choice": choice, **figures}


def measure(categories: int = 50, facets: int = 500) -> dict[str, Any]:
    crawls = [crawl(order, choice, categories, facets) for order in ORDERS for choice in CHOICES]
    return {"categories": categories, "facets": facets, "crawls": crawls}


def rows(links: dict[str, Any]) -> Iterator[str]:
    pages = f"{links['categories']} category pages of a shop"
    yield f"{pages}, each with {links['facets']} links that a robots.txt of two rules forbids:"
    yield ""
    yield from table(
        ["crawl", "`REP_FILTER_LINKS`", "longest queue", "largest JOBDIR", "memory", "run time", "CPU"],
        (
            (one["order"], f"`{one['choice']}`", f"{one['longest']:,}",
             f"{one['largest'] / 1e6:.2f} MB" if one["largest"] else "–",
             f"{one['resident'] / 1e6:.0f} MB", f"{one['seconds']:.0f} s", f"{one['cpu']:.0f} s")
            for one in links["crawls"]
        ),
    )  # fmt: skip


BENCHMARK: Final = Benchmark(measure, minutes=2, quick={"categories": 4, "facets": 20}, blocks={"links": rows})

if __name__ == "__main__":
    main(__spec__.name)
