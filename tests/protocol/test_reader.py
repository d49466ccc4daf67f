"""Octets to records: RFC 9309 sections 2.2 and 2.5, line by line."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from scrapy_rep.protocol import MAX_SIZE, Kind, Record, parse
from scrapy_rep.protocol.reader import cut, records_in
from scrapy_rep.protocol.records import MAX_LINE
from scrapy_rep.tools.lint import lint

MARK = b"\xef\xbb\xbf"

LINE_NUMBERS = {
    b"a: 1\nb: 2": [1, 2],
    b"a: 1\rb: 2": [1, 2],
    b"a: 1\r\nb: 2": [1, 2],
    b"a: 1\n\rb: 2": [1, 3],
    b"a: 1\r\rb: 2": [1, 3],
    b"a: 1\r\n\r\nb: 2\r\n": [1, 3],
    b"\n\na: 1": [3],
}
# Each line with its key and its value between angle brackets.
RECORDS = {
    b"a: 1 # c": b"<a><1>",
    b"a: 1#c": b"<a><1>",
    b"a: #1": b"<a><>",
    b"a b # c": b"<a><b>",
    b"a:1:2": b"<a><1:2>",
    b"a b: c": b"<a b><c>",
    b"Disallow /a:b": b"<Disallow /a><b>",
    b"a:": b"<a><>",
    b"a::": b"<a><:>",
    b" \t\v\f a b\t: \f c d \v": b"<a b><c d>",
    b"a:\xc2\xa01\xc2\xa0": b"<a><\xc2\xa01\xc2\xa0>",
    b"a: 1\0 2": b"<a><1>",
    b"a:\x001": b"<a><>",
    b"Disallow /x": b"<Disallow></x>",
    b" Disallow \t /x ": b"<Disallow></x>",
    # No other octets end a line.
    b"a: 1\x0bb: 2": b"<a><1\x0bb: 2>",
    b"a: 1\x0cb: 2": b"<a><1\x0cb: 2>",
    b"a: 1\x1cb: 2": b"<a><1\x1cb: 2>",
    b"a: 1\x85b: 2": b"<a><1\x85b: 2>",
    b"a: 1\xc2\x85b: 2": b"<a><1\xc2\x85b: 2>",
    b"a: 1\xe2\x80\xa8b: 2": b"<a><1\xe2\x80\xa8b: 2>",
}
NO_RECORDS = [
    b"", b" ", b":", b": x", b" \t: x", b"#", b"#a: 1", b"  # a: 1", b"a #: 1", b"\0a: 1", b"a\0: 1", b"Disallow",
    b"user agent x", b"Disallow /x y", b"Disallow\x0c/x", b"Disallow\x0b/x",
]  # fmt: skip


def records(body: bytes) -> list[Record]:
    return list(records_in(body))


def pairs(body: bytes) -> list[tuple[bytes, bytes]]:
    return [(record.key, record.value) for record in records(body)]


def kinds(body: bytes) -> list[Kind]:
    return [record.kind for record in records(body)]


def values(body: bytes, limit: int | None) -> list[bytes]:
    return [record.value for record in parse(body, limit=limit).records]


def test_rfc_2_2_a_line_ends_with_lf_cr_or_both() -> None:
    assert {body: [record.line for record in records(body)] for body in LINE_NUMBERS} == LINE_NUMBERS


def test_rfc_2_2_a_line_is_a_key_and_a_value_without_comment_and_white_space() -> None:
    found = {line: b"".join(b"<%b><%b>" % pair for pair in pairs(line)) for line in RECORDS}
    assert found == RECORDS


def test_google_any_other_line_is_skipped() -> None:
    for line in NO_RECORDS:
        assert pairs(line + b"\nb: 2") == [(b"b", b"2")], line


def test_google_a_byte_order_mark_at_the_start_is_skipped_whole_or_not() -> None:
    for mark in (b"", MARK, MARK[:2], MARK[:1]):
        assert pairs(mark + b"User-agent: a\nb: 2") == [(b"User-agent", b"a"), (b"b", b"2")]


def test_google_a_byte_order_mark_anywhere_else_spoils_its_line() -> None:
    assert kinds(MARK + MARK + b"User-agent: a\nAllow: /") == [Kind.UNKNOWN, Kind.ALLOW]
    assert kinds(b"\n" + MARK + b"Allow: /") == [Kind.UNKNOWN]


def test_google_utf_16_is_not_decoded() -> None:
    for codec in ("utf-16", "utf-16-le", "utf-16-be"):
        assert {*kinds("User-agent: *\nDisallow: /\n".encode(codec))} <= {Kind.UNKNOWN}


def test_rfc_2_2_4_an_unknown_record_is_kept_with_its_line() -> None:
    assert records(b"\n\nFoo-Bar: baz # c") == [Record(3, Kind.UNKNOWN, b"Foo-Bar", b"baz")]


def test_rfc_2_2_what_can_be_read_among_garbage_counts() -> None:
    body = b"<!DOCTYPE html>\n<a href='x'>\n\x80\xff\x01\nUser-agent: a\n{]\nDisallow: /x\n</html>\n"

    assert parse(body).verdict("a", "http://h.example/x").line == 6
    assert parse(body).verdict("a", "http://h.example/y").allowed


def test_google_the_bound_of_a_line_counts_from_its_first_octet_behind_the_byte_order_mark() -> None:
    assert MAX_LINE == 16_663
    line = b"a:" + b"1" * (MAX_LINE - 2)
    assert pairs(line) == pairs(line + b"234") == pairs(MARK + line + b"2") == [(b"a", line[2:])]
    assert pairs(b" " * (MAX_LINE - 4) + b"a: 12345") == [(b"a", b"1")]
    assert pairs(b"#" + b"x" * MAX_LINE + b"\nb: 2") == [(b"b", b"2")]


def test_rfc_2_5_at_least_500_kibibytes_are_read() -> None:
    last = b"Disallow: /last"
    body = b"User-agent: *\n" + b"#" * (MAX_SIZE - 15 - len(last)) + b"\n" + last

    assert MAX_SIZE == len(body) == 500 * 1024
    assert not parse(body).verdict("a", "/last").allowed
    assert parse(b"\n" + body).verdict("a", "/last").allowed
    assert not parse(b"\n" + body, limit=None).verdict("a", "/last").allowed


def test_a_line_that_the_limit_cuts_is_dropped() -> None:
    body = b"a: 1\nb: 22\nc: 333"
    kept = {100: 3, 17: 3, 16: 2, 12: 2, 11: 2, 10: 2, 9: 1, 6: 1, 5: 1, 4: 1, 3: 0, 0: 0}
    for limit, count in kept.items():
        assert values(body, limit) == [b"1", b"22", b"333"][:count], limit
    assert values(body, None) == [b"1", b"22", b"333"]
    assert cut(b"Disallow: /secret", 12) == b""


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"], ids=["lf", "cr", "crlf"])
def test_a_line_that_ends_at_the_limit_is_kept(end: bytes) -> None:
    body = b"a: 1" + end + b"b: 22"
    limits = [3, 4, 4 + len(end), len(body) - 1, len(body)]

    assert [values(body, limit) for limit in limits] == [[], [b"1"], [b"1"], [b"1"], [b"1", b"22"]]


def test_a_body_is_read_when_a_question_is_asked() -> None:
    assert repr(parse(b"User-agent: a")) == "<RobotsTxt google tokens=[]>"


@pytest.mark.parametrize("part", [b"a", b" ", b"a ", b"\n", b"User-agent: a\n"], ids=repr)
def test_a_hostile_body_takes_no_time(part: bytes) -> None:
    robots = parse(part * (500_000 // len(part)))
    start = time.process_time()

    assert robots.verdict("a", "/x").allowed
    assert robots.crawl_delay("a") is None
    assert time.process_time() - start < 2


@pytest.mark.parametrize("body", ["User-agent: *", None, bytearray(b"a")], ids=["str", "None", "bytearray"])
@pytest.mark.parametrize("read", [parse, lint])
def test_what_is_not_bytes_is_refused_at_once_and_says_what_to_pass(
    read: Callable[[bytes], object], body: Any
) -> None:
    with pytest.raises(TypeError, match=f"read as bytes, not {type(body).__name__}: pass response.body"):
        read(body)
