"""Classify a body: a robots.txt, blank, or something else that a server sent in its place.

The rules in any body apply, as for Google: an HTML page with a line ``Disallow: /`` blocks its site. The kind
decides only what people are told, and whether a site counts as having a robots.txt. HTML is recognized only here.

The first bytes reveal HTML, XML (errors of S3, Google Cloud and Azure) and JSON. Any other body is a robots.txt if
at least one line is a comment or a record that the parser knows; "Not Found" is neither.
"""

from __future__ import annotations

import re
from typing import Final

from .display import StringEnum
from .records import KEYS, Kind, bom_length, kind_of, split_line

_START: Final = 4_096  # bytes within which the first tag of a page starts
_SAMPLE: Final = 256  # bytes, enough to detect UTF-16
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
_CONTROLS: Final = bytes(set(range(0x20)) - set(b"\t\n\v\f\r"))
_LEAST_TEXT: Final = 0.9  # least share of text bytes in a sample that counts as text

_TAG: Final = re.compile(rb"<(?:!doctype|\?xml|/?[a-z][a-z0-9]*[\s>/])", re.IGNORECASE)
_BEFORE_ROOT: Final = re.compile(rb"\s*(?:<\?[^>]*>|<!--.*?-->)", re.DOTALL)
_HTML_ROOT: Final = re.compile(rb"\s*<(?:!doctype\s+)?html\b", re.IGNORECASE)
_XML_ROOT: Final = re.compile(rb"<(?:Error|rss|feed|urlset|sitemapindex)[\s>]")
_JSON: Final = re.compile(rb"\s*(?:\{\s*[\"}]|\[\s*[\[{\"\]])")
_COMMENT: Final = re.compile(rb"(?:\A|[\r\n])[ \t\v\f]*#")
# A body may have half a million lines: check only lines that start like a record, with a key that is not blank.
_LIKE_RECORD: Final = re.compile(rb"(?:\A|[\r\n])[ \t\v\f]*(?=\S)(?P<line>(?:%s)[^\r\n]*)" % KEYS, re.IGNORECASE)


class BodyKind(StringEnum):
    """The kind of a body. Members are strings."""

    ROBOTS_TXT = "robots.txt"
    BLANK = "blank"
    HTML = "html"
    XML = "xml"
    JSON = "json"
    UTF_16 = "utf-16"
    BINARY = "binary"
    TEXT = "text"

    @property
    def is_robots_txt(self) -> bool:
        """Whether the body is a robots.txt, which may be blank."""
        return self in (BodyKind.ROBOTS_TXT, BodyKind.BLANK)

    @property
    def instead(self) -> str:
        """The kind in words, with an article; empty for a robots.txt."""
        return _WORDS.get(self, "")


_WORDS: Final = {
    BodyKind.HTML: "an HTML page",
    BodyKind.XML: "an XML document",
    BodyKind.JSON: "a JSON document",
    BodyKind.UTF_16: "a text in UTF-16",
    BodyKind.BINARY: "a binary file",
    BodyKind.TEXT: "a text without a line of robots.txt",
}


def body_kind(body: bytes) -> BodyKind:
    """Classify *body*."""
    text = body[bom_length(body) :]
    if not text.strip():
        return BodyKind.BLANK
    head = text[:_START].lstrip()
    while head.startswith(b"<!--"):  # an HTML comment before the rules is ignored
        head = head.partition(b"-->")[2].lstrip()
    if _TAG.match(head):
        return BodyKind.XML if _is_xml(head) else BodyKind.HTML
    if _JSON.match(head) and text.rstrip().endswith((b"}", b"]")):
        return BodyKind.JSON
    if any(kind_of(split_line(found["line"])[0]) is not Kind.UNKNOWN for found in _LIKE_RECORD.finditer(text)):
        return BodyKind.ROBOTS_TXT
    if is_utf_16(body):
        return BodyKind.UTF_16
    if is_binary(body):
        return BodyKind.BINARY
    return BodyKind.ROBOTS_TXT if _COMMENT.search(text) else BodyKind.TEXT


def _is_xml(head: bytes) -> bool:
    if not head.startswith(b"<?"):
        return bool(_XML_ROOT.match(head))
    at = 0
    while before := _BEFORE_ROOT.match(head, at):
        at = before.end()
    return not _HTML_ROOT.match(head, at)


def is_binary(body: bytes) -> bool:
    """Whether *body* starts with more control and replacement characters than text has."""
    sample = body[:_SAMPLE].rstrip(b"\0") or body[:1]  # NUL may pad error pages; U+FFFD marks lost bytes
    return len(sample.replace(b"\xef\xbf\xbd", b"").translate(None, _CONTROLS)) < _LEAST_TEXT * len(sample)


def is_utf_16(body: bytes) -> bool:
    """Whether *body* starts with a UTF-16 byte order mark, or has a NUL next to nearly every letter."""
    sample = body[:_SAMPLE]
    if sample.startswith(_UTF_16):
        return True
    halves = sample[::2], sample[1::2]
    return (
        len(sample) > 8
        and any(half.count(0) > 0.9 * len(half) for half in halves)
        and any(half.count(0) < 0.1 * len(half) for half in halves)
    )
