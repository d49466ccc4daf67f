"""What the linter claims is so for the engine, whatever the body."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_rep.protocol import GOOGLE, GOOGLE_EXACT, Access, Dialect, access, parse
from scrapy_rep.protocol.path_pattern import Pattern, path_of
from scrapy_rep.tools.lint import CODES, MOST_OF_A_CODE, Finding, Severity, lint
from tests.protocol.test_google_verdicts import FOLDER, bodies

from .asking import BOTH, URLS, codes, only

RULES = st.lists(
    st.tuples(
        st.sampled_from(["Allow", "Disallow"]),
        st.one_of(
            st.sampled_from(
                ["/", "/*", "/a", "/a*", "/a/", "/a/b", "/%61", "/b$", "/a/index.html", "/*b", "", "x", "/é"]
            ),
            st.text("/ab*$", max_size=6).map("/".__add__),
        ),
    ),
    max_size=6,
)
GROUPS = st.lists(
    st.tuples(st.lists(st.sampled_from("*ab"), min_size=1, max_size=2), RULES), min_size=1, max_size=3
)
PIECES = st.one_of(
    st.sampled_from(
        [b"User-agent:", b"*", b"a", b"Allow", b":", b"Disallow: /", b"\r", b"\n", b"\n", b"\0", b"#"]
    ),
    st.sampled_from(
        [b"Crawl-delay:", b"Content-Signal:", b"Host: a", b"Sitemap:", b"\xef\xbb\xbf", b" ", b"\xff"]
    ),
    st.binary(max_size=4),
)
Groups = list[tuple[list[str], list[tuple[str, str]]]]


def written(groups: Groups) -> list[bytes]:
    lines = []
    for agents, rules in groups:
        lines += [f"User-agent: {agent}" for agent in agents]
        lines += [f"{key}: {path}" for key, path in rules]
    return [line.encode() for line in lines]


def verdicts(lines: list[bytes], dialect: Dialect, urls: list[str]) -> list[bool]:
    file = parse(b"\n".join(lines), dialect)
    return [file.verdict(token, url).allowed for token in ("a", "b", "other", "") for url in urls]


@BOTH
@given(groups=GROUPS, more=st.lists(st.text("/ab", max_size=6).map("/".__add__), max_size=8))
def test_without_a_rule_that_is_called_useless_no_verdict_changes(
    dialect: Dialect, groups: Groups, more: list[str]
) -> None:
    lines, urls = written(groups), [*URLS, *more]
    useless = [
        each.line for each in lint(b"\n".join(lines), dialect) if each.code in {"useless-rule", "duplicate-rule"}
    ]
    before = verdicts(lines, dialect, urls)

    for one in useless:
        assert verdicts(lines[: one - 1] + lines[one:], dialect, urls) == before
    assert (
        verdicts([line for number, line in enumerate(lines, 1) if number not in useless], dialect, urls) == before
    )


@BOTH
@given(
    groups=GROUPS,
    more=st.lists(st.text("/ab", max_size=6).map("/".__add__), max_size=8),
)
def test_a_rule_that_is_said_never_to_match_decides_nothing(
    dialect: Dialect, groups: Groups, more: list[str]
) -> None:
    lines = written(groups)
    never = {
        each.line
        for each in lint(b"\n".join(lines), dialect)
        if each.code in {"rule-never-matches", "path-without-slash", "agent-as-path"}
    }
    file = parse(b"\n".join(lines), dialect)

    for token in ("a", "b", "other"):
        assert not never & {file.verdict(token, url).line for url in [*URLS, *more]}


def told(lines: list[bytes], dialect: Dialect, *codes: str) -> list[Finding]:
    return [each for each in lint(b"\n".join(lines), dialect) if each.code in codes]


@BOTH
@given(groups=GROUPS, more=st.lists(st.text("/ab", max_size=6).map("/".__add__), max_size=8))
def test_to_a_site_that_is_called_closed_no_crawler_may_go(
    dialect: Dialect, groups: Groups, more: list[str]
) -> None:
    lines = written(groups)
    file = parse(b"\n".join(lines), dialect)
    for each in told(lines, dialect, "site-closed", "closed-except"):
        tokens = ("a", "b", "other") if each.code == "site-closed" else ("other",)
        for token in tokens:
            assert not any(file.verdict(token, url).allowed for url in [*URLS, *more])
        assert lines[each.line - 1].startswith(b"Disallow")
        if each.code == "closed-except":
            assert any(f"for {token} at line" in each.message for token in ("a", "b"))


@BOTH
@given(groups=GROUPS, more=st.lists(st.text("/ab", max_size=6).map("/".__add__), max_size=8))
def test_without_an_allow_that_is_called_empty_no_verdict_changes(
    dialect: Dialect, groups: Groups, more: list[str]
) -> None:
    lines, urls = written(groups), [*URLS, *more]
    for each in told(lines, dialect, "empty-allow"):
        without = [
            *lines[: each.line - 1],
            lines[each.line - 1].replace(b"Allow", b"Disallow"),
            *lines[each.line :],
        ]
        assert verdicts(without, dialect, urls) == verdicts(lines, dialect, urls)


NAMES = st.sampled_from(["css", "js", "images", "img", "a", "b", "sid", "x-1"])
PARTS = st.lists(st.one_of(NAMES, st.sampled_from(["*", "$", "?", "=", "&", ".css", ".js", ".png"])), max_size=4)
PATHS = PARTS.map(lambda parts: "/" + "/".join(parts)) | PARTS.map(lambda parts: "/" + "".join(parts))
WIDE = st.lists(
    st.tuples(
        st.lists(st.sampled_from(["*", "Googlebot", "Googlebot-Image"]), min_size=1, max_size=2),
        st.lists(st.tuples(st.sampled_from(["Allow", "Disallow", "Disallow"]), PATHS), max_size=6),
    ),
    min_size=1,
    max_size=2,
)


@BOTH
@given(groups=WIDE)
def test_a_file_that_is_said_to_be_closed_to_google_is_closed_and_the_advice_opens_another(
    dialect: Dialect, groups: Groups
) -> None:
    lines = written(groups)
    file = parse(b"\n".join(lines), dialect)
    for each in told(lines, dialect, "blocked-css-js", "blocked-images"):
        example = each.message.partition("such as ")[2].partition("; " if ";" in each.message else ", ")[0]
        example = example.partition(", and")[0]
        is_image = each.code == "blocked-images"
        has_own = b"User-agent: Googlebot-Image" in lines
        verdict = file.verdict("Googlebot-Image" if is_image and has_own else "Googlebot", example)
        assert (verdict.allowed, verdict.line) == (False, each.line)
        advised = each.advice.partition("“Allow: ")[2].partition("”")[0].encode()
        rule = lines[each.line - 1].removeprefix(b"Disallow: ")
        both = [Pattern.of(one, canonical_octets=dialect.canonical_octets) for one in (advised, rule)]
        assert not advised or both[0].specificity > both[1].specificity


@BOTH
@given(groups=WIDE)
def test_what_rules_are_said_to_reach_or_not_they_do(dialect: Dialect, groups: Groups) -> None:
    lines = written(groups)
    file = parse(b"\n".join(lines), dialect)
    for each in told(lines, dialect, "prefix-trap", "closable-pattern", "blocked-queries"):
        rule = lines[each.line - 1].partition(b": ")[2]
        pattern = Pattern.of(rule, canonical_octets=dialect.canonical_octets)
        if each.code == "prefix-trap":
            longer, line = re.fullmatch(r".* also disallows (\S+) \(line (\d+)\) .*", each.message).groups()  # type: ignore[union-attr]
            assert lines[int(line) - 1].endswith(b": " + longer.encode())
            assert pattern.matches(path_of(longer, canonical_octets=dialect.canonical_octets))
        elif each.code == "blocked-queries":
            for path in ("/?a", "/b?c=d", "/a/b.html?"):
                assert pattern.matches(path_of(path))
            assert not file.verdict("other", "/a?b=c").allowed
        else:
            assert file.verdict("other", "/any-other?a&sid=1").allowed or file.verdict("other", "/x?sid=1").allowed


@given(path=st.text("/AB %#", max_size=7).map("/x".__add__), url=st.text("/ab", max_size=7).map("/x".__add__))
def test_a_path_with_a_space_or_a_hash_is_read_as_is_said(path: str, url: str) -> None:
    body = f"User-agent: *\nDisallow: {path}\n".encode()
    for each in lint(body, GOOGLE_EXACT):
        if each.code == "space-in-path":
            assert parse(body, GOOGLE_EXACT).verdict("a", url.replace("b", "%20")).allowed
            if each.replacement:
                right = each.replacement.removeprefix(b"Disallow: ")
                assert parse(b"User-agent: *\n" + each.replacement, GOOGLE_EXACT).verdict("a", right).line == 2
        elif each.code == "hash-in-path":
            (rule,) = parse(body, GOOGLE_EXACT).rules("a")
            assert f"“{rule}”" in each.message


@BOTH
@given(path=st.text("/a*$", max_size=7).map("/".__add__), url=st.text("/a", max_size=7).map("/".__add__))
def test_what_is_to_be_written_instead_of_a_needless_star_matches_the_same(
    dialect: Dialect, path: str, url: str
) -> None:
    body = f"User-agent: *\nDisallow: {path}\nDisallow: /other".encode()
    asked = path_of(url, canonical_octets=dialect.canonical_octets)
    for each in lint(body, dialect):
        if each.code == "needless-star":
            assert each.replacement
            both = path.encode(), each.replacement.removeprefix(b"Disallow: ")
            patterns = [Pattern.of(one, canonical_octets=dialect.canonical_octets) for one in both]
            assert len({pattern.matches(asked) for pattern in patterns}) == 1


@BOTH
@given(
    body=st.one_of(st.binary(max_size=200), st.lists(PIECES, max_size=30).map(b"".join)),
    limit=st.none() | st.integers(0, 60),
    source=st.fixed_dictionaries(
        {},
        optional={
            "url": st.text(max_size=8) | st.text("[/:]ht", max_size=9),
            "hops": st.lists(st.text(max_size=4), max_size=2),
            "status": st.integers(-1, 999),
        },
    ),
)
def test_no_body_makes_it_fail_and_findings_are_in_order(
    dialect: Dialect, body: bytes, limit: int | None, source: dict[str, Any]
) -> None:
    findings = lint(body, dialect, limit=limit, **source)

    places = [(not CODES[each.code].is_accident, each.line, each.column) for each in findings]
    assert places == sorted(places)
    lines = body.splitlines() or [b""]
    for each in findings:
        assert 0 <= each.line <= len(lines)
        assert 0 <= each.column <= (len(lines[each.line - 1]) + 1 if each.line else 0)
        assert each.severity is CODES[each.code].severity
        assert each.message.isprintable()
        assert each.advice.isprintable()


def test_a_finding_names_line_and_column_and_what_to_write() -> None:
    body = "User-agent: *\nDisallow: /x\n# caf\xe9\nSitemap:   caf\xe9.xml".encode()
    assert only(body, "relative-sitemap") == Finding(
        "relative-sitemap",
        Severity.ERROR,
        4,
        12,
        "café.xml is not a complete URL, so crawlers may ignore it.",
        "Write the complete URL, such as https://www.example/sitemap.xml.",
    )


def test_columns_count_characters() -> None:
    body = "User-agent: *\nDisallow: /café/x$/x".encode()
    assert (only(body, "dollar-inside").line, only(body, "dollar-inside").column) == (2, 18)


def test_a_rule_is_not_useless_when_another_agent_of_its_group_has_an_exception_elsewhere() -> None:
    body = b"""User-agent: a
