"""HTML in place of a robots.txt: the views here were printed by Chromium 150 and Firefox 140."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_rep.protocol.access import without_viewer
from scrapy_rep.protocol.body_kind import BodyKind, body_kind

TEXT = b"\n# a <b> &amp; &copy\nUser-agent: *\nDisallow: /a?x=1&copy=2\nDisallow: /<x>\"'\n\n"
ESCAPED = (
    b"\n# a &lt;b&gt; &amp;amp; &amp;copy\nUser-agent: *\nDisallow: /a?x=1&amp;copy=2\nDisallow: /&lt;x&gt;\"'\n\n"
)
STYLE = b'<pre style="word-wrap: break-word; white-space: pre-wrap;">'
CHROMIUM = b'<html><head><meta name="color-scheme" content="light dark"></head><body>' + STYLE
FIREFOX = (
    b'<html><head><link rel="stylesheet" href="resource://content-accessible/plaintext.css"></head><body><pre>'
)
END = b"</pre></body></html>"
VIEWS = {
    "chromium": CHROMIUM + ESCAPED + END + b"\n",
    "chromium-json": (
        b'<html><head><meta name="color-scheme" content="light dark"><meta charset="utf-8"></head><body><pre>'
        + ESCAPED
        + b'</pre><div class="json-formatter-container"></div></body></html>\n'
    ),
    "chromedriver": b'<html xmlns="http://www.w3.org/1999/xhtml"><head></head><body>' + STYLE + ESCAPED + END,
    "firefox": FIREFOX + ESCAPED + END,
}
PAGES = [
    b"<!DOCTYPE html>",
    b"\xef\xbb\xbf <html lang=en>",
    b'<?xml version="1.0"?><!-- a --> <!DOCTYPE HTML PUBLIC "-//W3C//DTD XHTML 1.1//EN"><HTML>',
    b'\xef\xbb\xbf<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml">',
    b'<meta name="viewport">',
    b"<!-- a -->\n<!-- b --><head>",
    b"\n\n<div class=x>",
    b"</p>",
    b"<html><head></head><body></body></html>",
    b"<html><head><title>x</title></head><body><pre>User-agent: *\nDisallow: /\n</pre></body></html>",
    b"<html><head></head><body><p>x</p><pre>User-agent: *\nDisallow: /\n</pre></body></html>",
    b"<html><head></head><body><pre>User-agent: *\n<b>Disallow: /</b>\n</pre></body></html>",
]
NO_PAGES = [
    b"",
    b"User-agent: *\nDisallow: /\n",
    b"<!-- $Id$ -->\r\n<!-- $URL$ -->\r\nUser-agent: *\r\nDisallow: /x\r\n",
    b"<!-- without end",
    b"< User-agent: *",
    b"<3",
    b"<!--" * 10_000,
]


@pytest.mark.parametrize("name", VIEWS)
def test_a_browsers_view_of_a_text_is_the_text(name: str) -> None:
    assert without_viewer(VIEWS[name]) == TEXT
    assert body_kind(VIEWS[name]) is BodyKind.HTML
    assert body_kind(TEXT) is BodyKind.ROBOTS_TXT


def test_utf_8_that_a_browser_took_for_windows_1252_is_utf_8_again() -> None:
    shown = "Disallow: /cafÃ©Â&nbsp;\nDisallow: /Ñ\x81ÑŽ\n".encode()  # without a charset, as both browsers show it
    assert without_viewer(FIREFOX + shown + END) == "Disallow: /café\u00a0\nDisallow: /сю\n".encode()


def test_utf_8_that_a_browser_took_for_utf_8_stays() -> None:
    shown = "Disallow: /café&nbsp;Ü\nDisallow: /日本\n".encode()
    assert without_viewer(CHROMIUM + shown + END) == "Disallow: /café\u00a0Ü\nDisallow: /日本\n".encode()


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0")))
def test_every_text_comes_back_from_its_view(text: str) -> None:
    escapes = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\u00a0": "&nbsp;"}
    shown = "".join(escapes.get(character, character) for character in text)
    back = without_viewer(CHROMIUM + shown.encode() + END)
    windows_1252 = bytes(range(256)).decode("windows-1252", "replace")
    if text.isascii() or not set(text) <= set(windows_1252) | set(map(chr, range(128, 160))):
        assert back == text.encode()


def test_a_body_that_begins_with_a_tag_is_a_page_and_stays_as_it_is() -> None:
    for body in PAGES:
        assert (body_kind(body), without_viewer(body)) == (BodyKind.HTML, body)


def test_a_body_that_does_not_is_none() -> None:
    for body in NO_PAGES:
        assert body_kind(body) is not BodyKind.HTML
        assert without_viewer(body) == body
