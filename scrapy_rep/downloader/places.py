"""The places that ``CONCURRENT_REQUESTS`` gives, and what is lent on top of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy.utils.httpobj import urlparse_cached

from .engine import widen

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler


def at_the_door(crawler: Crawler) -> Counter[str]:
    """By download slot: how many of its active requests have not yet reached it; see `Door`."""
    return _at_the_door.setdefault(crawler, Counter())


_at_the_door: WeakKeyDictionary[Crawler, Counter[str]] = WeakKeyDictionary()


@contextmanager
def counted_in(slot: Any, key: str, request: Request, counts: Counter[str]) -> Iterator[None]:
    """While entered, *request* is active in download *slot* called *key*, if there is one, though it is not there.

    *counts* are of those who are not there.
    """
    active: set[Request] = slot.active if slot is not None else set()
    active.add(request)
    counts[key] += 1
    try:
        yield
    finally:
        active.discard(request)
        counts[key] -= 1
        if not counts[key]:
            del counts[key]


class Places:
    """The places that ``CONCURRENT_REQUESTS`` gives, and loans on top of them.

    Requests that wait for a robots.txt stay among the active ones of Scrapy's downloader, as those for
    a robots.txt do; both would fill it.
    """

    def __init__(self, crawler: Crawler, seats: int) -> None:
        """*seats* places at most are lent to those who wait."""
        self._crawler = crawler
        self._seats = seats
        self._lent = 0
        self._waiting = 0
        self._fetching: set[Request] = set()
        self._standing = at_the_door(crawler)

    def lend(self, number: int) -> int:
        """Lend *number* places, or fewer when there are not as many seats; take back a negative one. How many."""
        number = min(number, self._seats)
        self._seats -= number
        self._lent += widen(self._crawler, number)
        return number

    @contextmanager
    def for_wait(self) -> Iterator[None]:
        """While entered, a request waits for a robots.txt and takes no place, if there is a seat."""
        lent = self.lend(1)
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1
            self.lend(-lent)

    @contextmanager
    def for_fetch(self, request: Request) -> Iterator[None]:
        """While entered, *request* for a robots.txt takes no place."""
        self._fetching.add(request)
        self._lent += widen(self._crawler, 1)
        try:
            yield
        finally:
            self._lent += widen(self._crawler, -1)
            self._fetching.discard(request)

    def free(self) -> int:
        """Places for requests that wait for no robots.txt; 1 or more when there is no limit.

        Whatever else is active in the downloader takes one, in a middleware too.
        """
        downloader = self._crawler.engine.downloader
        places = getattr(downloader, "total_concurrency", 0) - self._lent
        active = getattr(downloader, "active", ())
        taken = len(active) - self._waiting - self._standing.total()
        if self._fetching:
            taken -= sum(map(self._is_fetch, active))
        return places - taken if places > 0 else 1

    def _is_fetch(self, request: Request) -> bool:
        """Also when a middleware has made the request for a robots.txt anew."""
        return request in self._fetching or "is_robotstxt_request" in request.meta


@contextmanager
def wider_pool(crawler: Crawler, request: Request) -> Iterator[None]:
    """Room for *request* in the connection pool of Scrapy's aiohttp handler, its choice without a reactor.

    That pool holds ``CONCURRENT_REQUESTS`` connections: as many robots.txt that hang would lock out
    every page. Twisted's handlers have no such bound, nor has a handler of the user's own a known one.
    """
    handlers = getattr(crawler.engine.downloader, "handlers", None)
    handler_of = getattr(handlers, "_get_handler", lambda _: None)
    session = getattr(handler_of(urlparse_cached(request).scheme), "_session", None)
    connector: Any = getattr(session, "connector", None)
    if not getattr(connector, "_limit", 0):  # 0 means "no limit"
        yield
        return
    connector._limit += 1
    try:
        yield
    finally:
        connector._limit -= 1
