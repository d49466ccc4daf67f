"""The only file that touches Scrapy's engine and downloader.

Scrapy plans to replace download slots; whatever of ours depends on how the engine works inside is
here, behind functions that say what they are for.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from scrapy.utils.asyncio import call_later
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.httpobj import urlparse_cached
from twisted.internet.defer import Deferred

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

_CLOSING_CHECK: Final = 0.25  # seconds: how soon a pause notices that the crawl closes

# A request that waits for robots.txt keeps its place among the active ones, and so does the request
# for the robots.txt itself.
_PLACES_PER_WAITING: Final = 2


async def download(crawler: Crawler, request: Request) -> Response:
    """The response to *request*, past the scheduler and through all downloader middlewares."""
    with _wider_pool(crawler, request):
        return await crawler.engine.download_async(request)


@contextmanager
def _wider_pool(crawler: Crawler, request: Request) -> Iterator[None]:
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


def is_closing(crawler: Crawler) -> bool:
    """Whether the crawl has begun to close, be it for a signal, an exception or its end."""
    engine = crawler.engine
    slot = getattr(engine, "_slot", None)
    return not engine.running or getattr(slot, "closing", None) is not None


async def pause(crawler: Crawler, seconds: float) -> bool:
    """Wait *seconds*; False, and at once, when the crawl begins to close meanwhile."""
    until = monotonic() + seconds
    while not is_closing(crawler):
        left = until - monotonic()
        if left <= 0:
            return True
        await _sleep(min(left, _CLOSING_CHECK))
    return False


async def _sleep(seconds: float) -> None:
    over: Deferred[None] = Deferred()
    call_later(seconds, over.callback, None)
    await maybe_deferred_to_future(over)


class WaitingRoom:
    """Requests that wait for a robots.txt, and the concurrency they are lent so that nobody else waits."""

    def __init__(self, crawler: Crawler, places: int) -> None:
        """*places* requests at most are lent concurrency; those beyond wait at the cost of others."""
        self._crawler = crawler
        self._places = places

    @contextmanager
    def seat(self) -> Iterator[None]:
        """While entered, the waiting request does not count in ``CONCURRENT_REQUESTS``."""
        downloader = self._crawler.engine.downloader
        # 0 means "no limit", and a downloader of the user's own may count in another way.
        if not self._places or not getattr(downloader, "total_concurrency", 0):
            yield
            return
        self._places -= 1
        downloader.total_concurrency += _PLACES_PER_WAITING
        self._ask_for_requests()
        try:
            yield
        finally:
            downloader.total_concurrency -= _PLACES_PER_WAITING
            self._places += 1

    def _ask_for_requests(self) -> None:
        """The engine asks its scheduler again only when something ends, else every five seconds."""
        slot = getattr(self._crawler.engine, "_slot", None)
        next_call = getattr(slot, "nextcall", None)
        if next_call is not None:
            next_call.schedule()
