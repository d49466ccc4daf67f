"""The sites of a survey, one by one: a row in the list, tags for what it shares with others, a page with its file.

What is said about a finding holds for every file: a survey that is resumed may have codes of another version.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Final

from scrapy_rep.census.restriction import ALL, NONE, OTHERS, PART
from scrapy_rep.census.row import Row
from scrapy_rep.protocol.display import abridged, shown
from scrapy_rep.protocol.records import bom_length
from scrapy_rep.tools.lint import CODES, Severity
from scrapy_rep.tools.page import Cell, Column, Explorer, ItemDetails, Mark, Tag

from .totals import severity_of, traits

SEVERITIES: Final[dict[Severity, tuple[str, str]]] = {
    Severity.ERROR: ("error", "red"), Severity.WARNING: ("warning", "amber"),
    Severity.OPTIMISE: ("possible improvement", "blue"), Severity.NOTE: ("note", "grey"),
}  # fmt: skip
"""The name and the colour of each severity."""

_NO_ROOM: Final = "This report has no room for more files."
_CHANGED: Final = "The file is not in the folder of the survey, or it has changed."

_GROUPS: Final[dict[str, str]] = {
    "serves": "The site serves", "reason": "Could not be read", "status": "HTTP status",
    "refuses": "Refuses its robots.txt",
    **{severity: f"{name.capitalize()}s" for severity, (name, _) in SEVERITIES.items()},
    "shuts-out": "Blocks by name", "names": "Names", "signal": "AI-use signals",
    "blocks": "Blocks", "answer": "Answers about AI",
}  # fmt: skip
"""The groups of tags in their order, by the kind of trait; those of findings by severity."""

_COLUMNS: Final = (
    Column("Site"), Column("robots.txt"), Column("Bytes", "number"), Column("Lines", "number"),
    Column("Rules", "number"), Column("User-agents", "number"), Column("Crawlers blocked", "number"),
    Column("Errors", "number"), Column("Warnings", "number"),
)  # fmt: skip
_RESTRICTIONS: Final = {
    ALL: ("red", "may request nothing"), PART: ("amber", "some paths are closed"),
    NONE: ("green", "may request all"),
}  # fmt: skip
_LINES_LISTED: Final = 12  # of a finding
_MOST_LINES: Final = 1_000  # of a file
_CHARACTERS_OF_A_FILE: Final = 30_000
_LONGEST_LINE: Final = 500  # characters
_FACT: Final = re.compile(r"\{\d\}")
_LAST_FACT: Final = re.compile(r"(?:[:,] |(?<=\w))\{\d\}\.$")


class SiteExplorer(Explorer):
    """The list of sites of a report: the first ones, as many as a page lists."""

    def __init__(self) -> None:
        super().__init__("sites", _COLUMNS, _GROUPS.values())

    def add_site(self, record: Row, item: ItemDetails) -> None:
        """Add the site of *record*; *item* is what `site_item` returns."""
        if item.source and not self.has_room:
            item = ItemDetails(item.facts, item.marks, _NO_ROOM)
        self.add(_row(record), (tag(*trait) for trait in traits(record)), item)


def _row(record: Row) -> list[Cell]:
    row: list[Cell] = [shown(record.site), record.kind]
    if not record.has_file:
        return [*row, *[None] * (len(_COLUMNS) - 2)]
    closed = sum(record.restriction[name] == ALL for name in record.named)
    figures = (record.bytes, record.lines, record.rules, record.user_agent_fields, closed)
    return [*row, *figures, _found(record, Severity.ERROR), _found(record, Severity.WARNING)]


def _found(record: Row, severity: Severity) -> int | None:
    """The number of findings of this *severity*; None for a file that was not linted."""
    if record.findings is None:
        return None
    return sum(count for code, count in record.findings.items() if severity_of(code) is severity)


# What is said about findings


@dataclass(frozen=True, slots=True)
class FindingKind:
    """The findings of a code: how serious they are, what they mean and what to do.

    What only a line can tell is an ellipsis in the ``text``, or left out.
    """

    severity: Severity
    colour: str
    title: str
    text: str
    tag: Tag


@lru_cache(maxsize=1_024)  # of a few codes, but for a file that somebody else wrote
def finding_kind(code: str) -> FindingKind:
    """Return what findings of *code* are; of another version's, a note of its code."""
    severity, title, text = severity_of(code), code, ""
    if code in CODES:
        title, advice = CODES[code].title, CODES[code].advice
        message = _FACT.sub("…", _LAST_FACT.sub(".", CODES[code].message))
        text = message if "{" in advice else f"{message} {advice}"
    tag = Tag(f"finding:{code}", _GROUPS[severity], shown(title), shown(text))
    return FindingKind(severity, SEVERITIES[severity][1], title, text, tag)


