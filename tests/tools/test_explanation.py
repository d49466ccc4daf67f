"""Every rule that matches, and the one that wins: the same one that the engine names."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_rep.protocol import GOOGLE, GOOGLE_EXACT, Dialect, Reason, parse
from scrapy_rep.tools.explanation import Explainer, Explanation
from tests.protocol.test_google_verdicts import FOLDER, answers, bodies

BODY = b"""User-agent: a
User-agent: b
Disallow: /
Allow: /f*.html
Disallow: /f
Allow: /f
Allow: /d/index.html
Crawl-delay: x
Crawl-delay: 2
Request-rate: 1/5

User-agent: *
Disallow:
"""


def matches(url: str, crawler: str = "a") -> list[tuple[int, str, int]]:
    explained = Explainer(parse(BODY), crawler).explain(url)
    return [(match.rule.line, str(match.rule), match.length) for match in explained.matches]


def test_every_rule_that_matches_is_named_the_strongest_first() -> None:
    assert matches("http://h/foo.html") == [
        (4, "Allow: /f*.html", 8),
        (6, "Allow: /f", 2),
        (5, "Disallow: /f", 2),
        (3, "Disallow: /", 1),
    ]


def test_google_an_index_page_stands_for_its_folder_with_the_length_of_that() -> None:
    assert matches("http://h/d/") == [(7, "Allow: /d/index.html", 4), (3, "Disallow: /", 1)]
    assert matches("http://h/d/index.html")[0] == (7, "Allow: /d/index.html", 13)


def test_an_empty_rule_matches_with_length_0() -> None:
    assert matches("http://h/x", crawler="other") == [(13, "Disallow: ", 0)]


def test_it_says_by_which_lines_the_crawler_is_addressed() -> None:
    named, other = Explainer(parse(BODY), "B"), Explainer(parse(BODY), "c")
    assert (named.by_name, [agent.line for agent in named.agents]) == (True, [2])
    assert (other.by_name, [agent.line for agent in other.agents]) == (False, [12])
    assert Explainer(parse(b"User-agent: a\nDisallow: /"), "c").agents == ()


def test_the_crawl_delay_that_counts_is_told_from_the_other_records() -> None:
    explainer = Explainer(parse(BODY), "a")
    assert explainer.delay is not None
    assert (explainer.delay.line, explainer.delay.text) == (9, "2")
    assert [record.line for record in explainer.extensions] == [8, 10]


def agrees(explained: Explanation) -> bool:
    """Whether the first match is the rule that the engine names."""
    if explained.verdict.reason is Reason.ROBOTS_TXT:
        return explained.verdict.allowed
    return explained.verdict.rule == (explained.matches[0].rule if explained.matches else None)


LINES = st.sampled_from(
    ["Allow: /", "Disallow: /", "Allow: /a", "Disallow: /a", "Disallow: /*a", "Allow: /a$", "Disallow: /a/*/b$",
     "Allow: /a/index.html", "Disallow: /%61", "Disallow:", "Allow: a", "User-agent: a", "User-agent: *"]
)  # fmt: skip


@given(st.lists(LINES, max_size=12), st.text("/ab%61?$*", max_size=8), st.sampled_from([GOOGLE, GOOGLE_EXACT]))
def test_the_first_match_is_the_rule_of_the_engine(lines: list[str], path: str, dialect: Dialect) -> None:
    robots = parse("\n".join(["User-agent: a", *lines]).encode(), dialect)
    assert agrees(Explainer(robots, "a").explain(f"/{path}"))


@pytest.mark.skipif(not FOLDER, reason="SCRAPY_REP_CORPUS names no folder")
@pytest.mark.parametrize("each", [1_999, pytest.param(97, marks=pytest.mark.full)])
def test_google_the_first_match_is_right_on_real_files(each: int) -> None:
    files = bodies(Path(FOLDER))
    rows = [*islice(answers(Path(FOLDER)), 0, None, each)]
    assert len(rows) == 150_296 // each + 1
    for row in rows:
        for dialect in (GOOGLE, GOOGLE_EXACT):
            explained = Explainer(parse(files[row.file], dialect, limit=None), row.agent).explain(row.url)
            assert agrees(explained), row
        verdict = explained.verdict
        assert (str(int(verdict.allowed)), str(verdict.line)) == (row.allowed, row.line), row
