"""A body to a robots.txt: how much of it counts. RFC 9309 section 2.5."""

from __future__ import annotations

from typing import Final

from .dialect import GOOGLE, Dialect
from .robotstxt import RobotsTxt
from .scan import FastReading

MAX_SIZE: Final = 512_000
"""Octets of a body that are read: 500 KiB, the least that RFC 9309 section 2.5 asks for, and Google's bound."""

_LINE_ENDS: Final = (b"\n", b"\r")


def parse(body: bytes, dialect: Dialect = GOOGLE, *, limit: int | None = MAX_SIZE) -> RobotsTxt:
    """The robots.txt in *body*, of which *limit* octets are read (None: all of them).

    It is read when a question is asked, not before. Raises `TypeError` for a *body* that is not ``bytes``,
    and nothing else, whatever the body holds.
    """
    require_octets(body)
    return RobotsTxt(FastReading(cut(body, limit)), dialect)


def require_octets(body: object) -> None:
    """Raise `TypeError` for a *body* that is not ``bytes``."""
    if not isinstance(body, bytes):
        kind = type(body).__name__
        raise TypeError(f"a robots.txt is read as bytes, not {kind}: pass response.body, or encode the text")


def cut(body: bytes, limit: int | None = MAX_SIZE) -> bytes:
    """*body* without what lies beyond *limit* octets, and without the line that the limit cuts."""
    if limit is None or len(body) <= limit:
        return body
    kept = body[:limit]
    if body.startswith(_LINE_ENDS, limit) or kept.endswith(_LINE_ENDS):
        return kept
    return kept[: max(map(kept.rfind, _LINE_ENDS)) + 1]
