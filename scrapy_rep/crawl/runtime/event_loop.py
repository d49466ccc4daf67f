"""Waiting, delayed calls, background work and threads, for every event loop that Scrapy supports."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from heapq import heappop, heappush
from itertools import count
from typing import Any, Final, TypeVar, cast

from scrapy.exceptions import IgnoreRequest
from scrapy.utils import asyncio as scrapy_asyncio
from scrapy.utils.asyncio import call_later
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from scrapy.utils.reactor import is_reactor_installed
from twisted.internet.defer import CancelledError, Deferred
from twisted.python.failure import Failure
from twisted.python.threadable import isInIOThread

from scrapy_rep.clock import clock

T = TypeVar("T")

CLOSING_CHECK: Final = 0.25
"""Seconds between checks whether the crawl is closing; Scrapy has no signal for that."""


async def sleep(seconds: float) -> None:
    """Wait *seconds*."""
    over: Deferred[None] = Deferred()
    call_later(seconds, over.callback, None)
    await maybe_deferred_to_future(over)


def start(work: Coroutine[Any, Any, None]) -> Deferred[None]:
    """Start *work* in the background. The returned Deferred fires when it ends, which may be before this returns.

    A forced stop of the process cancels *work*; that is not reported as an error.
    """
    running: Deferred[None] = deferred_from_coro(work)
    running.addErrback(_ignore_cancellation)
    return running


def _ignore_cancellation(failure: Failure) -> None:
    failure.trap(asyncio.CancelledError, CancelledError)  # type: ignore[no-untyped-call]


async def in_reactor_thread(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run *work* in the reactor's thread, from any thread; return its result or raise its exception.

    For callbacks of libraries that run an event loop in another thread.
    """
    if not is_reactor_installed() or isInIOThread():  # type: ignore[no-untyped-call]
        return await work()
    from twisted.internet import reactor  # noqa: PLC0415  # it is installed by now

    loop = asyncio.get_running_loop()
    over: asyncio.Future[T | Failure] = loop.create_future()

    def run() -> None:
        deferred_from_coro(work()).addBoth(lambda result: loop.call_soon_threadsafe(over.set_result, result))

    cast("Any", reactor).callFromThread(run)
    result = await over
    if isinstance(result, Failure):
        result.raiseException()
    return result


async def in_thread(function: Callable[..., T], *arguments: Any) -> T:
    """Call *function* in a thread; return its result or raise its exception."""
    run_in_thread = getattr(scrapy_asyncio, "run_in_thread", None)  # Scrapy >= 2.15
    if run_in_thread:
        result: T = await run_in_thread(function, *arguments)
        return result
    from twisted.internet.threads import deferToThread  # noqa: PLC0415  # an older Scrapy has a reactor by now

    return await maybe_deferred_to_future(deferToThread(function, *arguments))


class Timer:
    """Calls functions at set times: one event loop timer serves any number of them.

    A call cannot be cancelled: the function has to check whether it still applies.
    """

    def __init__(self) -> None:
        self._calls: list[tuple[float, int, Callable[[], None]]] = []  # a heap
        self._numbers = count()
        self._loop_timer: Any = None
        self._fires_at = 0.0

    def call_after(self, seconds: float, function: Callable[[], None]) -> None:
        """Call *function* in *seconds*."""
        due = clock.monotonic() + seconds
        heappush(self._calls, (due, next(self._numbers), function))
        if self._loop_timer is None or due < self._fires_at:
            self._restart()

    def _restart(self) -> None:
        self._cancel()
        if self._calls:
            self._fires_at = self._calls[0][0]
            self._loop_timer = call_later(max(self._fires_at - clock.monotonic(), 0.0), self._fire)

    def _fire(self) -> None:
        self._loop_timer, now = None, clock.monotonic()
        try:
            while self._calls and self._calls[0][0] <= now:  # calls that fall due meanwhile wait for the loop
                heappop(self._calls)[2]()
        finally:  # a function that raises must not stop the calls after it
            if self._loop_timer is None:
                self._restart()

    def _cancel(self) -> None:
        if self._loop_timer is not None:
            self._loop_timer.cancel()
            self._loop_timer = None

    def stop(self) -> None:
        """Drop all calls."""
        self._calls.clear()
        self._cancel()

    def __len__(self) -> int:
        return len(self._calls)


class ClosingError(IgnoreRequest):
    """Ends a request that waited when the crawl closed. It says nothing about the site."""


class Closing:
    """Pauses that end, and listeners that are called, when the crawl begins to close.

    Scrapy has no signal for that: this class polls every quarter of a second while it has a listener. Any number
    of pauses share one timer.
    """

    def __init__(self, is_closing: Callable[[], bool]) -> None:
        self._is_closing = is_closing
        self._listeners: dict[Callable[[], None], None] = {}
        self._is_looking = False
        self._pauses = Timer()

    def add(self, listener: Callable[[], None]) -> None:
        """Call *listener* when the crawl closes, and again at every poll until it is removed."""
        self._listeners[listener] = None
        if not self._is_looking:
            self._is_looking = True
            call_later(CLOSING_CHECK, self._look)

    def remove(self, listener: Callable[[], None]) -> None:
        """Stop calling *listener*, if it was added."""
        self._listeners.pop(listener, None)

    def _look(self) -> None:
        try:
            if self._listeners and self._is_closing():
                for listener in [*self._listeners]:
                    listener()
                self._pauses.stop()  # all have ended, because each was a listener
        finally:  # a listener that raises must not keep the others waiting forever
            self._is_looking = bool(self._listeners)
            if self._is_looking:
                call_later(CLOSING_CHECK, self._look)

    async def pause(self, seconds: float) -> bool:
        """Wait *seconds* and return True; return False early if the crawl begins to close."""
        over: Deferred[bool] = Deferred()

        def end(*, is_over: bool) -> None:
            if not over.called:  # nor cancelled
                over.callback(is_over)

        close = partial(end, is_over=False)
        self._pauses.call_after(seconds, partial(end, is_over=True))
        self.add(close)
        try:
            return await maybe_deferred_to_future(over)
        finally:
            self.remove(close)
