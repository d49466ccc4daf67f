"""Octets to numbered records: the tolerant, bounded reading of a robots.txt. RFC 9309 sections 2.2 and 2.5.

Never raises on a body: what can be read counts, the rest is skipped. Knows nothing of what the
records mean together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Final

from .dialect import GOOGLE, Dialect
from .record import Record, kind_of
from .robotstxt import RobotsTxt

MAX_SIZE: Final = 512_000
"""Octets of a body that are read: 500 KiB, the least that RFC 9309 section 2.5 asks for, and Google's bound."""

MAX_LINE: Final = 2083 * 8 - 1
"""Octets of a line that are read: Google's parser allows eight times the longest URL of a browser."""

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_LINE_ENDS: Final = (b"\n", b"\r")
_TWO_WORDS: Final = re.compile(rb"([^ \t]+)[ \t]+([^ \t]+)")


def parse(body: bytes, dialect: Dialect = GOOGLE, *, limit: int | None = MAX_SIZE) -> RobotsTxt:
    """The robots.txt in *body*, of which *limit* octets are read (None: all of them).

    Raises nothing, whatever *body* holds. It is read when a question is asked, not before.
    """
    return RobotsTxt(partial(records, cut(body, limit)), dialect)


def records(body: bytes) -> Iterator[Record]:
    """The records of *body*, in the order of their lines."""
    for number, line in enumerate(body[_mark_length(body) :].splitlines(), start=1):
        key, value = _split(line)
        if key:
            yield Record(number, kind_of(key), key, value)


def cut(body: bytes, limit: int | None = MAX_SIZE) -> bytes:
    """*body* without what lies beyond *limit* octets, and without the line that the limit cuts."""
    if limit is None or len(body) <= limit:
        return body
    kept = body[:limit]
    if body.startswith(_LINE_ENDS, limit) or kept.endswith(_LINE_ENDS):
        return kept
    return kept[: max(map(kept.rfind, _LINE_ENDS)) + 1]


def _mark_length(body: bytes) -> int:
    """The octets of a byte order mark at the start, which may be a partial one."""
    return next((n for n in (3, 2, 1) if body.startswith(_BYTE_ORDER_MARK[:n])), 0)


def _split(line: bytes) -> tuple[bytes, bytes]:
    """The key and the value on *line*; an empty key when there is no record.

    A NUL ends the line, ``#`` starts a comment, the first colon splits. Without a colon a line of
    exactly two words is accepted, as in Google's parser.
    """
    text = line[:MAX_LINE].partition(b"\0")[0].partition(b"#")[0].strip()
    key, colon, value = text.partition(b":")
    if not colon:
        words = _TWO_WORDS.fullmatch(text)
        if not words:
            return b"", b""
        key, value = words.groups()
    return key.strip(), value.strip()
