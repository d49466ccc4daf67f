"""The page about conformance is the one that the kit writes."""

from __future__ import annotations

import re

import pytest
from scrapy.robotstxt import RobotParser

from scrapy_rep.testing import SITUATIONS, ask
from tests.support.markdown import PAGES

pytest.importorskip("robots")
from benchmarks.conformance import OURS, PARSERS  # needs robotspy

PAGE = PAGES["docs/conformance.md"]


def column(name: str) -> dict[str, str]:
    """The cells of a parser by section, without its bold."""
    _, table, _ = re.split(r"^## Section.*$|^## Where.*$", PAGE, maxsplit=2, flags=re.MULTILINE)
    head, _, *rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("|")]
    return {row[0]: row[head.index(name)].strip("*") for row in rows if not row[0].startswith("all of")}


def counted(parser: type[RobotParser]) -> dict[str, str]:
    sections = ask(parser).sections().items()
    return {" ".join(place): f"{right} of {total}" for place, (right, total) in sections}


@pytest.mark.parametrize("name", PARSERS)
def test_the_column_of_a_parser_is_what_it_answers(name: str) -> None:
    if f"| {name} |" not in PAGE:
        pytest.skip("another version than the page tells of")
    assert column(name) == counted(PARSERS[name])


def test_the_page_counts_the_situations_and_ours_fails_in_none_that_is_required() -> None:
    questions = sum(len(situation.questions) for situation in SITUATIONS)
    assert f"{len(SITUATIONS)} situations with {questions} questions" in PAGE
    assert [section for section, cell in column(OURS).items() if len(set(cell.split(" of "))) > 1] == [
        "RFC 9309 2.2.2 The allow and disallow lines, disputed"
    ]
