"""What a question about a body costs: steps, memory and CPU time, each within a bound per octet.

A small input becomes a large body: it is repeated, and each `NUMBER` in it becomes another number. So a fuzzer can
write thousands of different rules in a few octets, and what grows faster than the body leaves its bound.

*Steps* are the lines of Python that run; they are the same in every run. So is, nearly, the *memory* at its peak.
What one call does in C no step shows: there the *CPU time* of the thread is taken, of a larger body, and again
before it counts; its bound is far from what is usual, and what is quadratic is farther.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Final, NamedTuple

from fuzz.inputs import parts, text_of
from scrapy_rep.directives.page import combine, read_header, read_robots_tag
from scrapy_rep.directives.robots_signals import RobotsSignals
from scrapy_rep.protocol import DIALECTS, GOOGLE, GOOGLE_EXACT, Dialect, parse
from scrapy_rep.tools.difference import Difference
from scrapy_rep.tools.explanation import Explainer
from scrapy_rep.tools.lint import lint
from tests.support.cost import seconds, steps

NUMBER: Final = b"\x1f"
"""Stands for a number, another one in each repetition."""

TRACED_OCTETS: Final = 4_000
"""Of a body whose steps and memory are measured."""

TIMED_OCTETS: Final = 32_000
"""Of a body whose CPU time is measured."""

_TOKENS: Final = ("a", "zz")
_TIMES: Final = 5

Question = Callable[[bytes, str], object]
"""Asks about a body, and a URL where the question is about one."""


class Cost(NamedTuple):
    """Lines of Python, octets and seconds: of one question, or for each octet."""

    steps: float
    memory: float
    seconds: float


def _verdicts(body: bytes, url: str, dialect: Dialect = GOOGLE) -> None:
    """The first decision walks over the rules, the second makes an index, the third is a usual one."""
    for token in _TOKENS:
        file = parse(body, dialect, limit=None)
        for each in (url, "https://h.example/a", url):
            _ = file.verdict(token, each).line


def _difference(body: bytes, url: str) -> None:
    difference = Difference(body, b"user-agent:*\n", _TOKENS, (GOOGLE, GOOGLE), limit=None)
    difference.sample_paths()
    list(difference.changes(url))


def _page(value: bytes, _: str) -> None:
    text = value.decode("latin-1")
    combine([*read_header(text), *read_robots_tag(text)], _TOKENS)


QUESTIONS: Final[dict[str, Question]] = {
    "verdict": _verdicts,
    "google-exact": lambda body, url: _verdicts(body, url, GOOGLE_EXACT),
    "yandex": lambda body, url: _verdicts(body, url, DIALECTS["yandex"]),
    "explain": lambda body, url: [Explainer(parse(body, limit=None), token).explain(url) for token in _TOKENS],
    "lint": lambda body, _: lint(body),
    "diff": _difference,
    "ai-signals": lambda body, url: RobotsSignals.of(parse(body, limit=None), "a").statements(url),
    "page-headers": _page,
}
"""What is asked, by the name that an input gives."""

PER_OCTET: Final[dict[str, Cost]] = {
    "verdict": Cost(20, 130, 7.5e-6),
    "google-exact": Cost(20, 130, 7.5e-6),
    "yandex": Cost(60, 130, 16e-6),
    "explain": Cost(110, 130, 40e-6),
    "lint": Cost(170, 200, 40e-6),
    "diff": Cost(65, 140, 20e-6),
    "ai-signals": Cost(20, 130, 4e-6),
    "page-headers": Cost(20, 20, 4e-6),
}
"""What a question may cost for each octet of body and URL.

Steps and memory are twice what the worst hostile body takes (``python -m fuzz.worst_costs``), time is five
times that, because machines differ, and instrumented code is slower.
"""

AT_ONCE: Final = Cost(4_000, 100_000, 0.02)
"""What it may cost besides."""


def costs(data: bytes) -> None:
    """The question that an input names stays within its bounds."""
    body, url, name = parts(data, 3)
    asked = text_of(name) if text_of(name) in QUESTIONS else "verdict"
    ask = QUESTIONS[asked]
    address = "https://h.example/" + text_of(url)
    most = PER_OCTET[asked]
    traced = grown(body, TRACED_OCTETS)
    octets = len(traced) + len(url)
    assert steps(lambda: ask(traced, address)) <= AT_ONCE.steps + most.steps * octets
    assert memory(lambda: ask(traced, address)) <= AT_ONCE.memory + most.memory * octets
    timed = grown(body, TIMED_OCTETS)
    longest = AT_ONCE.seconds + most.seconds * (len(timed) + len(url))
    assert any(seconds(lambda body: ask(body, address), timed, 1) <= longest for _ in range(_TIMES))


def grown(body: bytes, size: int) -> bytes:
    """*body* again and again, up to *size* octets."""
    found, octets, number = [], 0, 0
    while body and octets < size:
        found.append(body.replace(NUMBER, b"%x" % number))
        octets += len(found[-1])
        number += 1
    return b"".join(found)[:size]


def memory(ask: Callable[[], object]) -> int:
    """How many octets *ask* takes at its peak."""
    tracemalloc.start()
    try:
        ask()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
