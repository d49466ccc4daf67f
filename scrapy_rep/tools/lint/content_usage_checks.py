"""Checks of Content-Usage, the rule of the IETF working group AIPREF: its path, its preferences, its position.

draft-ietf-aipref-attach-05 and draft-ietf-aipref-vocab-08. The Dictionary is strict: one wrong character, and
crawlers read nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scrapy_rep.directives.robots_signals import split_usage
from scrapy_rep.directives.structured_fields import Member, Token, parse_dictionary
from scrapy_rep.directives.vocabulary import LABELS, Signal, label_of
from scrapy_rep.protocol import Kind, Record
from scrapy_rep.protocol.records import as_text

from .finding import Findings
from .record_checks import Guesses
from .subject import RULES, Subject

_LABELS: Final = tuple(label.name for label in LABELS if label.signal is Signal.CONTENT_USAGE and label.categories)
_EXAMPLES: Final = " or ".join(f"{label}=n" for label in _LABELS)
_CHOICE: Final = f"{', '.join(_LABELS[:-1])} {{}} {_LABELS[-1]}"
_LONGEST: Final = 200  # characters of a value that are explained
_GLUED: Final = re.compile(r"(/[^,;|=]*)[,;|=]([a-z][a-z-]*[ \t]*=.*)", re.IGNORECASE | re.DOTALL)
_NO_SLASH: Final = re.compile(
    r"([^\s=,;:]*[/*.$][^\s=,;]*|[a-z]+://\S*)[ \t,]+([a-z][a-z-]*=.*)", re.IGNORECASE | re.DOTALL
)
_HOST: Final = re.compile(r"[a-z]+://[^/]*", re.IGNORECASE)
_ITEM: Final = re.compile(r"([a-z][a-z_-]*)[ \t]*[=:][ \t]*\"?(\??[a-z0-9]+)\"?[ \t,;]*", re.IGNORECASE)
_YES_OR_NO: Final = {
    **dict.fromkeys(("y", "yes", "true", "1", "?1", "allow"), "y"),
    **dict.fromkeys(("n", "no", "false", "0", "?0", "disallow", "deny"), "n"),
}  # fmt: skip


def check(subject: Subject, found: Findings) -> None:
    """Check the Content-Usage records of *subject*."""
    records = subject.by_kind[Kind.CONTENT_USAGE]
    guesses = Guesses(_LABELS)
    for record in records:
        column = subject.value_column(record)
        for code, *facts in _problems(record.value, guesses):
            found.add(code, record.line, column, *facts)
    if records:
        _check_position(subject, found)


def _problems(value: bytes, guesses: Guesses) -> Iterator[tuple[str, ...]]:
    """The codes and the facts of what is wrong in the *value* of a line, its path first."""
    path, preference = map(as_text, split_usage(value))
    problem = _path_problem(path, preference)
    if problem:
        yield "content-usage-path", *problem
    elif preference:
        yield from _preference_problems(preference, guesses)
    else:
        yield "empty-signal", f"Content-Usage: {path}" if path else "Content-Usage", "train-ai=n"


def _path_problem(path: str, preference: str) -> tuple[str, str, str] | None:
    """What is no path, why, and what to write."""
    if not path:
        found = _NO_SLASH.fullmatch(preference[:_LONGEST])
        if not found:
            return None
        right = "/" + _HOST.sub("", found[1]).lstrip("/")
        return found[1], "a path starts with a slash", _line(right, found[2])
    if path.endswith(",") and preference:
        return path, "its comma is part of it", _line(path.rstrip(","), preference)
    glued = None if preference else _GLUED.fullmatch(path[:_LONGEST])
    if glued:
        return path, "a space ends a path, and nothing else does", _line(glued[1], glued[2])
    return None


def _line(path: str, preference: str) -> str:
    return f"“{path} {_repaired(preference) or 'train-ai=n'}”"


def _preference_problems(text: str, guesses: Guesses) -> Iterator[tuple[str, ...]]:
    try:
        members = parse_dictionary(text)
    except ValueError:
        yield "bad-content-usage", text, _why_unreadable(text), _advice(text)
        return
    for key, item in members.items():
        label = label_of(Signal.CONTENT_USAGE, key)
        if label is None:
            meant = guesses.of(key)
            hint = f"; perhaps {meant} was meant" if meant else ""
            says = _YES_OR_NO.get(str(item.value).lower(), "n")
            yield "unknown-content-usage", key, hint, f"{meant}={says}" if meant else _CHOICE.format("or")
        elif not label.categories:
            yield "retired-content-usage", key, label.until, _CHOICE.format("and")
        else:
            yield from _value_problems(key, item)


def _value_problems(key: str, item: Member) -> Iterator[tuple[str, ...]]:
    """What is wrong with the *item* of a label that is read."""
    value = item.value
    meant = _YES_OR_NO.get(str(value).lower(), "") if value is not True else ""
    right = f"{key}={meant}" if meant else f"{key}=y or {key}=n"
    if value is True:
        yield "bad-content-usage", key, "without y or n it states no preference", right
    elif isinstance(value, str) and not isinstance(value, Token):
        yield "bad-content-usage", f'{key}="{value}"', "a preference has no quotes", right
    elif value not in {"y", "n"}:
        yield "bad-content-usage", f"{key}={value}", "its value is not y or n, in lower case", right
    for name in item.parameters:
        if label_of(Signal.CONTENT_USAGE, name):
            why = f"after a semicolon it is a parameter of {key}"
            yield "bad-content-usage", name, why, "a comma between labels, not a semicolon"


def _why_unreadable(text: str) -> str:
    """Why *text* is no Dictionary."""
    if not text.isascii():
        return "it contains characters other than ASCII"
    if text.rstrip().endswith(","):
        return "it ends with a comma"
    for part in map(str.strip, text.split(",") if len(text) <= _LONGEST else ()):
        why = _why_no_member(part)
        if why:
            return why
    return "it is not a Dictionary of RFC 9651"


def _why_no_member(text: str) -> str:
    """Why *text* is no member of a Dictionary; empty for one, and for a rare mistake."""
    if not text:
        return "it has a comma too many"
    try:
        parse_dictionary(text)
    except ValueError:
        pass
    else:
        return ""
    key, equals, _ = text.partition("=")
    if text.startswith("/"):
        return "a line has one path"
    if key != key.lower():
        return f"{key.strip()} is not in lower case"
    if key != key.strip() or re.search(r"=\s", text):
        return "there is no white space around an ="
    if ":" in key or not equals:
        return "a preference has the form label=y or label=n"
    return "labels are separated by commas" if re.search(r"\s", text) else ""


def _advice(text: str) -> str:
    if text.startswith("/"):
        return "a line for each path"
    repaired = _repaired(text)
    return f"“{repaired}”" if repaired else f"{_EXAMPLES}, with commas between labels"


def _repaired(text: str) -> str:
    """The Dictionary that *text* means; empty when that is not clear."""
    guesses, end = Guesses(_LABELS), 0
    members: dict[str, str] = {}
    text = text.strip(" \t,;")
    while end < len(text):
        item = _ITEM.match(text, end) if len(text) <= _LONGEST else None
        label = guesses.of(item[1]) if item else ""
        value = _YES_OR_NO.get(item[2].lower(), "") if item else ""
        if not item or not label or not value or members.get(label, value) != value:
            return ""
        members[label], end = value, item.end()
    return ", ".join(f"{label}={value}" for label, value in members.items())


def _check_position(subject: Subject, found: Findings) -> None:
    """Find the first Content-Usage in each run of user-agent lines, which its grammar makes a rule."""
    agent: Record | None = None
    usage: Record | None = None
    for record in subject.records:
        if record.kind is Kind.USER_AGENT:
            if agent and usage:
                found.add(
                    "content-usage-between-agents", usage.line, subject.column(usage), agent.value, record.value
                )
            agent, usage = record, None
        elif record.kind in RULES:
            agent = usage = None
        elif record.kind is Kind.CONTENT_USAGE and usage is None:
            usage = record
