"""The page about conformance, and the file of the kit, are those that the kit writes."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from benchmarks.court.kit import lines
from scrapy_rep.testing import SITUATIONS
from scrapy_rep.testing.situations import VERSION
from tests.support.markdown import DOCS, PAGES, section

pytest.importorskip("robots")
from benchmarks.conformance import OURS, SUBJECTS, asked  # needs robotspy

PAGE = PAGES["docs/conformance.md"]
FILE = (DOCS / "conformance.jsonl").read_text("utf-8")
FIGURES: dict[str, Any] = json.loads((DOCS / "figures" / "conformance.json").read_text("utf-8"))["figures"]


@pytest.mark.parametrize("name", SUBJECTS)
def test_the_answers_of_a_parser_are_those_of_the_page(name: str) -> None:
    shown = FIGURES["parsers"][name]
    if shown["version"] != SUBJECTS[name].version:
        pytest.skip("another version than the page tells of")
    found = asked(name)
    if found is None:
        pytest.skip("not installed here")
    assert found == shown


def test_no_answer_of_ours_differs_from_the_kit_but_in_what_is_disputed() -> None:
    ours = FIGURES["parsers"][OURS]
    assert all(right == total for right, total in [*ours["right"].values(), ours["lines"]])
    assert [FIGURES["tested"][name][0] for name in ours["failed"]] == ["RFC 9309 2.2.2, disputed"]


def test_the_page_counts_the_situations_of_the_version_of_the_kit() -> None:
    questions = sum(len(situation.questions) for situation in SITUATIONS)
    assert f"Version {VERSION} of the kit: {len(SITUATIONS)} situations with {questions} questions" in PAGE
    versions = section(PAGE, "## The kit as a file")
    (newest, changes), *_ = re.findall(r"^\| (\d+\.\d+) \| (.+) \|$", versions, re.MULTILINE)
    assert newest == VERSION
    assert f"{len(SITUATIONS)} situations, {questions} questions" in changes, "a change raises the version"


def test_the_file_of_the_kit_is_the_kit() -> None:
    assert FILE.splitlines() == [*lines()], "run: python -m benchmarks.court.kit > docs/conformance.jsonl"
    assert len(FILE) < 300_000


def test_the_file_has_every_robots_txt_byte_by_byte_and_every_answer() -> None:
    about, *records = map(json.loads, FILE.splitlines())
    assert about["version"] == VERSION
    for record, situation in zip(records, SITUATIONS, strict=True):
        body = b"".join(piece.encode("latin-1") * times for piece, times in record["robots"])
        assert body == situation.body, situation.name
        assert [
            (asked["agent"], asked["url"], asked["verdict"] == "allowed", asked["line"])
            for asked in record["questions"]
        ] == [(each.crawler, each.url, each.allowed, each.line) for each in situation.questions]
        assert record["required"] is situation.required
