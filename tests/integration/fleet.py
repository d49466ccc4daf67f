"""Fleets of real crawls for the tests beside this file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from statistics import median
from time import monotonic, sleep
from typing import Any

from tests.support.crawl import Crawl, crawl
from tests.support.redis_server import RedisServer
from tests.support.site import Arrival, Site, robots

DELAY = 0.2
LEAST = 0.19
SLOW = robots(f"User-agent: *\nDisallow: /private\nCrawl-delay: {DELAY}\n")
LINK = "scrapy_rep.stores.redis_link"
MEMORY = {"REP_STORE": "memory"}


@contextmanager
def workers(number: int, server: RedisServer, urls: Callable[[int], list[str]], **settings: Any) -> Iterator[Any]:
    """So many crawls at once, while entered; worker *n* crawls ``urls(n)``."""
    given = {"settings": {"REP_REDIS_URL": server.url, **MEMORY, **settings}}
    with ThreadPoolExecutor(number) as pool:
        yield [pool.submit(crawl, *urls(worker), **given) for worker in range(number)]


def results(crawls: list[Future[Crawl]]) -> list[Crawl]:
    found = [one.result() for one in crawls]
    for result in found:
        assert not result.tracebacks
        assert not result.lines("ERROR")
    return found


def wait_until(enough: Callable[[], bool]) -> None:
    patience = monotonic() + 30
    while not enough():
        assert monotonic() < patience, "it does not happen"
        sleep(0.005)


def gaps(arrivals: list[Arrival]) -> list[float]:
    """Seconds between arrivals.

    When the machine stalls, a request arrives late and the next one on time: what a gap has over the
    usual one is counted with the gap behind it.
    """
    raw = [after.time - before.time for before, after in pairwise(arrivals)]
    usual = median(raw)
    return [gap + max(before - usual, 0.0) for before, gap in pairwise([usual, *raw])]


def pages_of(site: Site, number: int) -> Callable[[int], list[str]]:
    """So many pages for each worker."""
    return lambda worker: [f"{site.origin}/{worker}/{page}" for page in range(number)]
