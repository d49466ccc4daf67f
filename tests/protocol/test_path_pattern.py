"""Octets of a path and the patterns that match them: RFC 9309 sections 2.2.2 and 2.2.3."""

from __future__ import annotations

import string
import time

import pytest

from scrapy_rep.protocol.path_pattern import Pattern, canonical, octets, path_of

UNRESERVED = (string.ascii_letters + string.digits + "-._~").encode()
ENCODED = bytes(range(0x21)) + b"\"<>[\\]^`{|}'\x7f" + bytes(range(0x80, 0x100))
RESERVED = bytes(octet for octet in range(0x100) if octet not in UNRESERVED + ENCODED)


def matches(pattern: bytes, path: bytes, *, canonical_octets: bool = True) -> bool:
    path = path_of(path, canonical_octets=canonical_octets)
    return Pattern.of(pattern, canonical_octets=canonical_octets).matches(path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/é", b"/\xc3\xa9"),
        ("/\udce9", b"/\xe9"),
        ("/\ud800", b"/\xed\xa0\x80"),
        (b"/\xe9", b"/\xe9"),
    ],
    ids=["utf-8", "surrogate-escape", "lone-surrogate", "bytes"],
)
def test_ours_text_becomes_octets(text: str | bytes, expected: bytes) -> None:
    assert octets(text) == expected


@pytest.mark.parametrize("octet", UNRESERVED, ids=chr)
def test_rfc_2_2_2_an_unreserved_octet_is_decoded(octet: int) -> None:
    assert canonical(b"/%%%02X/" % octet) == canonical(b"/%%%02x/" % octet) == b"/%c/" % octet


@pytest.mark.parametrize("octet", ENCODED, ids=hex)
def test_rfc_2_2_2_an_octet_that_no_url_may_hold_is_encoded(octet: int) -> None:
    assert canonical(b"/%c/" % octet) == canonical(b"/%%%02x/" % octet) == b"/%%%02X/" % octet


@pytest.mark.parametrize("octet", RESERVED, ids=chr)
def test_rfc_2_2_2_a_reserved_octet_stays_as_it_is_written(octet: int) -> None:
    assert canonical(b"/%c/" % octet) == b"/%c/" % octet
    assert canonical(b"/%%%02x/" % octet) == b"/%%%02X/" % octet


def test_rfc_2_2_2_every_octet_has_its_class() -> None:
    assert RESERVED == b"!#$%&()*+,/:;=?@"


def test_ours_the_address_in_a_query_is_not_encoded() -> None:
    assert canonical(b"/a?b=https://c.example/") == b"/a?b=https://c.example/"


@pytest.mark.parametrize("stray", [b"%", b"/%", b"/%4", b"/%zz", b"/%4g", b"/%%", b"/100%/x"])
def test_rfc_2_2_2_a_stray_percent_sign_stays(stray: bytes) -> None:
    assert canonical(stray) == stray


