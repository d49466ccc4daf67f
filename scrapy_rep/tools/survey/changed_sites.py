"""The sites that changed between surveys, one by one: a row in the list, tags, and a page with the history."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Final

from scrapy_rep.census.restriction import OTHERS
from scrapy_rep.census.row import Row
from scrapy_rep.protocol.display import shown
from scrapy_rep.protocol.records import bom_length
from scrapy_rep.tools.page import Cell, Column, Explorer, ItemDetails, Mark, SourceLine, Tag

from . import comparison as what
from .comparison import Comparison, SiteChange, SurveyChange
from .joined import Survey
from .sites import NO_ROOM, line_texts, when_fetched
from .totals import ANY_AI, blocks

COLOURS: Final = {
    what.OTHER_FILE: "blue", what.NEW_FILE: "green", what.NO_FILE_ANY_MORE: "violet", what.UNREACHABLE: "red",
    what.REACHABLE_AGAIN: "teal", what.CHANGED_BACK: "amber",
}  # fmt: skip
"""What may happen to a site, in order, with the colour of each."""

_COLUMNS: Final = (
    Column("Site"), Column("What changed"), Column("Newly closed to", "number"),
    Column("Opened to", "number"), Column("Rules before", "number"), Column("Rules now", "number"),
    Column("Changes", "number"),
)  # fmt: skip
_GROUPS: Final = {
    "what": "What changed", "shut-out": "Newly closes everything to", "let-in": "No longer closes everything to",
}  # fmt: skip
"""The groups of tags in their order, by the first part of the key."""

_EVERYONE_ELSE: Final = "every crawler that it does not name"
_MOST_LINES: Final = 1_000  # of a file that is compared with another: the time grows with the square
_AROUND: Final = 2  # lines that are shown before and after those that changed
_NOTHING_SHOWN: Final = f"The first {_MOST_LINES:,} lines are the same but for white space at their ends."
_NOT_THERE: Final = "Two files to compare are not in the surveys, or they have changed since."


def explorer_of(comparison: Comparison, changes: Iterable[SiteChange]) -> Explorer:
    """Return the sites of *changes*, those of *comparison*, as many as a page lists."""
    explorer = Explorer("changed sites", _COLUMNS, _GROUPS.values(), has_signs=True)
    for change in changes:
        if not explorer.is_full:  # else only count it
            item = _item(change, comparison.surveys, has_room=explorer.has_room)
            explorer.add(_row(change), _tags_of(change), item)
    return explorer


def tag(kind: str, name: str) -> Tag:
    """The tag of sites that changed alike: *kind* is a key of the groups."""
    return Tag(f"{kind}:{name}", _GROUPS[kind], shown(_name(name)))


def _name(crawler: str) -> str:
    return _EVERYONE_ELSE if crawler == OTHERS else crawler


def _tags_of(change: SiteChange) -> Iterator[Tag]:
    yield tag("what", change.overall.what)
    yield from (tag("shut-out", name) for name in change.overall.shut_out)
    yield from (tag("let-in", name) for name in change.overall.let_in)


def _row(change: SiteChange) -> list[Cell]:
    rules = [row.rules if row.has_file else None for row in (change.rows[0], change.rows[-1])]
    moved = len(change.overall.shut_out), len(change.overall.let_in)
    times = sum(step is not None for step in change.steps)
    return [shown(change.site), change.overall.what, *moved, *rules, times]


# The page of a site


def _item(change: SiteChange, surveys: Sequence[Survey], *, has_room: bool) -> ItemDetails:
    labels = [shown(survey.label) for survey in surveys]
    facts = [(label, *map(shown, values)) for label, values in _history(change, labels)]
    marks = [(f"From {labels[0]} to {labels[-1]}", [*_marks(change.overall, change.rows[0], change.rows[-1])])]
    if len(change.steps) > 1:
        steps = zip(labels[1:], change.steps, pairwise(change.rows), strict=True)
        marks += [(f"Changed by {label}", [*_marks(step, *pair)]) for label, step, pair in steps if step]
    if sum(row.has_file for row in change.rows) < 2:
        return ItemDetails(facts, marks)
    if not has_room:
        return ItemDetails(facts, marks, NO_ROOM)
    return ItemDetails(facts, marks, *_difference(change.rows, surveys))


def _history(change: SiteChange, labels: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """What the site served and closed, with the dates from and to which it did."""
    ranks = range(len(labels))
    started = [rank for rank in ranks if rank == 0 or change.steps[rank - 1]]
    for start, after in zip(started, [*started[1:], len(labels)], strict=True):
        label = labels[start] if after == start + 1 else f"{labels[start]} to {labels[after - 1]}"
        yield label, [*_described(change.rows[start])]


def _described(row: Row) -> Iterator[str]:
    yield row.kind
    if row.problem:
        yield row.problem
    if row.has_file:
        yield f"{row.bytes:,} bytes, {row.lines:,} lines, {row.rules:,} rules"
    if blocked := blocks(row).get(ANY_AI):
        yield f"blocks for AI crawlers: {blocked}"
    if row.fetched_at:
        yield when_fetched(row.fetched_at)


def _marks(change: SurveyChange, old: Row, new: Row) -> Iterator[Mark]:
    """What changed between two surveys, as far as it is about crawlers and signals."""
    yield COLOURS[change.what], change.what, []
    for event in change.events:
        colour = "red" if event.shuts_out else "green" if event.lets_in else "amber"
        yield colour, shown(f"{_name(event.crawler)}: {event.before} → {event.now}"), []
    if old.has_file and new.has_file:
        for name in dict.fromkeys([*new.ai_answers, *old.ai_answers]):
            was, becomes = (row.ai_answers.get(name, "no answer") for row in (old, new))
            if was != becomes:
                yield "blue", shown(f"{name}: {was} → {becomes}"), []


# Lines


def _difference(rows: Sequence[Row], surveys: Sequence[Survey]) -> tuple[str, list[SourceLine]]:
    """The lines that differ between the first and the last file that are to be had, and a sentence about them."""
    files = [(row, survey) for row, survey in zip(rows, surveys, strict=True) if row.has_file]
    first = next(_bodies(files), None)
    last = next(_bodies(files[::-1]), None)
    if first is None or last is None or first[0] == last[0]:
        return _NOT_THERE, []
    (old, before), (new, now) = first, last
    source = [*changed_lines(before, now)]
    text = f"Lines that were added (+) and removed (−) from {old} to {new}."
    return shown(text) if source else _NOTHING_SHOWN, source


def _bodies(files: Iterable[tuple[Row, Survey]]) -> Iterator[tuple[str, bytes]]:
    for row, survey in files:
        body = survey.source.body(row)
        if body is not None:
            yield survey.label, body


def changed_lines(old: bytes, new: bytes) -> Iterator[SourceLine]:
    """Yield the lines that differ between two files, with a few around them; white space at line ends is none."""
    before, now = (
        [line.rstrip() for line in body[bom_length(body) :].splitlines()[:_MOST_LINES]] for body in (old, new)
    )
    for group in SequenceMatcher(None, before, now).get_grouped_opcodes(_AROUND):
        if all(tag == "equal" for tag, *_ in group):
            continue
        for tag, start, stop, new_start, new_stop in group:
            if tag == "equal":
                yield from _numbered(now, new_start, new_stop, "")
            else:
                yield from _numbered(before, start, stop, "-")
                yield from _numbered(now, new_start, new_stop, "+")


def _numbered(lines: list[bytes], start: int, stop: int, sign: str) -> Iterable[SourceLine]:
    return (
        SourceLine(number, sign, text)
        for number, text in enumerate(line_texts(lines[start:stop]), start=start + 1)
    )
