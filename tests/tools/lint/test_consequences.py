"""What is a consequence of a finding: what is gone once that finding is repaired, and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_rep.protocol import GOOGLE
from scrapy_rep.tools.lint import CODES, Finding, Severity, lint, separate_findings_in
from scrapy_rep.tools.lint.config import Config
from scrapy_rep.tools.lint.consequences import fold
from scrapy_rep.tools.lint.file_linter import FileLinter
from scrapy_rep.tools.lint.subject import Subject
from tests.protocol.test_google_verdicts import FOLDER, bodies

from .asking import HEAD
from .repairs import REPAIRS, survivors

SIX = Path(__file__).with_name("six-errors.txt")
TYPO = b"User-agnt: *\nDisallow: /a\nCrawl-delay: 3\nSitemap: https://www.example/s.xml\n"
CASES = {
    "a user-agent line with a typo": (TYPO, 1, {"no-user-agent": 0, "record-before-user-agent": 3}),
    "a later one with a typo": (
        HEAD + b"Disallow: /a\nUser-agnt: Foo\nDisallow: /a\n",
        3,
        {"duplicate-rule": 4},
    ),
    "a sitemap with a typo": (HEAD + b"Disallow: /a\nSitmap: https://www.example/s.xml\n", 3, {"no-sitemap": 0}),
    "a rule with a typo": (HEAD + b"Dsallow: /a\n", 2, {"group-without-rules": 1}),
    "a user-agent line without a colon": (
        b"User-agent Foo Bar\nDisallow: /a\n\nUser-agent: *\nDisallow: /b\n",
        1,
        {"rule-before-user-agent": 2},
    ),
    "a sitemap without a key": (HEAD + b"Disallow: /a\nhttps://www.example/sitemap.xml\n", 3, {"no-sitemap": 0}),
    "no user-agent line": (b"Disallow: /a\nCrawl-delay: 3\n", 0, {"record-before-user-agent": 2}),
    "rules above the first user-agent line": (
        b"Disallow: /a\nDisallow: /b\nCrawl-delay: 3\n" + HEAD + b"Disallow: /c\n",
        1,
        {"rule-before-user-agent": 2, "record-before-user-agent": 3},
    ),
    "two crawlers on a line": (b"User-agent: Foo, *\nDisallow: /a\n", 1, {"no-star-group": 0}),
    "a crawler with a typo": (
        HEAD + b"Disallow: /css/\nUser-agent: Google bot\nDisallow: /b\n",
        3,
        {"blocked-css-js": 2, "agent-with-other-text": 3},
    ),
    "headers of browsers": (
        b"User-agent: Mozilla/4.0 (a)\nDisallow: /\n\nUser-agent: Mozilla/5.0 (b)\nDisallow: /\n",
        4,
        {"agent-in-several-groups": 4},
    ),
    "a crawler that is gone": (
        HEAD + b"Disallow: /a\nUser-agent: Slurp\nUser-agent: Teoma/1\nDisallow: /b\n",
        4,
        {"agent-with-other-text": 4, "named-group-drops-star-rules": 4},
    ),
    "a sitemap on the user-agent line": (
        b"User-agent: * Sitemap: https://www.example/s.xml\nDisallow: /a\n", 1, {"no-sitemap": 0},
    ),
    "a rule twice": (HEAD + b"Disallow: /a*\n Disallow: /a* # b\n", 3, {
        "needless-star": 3, "indented-line": 3, "comment-after-rule": 3,
    }),
    "a rule for nothing": (HEAD + b"Disallow: /a\nDisallow: /ab*\n", 3, {"needless-star": 3}),
    "a file over the limit": (
        HEAD + b"Disallow: /a-long-name/of-a-page\n" * 20_000 + b"Sitemap: https://www.example/s.xml\n",
        0,
        {"no-sitemap": 0},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("body", "line", "expected"), CASES.values(), ids=CASES)
def test_what_follows_from_a_finding_is_part_of_it(body: bytes, line: int, expected: dict[str, int]) -> None:
    (cause,) = [each for each in lint(body) if each.consequences]
    assert (cause.line, {code: line for code, line, _ in cause.consequences}) == (line, expected)


def test_six_errors_are_six_findings_one_on_each_line() -> None:
    findings = lint(SIX.read_bytes())
    assert [each.line for each in findings] == [1, 2, 3, 4, 5, 6]
    assert [each.code for each in findings if each.consequences] == ["misspelt-key-ignored"]


def test_what_many_lines_have_in_common_is_one_sentence() -> None:
    (cause,) = lint(b"Disallow: /a\n" * 4 + HEAD + b"Disallow: /c\nSitemap: https://www.example/s.xml\n")
    assert [(each.line, each.message) for each in cause.consequences] == [
        (
            2,
            "The rule comes before the first user-agent line, so it applies to no crawler. "
            "The same is true of 2 more lines.",
        )
    ]


STANDING = {
    "private-path": HEAD + b"Disallow: private/\n",
    "space-in-path": HEAD + b"Disallow: /a\nDisallow: /a b\n",
    "agent-with-other-text": HEAD + b"Disallow: /a\nUser-agent: msnbot/2\nDisallow: /a\n",
    "site-closed": b"User-agnt: Foo\nDisallow: /a\n" + HEAD + b"Disallow: /\n",
    "no-sitemap": HEAD + b"Disallow: /a\nhttps://example.com/page\n",
    "agent-in-several-groups": (
        b"User-agent: Foo\nDisallow: /\n\nUser-agent: Mozilla/4 (a)\nDisallow: /\n\n"
        b"User-agent: Mozilla/5 (compatible; Foo)\nDisallow: /\n"
    ),
}


@pytest.mark.parametrize("code", STANDING)
def test_what_stands_for_itself_stays_a_finding(code: str) -> None:
    body = STANDING[code]
    assert len(separate_findings_in(Subject(body, GOOGLE, None))) > 1
    assert code in {each.code for each in lint(body)}


# Nothing is folded that survives the repair of its cause


def check(body: bytes, most: int = 1_000) -> int:
    """Repair the causes in *body*, at most so many of a code; return the number of consequences that are gone."""
    subject = Subject(body, GOOGLE, 512_000)
    separate = separate_findings_in(subject)
    findings = [each for each in fold(separate, subject, separate_findings_in) if each]
    kept = Counter((each.code, each.line, each.column) for each in findings)
    folded = [each for each in separate if not kept[each.code, each.line, each.column]]
    assert len(separate) - len(folded) == len(findings)
    assert {(each.code, each.line) for each in folded} >= {
        (each.code, each.line) for cause in findings for each in cause.consequences
    }
    causes = [each for each in findings if each.consequences]
    assert {each.code for each in folded} == {each.code for cause in causes for each in cause.consequences}
    done: Counter[str] = Counter()
    for cause in causes:
        done[cause.code] += 1
        left = survivors(body, cause) if done[cause.code] <= most else None
        for each in cause.consequences if left is not None else ():
            assert (each.code, each.line) not in left, (cause, each)  # type: ignore[operator]
            assert cause.severity.rank <= CODES[each.code].severity.rank
    return len(folded)


@pytest.mark.parametrize("name", CASES)
def test_each_case_passes_the_check(name: str) -> None:
    assert check(CASES[name][0]) == len(CASES[name][2])


LINES = st.sampled_from([
    b"User-agent: *", b"User-agnt: *", b"User-agnt: a", b"User-agent: a", b"User-agent a b", b"User-agent: a, *",
    b"User-agent: Google bot", b"User-agent: Mozilla/4.0 (x)", b"User-agent: Mozilla/5.0 (compatible; a)",
    b"User-agent: a/2", b"User-agent: Teoma/1", b"User-agent: msnbot", b"Disallow: /", b"Disallow: /a",
    b"Disallow: /a*", b"Disallow: private*", b"Dsallow: /a", b"Alow: /a", b"Allow: /a", b"Disallow: /css/",
    b"Disallow: /a$ /b", b"Disallow: https://x.example/a*", b" Disallow: /ab # c", b"Disallow:", b"Noindex: /a",
    b"Crawl-delay: 3", b"Content-Signal: ai-train=no", b"Sitemap: https://x.example/s.xml",
    b"Sitmap: https://x.example/s.xml", b"https://x.example/sitemap.xml", b"# c", b"",
])  # fmt: skip


@given(st.lists(LINES, max_size=12))
def test_no_finding_survives_the_repair_of_its_cause(lines: Sequence[bytes]) -> None:
    check(b"\n".join(lines))


@pytest.mark.skipif(not FOLDER, reason="SCRAPY_REP_CORPUS names no folder")
def test_in_real_files_no_finding_survives_the_repair_of_its_cause() -> None:
    files = islice(bodies(Path(FOLDER)).values(), 0, None, 8)
    assert sum(check(body, most=1) for body in files) > 100


# What is reported counts


def reported(body: bytes, **config: object) -> tuple[Finding, ...]:
    return FileLinter(Config(**config)).lint("robots.txt", body).findings  # type: ignore[arg-type]


@pytest.mark.parametrize("comment", [b"", b"# lint: ignore misspelt-key-ignored\n"])
def test_without_its_cause_a_consequence_is_a_finding(comment: bytes) -> None:
    ignore = () if comment else ("misspelt-key-ignored",)
    assert [each.code for each in reported(comment + TYPO, ignore=ignore)] == ["no-user-agent"]
    (finding,) = reported(comment + TYPO, ignore=ignore)
    assert [each.code for each in finding.consequences] == ["record-before-user-agent"]


def test_a_consequence_that_is_ignored_is_not_listed() -> None:
    (finding,) = reported(TYPO, ignore=("no-user-agent",))
    assert [each.code for each in finding.consequences] == ["record-before-user-agent"]


def test_nothing_becomes_part_of_a_milder_finding() -> None:
    milder = {"misspelt-key-ignored": Severity.NOTE}
    assert [each.code for each in reported(TYPO, severity=milder)] == ["no-user-agent", "misspelt-key-ignored"]


def test_what_has_a_fix_is_fixed_even_where_its_cause_has_none() -> None:
    body = HEAD + b"Disallow: /*b\nDisallow: /ab*\nSitemap: https://www.example/s.xml\n"
    linted = FileLinter(Config()).lint("robots.txt", body)
    assert ([each.code for each in linted.findings], linted.fixes, linted.fixable) == (
        ["useless-rule"],
        (None,),
        ("needless-star",),
    )
    fixed = FileLinter(Config(), is_fixing=True).lint("robots.txt", body)
    assert (fixed.body, fixed.fixed) == (body.replace(b"b*", b"b"), 1)


def test_each_cause_has_a_repair_here() -> None:
    assert {cause.code for body, *_ in CASES.values() for cause in lint(body) if cause.consequences} == {*REPAIRS}
