"""A clock that a test moves, for the timer of the queue and for Scrapy's download slots."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from typing import Any


class Timer:
    """What ``call_later`` returns."""

    def __init__(self) -> None:
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True


class Clock:
    """Seconds that pass only when they are told to."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self._numbers = count()
        self._calls: list[tuple[float, int, Timer, Callable[..., Any], tuple[Any, ...]]] = []

    def monotonic(self) -> float:
        return self.now

    def call_later(self, seconds: float, call: Callable[..., Any], *arguments: Any) -> Timer:
        timer = Timer()
        heappush(self._calls, (self.now + seconds, next(self._numbers), timer, call, arguments))
        return timer

    @property
    def timers(self) -> int:
        """How many calls are still to come."""
        return sum(not timer.is_cancelled for _, _, timer, _, _ in self._calls)

    def advance(self, seconds: float) -> None:
        end = self.now + seconds
        while self._calls and self._calls[0][0] <= end:
            due, _, timer, call, arguments = heappop(self._calls)
            self.now = max(self.now, due)
            if not timer.is_cancelled:
                call(*arguments)
        self.now = end
