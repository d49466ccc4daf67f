"""One fetch and everything that waits for it.

Scrapy's own middleware lets all waiting requests await one shared Deferred: the first one consumes its result,
the others read None, which means "allowed". Here every waiter has a future of its own, and all of them are
released however the fetch ends.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from scrapy_rep.runtime.event_loop import start

T = TypeVar("T")


class SingleFlight(Generic[T]):
    """Work that runs once, in the background, for any number of waiters. Cancelling a waiter affects no other."""

    def __init__(self, ended: Callable[[], None]) -> None:
        """*ended* is called when the work has ended, before the waiters resume."""
        self._callbacks = [ended]
        self._counters: list[Callable[[], int]] = []
        self._waiters: list[Deferred[T]] = []
        self._release: Callable[[Deferred[T]], None] | None = None
        self._running: Deferred[None] | None = None

    def start(self, work: Coroutine[Any, Any, T]) -> None:
        """Start *work*, which may end before this returns."""
        self._running = start(self._run(work))

    def call_when_ended(self, ended: Callable[[], None], waiting: Callable[[], int]) -> None:
        """Call *ended* when the work has ended, at once if it has; *waiting* counts what waits for that call."""
        if self._release is None:
            self._callbacks.append(ended)
            self._counters.append(waiting)
        else:
            ended()

    @property
    def waiting(self) -> int:
        """How many waiters and callbacks the end of the work will release."""
        return len(self._waiters) + sum(count() for count in self._counters)

    @property
    def has_waiters(self) -> bool:
        """Whether anything awaits the result."""
        return bool(self._waiters)

    async def join(self) -> T:
        """Wait for the result of the work; raise what the work raised."""
        waiter: Deferred[T] = Deferred()
        if self._release is None:
            self._waiters.append(waiter)
        else:
            self._release(waiter)
        return await maybe_deferred_to_future(waiter)

    def cancel(self) -> None:
        """Cancel the work; waiters get an error."""
        if self._running is not None:
            self._running.cancel()

    async def _run(self, work: Coroutine[Any, Any, T]) -> None:
        release = _failing(RuntimeError("the fetch of robots.txt was cancelled"))
        try:
            result = await work
        except Exception as error:  # noqa: BLE001  # the waiters handle it
            release = _failing(error)
        else:
            release = _succeeding(result)
        finally:  # also on cancellation and on a forced stop
            self._end(release)

    def _end(self, release: Callable[[Deferred[T]], None]) -> None:
        self._release = release
        waiters, self._waiters = self._waiters, []
        try:
            for ended in self._callbacks:
                ended()
        finally:
            for waiter in waiters:
                release(waiter)

    def __repr__(self) -> str:
        state = "ended" if self._release else "running"
        return f"<SingleFlight {state} waiters={len(self._waiters)}>"


def _succeeding(result: T) -> Callable[[Deferred[T]], None]:
    return lambda waiter: waiter.callback(result)


def _failing(error: Exception) -> Callable[[Deferred[Any]], None]:
    return lambda waiter: waiter.errback(Failure(error))  # type: ignore[no-untyped-call]
