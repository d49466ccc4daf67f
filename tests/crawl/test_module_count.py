"""How much runs for one request: what somebody has to read who follows one."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from tests.support.walks import DELAYED, RULES, walks

BOUNDS = {
    "warm": {"calls": 56, "functions": 44, "modules": 15, "classes": 19},
    "new": {"calls": 320, "modules": 43},
    "delayed": {"calls": 292, "functions": 178},
}
"""They are never raised: what needs one module more gives up another. All modules count, in a default crawl."""


@cache
def found(rules: str) -> dict[str, dict[str, Any]]:
    return walks(rules)


def walk_of(kind: str) -> dict[str, Any]:
    return found(DELAYED)["warm"] if kind == "delayed" else found(RULES)[kind]


@pytest.mark.parametrize("kind", BOUNDS)
def test_little_runs_for_a_request(kind: str) -> None:
    walk = walk_of(kind)
    figures = {name: len(value) if isinstance(value := walk[name], list) else value for name in BOUNDS[kind]}
    over = {name: figure for name, figure in figures.items() if figure > BOUNDS[kind][name]}
    assert not over, f"{walk['modules']}\n{walk['classes']}\n{walk['names']}"
    assert {"scrapy_rep.crawl.gate.middleware", "scrapy_rep.protocol.robotstxt"} <= set(walk["modules"])


def test_the_delay_of_a_download_slot_is_set_when_it_changes_and_not_for_each_page() -> None:
    assert walk_of("delayed")["names"].get("crawl.pacing.slots.Slots.apply", 0) <= 2


@pytest.mark.parametrize("kind", BOUNDS)
def test_no_room_calls_a_higher_one(kind: str) -> None:
    assert walk_of(kind)["upward"] == {}
