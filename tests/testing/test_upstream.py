"""What the reports for other projects say that their parsers answer is what they answer."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version

import pytest

from scrapy_rep.protocol import parse, product_token
from tests.support.markdown import PAGES

PARSERS = import_module("benchmarks.court.python")
CASE = re.compile(
    r"```text\n(?P<robots>(?s:.+?))```\n\n\| agent \| path \| now \| expected \|\n.+\n(?P<rows>(?:\|.+\|\n)+)"
)
ROW = re.compile(r"^\| (\S+) \| `(\S+)` \| (\w+) \| (\w+) \|$", re.MULTILINE)


def cases(page: str) -> list[tuple[bytes, str, str, bool]]:
    """Robots.txt, agent, URL, and whether the parser allows it."""
    return [
        (
            case["robots"].replace("<U+2028>", "\u2028").encode(),
            agent,
            f"https://www.example.com{path}",
            now == "allowed",
        )
        for case in CASE.finditer(PAGES[page])
        for agent, path, now, expected in ROW.findall(case["rows"])
        if now != expected
    ]


@pytest.mark.parametrize("page", ["docs/upstream/protego.md", "docs/upstream/cpython-robotparser.md"])
def test_answers_each_case_the_other_way(page: str) -> None:
    found = cases(page)
    assert len(found) == len(ROW.findall(PAGES[page])) >= 7
    for robots, agent, url, allowed in found:
        assert b"```" not in robots, "a block of code is not closed"
        assert parse(robots).verdict(product_token(agent), url).allowed is not allowed, robots


def answered(judge: Callable[[bytes, str, str], bool], page: str) -> list[bool]:
    return [judge(robots, agent, url) for robots, agent, url, _ in cases(page)]


def test_protego_answers_as_the_report_says() -> None:
    if version("protego") != "0.7.0":
        pytest.skip("another version than the report tells of")
    page = "docs/upstream/protego.md"
    assert answered(PARSERS.protego, page) == [answer for *_, answer in cases(page)]


def test_the_standard_library_answers_as_the_report_says() -> None:
    if "CPYTHON_ROBOTPARSER" not in os.environ:
        pytest.skip("needs CPYTHON_ROBOTPARSER, Lib/urllib/robotparser.py of main")
    page = "docs/upstream/cpython-robotparser.md"
    assert answered(PARSERS.standard_library_of_main(), page) == [answer for *_, answer in cases(page)]
