"""Fixes change no verdict of the engine, and nothing of the file that they need not change."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_rep.protocol import DIALECTS, GOOGLE, GOOGLE_EXACT, MAX_SIZE, Dialect, Kind, RobotsTxt, parse
from scrapy_rep.tools.lint import lint
from scrapy_rep.tools.lint.config import Config
from scrapy_rep.tools.lint.file_linter import FileLinter
from scrapy_rep.tools.lint.finding import Edit, Fix, apply_fixes
from scrapy_rep.tools.lint.fixes import FIXABLE, PROVED, Fixer, fix_for
from tests.protocol.test_google_verdicts import FOLDER, bodies

from .asking import BOTH, URLS, only

PATHS = st.one_of(
    st.sampled_from(["/", "/*", "*", "/a*", "/a**", "/ab", "/a*$", "/a/index.html*", "/a$", "", "/%61*", "/é*"]),
    st.text("/ab*$", max_size=6).map("/".__add__),
)
KEYS = st.sampled_from(
    ["Allow: ", "Disallow: ", "Disallow: ", "disalow:", "DisAllow :", " \tDisallow: ", "Disallow ", "Allowed: "]
)
AGENTS = st.sampled_from(
    ["User-agent: *", "User-agent: a", "useragent: b", "User-Agent: a/2.1", "uSer-agent: b", " user agent: a"]
)
COMMENTS = st.sampled_from(["", "", "", " # why", "#x", " # lint: ignore needless-star", "\t#", " # a"])
LINES = st.one_of(
    st.tuples(KEYS, PATHS, COMMENTS).map("".join),
    st.tuples(KEYS, PATHS, COMMENTS).map("".join),
    st.tuples(AGENTS, COMMENTS).map("".join),
    st.sampled_from(["", "", "  ", "# words", "Crawl-delay: 2", "\ufeff", "Sitemap: /s", "a\0b", "nonsense"]),
)
BODIES = st.tuples(
    st.sampled_from(["", "", "\ufeff", "\ufeff\ufeff"]),
    st.lists(st.tuples(LINES, st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"])), max_size=12),
).map(lambda parts: (parts[0] + "".join(map("".join, parts[1]))).encode())
MORE_URLS = st.lists(st.text("/ab", max_size=6).map("/".__add__), max_size=8)


def fixed(body: bytes, dialect: Dialect = GOOGLE) -> bytes:
    return FileLinter(Config(), dialect, is_fixing=True).lint("robots.txt", body).body


def fixed_once(body: bytes, code: str) -> bytes:
    """*body* after the fix of its only finding of *code*."""
    fix = fix_for(only(body, code), body)
    return fix.applied_to(body) if fix else body


def verdicts(robots: RobotsTxt, agents: list[str], urls: list[str]) -> list[bool]:
    return [robots.verdict(agent, url).allowed for agent in agents for url in urls]


@BOTH
@given(body=BODIES, more=MORE_URLS)
def test_no_fix_changes_a_verdict_alone_or_with_all_others(dialect: Dialect, body: bytes, more: list[str]) -> None:
    agents, urls = ["a", "b", "other", "MJ12bot"], [*URLS, *more]
    before = verdicts(parse(body, dialect), agents, urls)
    fixer = Fixer(body, dialect)

    for finding in lint(body, dialect):
        fix = fixer.fix_for(finding)
        if fix:
            assert verdicts(parse(fix.applied_to(body), dialect), agents, urls) == before, finding
    assert verdicts(parse(fixed(body, dialect), dialect), agents, urls) == before


@BOTH
@given(body=BODIES)
def test_a_fix_settles_its_finding_and_keeps_sitemaps_delays_and_comments(dialect: Dialect, body: bytes) -> None:
    after = fixed(body, dialect)
    before, now = parse(body, dialect), parse(after, dialect)

    assert now.sitemaps == before.sitemaps
    assert [now.crawl_delay(name) for name in ("a", "b", "c")] == [before.crawl_delay(name) for name in "abc"]
    assert sorted(comments(body)) == sorted(text for text in comments(after) if text)
    assert fixed(after, dialect) == after


def comments(body: bytes) -> list[bytes]:
    found = (line.partition(b"\0")[0].partition(b"#") for line in body.removeprefix(b"\xef\xbb\xbf").splitlines())
    return [comment.strip() for _, mark, comment in found if mark and comment.strip()]


@given(body=BODIES)
def test_a_crawler_that_knows_no_wildcard_does_not_miss_a_rule_that_is_removed(body: bytes) -> None:
    urls = [*URLS, "/a*", "/*", "/ab*"]
    for finding in lint(body):
        fix = fix_for(finding, body) if finding.code in {"useless-rule", "duplicate-rule"} else None
        if fix:
            for allowed in (first_match, longest_match):
                assert [allowed(body, url) for url in urls] == [allowed(fix.applied_to(body), url) for url in urls]


def plain_rules(body: bytes) -> list[tuple[bool, bytes]]:
    records = (record for record in parse(body).records if record.value)
    return [
        (record.kind is Kind.ALLOW, record.value)
        for record in records
        if record.kind in {Kind.ALLOW, Kind.DISALLOW}
    ]


def first_match(body: bytes, url: str) -> bool:
    """A crawler of 1994 that takes all groups of a file for its own."""
    return next((allow for allow, path in plain_rules(body) if url.encode().startswith(path)), True)


def longest_match(body: bytes, url: str) -> bool:
    matches = [(len(path), allow) for allow, path in plain_rules(body) if url.encode().startswith(path)]
    return max(matches, default=(0, True))[1]


@pytest.mark.parametrize(
    ("code", "body", "after"),
    [
        ("byte-order-mark", b"\xef\xbb\xbfUser-agent: *\nDisallow: /\n", b"User-agent: *\nDisallow: /\n"),
        ("crlf-line-ends", b"User-agent: *\r\nDisallow: /\r\n", b"User-agent: *\nDisallow: /\n"),
        ("cr-line-ends", b"User-agent: *\rDisallow: /", b"User-agent: *\nDisallow: /"),
        ("mixed-line-ends", b"User-agent: *\nDisallow: /\r\n# \xe9\n", b"User-agent: *\nDisallow: /\n# \xe9\n"),
        ("misspelt-key", b"User-agent: *\r\nDisalow: /a # b\r\n", b"User-agent: *\r\nDisallow: /a # b\r\n"),
        ("missing-colon", b"User-agent: *\nDisallow  /a\n", b"User-agent: *\nDisallow: /a\n"),
        ("indented-line", b"User-agent: *\n \t Disallow: /a", b"User-agent: *\nDisallow: /a"),
        (
            "odd-case-key",
            b"user-agent: *\nDIsallow: /a\nDIsallow: /b",
            b"user-agent: *\nDisallow: /a\nDisallow: /b",
        ),
        (
            "comment-after-rule",
            b"User-agent: *\r\nDisallow: /a  # why \r\n",
            b"User-agent: *\r\n# why\r\nDisallow: /a\r\n",
        ),
        (
            "blank-line-in-group",
            b"User-agent: *\nDisallow: /a\n\n \nDisallow: /b\n\nUser-agent: a\nDisallow: /",
            b"User-agent: *\nDisallow: /a\n#\n#\nDisallow: /b\n\nUser-agent: a\nDisallow: /",
        ),
        (
            "agent-with-other-text",
            b"User-agent: Examplebot/2.1\nDisallow: /",
            b"User-agent: Examplebot\nDisallow: /",
        ),
        ("needless-star", b"User-agent: *\nDisallow: /**a* # b*", b"User-agent: *\nDisallow: /*a # b*"),
        ("duplicate-rule", b"User-agent: *\nDisallow: /a\nDisallow: /a\n", b"User-agent: *\nDisallow: /a\n"),
        ("useless-rule", b"User-agent: *\nDisallow: /a\nDisallow: /ab # c", b"User-agent: *\nDisallow: /a\n# c"),
    ],
)
def test_a_fix_changes_what_its_finding_names_and_nothing_else(code: str, body: bytes, after: bytes) -> None:
    assert fixed_once(body, code) == after


def test_each_code_that_has_a_fix_is_tested() -> None:
    (mark,) = test_a_fix_changes_what_its_finding_names_and_nothing_else.pytestmark  # type: ignore[attr-defined]
    assert {code for code, _, _ in mark.args[1]} == FIXABLE


@pytest.mark.parametrize(
    ("code", "body"),
    [
        (
            "byte-order-mark",
            b"\xef\xbb\xbf\xef\xbb\xbfUser-agent: *\nDisallow: /\n",
        ),  # the second one spoils line 1
        ("misspelt-key", b"User-agent: *\nAllow-training: /\nDisallow: /\n"),  # no misspelling of Allow
        ("missing-colon", b"User-agent: *\nDisallow /a /b\nDisallow: /c"),  # no record today
        ("agent-with-other-text", b"User-agent: Examplebot Images\nDisallow: /"),  # perhaps another crawler
        ("useless-rule", b"User-agent: *\nDisallow: /*b\nDisallow: /ab"),  # needed where stars are not known
        (
            "useless-rule",
            b"User-agent: *\nDisallow: /ab\nDisallow: /a",
        ),  # needed for nobody, but the first in the file
        ("useless-rule", b"User-agent: *\nAllow: /a\nDisallow: /b"),  # says what its author wants
    ],
)
def test_what_could_change_a_verdict_of_some_crawler_is_left_to_people(code: str, body: bytes) -> None:
    assert fixed_once(body, code) == body


@pytest.mark.parametrize(
    "rules",
    [
        b"Allow: /a*\nDisallow: /ab",  # wins by the length of its star
        b"Allow: /\nDisallow: /*",  # loses a tie that was none
        b"Allow: /a/index.html*\nDisallow: /b",  # allows its folder
        b"Allow: /a/index.html\nDisallow: /a/**",  # wins over that folder
        b"Disallow: /a$*",  # which becomes an anchor
    ],
)
def test_a_star_that_counts_is_not_called_needless(rules: bytes) -> None:
    assert "needless-star" not in {each.code for each in lint(b"User-agent: *\n" + rules)}


def test_a_line_and_a_file_at_their_limits_are_left_alone() -> None:
    line = b"Disalow: /" + b"a" * 16_653  # 16,663 octets; one more is cut off
    assert fixed_once(b"User-agent: *\n" + line, "misspelt-key") == b"User-agent: *\n" + line
    full = b"User-agent: *\nDisalow: /a\n" + b"#" * (MAX_SIZE - 27) + b"\n"
    assert len(full) == MAX_SIZE
    assert fixed(full) == full
    over = b"User-agent: *\r\nDisallow: /a\r\n" + b"#\r\n" * 200_000 + b"Disallow: /b"
    assert fixed(over) == over


def test_for_a_dialect_that_is_not_proved_nothing_is_fixed() -> None:
    body = b"User-agent: *\nDisallow: /a*\nDisallow: /a*"
    other = replace(GOOGLE, name="another")
    assert {GOOGLE.name, GOOGLE_EXACT.name} == PROVED <= set(DIALECTS)
    assert fixed(body, other) == body != fixed(body)


def test_of_two_fixes_at_one_place_the_first_is_made() -> None:
    whole, part, behind = Fix((Edit(0, 4),)), Fix((Edit(2, 3, b"x"),)), Fix((Edit(6, 6, b"!"), Edit(7, 8)))
    assert apply_fixes(b"abcdefgh", [part, behind, whole]) == (b"ef!g", 2)
    assert apply_fixes(b"abc", []) == (b"abc", 0)


def test_fixes_that_follow_from_fixes_are_made_as_well() -> None:
    body = b"User-agent: *\r\nDisallow: /a\r\nDisallow: /a*\r\n Disalow: /a # why\r\n"
    assert fixed(body) == b"User-agent: *\nDisallow: /a\n# why\n"


@pytest.mark.full
@pytest.mark.skipif(not FOLDER, reason="SCRAPY_REP_CORPUS names no folder")
def test_no_fix_of_a_real_file_changes_a_verdict() -> None:
    files = list(bodies(Path(FOLDER)).values())[::28]
    changed = [(body, after) for body in files if (after := fixed(body)) != body]
    assert len(changed) > 40
    for body, after in changed:
        before, now = parse(body), parse(after)
        agents, urls = questions(before)
        assert verdicts(before, agents, urls) == verdicts(now, agents, urls)


def questions(robots: RobotsTxt) -> tuple[list[str], list[str]]:
    """Crawlers that the file names, and others; URLs that its rules match, or nearly."""
    names = {each.text.partition("/")[0] for each in robots.records if each.kind is Kind.USER_AGENT}
    paths = {each.text for each in robots.records if each.kind in {Kind.ALLOW, Kind.DISALLOW}}
    spelt = {
        url
        for path in paths
        for url in (path, path.replace("*", "x").replace("$", ""), f"{path.rstrip('*$')}a", path[:-1])
    }
    return [*sorted(names)[:4], "other", "MJ12bot"], sorted(f"/{url.lstrip('/')}" for url in spelt)[:300]


@pytest.mark.parametrize(
    ("code", "body", "after"),
    [
        ("misspelt-key-ignored", b"User-agnt: * # all\nDisallow: /\n", b"User-agent: * # all\nDisallow: /\n"),
        ("misspelt-key-ignored", b"User-agent: *\r\nDislow: /\r\n", b"User-agent: *\r\nDisallow: /\r\n"),
        ("misspelt-agent", b"User-agent: Googelbot\nDisallow: /\n", b"User-agent: Googlebot\nDisallow: /\n"),
        ("path-without-slash", b"User-agent: *\nDisallow: a\n", b"User-agent: *\nDisallow: /a\n"),
    ],
)
def test_a_fix_that_changes_verdicts_does_what_is_advised_and_is_never_the_safe_one(
    code: str, body: bytes, after: bytes
) -> None:
    finding = next(one for one in lint(body) if one.code == code)
    fixer = Fixer(body)
    fix = fixer.changing_fix_for(finding)
    assert fix is not None
    assert fix.applied_to(body) == after
    assert fixer.fix_for(finding) is None
    assert code not in FIXABLE
    assert Fixer(body, DIALECTS["1994"]).changing_fix_for(finding) is None
