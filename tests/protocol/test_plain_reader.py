"""Octets to records: RFC 9309 sections 2.2 and 2.5, line by line."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from scrapy_rep.protocol import MAX_SIZE, Kind, Record, lint, parse
from scrapy_rep.protocol.plain_reader import PlainReader
from scrapy_rep.protocol.records import MAX_LINE
from scrapy_rep.protocol.robotstxt import cut

MARK = b"\xef\xbb\xbf"


def records(body: bytes) -> list[Record]:
    return list(PlainReader(body).records())


def pairs(body: bytes) -> list[tuple[bytes, bytes]]:
    return [(record.key, record.value) for record in records(body)]


def lines(body: bytes) -> list[int]:
    return [record.line for record in records(body)]


def values(body: bytes, limit: int | None) -> list[bytes]:
    return [record.value for record in parse(body, limit=limit).records]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"a: 1\nb: 2", [1, 2]),
        (b"a: 1\rb: 2", [1, 2]),
        (b"a: 1\r\nb: 2", [1, 2]),
        (b"a: 1\n\rb: 2", [1, 3]),
        (b"a: 1\r\rb: 2", [1, 3]),
        (b"a: 1\n\nb: 2", [1, 3]),
        (b"a: 1\r\n\r\nb: 2\r\n", [1, 3]),
        (b"\n\na: 1", [3]),
    ],
    ids=["lf", "cr", "crlf-is-one", "lfcr-is-two", "two-cr", "two-lf", "two-crlf", "blank-first"],
)
def test_rfc_2_2_a_line_ends_with_lf_cr_or_both(body: bytes, expected: list[int]) -> None:
    assert lines(body) == expected


@pytest.mark.parametrize(
    "octets",
    [b"\x0b", b"\x0c", b"\xc2\x85", b"\xe2\x80\xa8", b"\x85", b"\x1c"],
    ids=["vt", "ff", "u0085", "u2028", "x85", "fs"],
)
def test_google_no_other_octet_ends_a_line(octets: bytes) -> None:
    assert pairs(b"a: 1" + octets + b"b: 2") == [(b"a", b"1" + octets + b"b: 2")]


@pytest.mark.parametrize("mark", [b"", MARK, MARK[:2], MARK[:1]], ids=["none", "whole", "two-octets", "one-octet"])
def test_google_a_byte_order_mark_at_the_start_is_skipped(mark: bytes) -> None:
    assert pairs(mark + b"User-agent: a\nb: 2") == [(b"User-agent", b"a"), (b"b", b"2")]


def test_google_a_second_byte_order_mark_spoils_its_line() -> None:
    found = records(MARK + MARK + b"User-agent: a\nAllow: /")

    assert [record.kind for record in found] == [Kind.UNKNOWN, Kind.ALLOW]


def test_google_a_byte_order_mark_on_a_later_line_is_not_skipped() -> None:
    assert [record.kind for record in records(b"\n" + MARK + b"Allow: /")] == [Kind.UNKNOWN]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"a: 1\0 2\nb: 3", [(b"a", b"1"), (b"b", b"3")]),
        (b"\0a: 1\nb: 3", [(b"b", b"3")]),
        (b"a\0: 1\nb: 3", [(b"b", b"3")]),
        (b"a:\x001", [(b"a", b"")]),
    ],
    ids=["in-the-value", "first", "in-the-key", "behind-the-colon"],
)
def test_google_a_nul_ends_its_line(body: bytes, expected: list[tuple[bytes, bytes]]) -> None:
    assert pairs(body) == expected


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be"])
def test_google_utf_16_is_not_decoded(codec: str) -> None:
    body = "User-agent: *\nDisallow: /\n".encode(codec)

    assert not any(record.kind in (Kind.USER_AGENT, Kind.DISALLOW) for record in records(body))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"a: 1 # c", [(b"a", b"1")]),
        (b"a: 1#c", [(b"a", b"1")]),
        (b"a: #1", [(b"a", b"")]),
        (b"#a: 1", []),
        (b"  # a: 1", []),
        (b"a #: 1", []),
        (b"a b # c", [(b"a", b"b")]),
    ],
)
def test_rfc_2_2_a_comment_starts_anywhere(line: bytes, expected: list[tuple[bytes, bytes]]) -> None:
    assert pairs(line) == expected


@pytest.mark.parametrize("space", [b" ", b"\t", b"\x0b", b"\x0c", b" \t \x0b\x0c "], ids=repr)
def test_rfc_2_2_white_space_around_key_and_value_is_stripped(space: bytes) -> None:
    assert pairs(space + b"a b" + space + b":" + space + b"c d" + space) == [(b"a b", b"c d")]


def test_google_a_no_break_space_is_not_stripped() -> None:
    assert pairs("a:\N{NO-BREAK SPACE}1\N{NO-BREAK SPACE}".encode()) == [(b"a", b"\xc2\xa01\xc2\xa0")]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"a:1:2", (b"a", b"1:2")),
        (b"sitemap: http://x.example:80/", (b"sitemap", b"http://x.example:80/")),
        (b"a b: c", (b"a b", b"c")),
        (b"Disallow /a:b", (b"Disallow /a", b"b")),
        (b"a:", (b"a", b"")),
        (b"a::", (b"a", b":")),
    ],
)
def test_rfc_2_2_the_first_colon_splits(line: bytes, expected: tuple[bytes, bytes]) -> None:
    assert pairs(line) == [expected]


@pytest.mark.parametrize("line", [b"Disallow /x", b"Disallow\t/x", b" Disallow \t /x "])
def test_google_two_words_do_without_a_colon(line: bytes) -> None:
    assert pairs(line) == [(b"Disallow", b"/x")]


@pytest.mark.parametrize(
    "line", [b"Disallow", b"user agent x", b"Disallow /x y", b"Disallow\x0c/x", b"Disallow\x0b/x"]
)
def test_google_any_other_line_without_a_colon_is_skipped(line: bytes) -> None:
    assert pairs(line + b"\nb: 2") == [(b"b", b"2")]


@pytest.mark.parametrize("line", [b"", b" ", b":", b": x", b" \t: x", b"#"])
def test_google_a_line_without_a_key_is_skipped(line: bytes) -> None:
    assert pairs(line + b"\nb: 2") == [(b"b", b"2")]


def test_rfc_2_2_4_an_unknown_record_is_kept_with_its_line() -> None:
    (record,) = records(b"\n\nFoo-Bar: baz # c")

    assert (record.line, record.kind, record.key, record.value) == (3, Kind.UNKNOWN, b"Foo-Bar", b"baz")


def test_rfc_2_2_what_can_be_read_among_garbage_counts() -> None:
    body = b"<!DOCTYPE html>\n<a href='x'>\n\x80\xff\x01\nUser-agent: a\n{]\nDisallow: /x\n</html>\n"

    assert parse(body).verdict("a", "http://h.example/x").line == 6
    assert not parse(body).verdict("a", "http://h.example/x").allowed
    assert parse(body).verdict("a", "http://h.example/y").allowed


def test_google_an_octet_beyond_the_bound_of_a_line_is_dropped() -> None:
    assert MAX_LINE == 16_663
    room = MAX_LINE - len(b"Disallow: /")

    (whole,) = records(b"Disallow: /" + b"a" * room)
    (longer,) = records(b"Disallow: /" + b"a" * room + b"bcd")

    assert len(whole.value) == room + 1
    assert longer.value == whole.value


def test_google_the_bound_of_a_line_counts_from_its_first_octet() -> None:
    assert pairs(b" " * (MAX_LINE - 4) + b"a: 12345") == [(b"a", b"1")]
    assert pairs(b"#" + b"x" * MAX_LINE + b"\nb: 2") == [(b"b", b"2")]


def test_google_the_bound_of_a_line_starts_behind_the_byte_order_mark() -> None:
    line = b"a:" + b"1" * (MAX_LINE - 2)

    assert pairs(MARK + line + b"2") == pairs(line)


def test_rfc_2_5_at_least_500_kibibytes_are_read() -> None:
    last = b"Disallow: /last"
    body = b"User-agent: *\n" + b"#" * (MAX_SIZE - 15 - len(last)) + b"\n" + last

    assert MAX_SIZE == len(body) == 500 * 1024
    assert not parse(body).verdict("a", "/last").allowed
    assert parse(b"#" + body).verdict("a", "/last").allowed


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (None, [b"1", b"22", b"333"]),
        (100, [b"1", b"22", b"333"]),
        (17, [b"1", b"22", b"333"]),
        (16, [b"1", b"22"]),
        (12, [b"1", b"22"]),
        (11, [b"1", b"22"]),
        (10, [b"1", b"22"]),
        (9, [b"1"]),
        (6, [b"1"]),
        (5, [b"1"]),
        (4, [b"1"]),
        (3, []),
        (0, []),
    ],
)
def test_ours_a_line_that_the_limit_cuts_is_dropped(limit: int | None, expected: list[bytes]) -> None:
    assert values(b"a: 1\nb: 22\nc: 333", limit) == expected


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"], ids=["lf", "cr", "crlf"])
def test_ours_a_line_that_ends_at_the_limit_is_kept(end: bytes) -> None:
    body = b"a: 1" + end + b"b: 22"

    assert values(body, 3) == []
    assert values(body, 4) == [b"1"]
    assert values(body, 4 + len(end)) == [b"1"]
    assert values(body, len(body) - 1) == [b"1"]
    assert values(body, len(body)) == [b"1", b"22"]


def test_ours_a_limit_of_one_line_without_end_leaves_nothing() -> None:
    assert cut(b"Disallow: /secret", 12) == b""


def test_ours_no_limit_reads_everything() -> None:
    body = b"#" * MAX_SIZE + b"\nUser-agent: *\nDisallow: /"

    assert not parse(body, limit=None).verdict("a", "/").allowed
    assert parse(body).verdict("a", "/").allowed


def test_ours_a_body_is_read_when_a_question_is_asked() -> None:
    assert repr(parse(b"User-agent: a")) == "<RobotsTxt google tokens=[]>"


@pytest.mark.parametrize(
    "body",
    [
        b"a" * 500_000,
        b" " * 500_000,
        b"a " * 250_000,
        b"\n" * 500_000,
        b"User-agent: a\n" * 35_000,
        b"Crawl-delay: " + b" " * 16_000 + b"x",
    ],
    ids=["one-word", "blanks", "many-words", "line-ends", "agents", "blank-delay"],
)
def test_ours_a_hostile_body_takes_no_time(body: bytes) -> None:
    start = time.process_time()
    robots = parse(body)

    assert robots.verdict("a", "/x").allowed
    assert robots.crawl_delay("a") is None
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    "body", ["User-agent: *", None, bytearray(b"User-agent: *")], ids=["str", "None", "bytearray"]
)
@pytest.mark.parametrize("read", [parse, lint])
def test_ours_what_is_not_bytes_is_refused_at_once_and_says_what_to_pass(
    read: Callable[[bytes], object], body: Any
) -> None:
    with pytest.raises(TypeError, match=f"read as bytes, not {type(body).__name__}: pass response.body"):
        read(body)
