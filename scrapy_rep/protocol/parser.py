"""Octets to numbered records: the tolerant, bounded reading of a robots.txt. RFC 9309 sections 2.2 and 2.5.

Never raises on a body: what can be read counts, the rest is skipped. Knows nothing of what the
records mean together.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from .dialect import GOOGLE, Dialect
from .line import mark_length, split
from .record import Record, kind_of
from .robotstxt import RobotsTxt
from .scan import scan, tidy

MAX_SIZE: Final = 512_000
"""Octets of a body that are read: 500 KiB, the least that RFC 9309 section 2.5 asks for, and Google's bound."""

_LINE_ENDS: Final = (b"\n", b"\r")


def parse(body: bytes, dialect: Dialect = GOOGLE, *, limit: int | None = MAX_SIZE) -> RobotsTxt:
    """The robots.txt in *body*, of which *limit* octets are read (None: all of them).

    Raises nothing, whatever *body* holds. It is read when a question is asked, not before.
    """
    text = tidy(cut(body, limit))
    return RobotsTxt(partial(_numbered, text, 0), dialect, partial(scan, text))


def records(body: bytes) -> Iterator[Record]:
    """The records of *body*, in the order of their lines."""
    return _numbered(body[mark_length(body) :], 1)


def _numbered(text: bytes, first: int) -> Iterator[Record]:
    for number, line in enumerate(text.splitlines(), start=first):
        key, value = split(line)
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
