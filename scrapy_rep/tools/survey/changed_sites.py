"""The sites that changed between two surveys, one by one: what changed, and the lines of the file that did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from hashlib import sha256
from typing import Final

from scrapy_rep.protocol.display import shown
from scrapy_rep.protocol.records import bom_length
from scrapy_rep.tools.lint import Severity
from scrapy_rep.tools.page.explorer import Column, Item, Line, Mark, Tag

from . import comparison as what
from . import totals as kinds
from .comparison import SiteChange, treatments
from .records import SiteRecord, SurveyFolder
from .sites import line_text
from .texts import SEVERITY_NAMES, finding_title, severity_of

COLUMNS: Final = (
    Column("Site"), Column("What changed"), Column("Newly shut out", "number"),
    Column("No longer shut out", "number"), Column("Rules before", "number"), Column("Rules now", "number"),
    Column("Lines alike, %", "number"), Column("New errors", "number"),
)  # fmt: skip
_GROUPS: Final = ("What changed", "Newly shuts out", "No longer shuts out", "New error")
COLOURS: Final = {
    what.OTHER_FILE: "blue", what.NEW_FILE: "green", what.NO_FILE_ANY_MORE: "violet", what.UNREACHABLE: "red",
    what.REACHABLE_AGAIN: "teal", what.APPEARED: "grey", what.GONE: "grey",
}  # fmt: skip

_MOST_LINES: Final = 1_000  # of a file that is compared with another: the time grows with the square
_AROUND: Final = 2  # lines that are shown before and after those that changed
_NOTHING_SHOWN: Final = f"The first {_MOST_LINES:,} lines are the same but for white space at their ends."
_NOT_THERE: Final = "The files are not both in the folders of the surveys, or they have changed since."
_NO_ROOM: Final = "This report has no room for more files."


def rank(tag: Tag) -> tuple[int, str]:
    """The place of *tag* among all."""
    return _GROUPS.index(tag.group), tag.label.lower()


def what_tag(name: str) -> Tag:
    """The tag of sites to which this happened."""
    return Tag(f"what:{name}", "What changed", name)


def shut_out_tag(name: str) -> Tag:
    """The tag of sites that newly shut out the crawler called *name*."""
    return Tag(f"shut-out:{name}", "Newly shuts out", name)


def let_in_tag(name: str) -> Tag:
    """The tag of sites that no longer shut out the crawler called *name*."""
    return Tag(f"let-in:{name}", "No longer shuts out", name)


def tags_of(change: SiteChange) -> Iterator[Tag]:
    """All tags of a site that changed."""
    yield what_tag(change.what)
    yield from map(shut_out_tag, change.shut_out)
    yield from map(let_in_tag, change.let_in)
    for code in change.new_findings(Severity.ERROR):
        yield Tag(f"error:{code}", "New error", shown(finding_title(code)))


def row_of(change: SiteChange) -> list[str | int | None]:
    """The cells of `COLUMNS`."""
    rules = [record.rules if record and record.has_file else None for record in (change.old, change.new)]
    errors = len(change.new_findings(Severity.ERROR)) if change.files else None
    moved = len(change.shut_out), len(change.let_in)
    return [shown(change.site), change.what, *moved, *rules, change.similarity, errors]


def item_of(change: SiteChange, old: SurveyFolder, new: SurveyFolder, left: int) -> Item:
    """The page of a site; *left* is the number of characters that the pages of all have left."""
    facts = [
        (label, *map(shown, _described(record))) for label, record in (("Before", change.old), ("Now", change.new))
    ]
    marks: list[tuple[str, list[Mark]]] = [("What changed", [*_marks(change)])]
    if not change.files:
        return Item(facts, marks)
    bodies = [_body(folder, record) for folder, record in zip((old, new), change.files, strict=True)]
    if bodies[0] is None or bodies[1] is None:
        return Item(facts, marks, _NOT_THERE)
    if left <= 0:
        return Item(facts, marks, _NO_ROOM)
    source = [*changed_lines(bodies[0], bodies[1])]
    return Item(facts, marks, "Lines that were added (+) and removed (−)." if source else _NOTHING_SHOWN, source)


def _described(record: SiteRecord | None) -> Iterator[str]:
    if record is None:
        yield "not surveyed"
        return
    yield kinds.kind_of(record)
    if record.problem:
        yield record.problem
    if record.status is not None:
        yield f"HTTP status {record.status}"
    if record.has_file:
        yield f"{record.bytes:,} bytes, {record.lines:,} lines, {record.rules:,} rules"
    if record.fetched_at:
        yield record.fetched_at.replace("T", " ").replace("+00:00", " UTC")


def _body(folder: SurveyFolder, record: SiteRecord) -> bytes | None:
    body = folder.body(record)
    return body if body is not None and sha256(body).hexdigest() == record.sha256 else None


def _marks(change: SiteChange) -> Iterator[Mark]:
    yield COLOURS[change.what], change.what, []
    yield from (("red", f"newly shuts out {name}", []) for name in change.shut_out)
    yield from (("green", f"no longer shuts out {name}", []) for name in change.let_in)
    if not change.files or not change.old or not change.new:
        return
    moved = {*change.shut_out, *change.let_in}
    yield from (mark for name, mark in _other_treatments(change.old, change.new) if name not in moved)
    yield from _signals(change.old, change.new)
    yield from _findings(change.old, change.new)
    for label, before, now in _counts(change.old, change.new):
        if before != now:
            yield "grey", f"{label}: {before:g} → {now:g}", []


def _other_treatments(old: SiteRecord, new: SiteRecord) -> Iterator[tuple[str, Mark]]:
    before, now = treatments(old), treatments(new)
    for name in dict.fromkeys([*now, *before]):
        was, becomes = before.get(name, "not named"), now.get(name, "not named")
        if was != becomes:
            yield name, ("amber", f"{name}: {was} → {becomes}", [])


def _signals(old: SiteRecord, new: SiteRecord) -> Iterator[Mark]:
    before, now = _answers(old), _answers(new)
    for name in dict.fromkeys([*now, *before]):
        was, becomes = before.get(name, "no answer"), now.get(name, "no answer")
        if was != becomes:
            yield "blue", f"{name}: {was} → {becomes}", []


def _answers(record: SiteRecord) -> dict[str, str]:
    return {
        f"{signal}, {category}": answer
        for signal, each in record.ai_answers.items()
        for category, answer in each.items()
    }


def _findings(old: SiteRecord, new: SiteRecord) -> Iterator[Mark]:
    for code in _serious(new, old):
        yield "red", shown(f"new {SEVERITY_NAMES[severity_of(code)]}: {finding_title(code)}"), []
    for code in _serious(old, new):
        yield "green", shown(f"no longer: {finding_title(code)}"), []


def _serious(record: SiteRecord, other: SiteRecord) -> list[str]:
    """The errors and warnings of *record* that *other* has not."""
    serious = {Severity.ERROR, Severity.WARNING}
    return [code for code in record.findings if code not in other.findings and severity_of(code) in serious]


def _counts(old: SiteRecord, new: SiteRecord) -> Iterator[tuple[str, float, float]]:
    yield "Allow and Disallow lines", old.rules, new.rules
    yield "User-agent lines", old.user_agent_fields, new.user_agent_fields
    yield "Sitemap lines", old.sitemaps, new.sitemaps
    before, now = (max(each.crawl_delays.values(), default=0.0) for each in (old, new))
    yield "longest Crawl-delay, s", before, now


def changed_lines(old: bytes, new: bytes) -> Iterator[Line]:
    """Yield the lines that differ between two files, with a few around them; white space at line ends is none."""
    before, now = _lines(old), _lines(new)
    matcher = SequenceMatcher(None, before, now)
    for group in matcher.get_grouped_opcodes(_AROUND):
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
    return (Line(number + 1, line_text(lines[number]), [], sign) for number in range(start, stop))
