"""Several workers on one clock that a test moves: coroutines that sleep, without a loop and without waiting."""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from heapq import heappop, heappush
from itertools import count
from typing import Any


class _Sleep:
    def __init__(self, seconds: float) -> None:
        self.seconds = max(seconds, 0.0)

    def __await__(self) -> Generator[_Sleep, None, None]:
        yield self


class Simulation:
    """``now`` are the seconds that have passed; `monotonic` and `sleep` stand in for those of the loop."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        self.now = now
        self._due: list[tuple[float, int, Coroutine[Any, Any, None]]] = []
        self._order = count()

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> _Sleep:
        return _Sleep(seconds)

    def start(self, work: Coroutine[Any, Any, None], after: float = 0.0) -> None:
        heappush(self._due, (self.now + after, next(self._order), work))

    def run(self, seconds: float = float("inf")) -> None:
        """Until nobody is left, or *seconds* have passed: then those who are left are cut off."""
        until = self.now + seconds
        while self._due:
            at, _, work = heappop(self._due)
            if at > until:
                work.close()
                continue
            self.now = max(self.now, at)
            try:
                sleep = work.send(None)
            except StopIteration:
                continue
            self.start(work, sleep.seconds)
