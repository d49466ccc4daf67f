"""Read bytes into numbered records, groups and extensions. RFC 9309 sections 2.1, 2.2 and 2.2.4.

The reader is tolerant: readable lines count, other lines are skipped, and no content raises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import starmap
from typing import Final, NamedTuple

from .dialect import GOOGLE, Dialect
from .records import MAX_LINE, Kind, Record, Rule, bom_length, kind_of, split_line

MAX_SIZE: Final = 512_000
"""The size limit of a robots.txt: 500 KiB, the minimum that RFC 9309 section 2.5 requires, and Google's limit."""

_new: Final = tuple.__new__  # takes a third of the time of calling a NamedTuple
_USER_AGENT, _ALLOW, _DISALLOW = Kind.USER_AGENT, Kind.ALLOW, Kind.DISALLOW  # in CPython 3.11, access is a call
_USUAL: Final = {key: kind_of(key) for key in (b"User-agent", b"User-Agent", b"Disallow", b"Allow", b"Sitemap")}
_HASH: Final = ord("#")  # `in` finds a number faster than bytes
_NUL: Final = 0
_LINE_ENDS: Final = (b"\n", b"\r")
_OF_THE_PROTOCOL: Final = frozenset({Kind.USER_AGENT, Kind.ALLOW, Kind.DISALLOW, Kind.SITEMAP, Kind.UNKNOWN})

Line = tuple[int, Kind, bytes, bytes]
"""The fields of a `Record` as a plain tuple: line number, kind, key and value."""
Run = tuple[list[Line], list[Line]]
"""User-agent lines, and the lines of the rules they share."""


class Group(NamedTuple):
    """User-agent lines, and the rules they share (RFC 9309 section 2.1)."""

    agents: tuple[Record, ...]
    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class Extension:
    """An extension record, for example Crawl-delay, and the user-agent lines it applies to."""

    agents: tuple[Record, ...]
    record: Record


def require_octets(body: object) -> None:
    """Raise `TypeError` for a *body* that is not ``bytes``."""
    if not isinstance(body, bytes):
        kind = type(body).__name__
        raise TypeError(f"a robots.txt is read as bytes, not {kind}: pass response.body, or encode the text")


def cut(body: bytes, limit: int | None = MAX_SIZE) -> bytes:
    """The first *limit* bytes of *body*, without the line that the limit would split.

    Raises `TypeError` for a *body* that is not ``bytes``.
    """
    require_octets(body)
    if limit is None or len(body) <= limit:
        return body
    kept = body[:limit]
    if body.startswith(_LINE_ENDS, limit) or kept.endswith(_LINE_ENDS):
        return kept
    return kept[: max(map(kept.rfind, _LINE_ENDS)) + 1]


def records_in(body: bytes, dialect: Dialect = GOOGLE) -> Iterator[Record]:
    """The records in line order."""
    return starmap(Record, filter(None, lines_in(body, dialect)))


def lines_in(body: bytes, dialect: Dialect = GOOGLE) -> Iterator[Line | None]:
    """The records as plain tuples, with None for each blank line that ends a group."""
    lenient, blank_line_ends = dialect.lenient_keys, dialect.blank_line_ends
    kinds = dict(_USUAL) if dialect.allow_counts else {}
    is_odd = len(body) > MAX_LINE or _NUL in body
    for number, line in enumerate(body[bom_length(body) :].splitlines(), start=1):
        key, colon, value = line.partition(b":")
        kind = kinds.get(key)
        if kind and colon and _HASH not in value and not (is_odd and (_NUL in value or len(line) > MAX_LINE)):
            yield number, kind, key, value.strip()  # nearly every record; `split_line` reads the others
            continue
        key, value = split_line(line, lenient) if line and line[0] != _HASH else (b"", b"")
        if key:
            kind = kinds.get(key)
            if kind is None:
                kind = kind_of(key, lenient)
                kinds[key] = kind = kind if dialect.allow_counts or kind is not _ALLOW else Kind.UNKNOWN
            yield number, kind, key, value
        elif blank_line_ends and not line.strip():
            yield None


def runs_in(lines: Iterable[Line | None], closing: Iterable[Kind]) -> Iterator[Run]:
    """The groups in *lines*, where None ends a group; rules before the first user-agent line are ignored.

    Only a record of a *closing* kind ends a run of user-agent lines: for Google, a rule.
    """
    kinds = tuple(closing)  # a tuple compares members without hashing them
    agents: list[Line] = []
    rules: list[Line] = []
    is_closed = False
    for line in lines:
        kind = line[1] if line else None
        if kind is None or (is_closed and kind is _USER_AGENT):
            if agents:
                yield agents, rules
            agents, rules, is_closed = [], [], False
        if line is None:
            continue
        if kind is _USER_AGENT:
            agents.append(line)
        elif agents and (kind is _DISALLOW or kind is _ALLOW):
            rules.append(line)
        is_closed = is_closed or kind in kinds
    if agents:
        yield agents, rules


def groups_in(lines: Iterable[Line | None], closing: Iterable[Kind]) -> Iterator[Group]:
    """As `runs_in`, with a `Record` or `Rule` for each line."""
    for agents, rules in runs_in(lines, closing):
        yield Group(tuple(starmap(Record, agents)), tuple(map(rule_of, rules)))


def rule_of(line: Line) -> Rule:
    """The rule on *line*."""
    number, kind, _, value = line
    return _new(Rule, (kind is _ALLOW, value, number))


def extensions(records: Iterable[Record]) -> Iterator[Extension]:
    """The extension records, each with the user-agent lines it applies to.

    These records do not end a group of rules. For them, a run of user-agent lines ends at the first record that is
    neither user-agent nor Sitemap: in "a / delay 1 / b / delay 2", the crawlers a and b have different delays.
    """
    agents: list[Record] = []
    run: tuple[Record, ...] | None = None  # agents once the run has ended; thousands of records may share it
    for record in records:
        if record.kind is Kind.USER_AGENT:
            if run is not None:
                agents, run = [], None
            agents.append(record)
        elif record.kind is not Kind.SITEMAP:
            if run is None:
                run = tuple(agents)
            if record.kind not in _OF_THE_PROTOCOL:
                yield Extension(run, record)


def extensions_for(records: Iterable[Record], is_for: Callable[[Record], bool]) -> Iterator[Record]:
    """The extension records whose user-agent lines include one that *is_for* a crawler."""
    run: tuple[Record, ...] | None = None
    is_run_for = False
    for extension in extensions(records):
        if extension.agents is not run:  # thousands of records may share thousands of lines
            run = extension.agents
            is_run_for = any(map(is_for, run))
        if is_run_for:
            yield extension.record


def outside_groups(found: Iterable[Extension]) -> list[Record]:
    """The records of the extensions *found* before the first user-agent line."""
    return [extension.record for extension in found if not extension.agents]
