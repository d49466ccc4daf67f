"""The carets below a line stand below the characters that are meant, whatever a terminal makes of these."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_rep.tools.commands.source_line import with_carets


def columns(text: str) -> int:
    """The columns of printable *text* on a terminal."""
    marks = sum(unicodedata.category(each) in {"Mn", "Me"} for each in text)
    return len(text) - marks + sum(unicodedata.east_asian_width(each) in "WF" for each in text)


@pytest.mark.parametrize(
    ("line", "column", "length", "text", "carets"),
    [
        ("Disallow: /a", 11, 2, "Disallow: /a", "          ^^"),
        ("Disallow:\t/a", 11, 2, "Disallow:    /a", "             ^^"),
        ("Disallow: /日本/a", 15, 1, "Disallow: /日本/a", "                ^"),
        ("Disallow: /日本", 12, 2, "Disallow: /日本", "           ^^^^"),
        ("Disallow: /e\u0301/a", 14, 2, "Disallow: /e\u0301/a", "            ^^"),
        ("Disallow: /\x1b[31m", 11, 6, r"Disallow: /\x1b[31m", "          ^^^^^^^^^"),
        ("Disallow: /\u202e/a", 13, 1, r"Disallow: /\u202e/a", "                 ^"),
        ("Allow:", 9, 3, "Allow:", "      ^"),
        ("", 1, 1, "", "^"),
    ],
)
def test_carets_stand_below_what_is_meant(line: str, column: int, length: int, text: str, carets: str) -> None:
    assert with_carets(line.encode(), column, length) == (text, carets)


def test_an_octet_that_is_not_utf_8_is_one_character() -> None:
    assert with_carets(b"Disallow: /caf\xe9/x", 16, 1) == (r"Disallow: /caf\xe9/x", "                  ^")


def test_a_long_line_is_cut_around_the_carets() -> None:
    line = b"Disallow: /" + b"a" * 200 + b"*" + b"b" * 200
    text, carets = with_carets(line, 212, 1)
    assert (text[0], text[-1], text[carets.index("^")], len(text)) == ("…", "…", "*", 102)
    assert with_carets(line, 1, 412) == (line.decode()[:100] + "…", "^" * 100)


def test_a_line_of_megabytes_is_cut_at_once() -> None:
    text, carets = with_carets("日".encode() * 1_000_000, 999_999, 5)
    assert (text, carets) == ("…" + "日" * 22, " " * 41 + "^^^^")


@given(st.text(max_size=300), st.integers(1, 300), st.integers(1, 300))
def test_whatever_the_line_both_are_printable_and_fit(line: str, column: int, length: int) -> None:
    line = "".join(line.splitlines())
    text, carets = with_carets(line.encode(), column, length)
    assert text.isprintable()
    assert set(carets) <= {" ", "^"}
    assert columns(text) <= 102
    assert columns(carets) <= max(columns(text), carets.count(" ") + 1)
