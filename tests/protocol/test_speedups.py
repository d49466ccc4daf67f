"""The part in C gives the answers of the plain engine, lines included, and refuses what it cannot read."""

from __future__ import annotations

import gc
import re
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_rep.protocol import GOOGLE, GOOGLE_EXACT, Dialect, parse, path_of, product_token
from scrapy_rep.protocol.path_pattern import Pattern, _find_path
from scrapy_rep.protocol.rules import Rules
from scrapy_rep.testing import SITUATIONS
from tests.support.cost import is_linear_in_time

from . import hostile
from .any_body import BODIES, PATHS, RULES, TOKENS, URLS
from .test_google_verdicts import FOLDER, answers, bodies

compiled = pytest.importorskip("scrapy_rep.protocol._speedups", reason="it was not built", exc_type=ImportError)

BOTH = pytest.mark.parametrize("dialect", [GOOGLE, GOOGLE_EXACT], ids=lambda dialect: dialect.name)


@pytest.fixture(autouse=True, scope="module")
def engine() -> str:
    """Both are asked here, in each test."""
    return "c"


def assert_equal_answers(body: bytes, dialect: Dialect, tokens: list[str], urls: list[str]) -> None:
    file = parse(body, dialect, limit=None)
    for token in tokens:
        plain = Rules(body, token, dialect)
        assert file.has_group(token) is plain.by_name, token
        for url in urls:
            path = path_of(url, canonical_octets=dialect.canonical_octets)
            assert file.verdict_on_path(token, path) == plain.verdict(path), (token, url)


@BOTH
@given(body=BODIES)
@example(body=b"User-agent: a\ndiasllow /\nUser-agent: b\nDisallow: /a\n")
@example(body=b"User-agent: *\nDisallow: /\nAllow: /index.htm?x\n")
def test_any_body_is_read_alike(dialect: Dialect, body: bytes) -> None:
    assert_equal_answers(body, dialect, TOKENS, URLS)


@BOTH
@given(
    rules=st.lists(st.tuples(st.sampled_from([b"Allow: ", b"Disallow: "]), RULES), max_size=8),
    path=PATHS,
    end=st.sampled_from(["", "/ab." * 80, "ab" * 41, "b" * 90]),
)
@example(rules=[(b"Allow: ", b"/a/index.htm"), (b"Allow: ", b"/a/$")], path="a/", end="")
@example(rules=[(b"Allow: ", b"/a/$"), (b"Allow: ", b"/a/index.htm")], path="a/", end="")
@example(rules=[(b"Allow: ", b"/%61/%/index.htm$"), (b"Allow: ", b"/a/%/$")], path="a/%/", end="")
@example(rules=[(b"Disallow: ", b"/\xc3\xa9*"), (b"Allow: ", b"/******")], path="é", end="")
def test_any_rules_decide_alike(dialect: Dialect, rules: list[tuple[bytes, bytes]], path: str, end: str) -> None:
    body = b"User-agent: *\n" + b"\n".join(key + value for key, value in rules)
    assert_equal_answers(body, dialect, ["a"], [f"https://h.example/{path}{end}"])


@pytest.mark.parametrize("start", [b"Disallow: /", b"   Disallow: /", b"User-agent: a", b"# ", b"\x00"])
def test_long_lines_are_cut_alike(start: bytes) -> None:
    for length in (16_650, 16_663, 16_664, 40_000):
        long_line = start + b"a" * (length - len(start) - 1) + b"#"
        body = b"User-agent: a\nDisallow: /x\n" + long_line + b"\r\nDisallow: /y\n" + long_line
        assert_equal_answers(body, GOOGLE, ["a"], [*URLS, "https://h.example/" + "a" * 20_000])


@pytest.mark.usefixtures("_no_collection")
@pytest.mark.parametrize("end", [b"\r", b"\n", b"\r\n", b"\n\r"], ids=repr)
def test_a_body_takes_time_linear_in_its_lines_whatever_ends_them(end: bytes) -> None:
    def ask(body: bytes) -> None:
        parse(body, limit=None).has_group("a")

    assert is_linear_in_time(ask, end * 50_000, end * 400_000)


@BOTH
def test_hostile_bodies_are_read_alike(dialect: Dialect) -> None:
    urls = ["https://h.example/" + "a" * 90, "https://h.example/a/", "https://h.example/%61/index.html?a=b"]
    for make in (hostile.LINES | hostile.RUNS).values():
        assert_equal_answers(make(3_000), dialect, ["a", "zz"], urls)


@BOTH
def test_google_the_situations_are_read_alike(dialect: Dialect) -> None:
    for situation in SITUATIONS:
        for question in situation.questions:
            assert_equal_answers(situation.body, dialect, [product_token(question.crawler)], [question.url])


@pytest.mark.skipif(not FOLDER, reason="SCRAPY_REP_CORPUS names no folder")
def test_google_some_real_files_are_read_alike() -> None:
    """All of them are in the full run of `test_google_verdicts`, with both engines."""
    files, known = bodies(Path(FOLDER)), dict[tuple[str, str, str], Rules]()
    for row in islice(answers(Path(FOLDER)), 0, None, 401):
        for dialect in (GOOGLE, GOOGLE_EXACT):
            key = row.file, row.agent, dialect.name
            plain = known.get(key) or known.setdefault(key, Rules(files[row.file], row.agent, dialect))
            path = path_of(row.url, canonical_octets=dialect.canonical_octets)
            assert parse(files[row.file], dialect, limit=None).verdict(row.agent, row.url) == plain.verdict(
                path
            ), row


