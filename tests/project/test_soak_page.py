"""docs/soak.md names what the soak has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.soak.__main__ import options
from benchmarks.soak.events import EVENTS

pytestmark = pytest.mark.full

PAGE = Path(__file__).parents[2].joinpath("docs", "soak.md").read_text("utf-8")


def test_every_event_is_in_the_page() -> None:
    _, _, events = PAGE.partition("## Events")
    assert re.findall(r"^\| `(\w+)` \|", events, re.MULTILINE) == list(EVENTS)


def test_the_commands_in_the_page_can_be_parsed() -> None:
    commands = re.findall(r"^\$ python -m benchmarks.soak (.+?) *(?:#.*)?$", PAGE, re.MULTILINE)
    assert len(commands) >= 3
    for command in commands:
        assert options().parse_args(command.split()).folder
