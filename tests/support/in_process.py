"""Coroutines, crawlers and crawls in the process of the tests, on the asyncio reactor of pytest-twisted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from typing import Any, TypeVar

from scrapy import Spider
from scrapy.crawler import Crawler
from twisted.internet.defer import Deferred

T = TypeVar("T")

ADDON = {"ADDONS": {"scrapy_rep.Addon": 300}, "REP_STORE": "memory", "LOG_ENABLED": False}


def run(work: Coroutine[Any, Any, T]) -> T:
    """What *work* returns, in a loop of its own: tests run inside that of the reactor."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def in_the_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., Deferred[None]]:
    """Run an async *test* in the loop of the reactor: decorator."""

    @wraps(test)
    def run_test(*arguments: Any, **named: Any) -> Deferred[None]:
        return Deferred.fromFuture(asyncio.ensure_future(test(*arguments, **named)))

    run_test.in_the_loop = True  # type: ignore[attr-defined]
    return run_test


async def settle() -> None:
    """Until what was started in the loop has ended, or waits."""
    for _ in range(10):
        await asyncio.sleep(0)


def is_in_the_loop(test: Callable[..., Any]) -> bool:
    """Whether `in_the_loop` decorates *test*."""
    return getattr(test, "in_the_loop", False)


class Quiet(Spider):
    """Requests nothing."""

    name = "quiet"


def crawler_at_rest(settings: dict[str, Any] | None = None, spider: type[Spider] = Quiet) -> Crawler:
    """A crawler with everything that it has in a crawl, which does not run."""
    crawler = Crawler(spider, {**ADDON, **(settings or {})})
    crawler.spider = crawler._create_spider()
    crawler._apply_settings()
    crawler.engine = crawler._create_engine()
    crawler.engine.spider = crawler.spider
    crawler.engine.downloader.close()  # its collection of idle download slots would go on behind the test
    crawler.engine.downloader._start_slot_gc = lambda: None  # type: ignore[method-assign]
    return crawler
