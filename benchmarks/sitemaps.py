"""Memory of a crawl that sitemaps feed: Scrapy's sitemap spider and RepSitemapSpider.

Each crawl is a process of its own and crawls a real server on 127.0.0.1 (Linux): pages without a sitemap, and the
first pages of one sitemap of 52 MB with 50,000 of them, as a gzip file and as it is. The peak is that of the
process. Needs no extra.
"""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from typing import Any, Final

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import Response
from scrapy.spiders import SitemapSpider

from scrapy_rep import RepSitemapSpider
from scrapy_rep.tools.processes import cores

from .any_origin import AnyOrigin
from .apart import apart
from .crawl_subject import QUIET, peak_octets
from .figures import Benchmark, main, table

LISTED: Final = 50_000
OCTETS: Final = 1_040  # of an entry: so many of them are just within the limit of 52,428,800


class Fed:
    """What the spiders share."""

    custom_settings = {**QUIET, "CONCURRENT_REQUESTS_PER_DOMAIN": 16}  # noqa: RUF012

    def parse(self, _: Response) -> Request | None:
        """Each page is received, and that is all."""


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

    def parse(self, _: Response) -> Request | None:
        return next(self.left, None)


SPIDERS: Final = {spider.name: spider for spider in (Listed, Scrapys, Ours)}
NO_SITEMAP, PACKED, PLAIN = "no sitemap", "gzip", "plain"
CRAWLS: Final = [
    (NO_SITEMAP, Listed.name),
    *((kind, spider.name) for kind in (PACKED, PLAIN) for spider in (Scrapys, Ours)),
]


def subject(spider: str, origin: str, pages: int) -> dict[str, int]:
    """One crawl of so many pages; its figures."""
    process = AsyncCrawlerProcess({"CLOSESPIDER_PAGECOUNT": pages})
    crawler = process.create_crawler(SPIDERS[spider])
    sitemap_urls = [] if spider == Ours.name else [f"{origin}/robots.txt"]
    process.crawl(crawler, sites=[origin], sitemap_urls=sitemap_urls, count=pages)
    process.start()
    names = {"errors": "log_count/ERROR", "pages": "response_received_count"}
    stats = crawler.stats.get_stats()
    return {"peak": peak_octets(), **{name: stats.get(stat, 0) for name, stat in names.items()}}


def entry(url: str) -> str:
    """The entry of *url*, filled up to `OCTETS`."""
    text = f"<url><loc>{url}</loc><lastmod>2026-05-01</lastmod><image:image>"
    text += f"<image:loc>{url}.png</image:loc><image:caption>"
    end = "</image:caption></image:image></url>\n"
    return text.ljust(OCTETS - len(end), "x") + end


@contextmanager
def site(kind: str) -> Iterator[str]:
    """A site whose pages are in one sitemap of that *kind*; its origin."""
    with AnyOrigin(lasting=True) as server:
        origin, name = f"http://127.0.0.1:{server.port}", f"/sitemap.xml{'.gz' * (kind == PACKED)}"
        server.files[b"/robots.txt"] = b""
        if kind != NO_SITEMAP:
            server.files[b"/robots.txt"] = f"Sitemap: {origin}{name}\n".encode()
            entries = "".join(entry(f"{origin}/section/article-{page}") for page in range(LISTED))
            body = f"<urlset>{entries}</urlset>".encode()
            server.files[name.encode()] = gzip.compress(body, 1) if kind == PACKED else body
        yield origin


def crawl(kind: str, spider: str, pages: int) -> dict[str, Any]:
    with site(kind) as origin:
        figures: dict[str, Any] = apart(subject, spider, origin, pages)
    if figures["errors"] or figures["pages"] < pages:
        raise SystemExit(f"the crawl broke: {figures}")
    return {"pages": kind, "spider": spider, "peak": figures["peak"]}


def measure(pages: int = 10_000) -> dict[str, Any]:
    with ThreadPoolExecutor(cores()) as pool:  # what one holds does not depend on the other
        return {"crawled": pages, "crawls": [*pool.map(lambda which: crawl(*which, pages), CRAWLS)]}


def rows(sitemaps: dict[str, Any]) -> Iterator[str]:
    peak = {(one["pages"], one["spider"]): f"{one['peak'] / 1e6:.0f}" for one in sitemaps["crawls"]}
    kinds = {"one sitemap of 52 MB, as a gzip file": PACKED, "the same one as it is": PLAIN}
    return table(
        [f"{sitemaps['crawled']:,} pages, MB at most", "scrapy_rep", "Scrapy's own spider without scrapy_rep"],
        [
            ("no sitemap: each page asks for the next", peak[NO_SITEMAP, Listed.name], ""),
            *((text, peak[kind, Ours.name], peak[kind, Scrapys.name]) for text, kind in kinds.items()),
        ],
    )


BENCHMARK: Final = Benchmark(measure, minutes=2, quick={"pages": 50}, blocks={"sitemaps": rows})

if __name__ == "__main__":
    main(__spec__.name)
