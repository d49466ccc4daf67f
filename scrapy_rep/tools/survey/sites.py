"""The sites of a survey, one by one: a row in the list, what it shares with others, its file with the findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Final

from scrapy_rep.protocol.display import shown
from scrapy_rep.protocol.records import bom_length
from scrapy_rep.tools.lint import Severity
from scrapy_rep.tools.page.explorer import Column, Explorer, Item, Line, Mark, Tag

from . import totals as kinds
from .crawlers import RESTRICTED, SHUT_OUT, WELCOME
from .reasons import reason_for
from .records import SiteRecord
from .tags import rank, tags_of
from .texts import SEVERITY_COLOURS, finding_text, finding_title, severity_of

MOST_SITES: Final = 50_000
"""Sites that are listed; the totals count all."""

MOST_CHARACTERS: Final = 60_000_000
"""Characters of the files in a page."""

_MOST_LINES: Final = 1_000  # of a file
_CHARACTERS_OF_A_FILE: Final = 30_000
_LONGEST_LINE: Final = 500  # characters

_COLUMNS: Final = (
    Column("Site"), Column("robots.txt"), Column("Bytes", "number"), Column("Lines", "number"),
    Column("Rules", "number"), Column("User-agents", "number"), Column("Crawlers shut out", "number"),
    Column("Errors", "number"), Column("Warnings", "number"),
)  # fmt: skip
_TREATMENTS: Final = {SHUT_OUT: "red", RESTRICTED: "amber", WELCOME: "green"}
_LINES_LISTED: Final = 12  # of a finding

Body = Callable[[SiteRecord], bytes | None]


def no_body(record: SiteRecord) -> None:
    """Return no file for any *record*."""


def explorer_of(records: Iterable[SiteRecord], body: Body, similar: Mapping[str, Tag]) -> tuple[str, list[str]]:
    """Return the packed index and items of the first `MOST_SITES` of *records*.

    *body* returns the robots.txt of a record, if it is there; *similar* has a tag for the SHA-256 of each
    file that is nearly identical to others.
    """
    explorer, left = Explorer("sites", _COLUMNS), MOST_CHARACTERS
    for record in records:
        if len(explorer) == MOST_SITES:
            break
        item = _item(record, body, left)
        left -= sum(len(line.text) for line in item.source)
        explorer.add(_row(record), tags_of(record, similar), item)
    return explorer.finish(rank), explorer.chunks


def _row(record: SiteRecord) -> list[str | int | None]:
    row = [shown(record.site), kinds.kind_of(record)]
    if not record.has_file:
        return [*row, *[None] * (len(_COLUMNS) - 2)]
    closed = sum(crawler["treatment"] == SHUT_OUT for crawler in record.crawlers.values())
    severities = [severity_of(code) for code, count in record.findings.items() for _ in range(count)]
    return [
        *row, record.bytes, record.lines, record.rules, record.user_agent_fields, closed,
        severities.count(Severity.ERROR), severities.count(Severity.WARNING),
    ]  # fmt: skip


# The page of a site


def _item(record: SiteRecord, body: Body, left: int) -> Item:
    facts = [(label, *map(shown, values)) for label, *values in _facts(record)]
    if not record.has_file:
        return Item(facts)
    octets = body(record)
    if octets is None or sha256(octets).hexdigest() != record.sha256:
        return Item(facts, [*_marks(record)], "The file is not in the folder of the survey, or it has changed.")
    if left <= 0:
        return Item(facts, [*_marks(record)], "This report has no room for more files.")
    lines, source = _source(octets, record)
    is_cut = len(source) < lines
    text = f"The first {len(source):,} of {lines:,} lines." if is_cut else "As the site serves it."
    return Item(facts, [*_marks(record)], text, source)


def _facts(record: SiteRecord) -> Iterator[tuple[str, ...]]:
    yield "robots.txt", kinds.kind_of(record)
    if record.problem:
        yield "Could not be read", reason_for(record.problem), record.problem
    if record.status is not None:
        yield "HTTP status", str(record.status)
    if record.url:
        yield "Address", record.url
    if record.hops:
        yield "Redirects", str(len(record.hops))
    if record.fetched_at:
        yield "Fetched", record.fetched_at.replace("T", " ").replace("+00:00", " UTC")
    if record.has_file:
        yield from _figures(record)


def _figures(record: SiteRecord) -> Iterator[tuple[str, ...]]:
    yield "Size", f"{record.bytes:,} bytes"
    comments = record.comment_lines + record.lines_with_comment
    yield "Lines", f"{record.lines:,}", f"{comments:,} with a comment", f"{record.unread_lines:,} unreadable"
    yield "Rules", f"{record.disallow:,} Disallow", f"{record.allow:,} Allow"
    yield "User-agent lines", f"{record.user_agent_fields:,}"
    yield "Sitemaps", f"{record.sitemaps:,}"
    if record.crawl_delays:
        yield "Crawl-delay", f"at most {max(record.crawl_delays.values()):g} s"


def _marks(record: SiteRecord) -> Iterator[tuple[str, list[Mark]]]:
    found = sorted(record.findings, key=lambda code: (severity_of(code).rank, code))
    findings = [_finding_mark(record, code) for code in found]
    yield "Findings", findings or [("green", "None.", [])]
    crawlers = [
        (_TREATMENTS.get(how["treatment"], "grey"), f"{name}: {how['treatment']}", [how["line"]])
        for name, how in record.crawlers.items()
    ]
    others = "All others: shut out" if record.shuts_out else "All others: may request the home page"
    yield "Well-known crawlers", [*crawlers, ("red" if record.shuts_out else "grey", others, [])]
    signals: list[Mark] = [
        ("blue", f"{signal}: " + (_answers(record.ai_answers.get(signal, {})) or "no answer"), [])
        for signal in record.ai_signals
    ]
    if signals:
        yield "AI-use signals", signals


def _answers(answers: Mapping[str, str]) -> str:
    return ", ".join(f"{category} {answer}" for category, answer in answers.items())


def _finding_mark(record: SiteRecord, code: str) -> Mark:
    title, text = finding_title(code), finding_text(code)
    lines = [line for line in record.finding_lines.get(code, []) if line][:_LINES_LISTED]
    count = record.findings[code]
    times = f" ({count:,} times)" if count > 1 else ""
    return SEVERITY_COLOURS[severity_of(code)], shown(f"{title}{times}" + (f": {text}" if text else "")), lines


def _source(octets: bytes, record: SiteRecord) -> tuple[int, list[Line]]:
    """The number of lines, and the first ones."""
    lines = octets[bom_length(octets) :].splitlines()
    notes: dict[int, list[tuple[str, str]]] = {}
    for code in sorted(record.finding_lines, key=lambda code: severity_of(code).rank):
        for number in record.finding_lines[code]:
            notes.setdefault(number, []).append((SEVERITY_COLOURS[severity_of(code)], shown(finding_title(code))))
    source, left = [], _CHARACTERS_OF_A_FILE
    for number, line in enumerate(lines[:_MOST_LINES], start=1):
        text = line_text(line)
        left -= len(text)
        if left < 0:
            break
        source.append(Line(number, text, notes.get(number, [])))
    return len(lines), source


def line_text(line: bytes) -> str:
    """Return a line of a robots.txt as text that is safe to show, and not too long."""
    text = line[: 4 * _LONGEST_LINE].decode("utf-8", "backslashreplace").replace("\t", "    ")
    return shown(text[:_LONGEST_LINE] + "…" if len(text) > _LONGEST_LINE else text)
