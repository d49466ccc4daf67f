"""Fleets of real crawls for the tests beside this file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from time import monotonic, sleep
from typing import Any

from tests.support.crawl import Crawl, Start, crawl
from tests.support.redis_server import RedisServer
from tests.support.site import Site, robots

DELAY = 0.2
LEAST = DELAY - 0.001  # what rounding takes
SLOW = robots(f"User-agent: *\nDisallow: /private\nCrawl-delay: {DELAY}\n")
MEMORY = {"REP_STORE": "memory"}


@contextmanager
def workers(number: int, server: RedisServer, urls: Callable[[int], list[str]], **settings: Any) -> Iterator[Any]:
    """So many crawls at once, while entered; worker *n* crawls ``urls(n)``."""
    given: dict[str, Any] = {"settings": {"REP_REDIS_URL": server.url, **MEMORY, **settings}}
    with ThreadPoolExecutor(number) as pool:
        yield [pool.submit(crawl, *urls(worker), **given) for worker in range(number)]


def results(crawls: list[Future[Crawl]]) -> list[Crawl]:
    found = [one.result() for one in crawls]
    for result in found:
        assert not result.tracebacks
        assert not result.lines("ERROR")
    return found


def of_redis(result: Crawl, level: str) -> list[str]:
    """What a crawl says of its connection to Redis."""
    return [line for line in result.lines(level, "scrapy_rep") if line.startswith("Redis at ")]


def wait_until(enough: Callable[[], bool]) -> None:
    patience = monotonic() + 30
    while not enough():
        assert monotonic() < patience, "it does not happen"
        sleep(0.005)


def gaps(starts: Iterable[Start]) -> list[float]:
    """Seconds between the starts of all workers: the downloaders of one machine go by one clock."""
    times = sorted(start.time for start in starts)
    return [after - before for before, after in pairwise(times)]


def starts_of(crawls: Iterable[Crawl], origin: str = "") -> list[Start]:
    return [start for result in crawls for start in result.starts if start.url.startswith(origin)]


def pages_of(site: Site, number: int) -> Callable[[int], list[str]]:
    """So many pages for each worker."""
    return lambda worker: [f"{site.origin}/{worker}/{page}" for page in range(number)]
