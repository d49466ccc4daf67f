"""The gaps between requests that a robots.txt with a Crawl-delay gets, as the server measures them.

Beside scrapy_rep stands what projects do by hand: set the delay of the download slot when robots.txt has
been parsed (Scrapy 2.18 or later). Then a fast host beside slow ones: when is it done with its pages?

Every figure comes from a real crawl, in a process of its own, of a real server on 127.0.0.0/8 (Linux).
From the root of the repository, with the extra `test`; it takes about two minutes:

    python -m benchmarks.crawl_delay [--delay 0.5] [--pages 20]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import pairwise
from statistics import fmean
from typing import Any

import scrapy
from scrapy import Request, signals
from scrapy.crawler import Crawler

from tests.support.crawl import LOOPS, Crawl, crawl
from tests.support.site import Answer, Site, robots

BY_HAND: dict[str, Any] = {
    "ADDONS": {},
    "ROBOTSTXT_OBEY": True,
    "EXTENSIONS": {"benchmarks.crawl_delay.SetOnce": 0},
}
COMPETITORS: dict[str, dict[str, Any]] = {"set once by hand": BY_HAND, "scrapy_rep": {}}
PROJECTS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "AutoThrottle": {"AUTOTHROTTLE_ENABLED": True, "AUTOTHROTTLE_START_DELAY": 0.1},
    "16 per domain": {"CONCURRENT_REQUESTS_PER_DOMAIN": 16},
}
SCRAPYS_QUEUE: dict[str, Any] = {"SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.DownloaderAwarePriorityQueue"}


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


def check(result: Crawl, pages: int) -> None:
    """A crawl that broke must not pass for one that was polite."""
    if result.exit_code or len(result.pages) != pages:
        raise SystemExit(f"the crawl broke: {result.stats}\n{result.stderr[-4_000:]}")


def gaps(settings: dict[str, Any], loop: str, delay: float, pages: int) -> list[float]:
    """Seconds between the arrivals of robots.txt and the pages."""
    with Site() as site:
        site.answer("/robots.txt", robots(f"User-agent: *\nCrawl-delay: {delay}\n"))
        urls = [f"{site.origin}/{number}" for number in range(pages)]
        check(crawl(*urls, settings=settings, loop=loop, timeout=60 + 2 * delay * pages), pages)
        return [after.time - before.time for before, after in pairwise(site.log)]


def fast_host(slow_hosts: int, settings: dict[str, Any]) -> float:
    """Seconds for the 160 pages of a host, 0.1 s each, beside hosts that ask for a second between two."""
    with Site(["127.0.0.1", *(f"127.0.9.{number}" for number in range(1, slow_hosts + 1))]) as site:
        fast, *slow = site.origins
        site.answer("*", Answer(delay=0.1))
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 1\n"))
        site.answer("/robots.txt", robots("User-agent: *\nAllow: /\n"), fast)
        urls = [f"{origin}/{number}" for number in range(4) for origin in slow]
        urls += [f"{fast}/{number}" for number in range(160)]
        check(crawl(*urls, settings=settings, spider="tests.crawl.spiders:Burst"), len(urls))
        times = [arrival.time for arrival in site.log if arrival.origin == fast]
        return times[-1] - times[0]


def rows(delay: float, pages: int) -> Iterator[str]:
    """A line of figures for each crawl."""
    for name, competitor in COMPETITORS.items():
        if competitor and not hasattr(signals, "robots_parsed"):
            continue
        for project, settings in PROJECTS.items():
            for loop in LOOPS if name == "scrapy_rep" else LOOPS[:1]:
                found = gaps({**competitor, **settings}, loop, delay, pages)
                off = fmean(found) / delay - 1
                yield (
                    f"{name:18} {project:14} {loop:12}"
                    f"{min(found):7.3f} {fmean(found):7.3f} {max(found):7.3f} {off:+8.1%}"
                )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crawl_delay")
    parser.add_argument("--delay", type=float, default=0.5, help="of the robots.txt, in seconds")
    parser.add_argument("--pages", type=int, default=20)
    options = parser.parse_args()
    print(f"Scrapy {scrapy.__version__}, {options.pages} pages, seconds between arrivals for {options.delay} s")
    print(f"{'':18} {'':14} {'':12}{'least':>7} {'mean':>7} {'most':>7} {'mean off':>8}")
    for row in rows(options.delay, options.pages):
        print(row, flush=True)
    print("\n160 pages of a fast host beside slow ones, in seconds")
    for hosts in (0, 1, 4, 20):
        ours, scrapys = fast_host(hosts, {}), fast_host(hosts, SCRAPYS_QUEUE)
        print(f"{hosts:3} slow hosts: {ours:5.1f}; with Scrapy's own queue: {scrapys:5.1f}", flush=True)


if __name__ == "__main__":
    main()
