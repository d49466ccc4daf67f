"""``python -m fuzz.worst_costs [QUESTION …]``: what questions cost at most per octet of hostile bodies.

The bounds in `targets.costs` are made of this.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

from tests.protocol.hostile import LINES, RUNS
from tests.support.cost import seconds, steps

from .inputs import parts
from .seeds import seeds
from .targets.costs import (
    AT_ONCE,
    NUMBER,
    QUESTIONS,
    TIMED_OCTETS,
    TRACED_OCTETS,
    Question,
    grown,
    memory,
)

_URL = "https://h.example/" + "a" * 400
_ROW = "| `{}` | {:.1f} | {:.0f} | {:.2f} | {} |"


def main() -> None:
    """Print a row for each question: steps, memory, microseconds, and the three bodies."""
    print("| question | steps | octets | µs | where |\n|---|---|---|---|---|")
    for name in sys.argv[1:] or QUESTIONS:
        ask = QUESTIONS[name]
        worst = [max(_costs(ask, what)) for what in (_steps, _memory, _microseconds)]
        print(_ROW.format(name, *(cost for cost, _ in worst), "; ".join(body for _, body in worst)), flush=True)


def _costs(
    ask: Question, what: Callable[[Question, Callable[[int], bytes]], float]
) -> Iterator[tuple[float, str]]:
    """What *ask* costs for each octet of each body."""
    return ((what(ask, make), name) for name, make in _bodies().items())


def _bodies() -> dict[str, Callable[[int], bytes]]:
    small = {repr(body): body for data in seeds("costs") if NUMBER in (body := parts(data, 3)[0])}
    grow = {name: lambda size, body=body: grown(body, size) for name, body in small.items()}
    return {**LINES, **RUNS, **grow}


def _steps(ask: Question, make: Callable[[int], bytes]) -> float:
    body = make(TRACED_OCTETS)
    return max(0.0, steps(lambda: ask(body, _URL)) - AT_ONCE.steps) / (len(body) + len(_URL))


def _memory(ask: Question, make: Callable[[int], bytes]) -> float:
    body = make(TRACED_OCTETS)
    return max(0.0, memory(lambda: ask(body, _URL)) - AT_ONCE.memory) / (len(body) + len(_URL))


def _microseconds(ask: Question, make: Callable[[int], bytes]) -> float:
    body = make(TIMED_OCTETS)
    return 1e6 * seconds(lambda each: ask(each, _URL), body, 3) / (len(body) + len(_URL))


if __name__ == "__main__":
    main()
