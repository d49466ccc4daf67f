"""Memory of a crawl that is fed 50,000 pages by sitemaps: Scrapy's sitemap spider and RepSitemapSpider.

    python -m benchmarks.sitemaps [--pages 50000] [--shape SHAPE]

prints a Markdown table. Each crawl is a process of its own and crawls a real server on 127.0.0.1 (Linux): the
pages without a sitemap; 50 sitemaps of 1,000 pages; one sitemap of 50,000; that one with a JOBDIR, where requests
wait on disk; and one of 52 MB, as a gzip file and as it is. The peak is that of the process. Needs no extra;
twenty minutes or more.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import Response
from scrapy.spiders import SitemapSpider

from scrapy_rep import RepSitemapSpider

from .any_origin import AnyOrigin
from .crawl_subject import QUIET, resident_octets

EVERY: Final = 500  # pages between two looks at the memory
OCTETS: Final = 1_040  # of an entry in a large sitemap: 50,000 of them are just within the limit


@dataclass(frozen=True)
class Shape:
    """How the pages are named: in so many sitemaps, with entries of so many octets."""

    sitemaps: int = 1
    entry: int = 0
    packed: bool = False
    on_disk: bool = False


SHAPES: Final = {
    "no sitemap": Shape(0),
    "50 sitemaps": Shape(50),
    "one sitemap": Shape(),
    "one sitemap, JOBDIR": Shape(on_disk=True),
    "one of 52 MB, gzip": Shape(entry=OCTETS, packed=True),
    "one of 52 MB": Shape(entry=OCTETS),
}


class Fed:
    """What the two spiders share: resident octets as pages come."""

    custom_settings = {**QUIET, "CONCURRENT_REQUESTS_PER_DOMAIN": 16}  # noqa: RUF012

    def parse(self, _: Response) -> None:
        if len(self.resident) * EVERY <= self.pages:
            self.resident.append(resident_octets())
        self.pages += 1

    pages = 0
    resident: list[int]


class Scrapys(Fed, SitemapSpider):
    name = "Scrapy's SitemapSpider"
    custom_settings = {**Fed.custom_settings, "ROBOTSTXT_OBEY": True}  # noqa: RUF012


class Ours(Fed, RepSitemapSpider):
    name = "RepSitemapSpider"
    custom_settings = {**Fed.custom_settings, "ADDONS": {"scrapy_rep.Addon": 300}}  # noqa: RUF012


class Listed(Fed, Spider):
    """Knows its pages; each one that comes asks for the next, so that no queue is measured."""

    name = "no sitemap spider"
    custom_settings = Ours.custom_settings
    count: int
    sites: list[str]
    left: Iterator[Request]

    async def start(self) -> AsyncIterator[Request]:
        self.left = (Request(f"{self.sites[0]}/section/article-{page}") for page in range(self.count))
        for request in islice(self.left, 16):
            yield request

    def parse(self, response: Response) -> Request | None:  # type: ignore[override]
        super().parse(response)
        return next(self.left, None)


SPIDERS: Final = {spider.name: spider for spider in (Listed, Scrapys, Ours)}


def subject(job: dict[str, Any]) -> dict[str, Any]:
    """One crawl; its figures."""
    process = AsyncCrawlerProcess(job["settings"])
    crawler = process.create_crawler(SPIDERS[job["spider"]])
    resident = [resident_octets()]
    began = perf_counter()
    where = {"sites": [job["site"]], "sitemap_urls": job["sitemap_urls"], "count": job["pages"]}
    process.crawl(crawler, **where, resident=resident)
    process.start()
    stats = crawler.stats.get_stats()
    return {
        "resident": resident,
        "peak": peak_octets(),
        "seconds": perf_counter() - began,
        "errors": stats.get("log_count/ERROR", 0),
        "pages": stats.get("response_received_count", 0),
    }


def peak_octets() -> int:
    """The most that this process ever had in memory."""
    (line,) = (each for each in Path("/proc/self/status").read_text("ascii").splitlines() if "VmHWM" in each)
    return int(line.split()[1]) * 1_024


def entry(url: str, octets: int) -> str:
    """The entry of *url*, filled up to so many *octets*."""
    text = f"<url><loc>{url}</loc><lastmod>2026-05-01</lastmod>"
    image = f"<image:image><image:loc>{url}.png</image:loc><image:caption>"
    end = "</image:caption></image:image>" if octets else ""
    text += image.ljust(octets - len(text) - len(end) - 7, "x") if octets else ""
    return f"{text}{end}</url>\n"


@contextmanager
def site(pages: int, shape: Shape) -> Iterator[str]:
    """A site with so many pages in sitemaps of *shape*; its origin."""
    sitemaps = shape.sitemaps
    with AnyOrigin(lasting=True) as server:
        origin = f"http://127.0.0.1:{server.port}"
        names = [f"/sitemap-{number}.xml{'.gz' * shape.packed}" for number in range(sitemaps)]
        server.files[b"/robots.txt"] = "".join(f"Sitemap: {origin}{name}\n" for name in names).encode()
        for number, name in enumerate(names):
            entries = (
                entry(f"{origin}/section/article-{page}", shape.entry) for page in range(number, pages, sitemaps)
            )
            body = f"<urlset>{''.join(entries)}</urlset>".encode()
            server.files[name.encode()] = gzip.compress(body) if shape.packed else body
        yield origin


def crawl(spider: str, pages: int, shape: Shape) -> dict[str, Any]:
    with site(pages, shape) as origin, tempfile.TemporaryDirectory() as folder:
        job = {
            "pages": pages,
            "spider": spider,
            "site": origin,
            "sitemap_urls": [] if spider == Ours.name else [f"{origin}/robots.txt"],
            "settings": {"JOBDIR": folder} if shape.on_disk else {},
        }
        result = subprocess.run(  # noqa: S603
            [sys.executable, "-m", "benchmarks.sitemaps", "--subject", json.dumps(job)],
            capture_output=True,
            text=True,
            check=False,
        )
    figures: dict[str, Any] = json.loads(result.stdout) if not result.returncode else {}
    if not figures or figures["errors"] or figures["pages"] < pages + shape.sitemaps:
        raise SystemExit(f"the crawl broke: {figures}\n{result.stderr[-4_000:]}")
    return figures


def row(spider: str, shape: str, figures: dict[str, Any]) -> str:
    resident = [octets / 1e6 for octets in figures["resident"]]
    half = resident[len(resident) // 2 :]
    peak = figures["peak"] / 1e6
    cells = f"{resident[1]:.0f} | {peak:.0f} | {half[0]:.0f} to {half[-1]:.0f} | {figures['seconds']:.0f}"
    return f"| {shape} | {spider} | {cells} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=50_000)
    parser.add_argument("--shape", choices=SHAPES, action="append", help="one of the crawls; all by default")
    parser.add_argument("--subject", type=json.loads, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.subject:
        print(json.dumps(subject(arguments.subject)))
        return
    print("| pages named by | spider | MB at the first page | peak | second half | seconds |")
    print("|---|---|---|---|---|---|")
    for shape in arguments.shape or SHAPES:
        for spider in [Listed.name] if not SHAPES[shape].sitemaps else [Scrapys.name, Ours.name]:
            print(row(spider, shape, crawl(spider, arguments.pages, SHAPES[shape])), flush=True)


if __name__ == "__main__":
    main()
