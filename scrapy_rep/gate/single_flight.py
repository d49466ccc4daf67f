"""One fetch and those who wait for it.

Scrapy's middleware lets all waiters await one shared Deferred: the first consumes its result and the
others read None, which means "allowed". Here each waiter has a future of its own, and all of them are
released whatever becomes of the fetch.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from scrapy_rep.crawl.event_loop import start

T = TypeVar("T")


class SingleFlight(Generic[T]):
    """Work that runs once, on its own, for any number of waiters; one that is cancelled takes nobody along."""

    def __init__(self, landed: Callable[[], None]) -> None:
        """*landed* is called when the work has ended, before the waiters go on."""
        self._landed = [landed]
        self._others: list[Callable[[], int]] = []
        self._waiters: list[Deferred[T]] = []
        self._release: Callable[[Deferred[T]], None] | None = None
        self._running: Deferred[None] | None = None

    def start(self, work: Coroutine[Any, Any, T]) -> None:
        """Start *work*, which may end before this returns."""
        self._running = start(self._fly(work))

    def call_when_landed(self, landed: Callable[[], None], waiting: Callable[[], int]) -> None:
        """Call *landed* when the work has ended, now if it has; *waiting* tells how many wait for that call."""
        if self._release is None:
            self._landed.append(landed)
            self._others.append(waiting)
        else:
            landed()

    @property
    def waiting(self) -> int:
        """How many wait for the work to end."""
        return len(self._waiters) + sum(waiting() for waiting in self._others)

    async def join(self) -> T:
        """The result of the work; raises what the work raised."""
        waiter: Deferred[T] = Deferred()
        if self._release is None:
            self._waiters.append(waiter)
        else:
            self._release(waiter)
        return await maybe_deferred_to_future(waiter)

    @property
    def has_waiters(self) -> bool:
        """Whether somebody awaits the result."""
        return bool(self._waiters)

    def cancel(self) -> None:
        """Cut the work off; waiters get an error."""
        if self._running is not None:
            self._running.cancel()

    async def _fly(self, work: Coroutine[Any, Any, T]) -> None:
        release = _failing(RuntimeError("the fetch of robots.txt was cut off"))
        try:
            result = await work
        except Exception as error:  # noqa: BLE001  # it is the waiters' to handle
            release = _failing(error)
        else:
            release = _succeeding(result)
        finally:  # however it ends, a forced stop included
            self._land(release)

    def _land(self, release: Callable[[Deferred[T]], None]) -> None:
        self._release = release
        waiters, self._waiters = self._waiters, []
        try:
            for landed in self._landed:
                landed()
        finally:
            for waiter in waiters:
                release(waiter)

    def __repr__(self) -> str:
        state = "landed" if self._release else "in flight"
        return f"<SingleFlight {state} waiters={len(self._waiters)}>"


def _succeeding(result: T) -> Callable[[Deferred[T]], None]:
    return lambda waiter: waiter.callback(result)


def _failing(error: Exception) -> Callable[[Deferred[Any]], None]:
    return lambda waiter: waiter.errback(Failure(error))  # type: ignore[no-untyped-call]
