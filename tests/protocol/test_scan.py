"""The fast reading of a body gives the answers of the plain parser, which is the reference."""

from __future__ import annotations

import os
import tarfile
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_rep.protocol import GOOGLE, GOOGLE_EXACT, Dialect, RobotsTxt, parse
from scrapy_rep.protocol.parser import records
from scrapy_rep.protocol.scan import tidy

TOKENS = ["a", "b", "Aa", "a-b_c", "MJ12bot", "", "*", "é"]
URLS = ["https://h.example" + path for path in ["/", "/a", "/a/b?c", "/a.b", "/robots.txt", "/index.html", "/%61"]]

KEYS = st.sampled_from([
    b"User-agent: ", b"user-agent:", b"USERAGENT: ", b"User Agent ", b"user-agents: ", b"Disallow: ", b"disallow:",
    b"Disallow :", b"Disallow ", b"Dissalow: ", b"disalow:", b"diasllow: ", b"disallaw:", b"Allow: ", b"allow:",
    b"Allowed: ", b"Sitemap: ", b"Crawl-delay: ", b"foo: ", b"disallow", b"\xef\xbb\xbfallow: ", b"# Disallow: ",
    b"x\nDisallow: ", b": ", b"",
])  # fmt: skip
VALUES = st.sampled_from([
    b"a", b"A", b"b", b"aa/1", b"a-b_c", b"mj12BOT", b"*", b"* x", b"*x", b"", b"\xc3\xa9", b"/", b"/a", b"/a*b",
    b"/*b$",    b"/a/", b"/a$", b"/$a", b"/index.html", b"/a # x", b"a b", b"a:b", b"/\xc3\xa9", b"/%61", b"/%2f",
    b"disallow: /a",
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


def plain(body: bytes, dialect: Dialect) -> RobotsTxt:
    return RobotsTxt(partial(records, body), dialect)


def assert_equal_answers(body: bytes, dialect: Dialect, tokens: list[str]) -> None:
    fast, reference = parse(body, dialect, limit=None), plain(body, dialect)
    assert fast.records == reference.records
    for token in tokens:
        assert fast.rules(token) == reference.rules(token), token
        assert fast.has_group(token) == reference.has_group(token), token
        for url in URLS:
            assert fast.verdict(token, url) == reference.verdict(token, url), (token, url)


@pytest.mark.parametrize("dialect", [GOOGLE, GOOGLE_EXACT], ids=lambda dialect: dialect.name)
@settings(max_examples=600, deadline=None, derandomize=True)
@given(body=BODIES)
def test_ours_the_fast_reading_answers_as_the_plain_one(dialect: Dialect, body: bytes) -> None:
    assert_equal_answers(body, dialect, TOKENS)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(body=BODIES)
def test_ours_a_tidy_text_has_the_records_of_its_body(body: bytes) -> None:
    lines = tidy(body).splitlines()
    assert not lines or lines[0] == b""
    assert [(record.line, record.value) for record in parse(body, limit=None).records] == [
        (record.line, record.value) for record in records(body)
    ]


@pytest.mark.parametrize("length", [16_650, 16_663, 16_664, 40_000])
@pytest.mark.parametrize("start", [b"Disallow: /", b"   Disallow: /", b"User-agent: a", b"# ", b"\x00"])
def test_ours_long_lines_are_cut_alike(start: bytes, length: int) -> None:
    long_line = start + b"a" * (length - len(start) - 1) + b"#"
    body = b"User-agent: a\nDisallow: /x\n" + long_line + b"\r\nDisallow: /y\n" + long_line
    assert_equal_answers(body, GOOGLE, ["a"])


@pytest.mark.skipif("SCRAPY_REP_CORPUS" not in os.environ, reason="SCRAPY_REP_CORPUS names no folder")
def test_ours_every_file_of_the_corpus_is_read_alike() -> None:
    read = 0
    with tarfile.open(Path(os.environ["SCRAPY_REP_CORPUS"], "robots.tar.xz")) as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file is not None:
                assert_equal_answers(file.read(), GOOGLE, ["scrapy", "Googlebot", "MJ12bot"])
                read += 1
    assert read == 2_818
