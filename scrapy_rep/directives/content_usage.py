"""``Content-Usage`` of the IETF working group AIPREF: header field, and rule of a robots.txt.

draft-ietf-aipref-attach-05 says where it stands, draft-ietf-aipref-vocab-07 section 6 how it is read, strictly: a
Dictionary of RFC 9651. Both are of 2026-08-19; neither is an RFC.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from scrapy_rep.protocol import Kind, Record, RobotsTxt
from scrapy_rep.protocol.path_pattern import path_of

from .answers import Statement, shortened, without_repetitions
from .path_rules import PathRules
from .structured_fields import Token, parse_dictionary
from .vocabulary import Signal, label_of

_PATH: Final = re.compile(rb"(/[^ \t]*)[ \t]*(.*)", re.DOTALL)
_SAYS: Final = {"y": True, "n": False}


def read_header(lines: Iterable[str]) -> list[Statement]:
    """Return the statements of all ``Content-Usage`` field *lines* of a response, which make one Dictionary."""
    text = ", ".join(line for line in lines if line.strip())
    return [*without_repetitions(_statements(text, "header", 0))]


def read_robots_txt(robotstxt: RobotsTxt, token: str, url: str) -> list[Statement]:
    """Return the statements of a robots.txt about *url* for the crawler called *token*: those of the longest path.

    A shorter path adds nothing; equally long ones all count. A URL that may not be crawled has no preferences,
    which is for the caller to know. `RobotsSignals` answers for many URLs.
    """
    return [*rules_in(robotstxt.extensions_for(token)).statements(path_of(url))]


def rules_in(records: Iterable[Record]) -> PathRules:
    """Return the rules among the *records* of a group."""
    usages = (record for record in records if record.kind is Kind.CONTENT_USAGE)
    return PathRules(((split(record.value)[0], record) for record in usages), _read)


def _read(record: Record) -> Iterator[Statement]:
    text = split(record.value)[1].decode("utf-8", "replace")
    return _statements(text, "robots.txt", record.line)


def split(value: bytes) -> tuple[bytes, bytes]:
    """Return the path of a rule, empty for none, and its preference (attach-05, "Content-Usage Rules")."""
    found = _PATH.fullmatch(value)
    return (found[1], found[2]) if found else (b"", value)


def _statements(text: str, source: str, line: int) -> Iterator[Statement]:
    """A statement for each member that says y or n, one without a category for each other one."""
    try:
        members = parse_dictionary(text)
    except ValueError:
        yield Statement(Signal.CONTENT_USAGE, None, None, source, shortened(text), line, irregular=True)
        return
    for key, item in members.items():
        label = label_of(Signal.CONTENT_USAGE, key)
        says = _SAYS.get(item.value) if isinstance(item.value, Token) else None
        written = shortened(f"{key}={item.value}")
        if label is None or not label.categories or says is None:
            yield Statement(Signal.CONTENT_USAGE, None, None, source, written, line, irregular=True)
        else:
            for category in sorted(label.categories):
                yield Statement(Signal.CONTENT_USAGE, category, says, source, written, line)
