"""Sites that ask to slow down: plain Scrapy, Scrapy with AutoThrottle, and scrapy_rep.

A limit: a site serves ten pages in any second and answers every other request with 429, once without and once with
``Retry-After: 1``. How many requests do its 300 pages take, how many of the pages come, and when? A healthy host
has 200 pages in the same crawl.

An outage: a site answers everything with 503 for thirty seconds. How many requests for its 16 pages come in that
time, and how many of the pages in the end?

Every figure comes from a real crawl, in a process of its own, of a real server on 127.0.0.0/8 (Linux). Each answer
takes the server 20 ms; settings that are not named are at their defaults. From the root of the repository, with
the extras `test` and `bench`; it takes about five minutes:

    python -m benchmarks.backoff [--pages 300] [--outage 30] [--out docs/backoff.svg]
"""

from __future__ import annotations

import argparse
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any, Final

import scrapy

from tests.support.crawl import Crawl, crawl
from tests.support.site import Answer, Arrival, Site

from .backoff_chart import AUTOTHROTTLE, OURS, PLAIN, draw

CRAWLERS: Final[dict[str, dict[str, Any]]] = {
    PLAIN: {"ADDONS": {}},
    AUTOTHROTTLE: {"ADDONS": {}, "AUTOTHROTTLE_ENABLED": True},
    OURS: {"REP_STORE": "memory"},
}
LIMIT: Final = 10  # pages in any second
HEALTHY: Final = 200  # pages of the host beside it
BURST: Final = 0.5  # seconds from the first request on, in which those that were under way together arrive
AT_ONCE: Final = 16  # pages of the site with the outage, all of them requested together
RETRY_AFTER: Final = {"no Retry-After": (), "Retry-After: 1": (("Retry-After", "1"),)}
PATIENCE: Final = 600.0  # seconds until a crawl is given up


@dataclass
class Limited:
    """Serves so many pages in any second; ``answers`` are the time and the status of each."""

    headers: Sequence[tuple[str, str]]
    answers: list[tuple[float, int]] = field(default_factory=list)
    _served: deque[float] = field(default_factory=lambda: deque([-inf] * LIMIT, LIMIT))

    def __call__(self, arrival: Arrival) -> Answer:
        is_served = arrival.time > self._served[0] + 1.0
        if is_served:
            self._served.append(arrival.time)
        self.answers.append((arrival.time, 200 if is_served else 429))
        return Answer(delay=0.02) if is_served else Answer(429, headers=self.headers, delay=0.02)


@dataclass
class Failing:
    """Answers with 503 for ``seconds`` from the first request on; ``times`` are those of all requests."""

    seconds: float
    times: list[float] = field(default_factory=list)

    def __call__(self, arrival: Arrival) -> Answer:
        self.times.append(arrival.time)
        return Answer(503 if arrival.time < self.times[0] + self.seconds else 200, delay=0.02)


@dataclass(frozen=True)
class Figures:
    """One crawl of a site with a limit: seconds since the first request and status of each answer, the number of
    pages that came, and the seconds until the last request to the healthy host.
    """

    answers: list[tuple[float, int]]
    pages: int
    healthy: float

    @property
    def seconds(self) -> float:
        return self.answers[-1][0]

    @property
    def refused(self) -> float:
        return sum(status == 429 for _, status in self.answers) / len(self.answers)


def check(result: Crawl, expected: int) -> None:
    """A crawl that broke must not pass for one that gave up."""
    if result.exit_code or len(result.pages) + len(result.failures) != expected:
        raise SystemExit(f"the crawl broke: {result.stats}\n{result.stderr[-4_000:]}")


def crawled(settings: dict[str, Any], *urls: str) -> Crawl:
    result = crawl(*urls, settings=settings, spider="tests.crawl.spiders:Burst", timeout=PATIENCE, apart=True)
    check(result, len(urls))
    return result


def figures_of(settings: dict[str, Any], headers: Sequence[tuple[str, str]], pages: int) -> Figures:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        limited, healthy = site.origins
        server = Limited(headers)
        site.answer("*", server, limited)
        site.answer("/robots.txt", Answer(404), limited)
        site.answer("*", Answer(delay=0.02), healthy)
        urls = [f"{limited}/{number}" for number in range(pages)]
        result = crawled(settings, *urls, *(f"{healthy}/{number}" for number in range(HEALTHY)))
        began = server.answers[0][0]
        last = max(arrival.time for arrival in site.log if arrival.origin == healthy)
    of_host = sum(page.url.startswith(limited) for page in result.pages)
    if len(result.pages) - of_host != HEALTHY:
        raise SystemExit(f"the healthy host lost pages: {result.stats}")
    return Figures([(time - began, status) for time, status in server.answers], of_host, last - began)


def outage(settings: dict[str, Any], seconds: float) -> str:
    """A line of figures: the requests of the first burst and after it, and the pages."""
    with Site() as site:
        server = Failing(seconds)
        site.answer("*", server)
        site.answer("/robots.txt", Answer(404))
        settings = {**settings, "CONCURRENT_REQUESTS_PER_DOMAIN": AT_ONCE}
        result = crawled(settings, *(f"{site.origin}/{number}" for number in range(AT_ONCE)))
    since = [time - server.times[0] for time in server.times]
    first = sum(time < BURST for time in since)
    later = [f"{time:.1f}" for time in since if BURST <= time < seconds]
    shown = f", at {', '.join(later)} s" if 0 < len(later) < AT_ONCE else ""
    return f"{first} | {len(later)}{shown} | {len(result.pages)} of {AT_ONCE}"


def limit_table(figures: dict[tuple[str, str], Figures], pages: int) -> Iterator[str]:
    best = pages / LIMIT
    yield "| | requests | answered with 429 | pages | lost | seconds | of the best possible | the healthy host |"
    yield "|---|---|---|---|---|---|---|---|"
    for (asked, name), one in figures.items():
        yield (
            f"| {name}, {asked} | {len(one.answers):,} | {one.refused:.1%} | {one.pages} | {pages - one.pages}"
            f" | {one.seconds:.1f} | {one.seconds / best:.2f} | {one.healthy:.1f} s |"
        )


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.backoff")
    options.add_argument("--pages", type=int, default=300, help="of the site with a limit (default: %(default)s)")
    options.add_argument("--outage", type=float, default=30.0, help="in seconds (default: %(default)s)")
    options.add_argument("--out", type=Path, default=Path("docs/backoff.svg"), help="(default: %(default)s)")
    chosen = options.parse_args()
    figures = {
        (asked, name): figures_of(settings, headers, chosen.pages)
        for asked, headers in RETRY_AFTER.items()
        for name, settings in CRAWLERS.items()
    }
    print(f"Scrapy {scrapy.__version__}; a site that serves {LIMIT} pages a second\n")
    print(*limit_table(figures, chosen.pages), sep="\n")
    draw({name: figures["no Retry-After", name].answers for name in CRAWLERS}, chosen.pages, LIMIT, chosen.out)
    print(
        f"\n| 503 for {chosen.outage:g} s | requests at once | later, while it lasts | pages |\n|---|---|---|---|"
    )
    for name, settings in CRAWLERS.items():
        print(f"| {name} | {outage(settings, chosen.outage)} |", flush=True)


if __name__ == "__main__":
    main()