@pytest.mark.parametrize(
    ("spelt", "expected"),
    [
        (b"/%2525", b"/%2525"),
        (b"/%2541", b"/%2541"),
        (b"/%25%34%31", b"/%2541"),
        (b"/%%34%31", b"/%%341"),
        (b"/%4%31", b"/%4%31"),
        (b"/%%341", b"/%%341"),
        (b"/%%6a", b"/%%6A"),
    ],
)
def test_rfc_2_2_2_decoding_makes_no_new_escape(spelt: bytes, expected: bytes) -> None:
    assert canonical(spelt) == expected
    assert canonical(expected) == expected


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("http://h.example/a/b", b"/a/b"),
        ("http://h.example/a;p?q=1", b"/a;p?q=1"),
        ("http://h.example:8080/a", b"/a"),
        ("http://u:p@h.example/a", b"/a"),
        ("http://h.example/a#f", b"/a"),
        ("http://h.example/a?q#f?g", b"/a?q"),
        ("http://h.example", b"/"),
        ("http://h.example/", b"/"),
        ("http://h.example#f", b"/"),
        ("http://h.example#/f", b"/"),
        ("http://h.example/a%23f", b"/a%23f"),
        ("http://h.example?q", b"/?q"),
        ("http:///x", b"/x"),
        ("http://?q", b"/?q"),
        ("http://h.example;p", b"/;p"),
        ("http://h.example/a?", b"/a?"),
        ("http://h.example?", b"/?"),
        ("https://h.example/a://b/c", b"/a://b/c"),
        ("http://h.example/?u=http://x.example/y", b"/?u=http://x.example/y"),
        ("HTTP://H.EXAMPLE/A", b"/A"),
        ("", b"/"),
    ],
)
def test_rfc_2_2_2_a_path_is_path_params_and_query(url: str, path: bytes) -> None:
    assert path_of(url) == path
    assert path_of(url, canonical_octets=False) == path


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("a/b", b"/b"),
        ("/a/b", b"/a/b"),
        (";p", b"/;p"),
        ("?q", b"/?q"),
        ("a", b"/"),
        ("//h.example/a", b"/a"),
        ("//h.example", b"/"),
        ("/a?u=http://x.example/y", b"/a?u=http://x.example/y"),
        ("#/f", b"/"),
        ("?q/r", b"/?q/r"),
        ("a?b", b"/?b"),
        ("//x", b"/"),
        ("://a/b", b"/b"),
    ],
)
def test_google_a_url_without_a_scheme_is_a_path(url: str, path: bytes) -> None:
    assert path_of(url) == path
    assert path_of(url, canonical_octets=False) == path


@pytest.mark.parametrize(
    "path",
    [b"/a/../b", b"/./a", b"/a//b", b"//a", b"/A", b"/a/.", b"/a/", b"/a:80/"],
)
def test_google_a_path_is_not_resolved(path: bytes) -> None:
    assert path_of(b"http://h.example" + path) == path


def test_rfc_2_2_2_a_path_is_in_canonical_spelling() -> None:
    assert path_of("http://h.example/%7eé/a b|%2f") == b"/~%C3%A9/a%20b%7C%2F"


def test_google_a_path_is_as_written() -> None:
    assert path_of("http://h.example/%7eé/a b|%2f*$", canonical_octets=False) == "/%7eé/a b|%2f*$".encode()


def test_rfc_2_2_3_a_literal_star_or_dollar_of_a_path_is_escaped() -> None:
    assert path_of("http://h.example/a*b$c?$*") == b"/a%2Ab%24c?%24%2A"


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        (b"/", b"/"),
        (b"/", b"/a"),
        (b"/fish", b"/fish"),
        (b"/fish", b"/fishing/rod?a"),
        (b"/fish/", b"/fish/salmon"),
        (b"/a?", b"/a?b"),
        (b"/a;b", b"/a;bc"),
        (b"", b"/anything"),
    ],
)
def test_rfc_2_2_2_a_pattern_matches_what_starts_with_it(pattern: bytes, path: bytes) -> None:
    assert matches(pattern, path)
    assert matches(pattern, path, canonical_octets=False)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        (b"/fish", b"/Fish"),
        (b"/fish", b"/fis"),
        (b"/fish", b"/a/fish"),
        (b"/fish/", b"/fish"),
        (b"/fish/", b"/animals/fish/"),
        (b"/x?", b"/x"),
        (b"/a/b", b"/a//b"),
        (b"/a/", b"/b/../a/"),
    ],
)
def test_rfc_2_2_2_a_pattern_does_not_match_anything_else(pattern: bytes, path: bytes) -> None:
    assert not matches(pattern, path)
    assert not matches(pattern, path, canonical_octets=False)


