"""One real Scrapy crawl in the process of the tests, on the reactor of pytest-twisted; nothing of it stays."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
import traceback
import warnings
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from time import monotonic
from typing import Any

import pytest_twisted
from scrapy.utils.log import DEFAULT_LOGGING
from twisted.internet.defer import Deferred
from twisted.python.log import PythonLoggingObserver

from .run_crawl import Collector, make_crawler, plain_stats, refuse_deprecations

_PATIENCE = 5.0
"""Seconds until a timer, a task or a thread that is still there counts as left behind."""

_NOBODY_HANDLED = ("Unhandled error in Deferred", "exception was never retrieved")
_POOLS = ("PoolThread-twisted", "asyncio_")


def can_run_here() -> bool:
    """Whether pytest-twisted has a reactor for the caller: not in a thread, and not without pytest."""
    has_reactor = pytest_twisted._instances.gr_twisted is not None
    return has_reactor and threading.current_thread() is threading.main_thread()


def run_here(job: dict[str, Any], timeout: float) -> dict[str, Any]:
    """The facts of *job*, as `run_crawl.run` gathers them, with the traceback of a crawl that did not start."""
    with _logging() as collector, as_python_warns(), _collection():
        crawling = asyncio.ensure_future(_run(job, collector, timeout))
        facts: dict[str, Any] = pytest_twisted.blockon(Deferred.fromFuture(crawling))
    facts["log"] = collector.lines
    is_unhandled = any(text in line["message"] for line in collector.lines for text in _NOBODY_HANDLED)
    assert not is_unhandled, f"nobody handled an error:\n{_told(collector)}"
    return facts


async def _run(job: dict[str, Any], collector: Collector, timeout: float) -> dict[str, Any]:
    async with nothing_left():
        crawler, facts, attributes = make_crawler(job)
        crawling = asyncio.ensure_future(crawler.crawl_async(**attributes))
        done, _ = await asyncio.wait([crawling], timeout=timeout)
        if not done:
            crawling.cancel()
            raise AssertionError(f"the crawl did not end:\n{_told(collector)}")
        error = crawling.exception()
        facts["failed"] = error is not None
        facts["stderr"] = "".join(traceback.format_exception(error)) if error else ""
        facts["stats"] = plain_stats(crawler)
    return facts


@asynccontextmanager
async def nothing_left() -> AsyncIterator[None]:
    """Assert that the crawl inside the ``async with`` block leaves no timer, no task and no thread."""
    before = _alive()
    yield
    _cut_off_downloads(before)
    await _assert_nothing_left(before)


def _told(collector: Collector) -> str:
    """The end of the log."""
    return "\n".join(line["message"] + line["traceback"] for line in collector.lines)[-4_000:]


def _cut_off_downloads(before: dict[int, Any]) -> None:
    """A crawl that closes does not wait for robots.txt; Scrapy has no way to end that download, a process has."""
    for task in asyncio.all_tasks():
        if id(task) not in before and "Downloader._wait_for_download" in repr(task):
            task.cancel()


async def _assert_nothing_left(before: dict[int, Any]) -> None:
    patience = monotonic() + _PATIENCE
    while left := [thing for key, thing in _alive().items() if key not in before]:
        assert monotonic() < patience, f"the crawl has left behind {left}"
        await asyncio.sleep(0.01)


def _alive() -> dict[int, Any]:
    """The timers, tasks and threads that there are now, but for the one that asks."""
    from twisted.internet import reactor  # noqa: PLC0415  # pytest-twisted has installed it

    loop: Any = asyncio.get_running_loop()
    delayed: Any = reactor
    timers = [timer for timer in loop._scheduled if not timer.cancelled() and "_onTimer" not in repr(timer)]
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    threads = [thread for thread in threading.enumerate() if not thread.name.startswith(_POOLS)]
    return {id(thing): thing for thing in [*timers, *delayed.getDelayedCalls(), *tasks, *threads]}


@contextmanager
def _collection() -> Iterator[None]:
    """Free what was made while entered: an error that nobody handled is told when its Deferred or Future goes.

    What was there before is left out: a look at all that the tests import takes ten times as long as a crawl.
    """
    gc.freeze()
    try:
        yield
        gc.collect()
    finally:
        gc.unfreeze()


@contextmanager
def _logging() -> Iterator[Collector]:
    """Log as a process that crawls does, while entered; what was set before comes back."""
    collector, observer = Collector(), PythonLoggingObserver("twisted")
    quieted: Any = DEFAULT_LOGGING["loggers"]
    names = ["", *quieted]
    levels = {name: logging.getLogger(name).level for name in names}
    logging.root.setLevel(logging.NOTSET)
    for name, options in quieted.items():
        logging.getLogger(name).setLevel(options["level"])
    logging.root.addHandler(collector)
    observer.start()
    try:
        yield collector
    finally:
        observer.stop()
        logging.root.removeHandler(collector)
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


@contextmanager
def as_python_warns() -> Iterator[None]:
    """Warn as Python does by default, into the log; what scrapy_rep uses must not be deprecated."""
    with warnings.catch_warnings():
        warnings.resetwarnings()
        for category in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
            warnings.simplefilter("ignore", category)
        refuse_deprecations()
        logging.captureWarnings(True)
        try:
            yield
        finally:
            logging.captureWarnings(False)
