"""Checks of the syntax of lines: keys, colons, white space, comments."""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import lru_cache
from typing import Final

from scrapy_rep.directives.robots_signals import AI_TRAINING
from scrapy_rep.protocol import Kind, Record
from scrapy_rep.protocol.records import MAX_LINE, kind_of

from .finding import Code, Findings, Severity
from .subject import RULES, Subject, characters

CODES: Final[dict[str, Code]] = {
    "unreadable-line": Code(
        Severity.WARNING,
        "Unreadable line",
        "The line is not a record, so crawlers ignore it.",
        "Write “key: value”, or turn it into a comment with a leading #.",
    ),
    "unknown-record": Code(
        Severity.WARNING,
        "Unknown record",
        "No known crawler reads a record called {0}.",
        "Remove it, or turn it into a comment with a leading #.",
    ),
    "bare-url": Code(
        Severity.WARNING,
        "URL without a key",
        "The line is a URL alone, so crawlers ignore it.",
        "Write “Sitemap: ” before it if it is a sitemap; otherwise make it a comment with a leading #.",
    ),
    "misspelt-key": Code(
        Severity.WARNING,
        "Misspelled key that some parsers accept",
        "Some parsers, including Google's, read {0} as {1}; others ignore it.",
        "Write {1}.",
    ),
    "misspelt-key-ignored": Code(
        Severity.ERROR,
        "Misspelled key that no parser accepts",
        "{0} is not a known key, so the line is ignored; perhaps {1} was meant.",
        "Write {1}.",
    ),
    "missing-colon": Code(
        Severity.ERROR,
        "Missing colon",
        "There is no colon after {0}, so most parsers ignore the line.",
        "Write “{0}: ” followed by the value.",
    ),
    "indented-line": Code(
        Severity.NOTE,
        "White space before a key",
        "RFC 9309 allows white space before the key, but some old parsers do not read such a line.",
        "Start the line with its key.",
    ),
    "odd-case-key": Code(
        Severity.NOTE,
        "Unusual capitalisation of a key",
        "{0} works, since case does not matter, but is hard to read.",
        "Write {1}.",
    ),
    "comment-after-rule": Code(
        Severity.NOTE,
        "Comment after a rule",
        "Some old parsers take the comment after the rule as part of the path.",
        "Move the comment to its own line.",
    ),
    "hash-in-path": Code(
        Severity.WARNING,
        "# inside a path",
        "A # starts a comment, so crawlers read only “{0}”.",
        "Remove what follows the #, since crawlers send no fragment; write %23 for a # in a path.",
    ),
    "commented-out-rule": Code(
        Severity.NOTE,
        "Rule turned into a comment",
        "{0} is a comment, so it is not in force{1}.",
        "Remove the # if the rule should apply, or the line if it should not.",
    ),
    "blank-line-in-group": Code(
        Severity.NOTE,
        "Blank line inside a group",
        "A blank line ends the group for parsers that follow the 1994 standard.",
        "Remove the blank line, or replace it with a comment.",
    ),
}

_NAMES: Final[dict[Kind, str]] = {kind: kind.value.capitalize() for kind in Kind if kind is not Kind.UNKNOWN}
_KEYS: Final = {name.lower(): name for name in _NAMES.values()}
_SCHEMES: Final = frozenset({b"http", b"https"})
_RULE_IN_COMMENT: Final = re.compile(rb"\s*#[#\s]*(?:dis)?allow\s*:\s*[/*]\S*\s*\Z", re.IGNORECASE)
_LONGEST_KEY: Final = 16  # characters: anything longer is not a misspelling
_MOST_GUESSED: Final = 300  # different unknown keys of a file that are compared with the known ones


def check(subject: Subject, found: Findings) -> None:
    """Check the syntax of each line of *subject*."""
    keys: set[bytes] = set()
    for record in subject.records:
        line = subject.raw(record)[:MAX_LINE].partition(b"\0")[0]
        if record.kind is Kind.UNKNOWN:
            _check_unknown(record, subject, found, keys)
        else:
            _check_key(record, line, subject, found, keys)
        if line[:1].isspace():
            found.add("indented-line", record.line, 1)
        if record.kind in RULES and b"#" in line:
            _check_comment(record, line, found)
    _check_unread_lines(subject, found)
    _check_commented_out(subject, found)
    _check_blank_lines(subject, found)


