"""``Content-Signal`` of Cloudflare, in the groups of a robots.txt and as a header field.

https://contentsignals.org; read leniently, as its vendor's own files are written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from scrapy_rep.protocol import Kind, RobotsTxt

from .answers import Statement
from .vocabulary import Signal, label_of

_SAYS: Final = {"yes": True, "no": False}
_USE: Final = "use"
MAX_ITEMS: Final = 100
"""Items of one line that are read."""


def read_header(lines: Iterable[str]) -> list[Statement]:
    """The statements of all ``Content-Signal`` field *lines* of a response."""
    return [statement for line in lines for statement in _statements(line, "header", 0)]


def read_robots_txt(robotstxt: RobotsTxt, token: str) -> list[Statement]:
    """The statements for the crawler called *token*: those of its group.

    Where its group has none, lines before any user-agent line stand in, which are irregular.
    """
    own = [record for record in robotstxt.extensions_for(token) if record.kind is Kind.CONTENT_SIGNAL]
    if own:
        return [one for record in own for one in _statements(record.text, "robots.txt", record.line)]
    outside = [
        extension.record
        for extension in robotstxt.extensions
        if not extension.agents and extension.record.kind is Kind.CONTENT_SIGNAL
    ]
    return [
        one for record in outside for one in _statements(record.text, "robots.txt", record.line, irregular=True)
    ]


def _statements(text: str, source: str, line: int, *, irregular: bool = False) -> Iterator[Statement]:
    for item in text.split(",", MAX_ITEMS)[:MAX_ITEMS]:
        key, equals, value = (part.strip().lower() for part in item.partition("="))
        if not key:
            continue
        label, says = label_of(Signal.CONTENT_SIGNAL, key), _SAYS.get(value)
        if label is None or says is None:
            is_odd = irregular or key != _USE or not equals
            yield Statement(Signal.CONTENT_SIGNAL, None, None, source, item.strip(), line, irregular=is_odd)
        else:
            for category in sorted(label.categories):
                yield Statement(Signal.CONTENT_SIGNAL, category, says, source, item.strip(), line, irregular)
