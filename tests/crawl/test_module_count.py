"""How much runs for one request: what somebody has to read who follows one."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from tests.support.walks import DELAYED, RULES, walks

BOUNDS = {
    "warm": {"calls": 98, "functions": 67, "modules": 17, "classes": 21},
    "new": {"calls": 410, "modules": 48},
}
"""They are never raised: what needs one module more gives up another. All modules count, in a default crawl."""


@cache
def found(rules: str) -> dict[str, dict[str, Any]]:
    return walks(rules)


@pytest.mark.parametrize("kind", BOUNDS)
def test_little_runs_for_a_request(kind: str) -> None:
    walk = found(RULES)[kind]
    figures = {name: len(value) if isinstance(value := walk[name], list) else value for name in BOUNDS[kind]}
    over = {name: figure for name, figure in figures.items() if figure > BOUNDS[kind][name]}
    assert not over, f"{walk['modules']}\n{walk['classes']}\n{walk['names']}"
    assert {"scrapy_rep.crawl.gate.middleware", "scrapy_rep.protocol.robotstxt"} <= set(walk["modules"])


@pytest.mark.parametrize("rules", [RULES, DELAYED], ids=["no delay", "a delay"])
@pytest.mark.parametrize("kind", BOUNDS)
def test_no_room_calls_a_higher_one(kind: str, rules: str) -> None:
    assert found(rules)[kind]["upward"] == {}
