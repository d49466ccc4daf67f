"""What we ask of Scrapy's engine and downloader; besides, ``door`` and ``download_slots`` touch download slots.

Scrapy plans to replace download slots; whatever of ours depends on how the engine works inside is
here, behind methods that say what they are for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.exceptions import CloseSpider
from scrapy.utils.asyncio import call_later
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from scrapy.utils.httpobj import urlparse_cached
from twisted.internet.defer import Deferred

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

_CLOSING_CHECK: Final = 0.25  # seconds: how soon a pause notices that the crawl closes
_START_CHECK: Final = 0.01  # seconds: how soon a start of the engine is noticed


def at_the_door(crawler: Crawler) -> Counter[str]:
    """By download slot: how many of its active requests have not yet reached it; see `Door`."""
    return _at_the_door.setdefault(crawler, Counter())


_at_the_door: WeakKeyDictionary[Crawler, Counter[str]] = WeakKeyDictionary()


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
        self._fetching: set[Request] = set()
        self._outside = at_the_door(crawler)

    def lend(self, number: int) -> int:
        """Lend *number* places, or fewer when there are not as many seats; take back a negative one. How many."""
        number = min(number, self._seats)
        self._seats -= number
        self._widen(number)
        return number

    @contextmanager
    def for_fetch(self, request: Request) -> Iterator[None]:
        """While entered, *request* for a robots.txt takes no place."""
        self._fetching.add(request)
        self._widen(1)
        try:
            yield
        finally:
            self._widen(-1)
            self._fetching.discard(request)

    def free(self) -> int:
        """Places for requests that wait for no robots.txt; 1 or more when there is no limit."""
        downloader = self._crawler.engine.downloader
        places = getattr(downloader, "total_concurrency", 0) - self._lent
        slots = getattr(downloader, "slots", {})
        fetching = sum(
            request in slots[key].active
            for request in self._fetching
            if (key := downloader.get_slot_key(request)) in slots
        )
        taken = sum(len(slot.active) for slot in slots.values()) - fetching - self._outside.total()
        return places - taken if places > 0 else 1

    def _widen(self, number: int) -> None:
        downloader = self._crawler.engine.downloader
        # 0 means "no limit", and a downloader of the user's own may count in another way.
        if number and getattr(downloader, "total_concurrency", 0):
            downloader.total_concurrency += number
            self._lent += number
            if number > 0:
                ask_for_requests(self._crawler)


def ask_for_requests(crawler: Crawler) -> None:
    """The engine asks its scheduler again only when something ends, else every five seconds."""
    slot = getattr(crawler.engine, "_slot", None)
    next_call = getattr(slot, "nextcall", None)
    if next_call is not None:
        next_call.schedule()


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
