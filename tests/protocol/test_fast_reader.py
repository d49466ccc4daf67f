"""The fast reading of a body gives the answers of the plain parser, which is the reference."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_rep.protocol import GOOGLE, GOOGLE_EXACT, Dialect, Record, RobotsTxt, Rule, parse
from scrapy_rep.protocol.line_scanner import normalize
from scrapy_rep.protocol.plain_reader import PlainReader

from .test_google_verdicts import FOLDER, bodies

TOKENS = ["a", "b", "Aa", "a-b_c", "MJ12bot", "", "*", "é"]
URLS = ["https://h.example" + path for path in ["/", "/a", "/a/b?c", "/a.b", "/robots.txt", "/index.html", "/%61"]]

KEYS = st.sampled_from([
    b"User-agent: ", b"user-agent:", b"USERAGENT: ", b"User Agent ", b"user-agents: ", b"Disallow: ", b"disallow:",
    b"Disallow :", b"Disallow ", b"Dissalow: ", b"disalow:", b"diasllow: ", b"disallaw:", b"Allow: ", b"allow:",
    b"Allowed: ", b"Sitemap: ", b"Crawl-delay: ", b"foo: ", b"disallow", b"\xef\xbb\xbfallow: ", b"# Disallow: ",
    b"x\nDisallow: ", b": ", b"", b"user-agent ", b"User-agent\t", b"user-agents\v", b"Disallow\t", b"dissallow:",
    b"Site-map: ", b"sitemap ", b"crawl delay:", b"Crawl-delay ", b"Request-rate: ",
])  # fmt: skip
VALUES = st.sampled_from([
    b"a", b"A", b"b", b"aa/1", b"a-b_c", b"mj12BOT", b"*", b"* x", b"*x", b"", b"\xc3\xa9", b"/", b"/a", b"/a*b",
    b"/*b$", b"/a/", b"/a$", b"/$a", b"/index.htm", b"/a # x", b"a b", b"a:b", b"/\xc3\xa9", b"/%61", b"/%2f",
    b"disallow: /a", b"1", b"2.5", b"1/5", b"/a \v", b"a \v", b"* \f", b"b #x", b"/a#b",
])  # fmt: skip
ENDS = st.sampled_from(
    [b"\n", b"\r\n", b"\r", b"\n\n", b"\n\r", b" \n", b"\t\r\n", b"\x00rest\n", b"\v\n", b"\x85"]
)
STARTS = st.sampled_from([b"", b" ", b"\t", b"\f ", b"\x00", b"\xef\xbb\xbf", b"\xef"])
LINES = st.tuples(STARTS, KEYS, VALUES, ENDS).map(b"".join)
BODIES = st.one_of(
    st.tuples(STARTS, st.lists(LINES, max_size=14).map(b"".join)).map(b"".join),
    st.binary(max_size=200),
)


class Reference(PlainReader):
    """Makes records of its body once, however much it is asked: of one body they are always the same."""

    __slots__ = ("_known",)

    def __init__(self, body: bytes) -> None:
        super().__init__(body)
        self._known = [*super()._records_and_blanks()]

    def _records_and_blanks(self) -> Iterator[Record | None]:
        return iter(self._known)


def plain(body: bytes, dialect: Dialect) -> RobotsTxt:
    return RobotsTxt(Reference(body), dialect)


def assert_equal_answers(body: bytes, dialect: Dialect, tokens: list[str]) -> None:
    fast, reference = parse(body, dialect, limit=None), plain(body, dialect)
    assert fast.sitemaps == reference.sitemaps
    for token in tokens:
        assert fast.crawl_delay(token) == reference.crawl_delay(token), token
        assert fast.request_rate(token) == reference.request_rate(token), token
        assert fast.rules(token) == reference.rules(token), token
        assert fast.has_group(token) == reference.has_group(token), token
        for url in URLS:
            assert fast.verdict(token, url) == reference.verdict(token, url), (token, url)


@pytest.mark.parametrize("dialect", [GOOGLE, GOOGLE_EXACT], ids=lambda dialect: dialect.name)
@given(body=BODIES)
@example(body=b"User-agent: a\ndiasllow /\nUser-agent: b\nDisallow: /a\n")
def test_ours_the_fast_reading_answers_as_the_plain_one(dialect: Dialect, body: bytes) -> None:
    assert_equal_answers(body, dialect, TOKENS)


@given(body=BODIES)
def test_ours_a_tidy_text_has_the_records_of_its_body(body: bytes) -> None:
    # The LF before the first line counts as a line of its own.
    text = normalize(body)
    assert [replace(record, line=record.line - 1) for record in PlainReader(text).records()] == [
        *PlainReader(body).records()
    ]
    assert not re.search(rb"[\0\r]", text)


@pytest.mark.parametrize("start", [b"Disallow: /", b"   Disallow: /", b"User-agent: a", b"# ", b"\x00"])
def test_ours_long_lines_are_cut_alike(start: bytes) -> None:
    for length in (16_650, 16_663, 16_664, 40_000):
        long_line = start + b"a" * (length - len(start) - 1) + b"#"
        body = b"User-agent: a\nDisallow: /x\n" + long_line + b"\r\nDisallow: /y\n" + long_line
        assert_equal_answers(body, GOOGLE, ["a"])


def test_ours_more_lines_in_another_spelling_than_in_that_of_the_first_keep_their_order() -> None:
    lines = b"".join(b"Disallow: /a%d\ndisallow:/a%d\nAllow: /b%d\n" % (n, n, n) for n in range(100))
    assert_equal_answers(b"User-agent: a\n" + lines + b"Disalow: /a\n", GOOGLE, ["a"])


def test_ours_the_line_of_a_rule_whose_path_is_all_over_the_file_is_found() -> None:
    body = b"User-agent: *\n" + b"".join(b"Disallow: /a/%d\n" % n for n in range(50)) + b"Disallow: /a\n"
    file = parse(body)
    assert (file.verdict("a", "http://h/a").line, file.verdict("a", "http://h/a/7").line) == (52, 9)


def test_ours_two_files_asked_in_turns_do_not_answer_for_each_other() -> None:
    first, second = parse(b"User-agent: *\nDisallow: /a\n"), parse(b"\n\nUser-agent: *\nDisallow: /b\n")
    lines = [
        (file.verdict("x", "http://h/a").line, file.verdict("x", "http://h/b").line) for file in (first, second)
    ]
    assert [*lines, first.rules("x"), second.rules("x")] == [
        (2, 0),
        (0, 4),
        (Rule(False, b"/a", 2),),
        (Rule(False, b"/b", 4),),
    ]


@pytest.mark.skipif(not FOLDER, reason="SCRAPY_REP_CORPUS names no folder")
@pytest.mark.parametrize("each", [23, pytest.param(1, marks=pytest.mark.full)])
def test_ours_files_of_the_corpus_are_read_alike(each: int) -> None:
    corpus = list(bodies(Path(FOLDER)).values())
    assert len(corpus) == 2_818
    for body in corpus[::each]:
        assert_equal_answers(body, GOOGLE, ["scrapy", "Googlebot", "MJ12bot"])
