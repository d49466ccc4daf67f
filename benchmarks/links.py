"""What forbidden links cost that wait in the queue, and what REP_FILTER_LINKS saves: a shop with facets.

    python -m benchmarks.links [--categories 200] [--facets 500] [--order ORDER]

prints a Markdown table. Each crawl is a process of its own and crawls a real server on 127.0.0.1: every category
page links to so many facets of itself, all of which robots.txt forbids. Needs no extra; five minutes or so.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import subprocess
import sys
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
from .crawl_subject import QUIET, cpu_seconds

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
        job = {"site": f"{origin}", "settings": settings}
        result = subprocess.run(  # noqa: S603
            [sys.executable, "-m", "benchmarks.links", "--subject", json.dumps(job)],
            capture_output=True,
            text=True,
            check=False,
        )
    figures: dict[str, Any] = json.loads(result.stdout) if not result.returncode else {}
    is_whole = figures and figures["pages"] >= categories and figures["forbidden"] == categories * facets
    if not is_whole or figures["errors"]:
        raise SystemExit(f"the crawl broke: {figures}\n{result.stderr[-4_000:]}")
    return figures


def row(order: str, choice: str, figures: dict[str, Any]) -> str:
    folder = f"{figures['largest'] / 1e6:.2f} MB" if figures["largest"] else "–"
    cells = f"{figures['longest']:,} | {folder} | {figures['resident'] / 1e6:.0f} MB"
    return f"| {order} | `{choice}` | {cells} | {figures['seconds']:.1f} s | {figures['cpu']:.1f} s |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--categories", type=int, default=200)
    parser.add_argument("--facets", type=int, default=500)
    parser.add_argument("--order", choices=ORDERS, action="append", help="one of the crawls; all by default")
    parser.add_argument("--subject", type=json.loads, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.subject:
        print(json.dumps(subject(arguments.subject)))
        return
    print("| crawl | `REP_FILTER_LINKS` | longest queue | largest JOBDIR | memory | run time | CPU |")
    print("|---|---|---|---|---|---|---|")
    for order in arguments.order or ORDERS:
        for choice in CHOICES:
            figures = crawl(order, choice, arguments.categories, arguments.facets)
            print(row(order, choice, figures), flush=True)


if __name__ == "__main__":
    main()
