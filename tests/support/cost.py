"""Whether what is asked takes steps, and time, linear in what it is asked about.

Two instruments, since neither sees everything. Both ask the same question about a body and about one that is
eight times as large: what is linear grows eight times, what is quadratic 64 times.

*Steps* are the lines of Python that run, counted by `sys.settrace`. They are the same on every machine and in
every run, so a small body is enough. They see loops, and walks that start anew for each record.

What a single call does in C, no step shows: an expression that tries all ways to divide a run of blanks, a
copy of the rest of a body for each of its lines, a long list searched for each rule. There the CPU time of
the thread is taken, not that of the clock: what else the machine does is not in it. The least of several
measurements counts, only its growth is judged, and the limit lies far from both: linear is 8, quadratic 64.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, Final

TIMES_AS_LARGE: Final = 8
GROWTH_OF_STEPS: Final = 12.0
FEW_STEPS: Final = 6  # per octet: what grows to that alone may have been next to nothing before
GROWTH_OF_TIME: Final = 24.0
SHORT: Final = 0.004  # seconds, below which no growth is judged


def steps(ask: Callable[[], object]) -> int:
    """How many lines of Python *ask* runs."""
    count = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        ask()
    finally:
        sys.settrace(before)
    return count


def seconds(ask: Callable[[Any], object], asked: bytes | str, times: int) -> float:
    """The CPU time that *ask* takes, the least of so many *times*."""
    spent = []
    for _ in range(times):
        # Each time another one: of the body that was read last the engine keeps what it found.
        new = bytes(bytearray(asked)) if isinstance(asked, bytes) else asked
        began = time.thread_time()
        ask(new)
        spent.append(time.thread_time() - began)
    return min(spent)


def is_linear_in_steps(ask: Callable[[Any], object], small: Any, large: Any) -> bool:
    most = max(GROWTH_OF_STEPS * steps(lambda: ask(small)), FEW_STEPS * len(large))
    return steps(lambda: ask(large)) <= most


def is_linear_in_time(ask: Callable[[Any], object], small: Any, large: Any) -> bool:
    """Measured again, and longer, before it is said that it is not, where that is not plain."""
    for times in (1, 3, 9):
        spent, spent_on_small = seconds(ask, large, times), seconds(ask, small, 3 * times)
        if spent < SHORT or spent <= GROWTH_OF_TIME * spent_on_small:
            return True
        if times > 1 and spent > 2 * GROWTH_OF_TIME * spent_on_small:
            return False
    return False


def too_costly(
    is_linear: Callable[[Callable[[Any], object], Any, Any], bool],
    ask: Callable[[Any], object],
    made: dict[str, Callable[[int], Any]],
    size: int,
) -> list[str]:
    """Which of what is *made* grows faster than linear."""
    return [name for name, make in made.items() if not is_linear(ask, make(size), make(TIMES_AS_LARGE * size))]
