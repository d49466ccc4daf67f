"""Sites that ask to slow down: plain Scrapy, Scrapy with AutoThrottle, and scrapy_rep.

A limit: a site serves ten pages in any second and answers every other request with 429, once without and once with
``Retry-After: 1``. How many requests do its 300 pages take, how many of the pages come, and when? A healthy host
has 200 pages in the same crawl.

An outage: a site answers everything with 503 for thirty seconds. How many requests for its 16 pages come in that
time, and how many of the pages in the end?

Every figure comes from a real crawl, in a process of its own, of a real server on 127.0.0.0/8 (Linux). Each answer
takes the server 20 ms; settings that are not named are at their defaults. From the root of the repository, with
the extra `test`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any, Final

from tests.support.crawl import Crawl, crawl
from tests.support.site import Answer, Arrival, Site

from .figures import Benchmark, main, table
from .gate import check

PLAIN, AUTOTHROTTLE, OURS = "Scrapy", "Scrapy with AutoThrottle", "scrapy_rep"
CRAWLERS: Final[dict[str, dict[str, Any]]] = {
    PLAIN: {"ADDONS": {}},
    AUTOTHROTTLE: {"ADDONS": {}, "AUTOTHROTTLE_ENABLED": True},
    OURS: {"REP_STORE": "memory"},
}
LIMIT: Final = 10  # pages in any second
HEALTHY: Final = 200  # pages of the host beside it
BURST: Final = 0.5  # seconds from the first request on, in which those that were under way together arrive
AT_ONCE: Final = 16  # pages of the site with the outage, all of them requested together
AFTER: Final = "scrapy_rep, with Retry-After: 1"
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


def crawled(settings: dict[str, Any], *urls: str) -> Crawl:
    result = crawl(*urls, settings=settings, spider="tests.crawl.spiders:Burst", timeout=PATIENCE, apart=True)
    check(len(result.pages) + len(result.failures) == len(urls), result)
    return result


def limited(settings: dict[str, Any], headers: Sequence[tuple[str, str]], pages: int) -> dict[str, Any]:
    """Time and status of each answer at a limit, the pages that came, and when the healthy host was done."""
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
    check(len(result.pages) - of_host == HEALTHY, result)
    answers = [(round(time - began, 2), status) for time, status in server.answers]
    return {"answers": answers, "pages": of_host, "healthy": last - began}


def outage(settings: dict[str, Any], seconds: float) -> dict[str, Any]:
    """The requests of the first burst, when later ones came while it lasted, and the pages in the end."""
    with Site() as site:
        server = Failing(seconds)
        site.answer("*", server)
        site.answer("/robots.txt", Answer(404))
        settings = {**settings, "CONCURRENT_REQUESTS_PER_DOMAIN": AT_ONCE}
        result = crawled(settings, *(f"{site.origin}/{number}" for number in range(AT_ONCE)))
    since = [time - server.times[0] for time in server.times]
    later = [round(time, 1) for time in since if BURST <= time < seconds]
    return {"first": sum(time < BURST for time in since), "later": later, "pages": len(result.pages)}


def measure(pages: int = 300, seconds: float = 30.0) -> dict[str, Any]:
    limits = {name: limited(settings, (), pages) for name, settings in CRAWLERS.items()}
    limits[AFTER] = limited(CRAWLERS[OURS], (("Retry-After", "1"),), pages)
    outages = {name: outage(settings, seconds) for name, settings in CRAWLERS.items()}
    return {"pages": pages, "limits": limits, "seconds": seconds, "outages": outages}


def refused(answers: list[tuple[float, int]]) -> int:
    return sum(status == 429 for _, status in answers)


def at_a_limit(backoff: dict[str, Any]) -> Iterator[str]:
    pages = backoff["pages"]
    yield (
        f"A site serves {LIMIT} pages in any second and answers 429 to every other request; {pages} pages, which"
        f" take {pages / LIMIT:.0f} s at best, and in the same crawl {HEALTHY} pages of a healthy host:"
    )
    yield ""
    yield from table(
        ["", "requests", "answered with 429", "pages", "lost", "seconds", "healthy host"],
        (
            (name, len(one["answers"]), f"{refused(one['answers']) / len(one['answers']):.1%}", one["pages"],
             pages - one["pages"], f"{one['answers'][-1][0]:.1f}", f"{one['healthy']:.1f} s")
            for name, one in backoff["limits"].items()
        ),
    )  # fmt: skip


def in_an_outage(backoff: dict[str, Any]) -> Iterator[str]:
    at_once = f"{AT_ONCE} pages, `CONCURRENT_REQUESTS_PER_DOMAIN = {AT_ONCE}`"
    yield f"A site answers 503 for {backoff['seconds']:.0f} s; {at_once}:"
    yield ""
    yield from table(
        ["", "requests at once", "later, while it lasts", "pages in the end"],
        (
            (name, one["first"], times(one["later"]), f"{one['pages']} of {AT_ONCE}")
            for name, one in backoff["outages"].items()
        ),
    )


def times(later: list[float]) -> str:
    return (
        f"{len(later)}, after {', '.join(map(str, later))} s"
        if 0 < len(later) < AT_ONCE
        else f"{len(later) or 'none'}"
    )


BENCHMARK: Final = Benchmark(
    measure,
    minutes=3,
    quick={"pages": 30, "seconds": 2.0},
    blocks={"backoff": at_a_limit, "backoff.outage": in_an_outage},
    pictures={"backoff.svg": "benchmarks.backoff_chart.draw"},
)

if __name__ == "__main__":
    main(__spec__.name)
