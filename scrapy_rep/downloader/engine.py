"""What we ask of Scrapy's engine: whether it closes, to wait, to fetch more requests, to end the crawl."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from scrapy import signals
from scrapy.exceptions import CloseSpider
from scrapy.utils.asyncio import call_later
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.defer import Deferred

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

CLOSING_CHECK: Final = 0.25
"""Seconds: how soon somebody who waits notices that the crawl closes."""

_START_CHECK: Final = 0.01  # seconds: how soon a start of the engine is noticed


def ask_for_requests(crawler: Crawler) -> None:
    """The engine asks its scheduler again only when something ends, else every five seconds."""
    slot = getattr(crawler.engine, "_slot", None)
    next_call = getattr(slot, "nextcall", None)
    if next_call is not None:
        next_call.schedule()


def widen(crawler: Crawler, places: int) -> int:
    """Add *places* to ``CONCURRENT_REQUESTS``, or take back a negative number; how many were added."""
    downloader = crawler.engine.downloader
    # 0 means "no limit", and a downloader of the user's own may count in another way.
    if not places or not getattr(downloader, "total_concurrency", 0):
        return 0
    downloader.total_concurrency += places
    if places > 0:
        ask_for_requests(crawler)
    return places


def open_download_slot(crawler: Crawler, request: Request) -> None:
    """Make the download slot of *request*, if there is none, as the downloader does when it arrives."""
    make: Any = getattr(crawler.engine.downloader, "_get_slot", lambda _: None)
    make(request)


def is_closing(crawler: Crawler) -> bool:
    """Whether the crawl has begun to close, be it for a signal, an exception or its end.

    While the spider is being opened the engine does not run yet, and closes nothing.
    """
    slot = getattr(crawler.engine, "_slot", None)
    if slot is None:
        return not crawler.engine.running
    return getattr(slot, "closing", None) is not None


async def pause(crawler: Crawler, seconds: float) -> bool:
    """Wait *seconds*; False, and at once, when the crawl begins to close meanwhile."""
    until = monotonic() + seconds
    while not is_closing(crawler):
        left = until - monotonic()
        if left <= 0:
            return True
        await sleep(min(left, CLOSING_CHECK))
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
