"""The form of an input: parts between separators, so that every string of octets is an input for every target."""

from __future__ import annotations

from typing import Final

from scrapy_rep.protocol.path_pattern import octets

SEPARATOR: Final = b"\x1e"
"""Stands between the parts of an input: ASCII's record separator, which means nothing to any reader."""


def parts(data: bytes, count: int) -> list[bytes]:
    """*data* in so many parts; what is missing is empty, and the last part has all that is left."""
    found = data.split(SEPARATOR, count - 1)
    return found + [b""] * (count - len(found))


def joined(*texts: bytes | str) -> bytes:
    """The input with *texts* as its parts."""
    return SEPARATOR.join(map(octets, texts))


def text_of(part: bytes) -> str:
    """*part* as text: UTF-8, octets that are none as surrogate escapes, as the engine has them."""
    return part.decode("utf-8", "surrogateescape")