@pytest.mark.parametrize(
    "pattern", [b"fish", b"?q", b";p", b"$", b"http://h.example/fish", b"%2Ffish", b"\xc3\xa9"]
)
@pytest.mark.parametrize("path", [b"/", b"/fish", b"/?q", b"/;p", b"/%2Ffish", b"http://h.example/fish"])
def test_google_a_pattern_that_starts_elsewhere_matches_nothing(pattern: bytes, path: bytes) -> None:
    assert not matches(pattern, path)
    assert not matches(pattern, path, canonical_octets=False)


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        (b"*", b"/", None),
        (b"/*", b"/", None),
        (b"/**", b"/", None),
        (b"*x", b"/ax", b"/a"),
        (b"/a*", b"/a", b"/b"),
        (b"/a*c", b"/ac", b"/a"),
        (b"/a*c", b"/abbbcd", b"/abbb"),
        (b"/*/c", b"/a/b/c", b"/c"),
        (b"/*.php", b"/a.php?x", b"/a.PHP"),
        (b"/a**b", b"/axb", b"/ax"),
        (b"/a*b*c", b"/abc", b"/acb"),
        (b"/a*ab", b"/aab", b"/ab"),
        (b"/*aab", b"/aaaab", b"/abab"),
        (b"/*?*b=", b"/x?a=1&b=2", b"/x?a=1"),
    ],
)
def test_rfc_2_2_3_a_star_matches_any_run_of_octets(pattern: bytes, yes: bytes, no: bytes | None) -> None:
    for flag in (True, False):
        assert matches(pattern, yes, canonical_octets=flag)
        assert no is None or not matches(pattern, no, canonical_octets=flag)


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        (b"/$", b"/", b"/a"),
        (b"/a$", b"/a", b"/ab"),
        (b"/a$", b"/a", b"/a?"),
        (b"/*.php$", b"/a.php", b"/a.php?x"),
        (b"/*.php$", b"/a.php/b.php", b"/a.php5"),
        (b"/a*$", b"/abc", b"/b"),
        (b"/a*a$", b"/aa", b"/a"),
        (b"/a*b*b$", b"/abxb", b"/ab"),
        (b"/*ab*b$", b"/abb", b"/ab"),
        (b"*$", b"/x", None),
    ],
)
def test_rfc_2_2_3_a_dollar_at_the_end_anchors(pattern: bytes, yes: bytes, no: bytes | None) -> None:
    for flag in (True, False):
        assert matches(pattern, yes, canonical_octets=flag)
        assert no is None or not matches(pattern, no, canonical_octets=flag)


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        (b"/a$b", b"/a$b", b"/a"),
        (b"/$a", b"/$ab", b"/a"),
        (b"/a$$", b"/a$", b"/a"),
        (b"/a$*", b"/a$b", b"/a"),
        (b"/a$*$", b"/a$b", b"/ab"),
    ],
)
def test_rfc_2_2_3_a_dollar_elsewhere_is_a_literal(pattern: bytes, yes: bytes, no: bytes) -> None:
    for flag in (True, False):
        assert matches(pattern, yes, canonical_octets=flag)
        assert not matches(pattern, no, canonical_octets=flag)


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        (b"/a%2A", b"/a%2Ab", b"/ab"),
        (b"/a%24", b"/a%24b", b"/a"),
        (b"/a%2Ab", b"/a%2Ab", b"/axb"),
    ],
)
def test_rfc_2_2_3_an_escaped_star_or_dollar_is_a_literal(pattern: bytes, yes: bytes, no: bytes) -> None:
    for flag in (True, False):
        assert matches(pattern, yes, canonical_octets=flag)
        assert not matches(pattern, no, canonical_octets=flag)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        (b"/a%2A", b"/a*b"),
        (b"/a%2a", b"/a*b"),
        (b"/a%24", b"/a$b"),
        (b"/a$b", b"/a%24b"),
        (b"/*%2A*%24$", b"/x*y$"),
    ],
)
def test_rfc_2_2_3_a_literal_star_or_dollar_equals_its_escape(pattern: bytes, path: bytes) -> None:
    assert matches(pattern, path)
    assert not matches(pattern, path, canonical_octets=False)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        pytest.param(b"/a b", b"/a%20b", id="space"),
        pytest.param(b"/a|b", b"/a%7Cb", id="pipe"),
        pytest.param(b"/*?f[", b"/x?f%5B1%5D", id="bracket"),
        pytest.param(b"/%7Eme", b"/~me", id="tilde-in-the-pattern"),
        pytest.param(b"/~me", b"/%7Eme", id="tilde-in-the-path"),
        pytest.param(b"/%61", b"/a", id="letter"),
        pytest.param(b"/%2f", b"/%2F", id="case-of-the-pattern"),
        pytest.param("/é".encode(), b"/%c3%a9", id="case-of-the-path"),
        pytest.param(b"/%C3%A9", "/é".encode(), id="raw-path"),
        pytest.param(b"/'", b"/%27", id="quote"),
    ],
)
def test_rfc_2_2_2_two_spellings_of_an_octet_match(pattern: bytes, path: bytes) -> None:
    assert matches(pattern, path)
    assert not matches(pattern, b"/other")


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        (b"/a/b", b"/a%2Fb"),
        (b"/a%2Fb", b"/a/b"),
        (b"/a?b", b"/a%3Fb"),
        (b"/a%3Ab", b"/a:b"),
        (b"/a&b", b"/a%26b"),
        (b"/a%25b", b"/a%b"),
    ],
)
def test_rfc_2_2_2_a_reserved_octet_is_not_its_escape(pattern: bytes, path: bytes) -> None:
    assert not matches(pattern, path)
    assert matches(path, path)


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        (b"/%c3%a9", b"/%C3%A9", b"/%c3%a9"),
        ("/é".encode(), b"/%C3%A9", "/é".encode()),
        (b"/%2f", b"/%2F", b"/%2f"),
        (b"/%61", b"/%61", b"/a"),
        (b"/~", b"/~", b"/%7E"),
        (b"/a b", b"/a b", b"/a%20b"),
        (b"/a|b", b"/a|b", b"/a%7Cb"),
    ],
)
def test_google_only_the_pattern_is_normalised_and_only_in_part(pattern: bytes, yes: bytes, no: bytes) -> None:
    assert matches(pattern, yes, canonical_octets=False)
    assert not matches(pattern, no, canonical_octets=False)


