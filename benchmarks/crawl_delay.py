"""The gaps between requests that a robots.txt with a Crawl-delay gets, as the server measures them.

Beside scrapy_rep stands what projects do by hand: set the delay of the download slot when robots.txt has
been parsed (Scrapy 2.18 or later). Then a fast host beside slow ones: when is it done with its pages?

Every figure comes from a real crawl, in a process of its own, of a real server on 127.0.0.0/8 (Linux).
From the root of the repository, with the extra `test`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from statistics import fmean
from typing import Any, Final

from scrapy import Request, signals
from scrapy.crawler import Crawler

from tests.support.crawl import crawl
from tests.support.site import Answer, Site, robots

from .figures import Benchmark, main, table
from .gate import check

BY_HAND: Final[dict[str, Any]] = {
    "ADDONS": {},
    "ROBOTSTXT_OBEY": True,
    "EXTENSIONS": {"benchmarks.crawl_delay.SetOnce": 0},
}
AUTOTHROTTLE: Final = {"AUTOTHROTTLE_ENABLED": True, "AUTOTHROTTLE_START_DELAY": 0.1}
CRAWLS: Final = {
    "delay of the download slot set once, by hand": BY_HAND,
    "the same with AutoThrottle": BY_HAND | AUTOTHROTTLE,
    "scrapy_rep": {},
    "scrapy_rep with AutoThrottle": AUTOTHROTTLE,
}
FAST: Final = 160  # pages


class SetOnce:
    """The delay of robots.txt, set when it is parsed and never again."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        crawler.signals.connect(self.parsed, signal=signals.robots_parsed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> SetOnce:
        return cls(crawler)

    def parsed(self, robotparser: Any, request: Request) -> None:
        delay = robotparser.crawl_delay("scrapy")
        downloader = self.crawler.engine.downloader
        downloader.slots[downloader.get_slot_key(request)].delay = delay


def gaps(settings: dict[str, Any], delay: float, pages: int) -> list[float]:
    """Seconds between the arrivals of robots.txt and the pages."""
    with Site() as site:
        site.answer("/robots.txt", robots(f"User-agent: *\nCrawl-delay: {delay}\n"))
        urls = [f"{site.origin}/{number}" for number in range(pages)]
        result = crawl(*urls, settings=settings, timeout=60 + 2 * delay * pages)
        check(len(result.pages) == pages, result)
        return [after.time - before.time for before, after in pairwise(site.log)]


def fast_host(slow_hosts: int) -> float:
    """Seconds for the `FAST` pages of a host, 0.1 s each, beside hosts that ask for a second between two."""
    with Site(["127.0.0.1", *(f"127.0.9.{number}" for number in range(1, slow_hosts + 1))]) as site:
        fast, *slow = site.origins
        site.answer("*", Answer(delay=0.1))
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 1\n"))
        site.answer("/robots.txt", robots("User-agent: *\nAllow: /\n"), fast)
        urls = [f"{origin}/{number}" for number in range(4) for origin in slow]
        urls += [f"{fast}/{number}" for number in range(FAST)]
        result = crawl(*urls, settings={}, spider="tests.crawl.spiders:Burst", timeout=300)
        check(len(result.pages) == len(urls), result)
        times = [arrival.time for arrival in site.log if arrival.origin == fast]
        return times[-1] - times[0]


def measure(delay: float = 0.5, pages: int = 30, slow_hosts: int = 20) -> dict[str, Any]:
    found = {name: gaps(settings, delay, pages) for name, settings in CRAWLS.items()}
    return {
        "delay": delay,
        "gaps": {name: {"least": min(each), "mean": fmean(each)} for name, each in found.items()},
        "fast": {"alone": fast_host(0), "beside": fast_host(slow_hosts), "slow hosts": slow_hosts},
    }


def between_arrivals(crawl_delay: dict[str, Any]) -> Iterator[str]:
    return table(
        [f"seconds between arrivals, Crawl-delay {crawl_delay['delay']}", "least", "mean"],
        ((name, f"{gaps['least']:.3f}", f"{gaps['mean']:.3f}") for name, gaps in crawl_delay["gaps"].items()),
    )


def beside_slow_hosts(crawl_delay: dict[str, Any]) -> Iterator[str]:
    fast = crawl_delay["fast"]
    yield (
        f"Next to {fast['slow hosts']} hosts that ask for a second each, a fast host has its {FAST} pages in"
        f" {fast['beside']:.1f} s; alone it takes {fast['alone']:.1f} s."
    )


BENCHMARK: Final = Benchmark(
    measure,
    minutes=1.2,
    quick={"delay": 0.1, "pages": 3, "slow_hosts": 1},
    blocks={"crawl_delay": between_arrivals, "crawl_delay.fast": beside_slow_hosts},
)

if __name__ == "__main__":
    main(__spec__.name)
