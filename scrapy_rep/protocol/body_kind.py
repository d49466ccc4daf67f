"""What a body is: a robots.txt, nothing, or something else that a server sent in its place.

The rules in any body hold, as for Google: an HTML page with a line ``Disallow: /`` closes its site. What a body is
only decides what people are told, and whether a site counts as one with a robots.txt. Nobody else recognizes HTML.

The first bytes tell a page, an XML document (errors of S3, Google Cloud and Azure) and JSON. Any other body is a
robots.txt if one of its lines is a comment or a record that the parser knows; "Not Found" has none.
"""

from __future__ import annotations

import re
from typing import Final

from .display import StringEnum
from .records import KEYS, Kind, bom_length, kind_of, split_line

_START: Final = 4_096  # bytes in which a page has begun
_SAMPLE: Final = 256  # bytes, enough to detect UTF-16
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
_CONTROLS: Final = bytes(set(range(0x20)) - set(b"\t\n\v\f\r"))
_LEAST_TEXT: Final = 0.9  # of the bytes of a text

_TAG: Final = re.compile(rb"<(?:!doctype|\?xml|/?[a-z][a-z0-9]*[\s>/])", re.IGNORECASE)
_BEFORE_ROOT: Final = re.compile(rb"\s*(?:<\?[^>]*>|<!--.*?-->)", re.DOTALL)
_HTML_ROOT: Final = re.compile(rb"\s*<(?:!doctype\s+)?html\b", re.IGNORECASE)
_XML_ROOT: Final = re.compile(rb"<(?:Error|rss|feed|urlset|sitemapindex)[\s>]")
_JSON: Final = re.compile(rb"\s*(?:\{\s*[\"}]|\[\s*[\[{\"\]])")
_COMMENT: Final = re.compile(rb"(?:\A|[\r\n])[ \t\v\f]*#")
# A body may have half a million lines: only those that begin like a record are looked at, and no blank as a key.
_LIKE_RECORD: Final = re.compile(rb"(?:\A|[\r\n])[ \t\v\f]*(?=\S)(?P<line>(?:%s)[^\r\n]*)" % KEYS, re.IGNORECASE)


class BodyKind(StringEnum):
    """What a body is; each is a string."""

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
        """Whether it is a robots.txt, which may have no lines."""
        return self in (BodyKind.ROBOTS_TXT, BodyKind.BLANK)

    @property
    def instead(self) -> str:
        """What it is in words; empty for a robots.txt."""
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
    """What *body* is."""
    text = body[bom_length(body) :]
    if not text.strip():
        return BodyKind.BLANK
    head = text[:_START].lstrip()
    while head.startswith(b"<!--"):  # a comment before the rules does not count
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
    """Whether *body* starts with more control and replacement characters than a text has."""
    sample = body[:_SAMPLE].rstrip(b"\0") or body[:1]  # an error page may be padded; U+FFFD stands for lost bytes
    return len(sample.replace(b"\xef\xbf\xbd", b"").translate(None, _CONTROLS)) < _LEAST_TEXT * len(sample)


def is_utf_16(body: bytes) -> bool:
    """Whether *body* starts with a UTF-16 mark, or has a NUL next to nearly every letter."""
    sample = body[:_SAMPLE]
    if sample.startswith(_UTF_16):
        return True
    halves = sample[::2], sample[1::2]
    return (
        len(sample) > 8
        and any(half.count(0) > 0.9 * len(half) for half in halves)
        and any(half.count(0) < 0.1 * len(half) for half in halves)
    )
