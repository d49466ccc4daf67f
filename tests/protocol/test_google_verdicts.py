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
from functools import lru_cache
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


@lru_cache  # what asks about the corpus shares a process with more that does
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


@pytest.mark.parametrize("engine", ["c", pytest.param("python", marks=pytest.mark.full)], indirect=True)
@pytest.mark.usefixtures("engine")
def test_google_exact_agrees_on_every_row_and_the_default_differs_where_one_deviation_says_so() -> None:
    """In one walk over the corpus, which takes seconds."""
    files = bodies(Path(FOLDER))
    robots = {
        name: (parse(body, GOOGLE_EXACT, limit=None), parse(body, GOOGLE, limit=None))
        for name, body in files.items()
    }
    rows, differences = Counter[str](), list[Difference]()
    for row in answers(Path(FOLDER)):
        rows[row.canonical] += 1
        exact, ours = (each.verdict(row.agent, row.url) for each in robots[row.file])
        assert answer(exact) == (row.allowed, row.line), row
        if answer(ours) != (row.allowed, row.line):
            differences.append(difference(row, files[row.file], ours))

    assert (len(files), rows.total(), set(rows)) == (2_818, 150_296, {"0", "1"})
    assert [each for each in differences if len(each.names) != 1][:5] == []
    counted = Counter((each.row.canonical, *each.names) for each in differences)
    assert counted == {("1", "D1"): 125, ("1", "D2"): 81, ("0", "D2"): 3_173}
    of_d1 = [each for each in differences if "D1" in each.names]
    assert all(each.ours.allowed and each.row.url.endswith("/robots.txt") for each in of_d1)
    assert [each for each in differences if "D2" in each.names and not each.respelt][:5] == []
