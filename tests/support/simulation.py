"""One clock that a test moves, for timers and for coroutines that sleep, without a loop and without waiting."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from heapq import heappop, heappush
from itertools import count
from typing import Any


class _Sleep:
    def __init__(self, seconds: float) -> None:
        self.seconds = max(seconds, 0.0)

    def __await__(self) -> Generator[_Sleep, None, None]:
        yield self


class _Call:
    """What `Simulation.call_later` returns."""

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self.function, self.arguments = function, arguments
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True


class Simulation:
    """``now`` are the seconds that have passed; `monotonic`, `sleep` and `call_later` stand in for the loop's."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        self.now = now
        self._due: list[tuple[float, int, _Call]] = []
        self._order = count()

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> _Sleep:
        return _Sleep(seconds)

    def call_later(self, seconds: float, function: Callable[..., Any], *arguments: Any) -> _Call:
        call = _Call(function, arguments)
        heappush(self._due, (self.now + seconds, next(self._order), call))
        return call

    @property
    def timers(self) -> int:
        """How many calls are still to come."""
        return sum(not call.is_cancelled for _, _, call in self._due)

    def advance(self, seconds: float) -> None:
        """Let so many *seconds* pass, and make the calls that are due by then."""
        end = self.now + seconds
        self._call_until(end)
        self.now = end

    def _call_until(self, end: float) -> None:
        while self._due and self._due[0][0] <= end:
            at, _, call = heappop(self._due)
            self.now = max(self.now, at)
            if not call.is_cancelled:
                call.function(*call.arguments)

    def start(self, work: Coroutine[Any, Any, None], after: float = 0.0) -> None:
        self.call_later(after, self._resume, work)

    def _resume(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            sleep = work.send(None)
        except StopIteration:
            return
        self.start(work, sleep.seconds)

    def run(self, seconds: float = float("inf")) -> None:
        """Until nobody is left, or *seconds* have passed: then those who are left are cut off."""
        self._call_until(self.now + seconds)
        for _, _, call in self._due:
            call.arguments[0].close()
        self._due.clear()
