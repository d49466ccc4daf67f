"""The target of costs sees what grows faster than a body, and the other targets see a wrong answer."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fuzz.inputs import joined
from fuzz.targets import TARGETS, costs
from scrapy_rep.protocol.rules import NO_RULE, Rules
from tests.support.markdown import PAGES, rows, section

pytestmark = [pytest.mark.untraced, pytest.mark.full]


@pytest.mark.parametrize(
    ("body", "numbered"),
    [(b"a\x1f\n", b"a0\na1\na2\na"), (b"abc", b"abcabcabca"), (b"\x1f" * 6, b"0000001111"), (b"", b"")],
)
def test_a_small_input_becomes_a_large_body(body: bytes, numbered: bytes) -> None:
    assert costs.grown(body, 10) == numbered


@pytest.mark.parametrize(
    "ask",
    [
        lambda body, _: sum(1 for _ in body[:800].splitlines() for _ in body[:800].splitlines()),
        lambda body, _: [body[at:] for at in range(len(body))],
    ],
    ids=["steps", "memory"],
)
def test_a_question_that_costs_more_than_its_bound_is_seen(
    ask: Callable[[bytes, str], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    body = joined(b"a\n", "", "verdict")
    costs.costs(body)
    monkeypatch.setitem(costs.QUESTIONS, "verdict", ask)
    with pytest.raises(AssertionError):
        costs.costs(body)


def test_a_question_that_always_takes_too_long_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    body = joined(b"a\n", "", "verdict")
    taken = iter([10.0] * 4 + [0.01] + [10.0] * 5)
    monkeypatch.setattr(costs, "seconds", lambda *_: next(taken))
    costs.costs(body)
    with pytest.raises(AssertionError):
        costs.costs(body)


def test_a_wrong_verdict_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    data = joined(b"user-agent:*\ndisallow:/a", "/a", "a")
    TARGETS["verdict"](data)
    monkeypatch.setattr(Rules, "verdict", lambda _rules, _path: NO_RULE)
    with pytest.raises(AssertionError):
        TARGETS["verdict"](data)


def test_the_page_has_the_bounds() -> None:
    table = rows(section(PAGES["docs/fuzzing.md"], "## The bounds"))
    for name, cost in {**costs.PER_OCTET, "at once": costs.AT_ONCE}.items():
        steps, memory, microseconds = table[name][-3:]
        assert (int(steps.replace(",", "")), int(memory.replace(",", ""))) == (cost.steps, cost.memory), name
        assert float(microseconds.replace(",", "")) == pytest.approx(cost.seconds * 1e6), name
