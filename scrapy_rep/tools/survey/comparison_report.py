"""The page about two surveys: the figures before and now, who newly shuts out whom, and each site that changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from difflib import SequenceMatcher
from statistics import fmean, median
from typing import Final

from scrapy_rep.protocol.display import shown
from scrapy_rep.protocol.records import bom_length
from scrapy_rep.tools.answers import day_text
from scrapy_rep.tools.lint import Severity
from scrapy_rep.tools.page import Cell, Column, Explorer, Item, Line, Link, Mark, Part, Tag, page_template, percent

from . import UNREACHABLE, SiteRecord
from . import comparison as what
from . import totals as sums
from .comparison import Comparison, SiteChange, added_findings, treatments
from .folder import SurveyFolder
from .sites import NO_ROOM, finding_kind, line_texts, when_fetched
from .totals import Totals

_COLUMNS: Final = (
    Column("Site"), Column("What changed"), Column("Newly shut out", "number"),
    Column("No longer shut out", "number"), Column("Rules before", "number"), Column("Rules now", "number"),
    Column("Lines alike, %", "number"), Column("New errors", "number"),
)  # fmt: skip
_GROUPS: Final = {
    "what": "What changed", "shut-out": "Newly shuts out", "let-in": "No longer shuts out", "error": "New error",
}  # fmt: skip
"""The groups of tags in their order, by the first part of the key."""

_COLOURS: Final = {
    what.OTHER_FILE: "blue", what.NEW_FILE: "green", what.NO_FILE_ANY_MORE: "violet", what.UNREACHABLE: "red",
    what.REACHABLE_AGAIN: "teal", what.APPEARED: "grey", what.GONE: "grey",
}  # fmt: skip

_CRAWLERS_IN_CHART: Final = 20
_MOST_LINES: Final = 1_000  # of a file that is compared with another: the time grows with the square
_AROUND: Final = 2  # lines that are shown before and after those that changed
_NOTHING_SHOWN: Final = f"The first {_MOST_LINES:,} lines are the same but for white space at their ends."
_NOT_THERE: Final = "The files are not both in the folders of the surveys, or they have changed since."

_FIGURES: Final[dict[str, Callable[[Totals], str]]] = {
    "sites": lambda of: f"{of.sites:,}",
    "have a robots.txt": lambda of: percent(of.files, of.sites),
    "could not be read": lambda of: percent(of.traits["serves", UNREACHABLE], of.sites),
    "of the files contain an error": lambda of: percent(of.with_errors, of.files),
    "of the files shut out an AI crawler by name": lambda of: percent(
        of.traits["contains", sums.SHUTS_OUT_AI], of.files
    ),
    "of the files have an AI-use signal": lambda of: percent(of.with_signals, of.files),
    "bytes, median": lambda of: f"{median(of.figures['bytes'] or [0]):,.0f}",
    "lines, mean": lambda of: f"{fmean(of.figures['lines'] or [0]):,.1f}",
    "rules, mean": lambda of: f"{fmean(of.figures['rules'] or [0]):,.1f}",
    "User-agent lines, mean": lambda of: f"{fmean(of.figures['user_agent_fields'] or [0]):,.1f}",
}
"""What a survey says in figures."""


def comparison_report(old: SurveyFolder, new: SurveyFolder, when: datetime) -> tuple[str, Comparison]:
    """Return the page about the surveys in the folders *old* and *new*, and the sums.

    Raises ``OSError``, and ``ValueError`` for a folder without a survey.
    """
    comparison = Comparison(old, new)
    explorer = Explorer("changed sites", _COLUMNS, _GROUPS.values(), has_signs=True)
    for change in comparison.changes():
        if not explorer.is_full:  # else only count it
            item = _item(change, old, new, has_room=explorer.has_room)
            explorer.add(_row(change), _tags_of(change), item)
    page = page_template(__package__, "comparison.html").render(
        explorer.packed(),
        date=day_text(when),
        comparison=comparison,
        unreachable=comparison.what[what.UNREACHABLE],
        appeared=comparison.what[what.APPEARED],
        gone=comparison.what[what.GONE],
        what=[_part(name, comparison.what[name], colour) for name, colour in _COLOURS.items()],
        crawlers=_crawlers(comparison),
        figures=[(name, figure(comparison.old), figure(comparison.new)) for name, figure in _FIGURES.items()],
    )
    return page, comparison


def _part(name: str, count: int, colour: str) -> Part:
    return Part(name, count, colour, link=_tag("what", name).href if count else "")


def _crawlers(comparison: Comparison) -> dict[str, object]:
    shut_out, let_in = comparison.shut_out, comparison.let_in
    ranked = sorted({*shut_out, *let_in}, key=lambda name: (-shut_out[name], -let_in[name], name.lower()))
    bars = [
        Part(
            name, shut_out[name], "red", let_in[name], _tag("shut-out" if shut_out[name] else "let-in", name).href
        )
        for name in ranked[:_CRAWLERS_IN_CHART]
    ]
    rows = [
        (name, _count(shut_out[name], _tag("shut-out", name)), _count(let_in[name], _tag("let-in", name)))
        for name in ranked
    ]
    return {"bars": bars, "rows": rows}


def _count(number: int, tag: Tag) -> Link | int:
    return Link(number, tag.href) if number else 0


# The sites that changed


def _tag(kind: str, name: str, label: str = "") -> Tag:
    return Tag(f"{kind}:{name}", _GROUPS[kind], shown(label or name))


def _tags_of(change: SiteChange) -> Iterator[Tag]:
    yield _tag("what", change.what)
    yield from (_tag("shut-out", name) for name in change.shut_out)
    yield from (_tag("let-in", name) for name in change.let_in)
    yield from (_tag("error", code, finding_kind(code).title) for code in change.new_errors)


def _row(change: SiteChange) -> list[Cell]:
    rules = [record.rules if record and record.has_file else None for record in (change.old, change.new)]
    errors = len(change.new_errors) if change.files else None
    moved = len(change.shut_out), len(change.let_in)
    return [shown(change.site), change.what, *moved, *rules, change.similarity, errors]


def _item(change: SiteChange, old: SurveyFolder, new: SurveyFolder, *, has_room: bool) -> Item:
    facts = [
        (label, *map(shown, _described(record))) for label, record in (("Before", change.old), ("Now", change.new))
    ]
    marks = [("What changed", [*_marks(change)])]
    if not change.files:
        return Item(facts, marks)
    before, now = old.body(change.files[0]), new.body(change.files[1])
    if before is None or now is None:
        return Item(facts, marks, _NOT_THERE)
    if not has_room:
        return Item(facts, marks, NO_ROOM)
    source = [*changed_lines(before, now)]
    return Item(facts, marks, "Lines that were added (+) and removed (−)." if source else _NOTHING_SHOWN, source)


def _described(record: SiteRecord | None) -> Iterator[str]:
    if record is None:
        yield "not surveyed"
        return
    yield record.kind
    if record.problem:
        yield record.problem
    if record.status is not None:
        yield f"HTTP status {record.status}"
    if record.has_file:
        yield f"{record.bytes:,} bytes, {record.lines:,} lines, {record.rules:,} rules"
    if record.fetched_at:
        yield when_fetched(record.fetched_at)


def _marks(change: SiteChange) -> Iterator[Mark]:
    yield _COLOURS[change.what], change.what, []
    yield from (("red", f"newly shuts out {name}", []) for name in change.shut_out)
    yield from (("green", f"no longer shuts out {name}", []) for name in change.let_in)
    if not change.files:
        return
    old, new = change.files
    moved = {*change.shut_out, *change.let_in}
    before, now = (
        {name: how for name, how in treatments(each).items() if name not in moved} for each in change.files
    )
    yield from _moves("amber", before, now, "not named")
    yield from _moves("blue", _answers(old), _answers(new), "no answer")
    for code in added_findings(old, new, Severity.ERROR, Severity.WARNING):
        kind = finding_kind(code)
        yield "red", shown(f"new {kind.name}: {kind.title}"), []
    for code in added_findings(new, old, Severity.ERROR, Severity.WARNING):
        yield "green", shown(f"no longer: {finding_kind(code).title}"), []
    yield from _moves("grey", _counts(old), _counts(new), "")


def _moves(colour: str, before: Mapping[str, str], now: Mapping[str, str], nothing: str) -> Iterator[Mark]:
    """What is said by the same name before and now, where it is not the same; *nothing* where nothing is."""
    for name in dict.fromkeys([*now, *before]):
        was, becomes = before.get(name, nothing), now.get(name, nothing)
        if was != becomes:
            yield colour, f"{name}: {was} → {becomes}", []


def _answers(record: SiteRecord) -> dict[str, str]:
    return {
        f"{signal}, {category}": answer
        for signal, each in record.ai_answers.items()
        for category, answer in each.items()
    }


def _counts(record: SiteRecord) -> dict[str, str]:
    counts = {
        "Allow and Disallow lines": record.rules,
        "User-agent lines": record.user_agent_fields,
        "Sitemap lines": record.sitemaps,
        "longest Crawl-delay, s": record.longest_delay,
    }
    return {name: f"{count:g}" for name, count in counts.items()}


def changed_lines(old: bytes, new: bytes) -> Iterator[Line]:
    """Yield the lines that differ between two files, with a few around them; white space at line ends is none."""
    before, now = _lines(old), _lines(new)
    for group in SequenceMatcher(None, before, now).get_grouped_opcodes(_AROUND):
        if all(tag == "equal" for tag, *_ in group):
            continue
        for tag, start, stop, new_start, new_stop in group:
            if tag == "equal":
                yield from _numbered(now, new_start, new_stop, "")
            else:
                yield from _numbered(before, start, stop, "-")
                yield from _numbered(now, new_start, new_stop, "+")


def _lines(body: bytes) -> list[bytes]:
    return [line.rstrip() for line in body[bom_length(body) :].splitlines()[:_MOST_LINES]]


def _numbered(lines: list[bytes], start: int, stop: int, sign: str) -> Iterable[Line]:
    return (Line(number, sign, text) for number, text in enumerate(line_texts(lines[start:stop]), start=start + 1))
