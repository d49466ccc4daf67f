"""No request arrives at a server that its robots.txt disallows, however a download handler respells URLs."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from fuzz.wire import HANDLERS, forbidding_rule, loops, run


def handlers_and_loops() -> list[Any]:
    return [
        pytest.param(handler, loop, marks=[pytest.mark.other_loop] * (loop != "asyncio"))
        for handler in HANDLERS
        for loop in loops(handler)
    ]


@pytest.mark.parametrize(("handler", "loop"), handlers_and_loops())
def test_nothing_arrives_that_is_disallowed(handler: str, loop: str) -> None:
    outcome = run(handler, loop, Random(1), 400)  # noqa: S311
    assert outcome.leaks == []
    assert outcome.arrived > 50 < outcome.forbidden


@pytest.mark.parametrize("handler", [handler for handler in HANDLERS if loops(handler)])
def test_the_fuzzer_sees_leaks_of_a_package_that_knows_no_respelling(handler: str) -> None:
    assert run(handler, "asyncio", Random(1), 1_200, blind=True).leaks  # noqa: S311


@pytest.mark.parametrize(("pattern", "target", "matches"), [
    ("/a", "/ab", True), ("/a$", "/ab", False), ("/a$", "/a", True), ("/*b", "/ab", True), ("/a*c$", "/ab", False),
    ("/%61", "/a", True), ("/a/b", "/a%2Fb", False), ("/%2f", "/%2F", True), ("/%24", "/$", True),
    ("/$x", "/%24x", True), ("/%2A", "/*", True), ("/%E9", "/\xe9", True), ("/a b", "/a%20b", True),
    ("/x?", "/x", False), ("/?q", "?q", True), ("/a%2F", "/a%2%46", False),
])  # fmt: skip
def test_the_matcher_of_the_fuzzer(pattern: str, target: str, matches: bool) -> None:
    rule = f"Disallow: {pattern}"
    assert forbidding_rule([rule], target) == (rule if matches else None)
    assert forbidding_rule([rule, f"Allow: {pattern}"], target) is None
    assert forbidding_rule([rule, "Allow: /"], target) == (rule if matches else None)
