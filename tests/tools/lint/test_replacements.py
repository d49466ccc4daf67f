"""What is written in place of a line allows and disallows nothing but what the line says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_rep.protocol import Kind, RobotsTxt, parse
from scrapy_rep.protocol.records import kind_of
from scrapy_rep.tools.lint import CODES, Finding, lint
from scrapy_rep.tools.lint.fixes import FIXABLE, Fixer
from tests.protocol.test_google_verdicts import FOLDER, bodies

from .test_accidents import BODIES, CASES

TOLD = {code for code, kind in CODES.items() if re.search(r"then|[Ss]ave", kind.advice)}
"""Codes whose advice says that crawlers will read the line in another way."""

LINES = [
        *sorted({line for _, body in CASES for line in body.split(b"\n")} - {b""}),
        b"User-agent: *", b"User-agnt: a", b"User-agent a b", b"User-agent: a, *", b"User-agent: Googelbot",
        b"User-agent: msnbot", b"User-agent: Teoma/1", b"User-agent: a/2", b"User-agent: Mozilla/5.0 (a)",
        b"Disallow: /", b"Disallow: /a", b"Disallow: /a*", b"Disallow: a", b"Disallow: .js$", b"Dsallow: /a",
        b"Disallow /a", b"Disallow /a b", b"Disallow; /a", b"Allow /a", b"Alow: /a", b"Allow: /a*", b"Allow: /",
        b" Disallow: /ab # c", b"Disallow: /a$ /b", b"Disallow: /a, /b", b"Disallow: /a b", b"Disallow:",
        b"Disallow: http://other.example/", b"Allow: https://cdn.example/", b"Disallow: https://x.example/a*",
        b"Disallow: www.x.example", b"Disallow: zh-tw.www.x.com", b"Disallow: Googlebot",
        b"Disallow: /robots.txt$",
        b"Disallow: $", b"Disallow: /a#b", b"DISALLOW: /c", b"DisallowAITraining: /", b"Noindex: /a",
        b"https://x.example/sitemap.xml", b"Sitemap: /s.xml", b"Crawl-delay: 3", b"# c", b"",
]  # fmt: skip
STARTS = [b"", b"User-agent: *", b"User-agent: a", b"User-agent: *\nDisallow: /b\nUser-agent: a"]
FILES = st.lists(st.sampled_from(LINES), max_size=6).flatmap(
    lambda lines: st.sampled_from(STARTS).map(lambda start: b"\n".join([start, *lines]))
)
AGENTS = ["a", "b", "other", "GPTBot", "Googlebot", "xenu"]
PATHS = ["/", "/a", "/ab", "/b", "/c", "/private/", "/old/", "/a%20b", "/x.js", "/robots.txt", "/search", "/a/b"]


def verdicts(robots: RobotsTxt) -> dict[tuple[str, str], bool]:
    return {(agent, path): robots.verdict(agent, path).allowed for agent in AGENTS for path in PATHS}


def changed(body: bytes, finding: Finding) -> dict[tuple[str, str], bool]:
    """What other verdict each crawler gets for a path once *finding* is followed."""
    fixer = Fixer(body)
    fix = fixer.fix_for(finding) or fixer.changing_fix_for(finding)
    before, after = verdicts(parse(body)), verdicts(parse(fix.applied_to(body))) if fix else {}
    return {asked: after[asked] for asked in after if after[asked] is not before[asked]}


def check(body: bytes, url: str = "") -> None:
    for finding in lint(body, url=url):
        differences = changed(body, finding)
        if not differences:
            continue
        assert finding.code in TOLD - FIXABLE, (finding, differences)
        line = body.splitlines()[finding.line - 1] if finding.line else body
        assert finding.replacement is not None
        for part in finding.replacement.split(b"\n"):
            key, _, value = part.partition(b":")
            if kind_of(key.strip().lower()) in {Kind.ALLOW, Kind.DISALLOW}:
                assert says(line, value), (finding, differences)


def says(line: bytes, value: bytes) -> bool:
    """Whether *line* has the letters of the path *value*; all of a site only where that stands for itself."""
    letters = re.sub(rb"%20|[^!-~]|[\\/&*]", b"", value)
    if not letters:
        return not value.strip() or re.search(rb"[:\s\"',;|>]([/*]+)(?![^\s\"',;|<\\UDA])", line) is not None
    return letters in re.sub(rb"amp;|[^!-~]|[\\/&*]", b"", line)


@pytest.mark.parametrize("line", LINES)
def test_no_advice_about_a_line_goes_beyond_it(line: bytes) -> None:
    for start in STARTS:
        check(start + b"\n" + line)
        check(start + b"\n" + line, "https://x.example/robots.txt")


@given(FILES)
def test_no_advice_and_no_fix_allows_or_disallows_what_the_line_does_not_say(body: bytes) -> None:
    check(body)


@pytest.mark.full
@given(FILES)
@settings(max_examples=10_000, deadline=None)
def test_of_ten_thousand_files_none_is_opened_or_closed_by_advice(body: bytes) -> None:
    check(body)


@pytest.mark.parametrize(("code", "body"), CASES)
def test_a_repaired_accident_reads_as_its_line_says(code: str, body: bytes) -> None:
    check(body)


@pytest.mark.skipif(not FOLDER, reason="SCRAPY_REP_CORPUS names no folder")
def test_no_advice_for_a_real_file_goes_beyond_its_line() -> None:
    for body in list(bodies(Path(FOLDER)).values())[::40]:
        check(body)


def test_the_cases_are_those_of_every_accident() -> None:
    assert len(CASES) >= 40
    assert len(BODIES) >= 14
