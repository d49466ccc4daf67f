"""A body in one shape, so that expressions of the regular kind find its lines.

What it buys: a record begins behind a LF, and nothing in the text ends or hides it; one pass in C finds
all lines of a kind, and where no line is indented that pass jumps from match to match.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from .line import MAX_LINE, mark_length

INDENT: Final = rb"[ \t\v\f]*"
_INDENTED: Final = re.compile(rb"\n[ \t\v\f]")


class Field(NamedTuple):
    """Finds lines of a text in lower case; twice as fast where no line is indented."""

    flush: re.Pattern[bytes]
    indented: re.Pattern[bytes]

    @classmethod
    def of(cls, line: bytes) -> Field:
        return cls(re.compile(rb"\n" + line), re.compile(rb"\n" + INDENT + line))


class Text(NamedTuple):
    """A body in the shape that `tidy` gives it."""

    text: bytes
    lower: bytes
    is_indented: bool

    @classmethod
    def of(cls, body: bytes) -> Text:
        text = tidy(body)
        lower = text.lower()
        return cls(text, lower, bool(_INDENTED.search(text)))

    def lines(self, field: Field) -> Iterator[re.Match[bytes]]:
        expression = field.indented if self.is_indented else field.flush
        return expression.finditer(self.lower)


class _Latest:
    """The text of the body that was read last: of a new one several things are asked in a row."""

    def __init__(self) -> None:
        self._held: tuple[bytes | None, Text] = None, Text(b"", b"", False)

    def read(self, body: bytes) -> Text:
        held, text = self._held
        if held is not body:
            text = Text.of(body)
            self._held = body, text
        return text


read: Final = _Latest().read
"""*body* made tidy; that of the latest is kept."""


def tidy(body: bytes) -> bytes:
    """*body* with the same records on the same lines, each behind a LF.

    No byte order mark, no CR, no NUL, nothing beyond `MAX_LINE`.
    """
    text = b"\n" + body[mark_length(body) :]
    if b"\r" in text:
        text = b"\n".join(text.splitlines())
    if len(text) > MAX_LINE and _has_line_beyond_limit(text):
        text = b"\n".join([line[:MAX_LINE] for line in text.split(b"\n")])
    if b"\0" in text:
        text = b"\n".join([line.partition(b"\0")[0] for line in text.split(b"\n")])
    return text


def _has_line_beyond_limit(text: bytes) -> bool:
    """By leaps of `MAX_LINE` octets, each back to the last LF within it."""
    place = 0
    while len(text) - place > MAX_LINE:
        line_end = text.rfind(b"\n", place + 1, place + MAX_LINE + 2)
        if line_end < 0:
            return True
        place = line_end
    return False
