"""``Content-Signal`` of Cloudflare, in the groups of a robots.txt and as a header field.

https://contentsignals.org (2025-09), and draft-romm-aipref-contentsignals (2025-10); read leniently, as the files
of its vendor are written. It holds for a group, not for a path. ``use`` came on 2026-07-01.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Final

from scrapy_rep.protocol import Kind, Record, RobotsTxt
from scrapy_rep.protocol.other_records import outside_groups

from .answers import Statement, shortened, without_repetitions
from .vocabulary import Signal, label_of

_SAYS: Final = {"yes": True, "no": False}
_USE: Final = "use"
MAX_ITEMS: Final = 100
"""Items of one line that are read."""


class ContentUse(str, Enum):
    """How much of a page may be used, the most restrictive level first; each is a string.

    ``immediate``: act on it, and store nothing. ``reference``: index, quote and link back. ``full``: summarize and
    reproduce (Cloudflare, 2026-07-01).
    """

    __str__ = str.__str__

    IMMEDIATE = "immediate"
    REFERENCE = "reference"
    FULL = "full"

    @property
    def rank(self) -> int:
        """The position among the levels; a lower one is more restrictive."""
        return [*ContentUse].index(self)


_LEVELS: Final = {level.value: level for level in ContentUse}


def read_header(lines: Iterable[str]) -> list[Statement]:
    """Return the statements of all ``Content-Signal`` field *lines* of a response."""
    return [*without_repetitions(one for line in lines for one in _statements(line, "header", 0))]


def read_robots_txt(robotstxt: RobotsTxt, token: str) -> list[Statement]:
    """Return the statements for the crawler called *token*: those of its group.

    Where its group has none, lines before any user-agent line stand in. They are irregular.
    """
    own = signals_in(robotstxt.extensions_for(token))
    return [*(own or signals_in(outside_groups(robotstxt.extensions), irregular=True))]


def signals_in(records: Iterable[Record], *, irregular: bool = False) -> tuple[Statement, ...]:
    """Return the statements of the Content-Signal lines among *records*."""
    return without_repetitions(
        one
        for record in records
        if record.kind is Kind.CONTENT_SIGNAL
        for one in _statements(record.text, "robots.txt", record.line, irregular=irregular)
    )


def content_use(statements: Iterable[Statement]) -> ContentUse | None:
    """Return the most restrictive level that the *statements* name with ``use=``, or None."""
    levels = (_level(statement.text) for statement in statements if statement.signal is Signal.CONTENT_SIGNAL)
    return min((level for level in levels if level), key=lambda level: level.rank, default=None)


def _level(item: str) -> ContentUse | None:
    key, value = _key_and_value(item)
    return _LEVELS.get(value) if key == _USE else None


def _key_and_value(item: str) -> tuple[str, str]:
    key, _, value = item.partition("=")
    return key.strip().lower(), value.strip().lower()


def _statements(text: str, source: str, line: int, *, irregular: bool = False) -> Iterator[Statement]:
    for item in text.split(",", MAX_ITEMS)[:MAX_ITEMS]:
        key, value = _key_and_value(item)
        if not key:
            continue
        label, says, written = label_of(Signal.CONTENT_SIGNAL, key), _SAYS.get(value), shortened(item.strip())
        if label is None or says is None:
            is_odd = irregular or _level(item) is None
            yield Statement(Signal.CONTENT_SIGNAL, None, None, source, written, line, is_odd)
        else:
            for category in sorted(label.categories):
                yield Statement(Signal.CONTENT_SIGNAL, category, says, source, written, line, irregular)
