"""Delayed calls: one timer of the event loop serves any number of them."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from typing import Any

from scrapy.utils.asyncio import call_later

from scrapy_rep.clock import clock


class Timer:
    """Calls functions at their time.

    A call cannot be cancelled: the function itself checks whether it still applies.
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
            while self._calls and self._calls[0][0] <= now:  # what falls due meanwhile waits for the loop
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
