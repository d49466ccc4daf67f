"""One ``key: value`` line of a robots.txt: how much of it counts, its key, its value, and what the key means.

RFC 9309 section 2.2 in Google's reading.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from .display import StringEnum, shown

MAX_LINE: Final = 2083 * 8 - 1  # bytes of a line that are read, as by Google's parser
_HASH: Final = ord("#")  # a number is found faster than octets
_NUL: Final = 0
_TWO_WORDS: Final = re.compile(rb"([^ \t]+)[ \t]+([^ \t]+)")


class Kind(StringEnum):
    """What the key of a record means; each is a string."""

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

    ``line`` counts from 1; ``key`` and ``value`` are the octets as written, without comment and
    surrounding ASCII white space.
    """

    line: int
    kind: Kind
    key: bytes
    value: bytes

    @property
    def text(self) -> str:
        """The value as text: UTF-8, octets that are none as surrogate escapes."""
        return as_text(self.value)


class Rule(NamedTuple):
    """An allow or disallow record: ``value`` is its path as written, ``line`` counts from 1."""

    allow: bool
    value: bytes
    line: int

    def __repr__(self) -> str:
        return f"<Rule line={self.line} {self}>"

    def __str__(self) -> str:
        """The record as text, with an escape for whatever is not printable."""
        text = shown(self.value.decode("utf-8", "backslashreplace"))
        return f"{'Allow' if self.allow else 'Disallow'}: {text}"


def as_text(value: bytes) -> str:
    """*value* as text: UTF-8, octets that are none as surrogate escapes."""
    return value.decode("utf-8", "surrogateescape")


# As in Google's parser these match by prefix ("Disallowed" is a disallow) and include the typos
# it forgives. Group n of the expression is _BY_PREFIX[n - 1].
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
"""How each key begins that means something: an expression with groups."""

_EXACT_KINDS: Final = {kind.value.encode(): kind for kind in Kind if kind is not Kind.UNKNOWN}


def kind_of(key: bytes, lenient: bool = True) -> Kind:
    """What *key* means; case does not count. Only if *lenient*, prefixes and typos do."""
    if not lenient:
        return _EXACT_KINDS.get(key.lower(), Kind.UNKNOWN)
    found = _PREFIXES.match(key)
    if found and found.lastindex:
        return _BY_PREFIX[found.lastindex - 1]
    return _EXACT.get(key.lower(), Kind.UNKNOWN)


def split_line(line: bytes, lenient: bool = True) -> tuple[bytes, bytes]:
    """The key and the value on *line*; an empty key when there is no record.

    A NUL ends the line, ``#`` starts a comment, the first colon splits. If *lenient*, a line of exactly two
    words is accepted without a colon, as in Google's parser.
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
    """The octets of a UTF-8 byte order mark at the start of *body*, which may be a partial one."""
    if not body.startswith(b"\xef"):
        return 0
    return next((length for length in (3, 2) if body.startswith(b"\xef\xbb\xbf"[:length])), 1)