def _check_comment(record: Record, line: bytes, found: Findings) -> None:
    """Check the comment that follows a rule on its *line*."""
    before = line[: line.index(b"#")]
    is_path = before[-1:].strip() and not before.endswith(b":")
    code = "hash-in-path" if is_path else "comment-after-rule"
    found.add(code, record.line, characters(before) + 1, before.strip())


def _check_commented_out(subject: Subject, found: Findings) -> None:
    """Find the first line that would be a rule without its #."""
    numbers = [number for number, line in enumerate(subject.lines, start=1) if _RULE_IN_COMMENT.match(line)]
    if numbers:
        more = len(numbers) - 1
        others = f", nor {'is' if more == 1 else 'are'} {more:,} more like it" if more else ""
        found.add("commented-out-rule", numbers[0], 1, subject.lines[numbers[0] - 1].strip(b"# \t"), others)


def _check_unknown(record: Record, subject: Subject, found: Findings, keys: set[bytes]) -> None:
    if record.key.lower() in _SCHEMES and record.value.startswith(b"//"):
        found.add("bare-url", record.line, subject.column(record))
        return
    keys.add(record.key)
    meant = _guess(record.key.lower()) if len(keys) < _MOST_GUESSED else ""
    code = "misspelt-key-ignored" if meant else "unknown-record"
    found.add(code, record.line, subject.column(record), record.key, meant)


@lru_cache(maxsize=4_096)
def _guess(key: bytes) -> str:
    """The known key that *key* resembles, or an empty string."""
    if len(key) > _LONGEST_KEY:
        return ""
    close = get_close_matches(key.decode("latin-1"), _KEYS, n=1, cutoff=0.8)
    return _KEYS[close[0]] if close else ""


def _check_key(record: Record, line: bytes, subject: Subject, found: Findings, keys: set[bytes]) -> None:
    key, name = record.key.lower(), _NAMES[record.kind]
    first = key.partition(b" ")[0]
    if b":" not in line.partition(b"#")[0] or (first != key and kind_of(first) is record.kind and b"/" in key):
        found.add("missing-colon", record.line, subject.column(record), record.key.partition(b" ")[0])
    elif key != name.lower().encode() and key not in AI_TRAINING:
        found.add("misspelt-key", record.line, subject.column(record), record.key, name)
    elif record.key not in keys and key not in AI_TRAINING and not _is_usual(record.key.decode()):
        found.add("odd-case-key", record.line, subject.column(record), record.key, name)
    keys.add(record.key)


def _is_usual(key: str) -> bool:
    return key in {key.lower(), key.capitalize(), key.title()}


def _check_unread_lines(subject: Subject, found: Findings) -> None:
    """Check the lines that are not records."""
    recorded = {record.line for record in subject.records}
    for number, line in enumerate(subject.lines, start=1):
        text = line.strip()
        if not text or text[:1] == b"#" or number in recorded:
            continue
        word = text.split(None, 1)[0]
        if kind_of(word) is not Kind.UNKNOWN and b":" not in text and len(text) > len(word):
            found.add("missing-colon", number, 1, word)
        elif text[:1] != b"\0":
            found.add("unreadable-line", number, 1)


def _check_blank_lines(subject: Subject, found: Findings) -> None:
    """Find the first blank line inside each group."""
    is_reported = False
    before: Record | None = None
    for record in subject.records:
        if record.kind is Kind.USER_AGENT:
            is_same_group = before is not None and before.kind is Kind.USER_AGENT
            is_reported, before = is_reported and is_same_group, record
        elif record.kind in RULES:
            blank = 0 if is_reported or before is None else _first_blank(subject.lines, before.line, record.line)
            if blank:
                found.add("blank-line-in-group", blank)
                is_reported = True
            before = record if before is not None else None


def _first_blank(lines: list[bytes], start: int, end: int) -> int:
    return next((number for number in range(start + 1, end) if not lines[number - 1].strip()), 0)