# Tags


@lru_cache(maxsize=1_024)
def tag(kind: str, name: str) -> Tag:
    """The tag of sites with the trait *name*."""
    if kind == "finding":
        return finding_kind(name).tag
    return Tag(f"{kind}:{name}", _GROUPS[kind], shown(f"HTTP status {name}" if kind == "status" else name))


# The page of a site


def site_item(record: Row, octets: bytes | None) -> ItemDetails:
    """The page of the site of *record*, with its robots.txt; None when that is not there or has changed."""
    facts = [(label, *map(shown, values)) for label, *values in _facts(record)]
    if not record.has_file:
        return ItemDetails(facts)
    marks = [*_marks(record)]
    if octets is None:
        return ItemDetails(facts, marks, _CHANGED)
    lines = octets[bom_length(octets) :].splitlines()
    source = _line_texts(lines[:_MOST_LINES])
    ends = [*accumulate(map(len, source))]
    source = source[: bisect_right(ends, _CHARACTERS_OF_A_FILE)]
    is_cut = len(source) < len(lines)
    text = f"The first {len(source):,} of {len(lines):,} lines." if is_cut else "As the site serves it."
    return ItemDetails(facts, marks, text, source, _notes(record, len(source)))


def _facts(record: Row) -> Iterator[tuple[str, ...]]:
    yield "robots.txt", record.kind
    if record.problem:
        yield "Could not be read", record.reason, record.problem
    if record.status is not None:
        yield "HTTP status", str(record.status)
    if record.refused:
        yield "Refused", record.refused
    if record.url:
        yield "Address", record.url
    if record.location:
        yield "Redirects to", record.location
    if record.hops:
        yield "Redirects", str(len(record.hops))
    if record.fetched_at:
        yield "Fetched", f"{record.fetched_at:%Y-%m-%d %H:%M:%S} UTC"
    if record.has_file:
        yield "Size", f"{record.bytes:,} bytes"
        unreadable = f"{record.unread_lines:,} unreadable"
        yield "Lines", f"{record.lines:,}", f"{record.comments:,} with a comment", unreadable
        yield "Rules", f"{record.disallow:,} Disallow", f"{record.allow:,} Allow"
        yield "User-agent lines", f"{record.user_agent_fields:,}"
        yield "Sitemaps", f"{record.sitemaps:,}"
    if record.has_file and record.crawl_delays:
        yield "Crawl-delay", f"at most {record.longest_delay:g} s"


def _marks(record: Row) -> Iterator[tuple[str, list[Mark]]]:
    if record.findings is not None:
        found = sorted(record.findings, key=lambda code: (finding_kind(code).severity.rank, code))
        yield "Findings", [_finding_mark(record, code) for code in found] or [("green", "None.", [])]
    named = [_crawler_mark(record, name) for name in record.named]
    yield "Well-known crawlers", [*named, _crawler_mark(record, OTHERS)]


def _crawler_mark(record: Row, name: str) -> Mark:
    colour, text = _RESTRICTIONS[record.restriction[name]]
    line = record.restriction_lines[name]
    return colour, f"{'All others' if name == OTHERS else name}: {text}", [line] if line else []


def _finding_mark(record: Row, code: str) -> Mark:
    kind, count = finding_kind(code), (record.findings or {})[code]
    lines = [line for line in (record.finding_lines or {}).get(code, []) if line][:_LINES_LISTED]
    times = f" ({count:,} times)" if count > 1 else ""
    return kind.colour, shown(f"{kind.title}{times}" + (f": {kind.text}" if kind.text else "")), lines


def _notes(record: Row, lines: int) -> dict[int, list[tuple[str, str]]]:
    """The findings of *record* beside the first *lines*."""
    notes: dict[int, list[tuple[str, str]]] = {}
    finding_lines = record.finding_lines or {}
    for code in sorted(finding_lines, key=lambda code: finding_kind(code).severity.rank):
        note = finding_kind(code).colour, finding_kind(code).tag.label
        for number in finding_lines[code]:
            if 0 < number <= lines:
                notes.setdefault(number, []).append(note)
    return notes


def _line_texts(lines: Sequence[bytes]) -> list[str]:
    """Return *lines* of a robots.txt as texts that are safe to show, and not too long."""
    octets = b"\n".join(line[: 4 * _LONGEST_LINE] for line in lines)
    text = octets.decode("utf-8", "backslashreplace").replace("\t", "    ")
    texts = text.split("\n") if lines else []
    if text.replace("\n", "").isprintable() and len(max(texts, key=len, default="")) <= _LONGEST_LINE:
        return texts  # as nearly all are
    return [shown(abridged(text, _LONGEST_LINE)) for text in texts]