User-agent: b
Disallow: /x
Disallow: /x/secret

User-agent: b
Allow: /x/s
"""
    assert "useless-rule" not in codes(body)
    without = body.replace(b"Disallow: /x/secret\n", b"")
    assert not parse(body).verdict("b", "/x/secret").allowed
    assert parse(without).verdict("b", "/x/secret").allowed


@pytest.mark.parametrize(
    ("rules", "line", "url"),
    [
        # Allowing an index page allows its folder, at the length of the folder.
        (b"Disallow: /a/$\nAllow: /a/index\nAllow: /a/index.html", 4, "/a/"),
        (b"Disallow: /a\nDisallow: /a/*$\nAllow: /a/index.html", 3, "/a/"),
    ],
)
def test_a_rule_that_matters_for_the_folder_of_an_index_page_is_not_useless(
    rules: bytes, line: int, url: str
) -> None:
    body = b"User-agent: *\n" + rules
    lines = body.splitlines()
    without = b"\n".join(lines[: line - 1] + lines[line:])
    assert parse(body).verdict("a", url).allowed is not parse(without).verdict("a", url).allowed
    assert line not in {each.line for each in lint(body) if each.code == "useless-rule"}


@pytest.mark.parametrize(
    ("path", "is_told"),
    [
        (b"AhrefsBot", True),
        (b"/ExampleBot", True),
        (b"/robot", False),
        (b"/otherbot", False),
        (b"/example", False),
    ],
)
def test_a_folder_is_not_taken_for_a_crawler(path: bytes, is_told: bool) -> None:
    body = b"User-agent: ExampleBot\nUser-agent: example\nDisallow: " + path
    assert ("agent-as-path" in codes(body)) is is_told


def test_the_dialect_counts() -> None:
    body = b"User-agent: MJ12bot\nDisallow: /x\nUser-agent: *\nDisallow:\nSitemap: https://a.example/s.xml\n"
    assert lint(body, GOOGLE) == ()
    assert [each.code for each in lint(body, GOOGLE_EXACT)] == ["agent-with-other-text"]


def test_of_one_code_no_more_than_a_thousand_findings_are_given() -> None:
    findings = lint(b"User-agent: *\nDisallow: /a\n" + b"Sitemap: /s.xml\n" * 5_000)
    assert Counter(each.code for each in findings)["relative-sitemap"] == MOST_OF_A_CODE


_MADE = {
    "many agents for many rules": lambda: b"".join(
        [*(b"User-agent: a%d\n" % n for n in range(10_000)), *(b"Disallow: /%d\n" % n for n in range(15_000))]
    ),
    "many records for many agents": lambda: b"user-agent:a\n" * 20_000 + b"host:\n" * 36_000,
    "wildcards beside plain rules": lambda: (
        b"User-agent: *\n" + b"".join(b"Allow: /%d\nDisallow: /*p%d*x\n" % (n, n) for n in range(10_000))
    ),
    "a group for each rule": lambda: (
        b"User-agent: *\nDisallow: /a\n"
        + b"".join(b"User-agent: a%d\nDisallow: /x\n" % (n % 7_000) for n in range(14_000))
    ),
    "many keys of Content-Signal": lambda: (
        b"User-agent: *\n"
        + b"".join(
            b"content-signal:%s\n" % b",".join(b"a%d" % (n * 90 + m) for m in range(90)) for n in range(1_000)
        )
    ),
    "many labels of Content-Usage": lambda: (
        b"User-agent: *\n" + b"".join(b"content-usage:a%d=n;b,%d\n" % (n, n) for n in range(20_000))
    ),
    "long unreadable Content-Usage": lambda: b"User-agent: *\n" + (b"content-usage:" + b"a " * 8_000 + b"\n") * 31,
    "many agents for many Noindex": lambda: b"".join(
        b"User-agent: a%d\nNoindex: /%d\nDisallow: /\n" % (n, n) for n in range(10_000)
    ),
    "many unknown crawlers": lambda: b"".join(b"User-agent: googlebat%d\n" % n for n in range(24_000)),
    "many misspelt crawlers": lambda: (
        b"User-agent: *\nDisallow:\n"
        + b"".join(b"User-agent: googlebo%d\nDisallow: /a\n" % (n % 10) for n in range(13_000))
    ),
    "many paths that begin alike": lambda: (
        b"User-agent: *\n" + b"".join(b"Disallow: /%b\n" % (b"a" * (n % 180 + 1)) for n in range(5_000))
    ),
    "many closed folders of style sheets": lambda: (
        b"User-agent: Googlebot\n" + b"".join(b"Disallow: /%d*/css/\n" % n for n in range(20_000))
    ),
    "many long paths with admin": lambda: b"User-agent: *\n" + (b"Disallow: /" + b"a-" * 8_000 + b"\n") * 31,
    "many parameters": lambda: b"User-agent: *\n" + (b"Disallow: /?" + b"&sid" * 4_000 + b"\n") * 31,
    "many sitemaps": lambda: (
        b"User-agent: *\nDisallow: /a\n" + b"".join(b"Sitemap: https://a/a%d\n" % n for n in range(20_000))
    ),
    "a dialect with many stars": lambda: (
        b"User-agent: YandexBot\nUser-agent: bingbot\nUser-agent: Baiduspider\n"
        + b"".join(b"Disallow: /%b%d\n" % (b"a*" * 200, n) for n in range(1_000))
    ),
    "one long line": lambda: b"Disallow: " + b"/a b" * 120_000,
    "many comments of HTML": lambda: b"User-agent: *\nDisallow: /\n" + b"<!--\n" * 100_000,
    "many entities": lambda: b"User-agent: *\n" + b"".join(b"Disallow: /%d&amp;\n" % n for n in range(25_000)),
    "long runs of blanks": lambda: b"User-agent: *\n" + (b"Disallow: /:" + b" " * 8_000 + b"a; b,\n") * 60,
    "many records on a line": lambda: b"User-agent: *\n" + (b"Disallow: /a " * 1_200 + b"\n") * 33,
    "many open tags and braces": lambda: (b"Sitemap: https://a/" + b"<b {{ ${ <? %AAAA " * 900 + b"\n") * 31,
    "many invisible characters": lambda: b"User-agent: *\n" + "Disallow: /\xa0\u200b\n".encode() * 30_000,
}


@pytest.mark.full  # test_cost holds the linter linear, in smaller bodies
@pytest.mark.untraced
@pytest.mark.parametrize("make", _MADE.values(), ids=_MADE)
def test_a_hostile_body_takes_seconds_at_the_most(make: Callable[[], bytes]) -> None:
    body = make()
    start = time.process_time()
    lint(body)
    assert time.process_time() - start < 15  # under one where nothing else runs; minutes when it is quadratic


@pytest.mark.skipif(not FOLDER, reason="SCRAPY_REP_CORPUS names no folder")
def test_real_files_can_be_linted() -> None:
    assert len(set[str]().union(*map(codes, [*bodies(Path(FOLDER)).values()][::10]))) > 40


def test_a_status_is_found_by_what_it_means_to_a_crawl() -> None:
    found = {
        "unreachable": Access.UNREACHABLE,
        "missing-file": Access.UNAVAILABLE,
        "error-page": Access.UNAVAILABLE,
    }
    for status in [*range(100, 200), *range(300, 600), 999]:
        for body in (b"", b"<title>404 Not Found</title>"):
            (finding,) = lint(body, status=status)
            assert found[finding.code] is access(status, body), (status, body)
            assert (finding.code == "missing-file") == (status in {404, 410})
