"""Work off the event loop, on every loop that Scrapy runs on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from scrapy.utils import asyncio
from scrapy.utils.defer import maybe_deferred_to_future

T = TypeVar("T")


async def in_thread(function: Callable[..., T], *arguments: Any) -> T:
    """What *function* returns, called in a thread; raises what it raises."""
    run_in_thread = getattr(asyncio, "run_in_thread", None)  # Scrapy >= 2.15
    if run_in_thread:
        result: T = await run_in_thread(function, *arguments)
        return result
    from twisted.internet.threads import deferToThread  # noqa: PLC0415  # an older Scrapy has a reactor by now

    return await maybe_deferred_to_future(deferToThread(function, *arguments))