@given(url=st.one_of(st.text(), PATHS.map("https://h.example/".__add__), st.text("htps:/?;#%a", max_size=14)))
@example(url="http://h#/a")
@example(url="https://")
@example(url="http://?/a")
@example(url="http:///")
@example(url="https:/a")
@example(url="http:////a#b")
def test_a_path_that_is_found_at_once_is_that_of_the_url(url: str) -> None:
    path = compiled.path_of(url)
    assert path in (None, path_of(url.encode("utf-8", "surrogatepass")))
    assert path == _find_path(url)


@given(value=st.one_of(RULES, st.text("/%41é*$ab", max_size=9).map(str.encode)))
@example(value=b"/%%341$b*%4%41\xe9 c")
@example(value=b"/%2541%2a%2F%7e{'}")
def test_a_pattern_is_respelt_alike(value: bytes) -> None:
    body = b"User-agent: *\nDisallow: " + value
    (rule,) = parse(body).rules("a")[:1]
    for canonical_octets in (True, False):
        pattern = Pattern.of(rule.value, canonical_octets=canonical_octets)
        rules = made(body, canonical_octets=canonical_octets)
        spelt = b"ab".join(pattern.pieces)
        for path in (spelt, spelt[:-1], spelt + b"a", spelt.replace(b"%", b"%2"), spelt.upper(), spelt.lower()):
            assert (rules.verdict(path) != "no rule") is pattern.matches(path), path


def made(body: Any, token: Any = (b"a", False), canonical_octets: bool = True, judge: Any = None) -> Any:
    """The rules in *body*, whose verdicts are what *judge* answers: what it is asked, if it is not given."""
    return compiled.Rules(body, token, canonical_octets, "no rule", "itself", judge or (lambda *rule: rule))


@pytest.mark.parametrize("body", ["User-agent: *", bytearray(b"a"), None], ids=repr)
def test_a_body_is_octets(body: Any) -> None:
    with pytest.raises(TypeError):
        made(body)


def test_a_name_is_octets_or_none() -> None:
    for name in ("a", bytearray(b"a"), 1):
        with pytest.raises(TypeError):
            made(b"User-agent: a", (name, False))
    for token in ((), (b"a",), [b"a", False]):
        with pytest.raises((IndexError, SystemError)):
            made(b"User-agent: a", token)
    with pytest.raises(TypeError):
        compiled.Rules(b"User-agent: a")


def test_the_errors_of_who_judges_arrive() -> None:
    def judge(*_: object) -> Any:
        raise ZeroDivisionError

    for callback, error in ((judge, ZeroDivisionError), (1, TypeError), (len, TypeError)):
        rules = made(b"User-agent: *\nDisallow: /a", judge=callback)
        for _ in range(2):
            with pytest.raises(error):
                rules.verdict(b"/a")
        assert rules.verdict(b"/b") == "no rule"


def test_who_judges_may_ask_for_verdicts_and_collect_what_is_unused() -> None:
    def judge(allow: bool, value: bytes, line: int) -> tuple[int, object]:
        gc.collect()
        return line, rules.verdict(b"/a%d" % (line - 3)) if line > 2 else None

    body = b"User-agent: *\n" + b"".join(b"Disallow: /%%61%d$\n" % number for number in range(20))
    rules = made(body, judge=judge)
    for number in (19, 0, 9):
        found = rules.verdict(b"/a%d" % number)
        for line in range(number + 2, 1, -1):
            assert found[0] == line
            found = found[1]


def test_a_verdict_is_kept_until_a_few_others_are() -> None:
    body = b"User-agent: *\n" + b"".join(b"Disallow: /%d$\n" % number for number in range(20))
    rules, paths = made(body, judge=lambda *rule: [rule]), [b"/%d" % number for number in range(20)]
    for path in paths:
        assert rules.verdict(path) is rules.verdict(path)
    first = [rules.verdict(path) for path in paths]
    assert [rules.verdict(path) for path in paths] == first
    assert not all(rules.verdict(path) is one for path, one in zip(paths, first, strict=True))


def test_no_format_needs_a_macro_of_the_version_that_builds() -> None:
    """One file serves all versions. A format with "#" that CPython 3.13 has built fails on 3.10 to 3.12."""
    source = Path(compiled.__file__).with_name("_speedups.c").read_text("ascii")
    assert re.findall(r'"[^"\n]*#[^"\n]*"', re.sub(r"/\*.*?\*/", "", source, flags=re.DOTALL)) == []


def test_what_cannot_be_asked_is_refused() -> None:
    rules = made(b"User-agent: *\nDisallow: /a", (None, False))
    assert (rules.verdict(b"/a"), rules.verdict(b"/b")) == ((False, b"/a", 2), "no rule")
    with pytest.raises(TypeError):
        rules.verdict("/a")


def test_a_rule_outlives_its_body() -> None:
    rules = made(b"".join([b"User-agent: *\nDisallow: /", b"%61" * 9]))
    assert rules.verdict(b"/" + b"a" * 9) == (False, b"/" + b"%61" * 9, 2)


def test_robots_txt_itself_is_judged_apart() -> None:
    rules = made(b"User-agent: *\nDisallow: /")
    assert [rules.verdict(b"/robots.txt" + end) for end in (b"", b"?")] == ["itself", (False, b"/", 2)]
