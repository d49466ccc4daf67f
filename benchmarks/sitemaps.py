"""Memory of a crawl that is fed 50,000 pages by sitemaps: Scrapy's sitemap spider and RepSitemapSpider.

    python -m benchmarks.sitemaps [--pages 50000] [--shape SHAPE]

prints a Markdown table. Each crawl is a process of its own and crawls a real server on 127.0.0.1 (Linux): 50
sitemaps of 1,000 pages; one sitemap of 50,000; and that one with a JOBDIR, where requests wait on disk. Needs no
extra; ten minutes or more.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any, Final

from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import Response
from scrapy.spiders import SitemapSpider

from scrapy_rep import RepSitemapSpider

from .any_origin import AnyOrigin
from .crawl_subject import QUIET, resident_octets

EVERY: Final = 500  # pages between two looks at the memory
SHAPES: Final = {"50 sitemaps": (50, False), "one sitemap": (1, False), "one sitemap, JOBDIR": (1, True)}


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


SPIDERS: Final = {spider.name: spider for spider in (Scrapys, Ours)}


def subject(job: dict[str, Any]) -> dict[str, Any]:
    """One crawl; its figures."""
    process = AsyncCrawlerProcess(job["settings"])
    crawler = process.create_crawler(SPIDERS[job["spider"]])
    resident = [resident_octets()]
    began = perf_counter()
    process.crawl(crawler, sites=[job["site"]], sitemap_urls=job["sitemap_urls"], resident=resident)
    process.start()
    stats = crawler.stats.get_stats()
    return {
        "resident": resident,
        "seconds": perf_counter() - began,
        "errors": stats.get("log_count/ERROR", 0),
        "pages": stats.get("response_received_count", 0),
    }


@contextmanager
def site(pages: int, sitemaps: int) -> Iterator[str]:
    """A site with so many pages in so many sitemaps; its origin."""
    with AnyOrigin(lasting=True) as server:
        origin = f"http://127.0.0.1:{server.port}"
        names = [f"/sitemap-{number}.xml" for number in range(sitemaps)]
        server.files[b"/robots.txt"] = "".join(f"Sitemap: {origin}{name}\n" for name in names).encode()
        for number, name in enumerate(names):
            locs = (
                f"<url><loc>{origin}/section/article-{page}</loc></url>" for page in range(number, pages, sitemaps)
            )
            server.files[name.encode()] = f"<urlset>{''.join(locs)}</urlset>".encode()
        yield origin


def crawl(spider: str, pages: int, shape: str) -> dict[str, Any]:
    sitemaps, on_disk = SHAPES[shape]
    with site(pages, sitemaps) as origin, tempfile.TemporaryDirectory() as folder:
        job = {
            "spider": spider,
            "site": origin,
            "sitemap_urls": [] if spider == Ours.name else [f"{origin}/robots.txt"],
            "settings": {"JOBDIR": folder} if on_disk else {},
        }
        result = subprocess.run(  # noqa: S603
            [sys.executable, "-m", "benchmarks.sitemaps", "--subject", json.dumps(job)],
            capture_output=True,
            text=True,
            check=False,
        )
    figures: dict[str, Any] = json.loads(result.stdout) if not result.returncode else {}
    if not figures or figures["errors"] or figures["pages"] < pages + sitemaps:
        raise SystemExit(f"the crawl broke: {figures}\n{result.stderr[-4_000:]}")
    return figures


def row(spider: str, shape: str, figures: dict[str, Any]) -> str:
    resident = [octets / 1e6 for octets in figures["resident"]]
    half = resident[len(resident) // 2 :]
    cells = f"{resident[1]:.0f} | {max(resident):.0f} | {half[0]:.0f} to {half[-1]:.0f} | {figures['seconds']:.0f}"
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
    print("| pages named by | spider | MB at the first page | most | second half | seconds |")
    print("|---|---|---|---|---|---|")
    for shape in arguments.shape or SHAPES:
        for spider in SPIDERS:
            print(row(spider, shape, crawl(spider, arguments.pages, shape)), flush=True)


if __name__ == "__main__":
    main()
