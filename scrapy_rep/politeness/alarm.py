"""Calls at given times, by one timer of the event loop for any number of them."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from time import monotonic
from typing import Any

from scrapy.utils.asyncio import call_later


class Alarm:
    """Calls functions once their time has come. A call cannot be taken back: it asks whether it still counts."""

    def __init__(self, now: Callable[[], float] = monotonic, later: Callable[..., Any] = call_later) -> None:
        """*now* is the clock, in seconds; *later* calls a function after so many seconds."""
        self.now = now
        self._later = later
        self._calls: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = count()
        self._timer: Any = None
        self._rings_at = 0.0

    def after(self, seconds: float, call: Callable[[], None]) -> float:
        """Call *call* in so many seconds; returns when that is."""
        due = self.now() + seconds
        heappush(self._calls, (due, next(self._numbers), call))
        if self._timer is None or due < self._rings_at:
            self._set()
        return due

    def _set(self) -> None:
        self._cancel()
        if self._calls:
            self._rings_at = self._calls[0][0]
            self._timer = self._later(max(self._rings_at - self.now(), 0.0), self._ring)

    def _ring(self) -> None:
        self._timer = None
        try:
            while self._calls and self._calls[0][0] <= self.now():
                heappop(self._calls)[2]()
        finally:  # one call that fails takes no other along
            if self._timer is None:
                self._set()

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def stop(self) -> None:
        """Forget all calls."""
        self._calls.clear()
        self._cancel()

    def __len__(self) -> int:
        return len(self._calls)
