"""To wait, on every loop that Scrapy runs on."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Final

from scrapy.utils.asyncio import call_later
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred

from .scrapy_internals import Engine

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

CLOSING_CHECK: Final = 0.25
"""Seconds: how soon it is noticed that the crawl is closing; Scrapy has no signal for that."""


async def pause(crawler: Crawler, seconds: float) -> bool:
    """Wait *seconds*; False, and soon, when the crawl begins to close meanwhile."""
    engine, until = Engine(crawler), monotonic() + seconds
    while not engine.is_closing:
        left = until - monotonic()
        if left <= 0:
            return True
        await sleep(min(left, CLOSING_CHECK))
    return False


async def sleep(seconds: float) -> None:
    """Wait *seconds*."""
    over: Deferred[None] = Deferred()
    call_later(seconds, over.callback, None)
    await maybe_deferred_to_future(over)
