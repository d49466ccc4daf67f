"""A line of a file with carets below a part of it, as compilers show where an error is."""

from __future__ import annotations

import unicodedata
from typing import Final

from scrapy_rep.protocol.display import shown

_WIDEST: Final = 100  # columns of a line that are shown
_BEFORE: Final = 40  # of these before the carets, where both ends are cut
_TAB: Final = "    "
_CUT: Final = "…"


def with_carets(line: bytes, column: int, length: int) -> tuple[str, str]:
    """The part of *line* around *length* characters from *column* on, which counts from 1, and their carets.

    What is not printable is escaped; the carets stand below the characters on a terminal, however wide these are.
    """
    text = line.decode("utf-8", "surrogateescape")
    at = min(column - 1, len(text))
    if len(text) <= _WIDEST and text.isascii() and text.isprintable():  # as nearly all are
        return text, " " * at + "^" * max(min(length, len(text) - at), 1)
    before = _fitting(text[max(at - _WIDEST, 0) : at][::-1], _BEFORE if len(text) > _WIDEST else _WIDEST)[::-1]
    width = sum(map(_width, before))
    after = _fitting(text[at : at + _WIDEST], _WIDEST - width)
    start, end = (_CUT if len(before) < at else ""), (_CUT if at + len(after) < len(text) else "")
    carets = max(sum(map(_width, after[:length])), 1)
    return start + "".join(map(_cell, before + after)) + end, " " * (len(start) + width) + "^" * carets


def _fitting(text: str, columns: int) -> str:
    """The beginning of *text* that takes no more than *columns*."""
    for at, character in enumerate(text):
        columns -= _width(character)
        if columns < 0:
            return text[:at]
    return text


def _cell(character: str) -> str:
    return _TAB if character == "\t" else shown(character)


def _width(character: str) -> int:
    """The columns that *character* takes: https://www.unicode.org/reports/tr11/."""
    cell = _cell(character)
    if len(cell) > 1:
        return len(cell)
    if unicodedata.category(cell) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(cell) in {"W", "F"} else 1
