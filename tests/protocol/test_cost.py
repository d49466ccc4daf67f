"""Every public question about any body takes time linear in its octets, and a verdict in those of the URL, too.

Two instruments, since neither sees everything. Both ask the same question about a body and about one that is
eight times as large: what is linear grows eight times, what is quadratic 64 times.

*Steps* are the lines of Python that run, counted by `sys.settrace`. They are the same on every machine and in
every run, so a small body is enough. They see loops, and walks that start anew for each record.

What a single call does in C, no step shows: an expression that tries all ways to divide a run of blanks, a
copy of the rest of a body for each of its lines, a long list searched for each rule. There the CPU time of
the thread is taken, not that of the clock: what else the machine does is not in it. The least of several
measurements counts, only its growth is judged, and the limit lies far from both: linear is 8, quadratic 64.

What is bounded whatever the body is made small first: a linter that stops after so many comparisons grows
quadratically until then.
"""

from __future__ import annotations

import gc
import re
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from types import FrameType
from typing import Any, Final

import pytest

from scrapy_rep.protocol import DIALECTS, GOOGLE, GOOGLE_EXACT, Dialect, Explainer, lint, parse
from scrapy_rep.protocol.dialects import GEOPORTAL_FIRST, YANDEX
from scrapy_rep.tools.difference import Difference

from .hostile import ALL, LINES, RUNS, URLS, filled

TIMES_AS_LARGE: Final = 8
GROWTH_OF_STEPS: Final = 12.0
FEW_STEPS: Final = 6  # per octet: what grows to that alone may have been next to nothing before
GROWTH_OF_TIME: Final = 24.0
SHORT: Final = 0.004  # seconds, below which no growth is judged
PLAIN: Final = ("1994", "yandex", "geoportal-longest")
TOKENS: Final = ("a", "zz")  # one that most bodies name, one that none does
URL: Final = "https://h.example/" + "a" * 400

Question = Callable[[bytes], object]


def for_tokens(ask: Callable[[Any, str], object]) -> Question:
    """The question for each of `TOKENS`, to a file of its own."""
    return lambda body: [ask(parse(body), token) for token in TOKENS]


def verdicts(body: bytes, dialect: Dialect = GOOGLE) -> None:
    """The first decision walks over the rules, the second makes an index, the third is a usual one."""
    for token in TOKENS:
        file = parse(body, dialect)
        for url in (URL, "https://h.example/a/", "https://h.example/%61/index.html?a=b"):
            _ = file.verdict(token, url).line


def differences(body: bytes) -> None:
    difference = Difference(body, ALL, TOKENS, (GOOGLE, YANDEX), limit=None)
    difference.sample_paths()
    list(difference.changes(URL))


QUESTIONS: Final[dict[str, Question]] = {
    "verdict": verdicts,
    "verdict, google-exact": lambda body: verdicts(body, GOOGLE_EXACT),
    **{f"verdict, {name}": partial(verdicts, dialect=DIALECTS[name]) for name in PLAIN},
    "clean_param": lambda body: parse(body, YANDEX).clean_param(f"{URL}?{'a=b&' * 50}"),
    "at_host": lambda body: parse(body, GEOPORTAL_FIRST).at_host(URL),
    "records": lambda body: parse(body).records,
    "groups": lambda body: parse(body).groups,
    "extensions": lambda body: parse(body).extensions,
    "sitemaps": lambda body: parse(body).sitemaps,
    "host": lambda body: parse(body).host,
    "has_group": for_tokens(lambda file, token: file.has_group(token)),
    "agents_for": for_tokens(lambda file, token: file.agents_for(token)),
    "rules": for_tokens(lambda file, token: file.rules(token)),
    "extensions_for": for_tokens(lambda file, token: file.extensions_for(token)),
    "crawl_delay": for_tokens(lambda file, token: file.crawl_delay(token)),
    "request_rate": for_tokens(lambda file, token: file.request_rate(token)),
    "Explainer": for_tokens(lambda file, token: Explainer(file, token).explain(URL)),
    "Difference": differences,
    "lint": lint,
}


@pytest.fixture(autouse=True)
def _bounds_of_the_linter_are_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("scrapy_rep.tools.lint.rule_checks"), "_STEPS", 500)
    monkeypatch.setattr(import_module("scrapy_rep.tools.lint.group_checks"), "_STEPS", 200)
    monkeypatch.setattr(import_module("scrapy_rep.tools.lint.line_checks"), "_MOST_GUESSED", 5)


@pytest.fixture
def _no_collection() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


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


ASKED = pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)


@ASKED
def test_ours_a_question_takes_steps_linear_in_the_body(ask: Question) -> None:
    assert too_costly(is_linear_in_steps, ask, LINES | RUNS, 1_000) == []


@ASKED
@pytest.mark.usefixtures("_no_collection")
def test_ours_a_question_takes_time_linear_in_the_body(ask: Question) -> None:
    assert too_costly(is_linear_in_time, ask, LINES, 2_500) == []


@ASKED
@pytest.mark.usefixtures("_no_collection")
def test_ours_a_question_takes_time_linear_in_a_line(ask: Question) -> None:
    assert too_costly(is_linear_in_time, ask, RUNS, 2_050) == []


@pytest.mark.parametrize("dialect", [GOOGLE, GOOGLE_EXACT], ids=lambda dialect: dialect.name)
@pytest.mark.usefixtures("_no_collection")
def test_ours_a_verdict_takes_time_linear_in_the_url(dialect: Dialect) -> None:
    body = filled(lambda number: b"disallow:/*%x*a\nallow:/a*b%x$\n" % (number, number), 2_000)

    def ask(url: str) -> None:
        file = parse(body, dialect)
        for end in ("", "b", "a"):
            file.verdict("a", url + end)

    assert too_costly(is_linear_in_steps, ask, URLS, 2_000) == []
    assert too_costly(is_linear_in_time, ask, URLS, 20_000) == []


@pytest.mark.usefixtures("_no_collection")
def test_ours_a_tie_takes_no_longer_among_more_rules() -> None:
    def ties(count: int) -> float:
        """The CPU time of a hundred decisions between a prefix and a pattern that is as long."""
        rules = b"".join(b"disallow:/%06d\n" % number for number in range(count))
        last = b"%06d" % (count - 1)
        file = parse(ALL + rules + b"disallow:/*%b\n" % last[1:], limit=None)
        url = f"https://h.example/{last.decode()}"
        for _ in range(3):
            assert file.verdict("a", url).line == count + 1
        return seconds(lambda _: [file.verdict("a", url) for _ in range(100)], url, 9)

    assert ties(20_000) < 4 * ties(200)


def test_ours_the_steps_of_a_walk_for_each_of_many_are_seen() -> None:
    def ask(body: bytes) -> int:
        return sum(1 for _ in body.splitlines() for _ in body.splitlines())

    assert too_costly(is_linear_in_steps, ask, {"lines": LINES["the same rule"]}, 1_000) == ["lines"]


def test_ours_the_time_of_an_expression_with_overlapping_runs_is_seen() -> None:
    def ask(body: bytes) -> object:
        return re.search(rb"x\v*\v*$", body)

    runs = {"blanks": RUNS["vertical tabs before a second word"]}
    assert too_costly(is_linear_in_steps, ask, runs, 1_000) == []
    assert too_costly(is_linear_in_time, ask, runs, 400) == ["blanks"]
