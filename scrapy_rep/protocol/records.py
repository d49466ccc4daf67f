"""Read one ``key: value`` line of a robots.txt: its limits, its key and value, and the meaning of the key.

Follows RFC 9309 section 2.2 as Google implements it.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from .display import StringEnum, shown

MAX_LINE: Final = 2083 * 8 - 1  # bytes of a line that are read, as by Google's parser
_HASH: Final = ord("#")  # `in` finds a number faster than bytes
_NUL: Final = 0
_TWO_WORDS: Final = re.compile(rb"([^ \t]+)[ \t]+([^ \t]+)")


class Kind(StringEnum):
    """The kind of a record, by its key. Members are strings."""

    USER_AGENT = "user-agent"
    ALLOW = "allow"
    DISALLOW = "disallow"
    SITEMAP = "sitemap"
    CRAWL_DELAY = "crawl-delay"
    REQUEST_RATE = "request-rate"
    VISIT_TIME = "visit-time"
    HOST = "host"
    CLEAN_PARAM = "clean-param"
    CONTENT_SIGNAL = "content-signal"
    CONTENT_USAGE = "content-usage"
    LICENSE = "license"
    NOINDEX = "noindex"
    UNKNOWN = "unknown"


class Record(NamedTuple):
    """A line of a robots.txt with a key and a value.

    ``line`` counts from 1; ``key`` and ``value`` are bytes as written, without the comment and the
    surrounding ASCII white space.
    """

    line: int
    kind: Kind
    key: bytes
    value: bytes

    @property
    def text(self) -> str:
        """The value decoded from UTF-8; invalid bytes become surrogate escapes."""
        return as_text(self.value)


class Rule(NamedTuple):
    """An Allow or Disallow record: ``value`` is the path as written, ``line`` counts from 1."""

    allow: bool
    value: bytes
    line: int

    def __repr__(self) -> str:
        return f"<Rule line={self.line} {self}>"

    def __str__(self) -> str:
        """The record as text, with unprintable characters escaped."""
        text = shown(self.value.decode("utf-8", "backslashreplace"))
        return f"{'Allow' if self.allow else 'Disallow'}: {text}"


def as_text(value: bytes) -> str:
    """*value* decoded from UTF-8; invalid bytes become surrogate escapes."""
    return value.decode("utf-8", "surrogateescape")


# As in Google's parser, these keys match by prefix ("Disallowed" is a disallow) and include the typos that it
# accepts. Group n of the expression is _BY_PREFIX[n - 1].
_BY_PREFIX: Final = (Kind.USER_AGENT, Kind.ALLOW, Kind.DISALLOW, Kind.SITEMAP)
_PREFIXES: Final = re.compile(
    rb"(user[- ]?agent)|(allow)|(disallow|dissallow|dissalow|disalow|diasllow|disallaw)|(site-?map)", re.IGNORECASE
)
_EXACT: Final = {
    **{kind.value.encode(): kind for kind in Kind if kind not in (*_BY_PREFIX, Kind.UNKNOWN)},
    b"crawldelay": Kind.CRAWL_DELAY,
    b"crawl delay": Kind.CRAWL_DELAY,
    b"content-signals": Kind.CONTENT_SIGNAL,  # seen in files; Cloudflare writes the singular
}

KEYS: Final = b"|".join([_PREFIXES.pattern, *map(re.escape, _EXACT)])
"""An expression, with groups, for the start of every known key."""

_EXACT_KINDS: Final = {kind.value.encode(): kind for kind in Kind if kind is not Kind.UNKNOWN}


def kind_of(key: bytes, lenient: bool = True) -> Kind:
    """The kind of *key*; case is ignored. If *lenient*, prefixes and typos also match."""
    if not lenient:
        return _EXACT_KINDS.get(key.lower(), Kind.UNKNOWN)
    found = _PREFIXES.match(key)
    if found and found.lastindex:
        return _BY_PREFIX[found.lastindex - 1]
    return _EXACT.get(key.lower(), Kind.UNKNOWN)


def split_line(line: bytes, lenient: bool = True) -> tuple[bytes, bytes]:
    """The key and the value on *line*; an empty key if the line has no record.

    A NUL ends the line, ``#`` starts a comment, and the first colon splits key and value. If *lenient*, a line of
    exactly two words needs no colon, as in Google's parser.
    """
    if _HASH in line or _NUL in line or len(line) > MAX_LINE:
        line = line[:MAX_LINE].partition(b"\0")[0].partition(b"#")[0]
    key, colon, value = line.partition(b":")
    if not colon:
        text = line.strip()
        words = _TWO_WORDS.fullmatch(text) if text and lenient else None
        if not words:
            return b"", b""
        key, value = words.groups()
    return key.strip(), value.strip()


def bom_length(body: bytes) -> int:
    """The length in bytes of a UTF-8 byte order mark, possibly partial, at the start of *body*."""
    if not body.startswith(b"\xef"):
        return 0
    return next((length for length in (3, 2) if body.startswith(b"\xef\xbb\xbf"[:length])), 1)
