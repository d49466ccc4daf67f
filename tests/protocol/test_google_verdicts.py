"""Both dialects against Google's parser: 150,296 answers about 2,818 real robots.txt files."""

# The corpus is no part of the repository: SCRAPY_REP_CORPUS names its folder. A difference of the default
# dialect is named by switching on each deviation alone.

from __future__ import annotations

import lzma
import os
import tarfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from scrapy_rep.protocol import GOOGLE, GOOGLE_EXACT, Dialect, RobotsTxt, Verdict, parse
from scrapy_rep.protocol.dialect import Octets
from scrapy_rep.protocol.path_pattern import Pattern, path_of

FOLDER: Final = os.environ.get("SCRAPY_REP_CORPUS", "")
pytestmark = pytest.mark.skipif(not FOLDER, reason="SCRAPY_REP_CORPUS names no folder")

DEVIATIONS: Final = {
    "D1": replace(GOOGLE_EXACT, name="D1", robots_txt_allowed=True),
    "D2": replace(GOOGLE_EXACT, name="D2", octets=Octets.CANONICAL),
    "D3": replace(GOOGLE_EXACT, name="D3", wide_tokens=True, empty_token=False),
}


class Row(NamedTuple):
    """One question and Google's answer; ``canonical`` is "1" where the URL is spelt as Scrapy requests it."""

    file: str
    agent: str
    url: str
    allowed: str
    line: str
    canonical: str


@dataclass(frozen=True)
class Difference:
    """A row that the default dialect answers otherwise, and the deviations that alone do so too."""

    row: Row
    ours: Verdict
    names: tuple[str, ...]
    respelt: bool


@dataclass(frozen=True)
class Survey:
    """What one walk over the corpus found."""

    files: int
    rows: Counter[str]
    wrong: list[tuple[Row, Verdict]]
    differences: list[Difference]


def bodies(folder: Path) -> dict[str, bytes]:
    found = {}
    with tarfile.open(folder / "robots.tar.xz") as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file:
                found[member.name.removeprefix("robots/")] = file.read()
    return found


def answers(folder: Path) -> Iterator[Row]:
    table = folder / "google-verdicts.tsv.xz"
    with lzma.open(table, "rt", encoding="utf-8", errors="surrogateescape", newline="\n") as lines:
        assert next(lines).rstrip("\n").split("\t") == list(Row._fields)
        for line in lines:
            yield Row(*line.rstrip("\n").split("\t"))


def answer(verdict: Verdict) -> tuple[str, str]:
    return str(int(verdict.allowed)), str(verdict.line)


def is_respelt(row: Row, robots: RobotsTxt) -> bool:
    """Whether the path of *row*, or a rule for its agent, has two spellings."""
    if path_of(row.url) != path_of(row.url, canonical_octets=False):
        return True
    return any(
        Pattern.of(rule.value) != Pattern.of(rule.value, canonical_octets=False)
        for rule in robots.rules(row.agent)
    )


def difference(row: Row, body: bytes, ours: Verdict) -> Difference:
    def alone(dialect: Dialect) -> Verdict:
        return parse(body, dialect, limit=None).verdict(row.agent, row.url)

    names = (name for name, dialect in DEVIATIONS.items() if answer(alone(dialect)) == answer(ours))
    return Difference(row, ours, tuple(names), is_respelt(row, parse(body, limit=None)))


@pytest.fixture(scope="module")
def survey() -> Survey:
    files = bodies(Path(FOLDER))
    robots = {
        name: (parse(body, GOOGLE_EXACT, limit=None), parse(body, GOOGLE, limit=None))
        for name, body in files.items()
    }
    found = Survey(len(files), Counter(), [], [])
    for row in answers(Path(FOLDER)):
        found.rows[row.canonical] += 1
        exact, ours = (each.verdict(row.agent, row.url) for each in robots[row.file])
        expected = (row.allowed, row.line)
        if answer(exact) != expected:
            found.wrong.append((row, exact))
        if answer(ours) != expected:
            found.differences.append(difference(row, files[row.file], ours))
    return found


def test_ours_the_whole_corpus_was_walked(survey: Survey) -> None:
    assert survey.files == 2_818
    assert survey.rows.total() == 150_296
    assert set(survey.rows) == {"0", "1"}


def test_google_exact_agrees_on_every_row_the_line_included(survey: Survey) -> None:
    assert survey.wrong[:5] == []


def test_google_the_default_differs_where_one_deviation_says_so_and_nowhere_else(survey: Survey) -> None:
    nameless = [difference for difference in survey.differences if len(difference.names) != 1]

    assert nameless[:5] == []


def test_ours_every_difference_of_the_default_is_counted(survey: Survey) -> None:
    counted = Counter((difference.row.canonical, *difference.names) for difference in survey.differences)

    assert counted == {("1", "D1"): 125, ("1", "D2"): 81, ("0", "D2"): 3_173}


def test_rfc_2_2_2_robots_txt_itself_is_what_d1_allows(survey: Survey) -> None:
    of_d1 = [difference for difference in survey.differences if "D1" in difference.names]

    assert of_d1
    assert {difference.ours.allowed for difference in of_d1} == {True}
    assert all(difference.row.url.endswith("/robots.txt") for difference in of_d1)


def test_rfc_2_2_2_d2_changes_an_answer_only_where_something_has_two_spellings(survey: Survey) -> None:
    of_d2 = [difference for difference in survey.differences if "D2" in difference.names]

    assert of_d2
    assert [difference for difference in of_d2 if not difference.respelt][:5] == []
