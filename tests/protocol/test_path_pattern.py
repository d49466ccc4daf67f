"""Octets of a path and the patterns that match them: RFC 9309 sections 2.2.2 and 2.2.3."""

from __future__ import annotations

import string
import time

import pytest

from scrapy_rep.protocol.path_pattern import Pattern, canonical, octets, path_of

UNRESERVED = (string.ascii_letters + string.digits + "-._~").encode()
ENCODED = bytes(range(0x21)) + b"\"<>[\\]^`{|}'\x7f" + bytes(range(0x80, 0x100))
RESERVED = b"!#$%&()*+,/:;=?@"

PATHS = {
    "http://h.example/a/b": b"/a/b",
    "http://h.example/a;p?q=1": b"/a;p?q=1",
    "http://u:p@h.example:8080/a": b"/a",
    "http://h.example/a#f": b"/a",
    "http://h.example/a?q#f?g": b"/a?q",
    "http://h.example": b"/",
    "http://h.example#f": b"/",
    "http://h.example#/f": b"/",
    "http://h.example/a%23f": b"/a%23f",
    "http://h.example?q": b"/?q",
    "http://h.example?": b"/?",
    "http://h.example;p": b"/;p",
    "http:///x": b"/x",
    "http://?q": b"/?q",
    "https://h.example/a://b/c": b"/a://b/c",
    "http://h.example/?u=http://x.example/y": b"/?u=http://x.example/y",
    "HTTP://H.EXAMPLE/A": b"/A",
    "": b"/",
}
PATHS_WITHOUT_A_SCHEME = {
    "a/b": b"/b",
    "/a/b": b"/a/b",
    ";p": b"/;p",
    "?q/r": b"/?q/r",
    "a": b"/",
    "a?b": b"/?b",
    "#/f": b"/",
    "//h.example/a": b"/a",
    "//h.example": b"/",
    "/a?u=http://x.example/y": b"/a?u=http://x.example/y",
    "://a/b": b"/b",
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [("/é", b"/\xc3\xa9"), ("/\udce9", b"/\xe9"), ("/\ud800", b"/\xed\xa0\x80"), (b"/\xe9", b"/\xe9")],
    ids=["utf-8", "surrogate-escape", "lone-surrogate", "bytes"],
)
def test_text_becomes_octets(text: str | bytes, expected: bytes) -> None:
    assert octets(text) == expected


def test_rfc_2_2_2_every_octet_has_one_spelling() -> None:
    assert sorted(UNRESERVED + ENCODED + RESERVED) == [*range(0x100)]
    for octet in range(0x100):
        plain, escaped = b"/%c/" % octet, b"/%%%02X/" % octet
        assert canonical(plain) == (escaped if octet in ENCODED else plain)
        assert canonical(escaped) == canonical(escaped.lower()) == (plain if octet in UNRESERVED else escaped)


def test_rfc_2_2_2_a_stray_percent_sign_stays_and_decoding_makes_no_new_escape() -> None:
    for stray in (
        b"%",
        b"/%",
        b"/%4",
        b"/%zz",
        b"/%4g",
        b"/%%",
        b"/100%/x",
        b"/%2525",
        b"/%2541",
        b"/%4%31",
        b"/%%341",
    ):
        assert canonical(stray) == stray
    assert [canonical(each) for each in (b"/%25%34%31", b"/%%34%31", b"/%%6a")] == [b"/%2541", b"/%%341", b"/%%6A"]


@pytest.mark.parametrize("canonical_octets", [True, False])
def test_rfc_2_2_2_a_path_is_path_params_and_query(canonical_octets: bool) -> None:
    assert {url: path_of(url, canonical_octets=canonical_octets) for url in PATHS} == PATHS


@pytest.mark.parametrize("canonical_octets", [True, False])
def test_google_a_url_without_a_scheme_is_a_path(canonical_octets: bool) -> None:
    found = {url: path_of(url, canonical_octets=canonical_octets) for url in PATHS_WITHOUT_A_SCHEME}
    assert found == PATHS_WITHOUT_A_SCHEME


def test_google_a_path_is_not_resolved() -> None:
    for path in (b"/a/../b", b"/./a", b"/a//b", b"//a", b"/A", b"/a/.", b"/a/", b"/a:80/"):
        assert path_of(b"http://h.example" + path) == path


def test_rfc_2_2_2_a_path_is_in_canonical_spelling_and_a_literal_star_or_dollar_escaped() -> None:
    assert path_of("http://h.example/%7eé/a b|%2f") == b"/~%C3%A9/a%20b%7C%2F"
    assert path_of("http://h.example/a*b$c?$*") == b"/a%2Ab%24c?%24%2A"


def test_google_a_path_is_as_written() -> None:
    assert path_of("http://h.example/%7eé/a b|%2f*$", canonical_octets=False) == "/%7eé/a b|%2f*$".encode()


@pytest.mark.parametrize("canonical_octets", [True, False])
def test_google_specificity_counts_the_octets_as_google_does(canonical_octets: bool) -> None:
    lengths = {"": 0, "/abc": 4, "/*": 2, "/**$": 4, "/é$": 8, "/\udce9": 4, "/%C3%A9": 7, "/%61": 4, "/日本": 19}
    patterns = {each: Pattern.of(octets(each), canonical_octets=canonical_octets) for each in lengths}
    assert {each: pattern.specificity for each, pattern in patterns.items()} == lengths


@pytest.mark.parametrize(
    "value",
    [
        b"/" + b"*a" * 8_000 + b"b",
        b"/" + b"*" * 16_000 + b"b",
        b"/*" + b"a" * 8_000 + b"b*" + b"a" * 8_000 + b"b$",
    ],
    ids=["many-pieces", "stars-alone", "long-pieces"],
)
def test_the_longest_pattern_takes_no_time(value: bytes) -> None:
    pattern, path = Pattern.of(value), b"/" + b"a" * 16_000
    start = time.process_time()

    assert not pattern.matches(path)
    assert time.process_time() - start < 1
