"""The only file that touches Scrapy's engine and downloader, with ``download_slots`` for their delays.

Scrapy plans to replace download slots; whatever of ours depends on how the engine works inside is
here, behind methods that say what they are for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from scrapy import signals
from scrapy.exceptions import CloseSpider
from scrapy.utils.asyncio import call_later
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from scrapy.utils.httpobj import urlparse_cached
from twisted.internet.defer import Deferred

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

_CLOSING_CHECK: Final = 0.25  # seconds: how soon a pause notices that the crawl closes
_START_CHECK: Final = 0.01  # seconds: how soon a start of the engine is noticed
_PLACE_CHECK: Final = 0.005  # seconds: how soon those at the door notice a free place


class WaitingRoom:
    """Requests that wait for a robots.txt, and the requests for the robots.txt files themselves.

    Both stay among the active requests of Scrapy's downloader and would fill ``CONCURRENT_REQUESTS``:
    each is lent a place while it is here. Those that waited go on one after another and only as
    places are free, so that the loan never becomes a burst; meanwhile they take places again, and so
    come before requests that the scheduler still holds.
    """

    def __init__(self, crawler: Crawler, seats: int) -> None:
        """*seats* requests at most are lent a place; those beyond wait at the cost of others."""
        self._crawler = crawler
        self._seats = seats
        self._lent = 0
        self._fetching = 0
        self._at_the_door: deque[Deferred[None]] = deque()
        self._opening: Deferred[None] | None = None

    @contextmanager
    def seat(self) -> Iterator[None]:
        """While entered, the waiting request takes no place."""
        with self._place_lent(self._seats > 0):
            self._seats -= 1
            try:
                ask_for_requests(self._crawler)
                yield
            finally:
                self._seats += 1

    async def leave(self) -> None:
        """Wait for a free place, behind those who left their seats before."""
        turn: Deferred[None] = Deferred()
        self._at_the_door.append(turn)
        if self._opening is None:
            self._opening = deferred_from_coro(self._open_the_door())
        await maybe_deferred_to_future(turn)

    async def fetch(self, request: Request) -> Response:
        """The response to *request* for a robots.txt, past the scheduler, through all downloader middlewares."""
        self._fetching += 1
        try:
            with self._place_lent(), _wider_pool(self._crawler, request):
                return await self._crawler.engine.download_async(request)
        finally:
            self._fetching -= 1

    @contextmanager
    def _place_lent(self, wanted: bool = True) -> Iterator[None]:
        downloader = self._crawler.engine.downloader
        # 0 means "no limit", and a downloader of the user's own may count in another way.
        if not wanted or not getattr(downloader, "total_concurrency", 0):
            yield
            return
        downloader.total_concurrency += 1
        self._lent += 1
        try:
            yield
        finally:
            downloader.total_concurrency -= 1
            self._lent -= 1

    async def _open_the_door(self) -> None:
        """Let those at the door go one by one.

        On asyncio a download slot counts a request only when its task has started, a turn of the
        loop after it was taken from the queue: who leaves together passes every limit together.
        """
        try:
            while self._at_the_door:
                if self._free_places() <= 0:
                    await sleep(_PLACE_CHECK)
                    continue
                self._at_the_door.popleft().callback(None)
                await sleep(0)
                await sleep(0)
        finally:
            self._opening = None
            while self._at_the_door:
                self._at_the_door.popleft().callback(None)

    def _free_places(self) -> int:
        """Places for requests that wait for no robots.txt; 1 or more when there is no limit."""
        downloader = self._crawler.engine.downloader
        places = getattr(downloader, "total_concurrency", 0) - self._lent
        slots = getattr(downloader, "slots", {})
        taken = sum(len(slot.active) for slot in slots.values()) - self._fetching
        return places - taken if places > 0 else 1


def ask_for_requests(crawler: Crawler) -> None:
    """The engine asks its scheduler again only when something ends, else every five seconds."""
    slot = getattr(crawler.engine, "_slot", None)
    next_call = getattr(slot, "nextcall", None)
    if next_call is not None:
        next_call.schedule()


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
        await sleep(min(left, _CLOSING_CHECK))
    return False


async def sleep(seconds: float) -> None:
    """Wait *seconds*, on every loop that Scrapy runs on."""
    over: Deferred[None] = Deferred()
    call_later(seconds, over.callback, None)
    await maybe_deferred_to_future(over)


def close_spider(crawler: Crawler, reason: str) -> None:
    """Close the spider soon, also one that is just being opened; nothing happens when that has begun."""

    def idle() -> None:
        raise CloseSpider(reason)

    async def close() -> None:
        while not crawler.engine.running and getattr(crawler.engine, "_slot", None) is not None:
            await sleep(_START_CHECK)
        if not is_closing(crawler):
            await crawler.engine.close_spider_async(reason=reason)

    crawler.signals.connect(idle, signal=signals.spider_idle, weak=False)
    call_later(0, lambda: deferred_from_coro(close()))
