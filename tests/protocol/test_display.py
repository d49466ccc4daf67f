"""Foreign text is shown without what a terminal or a reader would obey."""

from __future__ import annotations

import pytest

from scrapy_rep.protocol import Rule
from scrapy_rep.protocol.display import abridged, shown

RUDE = "\x1b[2J\x07\x9b31m\u202e\u2066\u2028\u2029\x85\r\n\0\u200b\ufeff"


def test_what_cannot_be_printed_is_an_escape() -> None:
    assert shown("café \x1b[2J\u202e\udcff") == "café \\x1b[2J\\u202e\\xff"
    assert shown(RUDE) == ("\\x1b[2J\\x07\\x9b31m\\u202e\\u2066\\u2028\\u2029\\x85\\r\\n\\x00\\u200b\\ufeff")


@pytest.mark.parametrize("text", ["", "Disallow: /café/日本/*.pdf$", "שלום"])
def test_what_can_be_printed_stays(text: str) -> None:
    assert shown(text) == text


def test_a_rule_is_shown_so() -> None:
    rule = Rule(allow=False, value=f"/{RUDE}\N{SNOWMAN}".encode() + b"\xff", line=1)
    assert str(rule).isprintable()
    assert str(rule) == f"Disallow: /{shown(RUDE)}☃\\xff"
    assert repr(rule) == f"<Rule line=1 {rule}>"


def test_a_long_text_ends_in_an_ellipsis() -> None:
    assert [abridged("/path", longest) for longest in (5, 4)] == ["/path", "/pat…"]
