"""What the reports for other projects say that their parsers answer is what they answer."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from unittest.mock import Mock

import pytest

from scrapy_rep.protocol import parse, product_token
from tests.support.markdown import PAGES

PARSERS = import_module("benchmarks.court.python")
CASE = re.compile(r"^(ask\(.+\))  # (True|False)$", re.MULTILINE)


def cases(page: str) -> list[tuple[str, str, str, bool]]:
    """Robots.txt, agent, path and the parser's answer."""
    found = []
    for call, answer in CASE.findall(PAGES[page]):
        ask = Mock()
        eval(call, {"ask": ask})  # noqa: S307  # our own page
        found.append((*ask.call_args.args, answer == "True"))
    return found


@pytest.mark.parametrize("page", ["docs/upstream/protego.md", "docs/upstream/cpython-robotparser.md"])
def test_ours_answers_each_case_the_other_way(page: str) -> None:
    assert len(cases(page)) >= 6
    for robots, agent, path, answer in cases(page):
        verdict = parse(robots.encode()).verdict(product_token(agent), f"https://www.example.com{path}")
        assert verdict.allowed is not answer, robots


def answered(judge: Callable[[bytes, str, str], bool], page: str) -> list[bool]:
    return [
        judge(robots.encode(), agent, f"https://www.example.com{path}") for robots, agent, path, _ in cases(page)
    ]


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
