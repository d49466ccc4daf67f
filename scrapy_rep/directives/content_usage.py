"""``Content-Usage`` of the IETF working group AIPREF: header field, and rule of a robots.txt.

draft-ietf-aipref-attach-05 and draft-ietf-aipref-vocab-07, both 2026-08-19; neither is an RFC.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from scrapy_rep.protocol import Kind, Record, RobotsTxt, parse
from scrapy_rep.protocol.path_pattern import canonical

from .answers import Statement
from .structured_fields import Token, parse_dictionary
from .vocabulary import Signal, label_of

_PATH = re.compile(rb"(/[^ \t]*)[ \t]*(.*)", re.DOTALL)


def read_header(lines: Iterable[str]) -> list[Statement]:
    """The statements of all ``Content-Usage`` field *lines* of a response, which make one Dictionary."""
    text = ", ".join(line for line in lines if line.strip())
    return list(_statements(text, "header", 0))


def read_robots_txt(robotstxt: RobotsTxt, token: str, url: str) -> list[Statement]:
    """The statements of a robots.txt about *url* for the crawler called *token*: those of the longest path.

    A shorter path adds nothing. Of equal paths all count. What a forbidden URL means is for the caller: it has no
    preferences.
    """
    by_path: dict[bytes, list[Record]] = {}
    for record in robotstxt.extensions_for(token):
        if record.kind is Kind.CONTENT_USAGE:
            by_path.setdefault(canonical(_split(record.value)[0]), []).append(record)
    records = by_path.get(_longest(by_path, url), [])
    return [
        statement
        for record in records
        for statement in _statements(_text(_split(record.value)[1]), "robots.txt", record.line)
    ]


def _split(value: bytes) -> tuple[bytes, bytes]:
    """The path of a rule, empty for none, and its preference."""
    found = _PATH.fullmatch(value)
    return (found[1], found[2]) if found else (b"", value)


def _longest(paths: Iterable[bytes], url: str) -> bytes:
    """The longest of *paths* that matches *url*, as the rule engine finds it; the empty one matches every URL."""
    some = [path for path in paths if path]
    if not some:
        return b""
    verdict = parse(b"User-agent: *\n" + b"".join(b"Disallow: %b\n" % path for path in some), limit=None).verdict(
        "*", url
    )
    return some[verdict.line - 2] if verdict.line else b""


def _text(value: bytes) -> str:
    return value.decode("latin-1")


def _statements(text: str, source: str, line: int) -> Iterator[Statement]:
    """A statement for each member that says y or n, one without a category for each other one."""
    try:
        members = parse_dictionary(text)
    except ValueError:
        yield Statement(Signal.CONTENT_USAGE, None, None, source, text, line, irregular=True)
        return
    for key, item in members.items():
        label = label_of(Signal.CONTENT_USAGE, key)
        says = {"y": True, "n": False}.get(item.value) if isinstance(item.value, Token) else None
        written = f"{key}={item.value}"
        if label is None or not label.categories or says is None:
            yield Statement(Signal.CONTENT_USAGE, None, None, source, written, line, irregular=True)
        else:
            for category in sorted(label.categories):
                yield Statement(Signal.CONTENT_USAGE, category, says, source, written, line)