@pytest.mark.parametrize(
    ("pattern", "specificity"),
    [
        (b"", 0),
        (b"/", 1),
        (b"/abc", 4),
        (b"/*", 2),
        (b"/a$", 3),
        (b"/**$", 4),
        ("/é".encode(), 7),
        ("/é$".encode(), 8),
        (b"/\xe9", 4),
        (b"/%C3%A9", 7),
        (b"/%c3%a9", 7),
        (b"/%61", 4),
        (b"/a b", 4),
        (b"/a|b", 4),
        (b"/a$b", 4),
        ("/日本".encode(), 19),
    ],
)
@pytest.mark.parametrize("flag", [True, False], ids=["canonical", "as-written"])
def test_google_specificity_counts_the_octets_as_google_does(pattern: bytes, specificity: int, flag: bool) -> None:
    assert Pattern.of(pattern, canonical_octets=flag).specificity == specificity


def test_ours_a_pattern_full_of_stars_takes_no_time() -> None:
    pattern, path = Pattern.of(b"/*a*a*a*a*a*a*b"), b"/" + b"a" * 2_000
    start = time.process_time()

    assert not any(pattern.matches(path) for _ in range(1_000))
    assert time.process_time() - start < 1
    assert pattern.matches(path + b"b")


@pytest.mark.parametrize(
    "pattern",
    [
        b"/" + b"*a" * 8_000 + b"b",
        b"/" + b"*" * 16_000 + b"b",
        b"/*" + b"a" * 8_000 + b"b*" + b"a" * 8_000 + b"b$",
    ],
    ids=["many-pieces", "stars-alone", "long-pieces"],
)
def test_ours_the_longest_pattern_takes_no_time(pattern: bytes) -> None:
    compiled, path = Pattern.of(pattern), b"/" + b"a" * 16_000
    start = time.process_time()

    assert not compiled.matches(path)
    assert time.process_time() - start < 1


@pytest.mark.parametrize(
    "url",
    ["//" + ":" * 100_000, "/" + "%" * 100_000, "/" + "%4" * 50_000, "http://" + "a" * 100_000, "://" * 30_000],
    ids=["colons", "percents", "half-escapes", "host", "schemes"],
)
def test_ours_a_hostile_url_takes_no_time(url: str) -> None:
    start = time.process_time()

    assert path_of(url).startswith(b"/")
    assert time.process_time() - start < 1
