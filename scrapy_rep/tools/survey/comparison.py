"""Surveys of the same sites: what changed at each, who newly closes everything to whom.

Rows are joined by site. Where a robots.txt could not be read, on either side, nothing is said about its rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from scrapy_rep.census.restriction import ALL, OTHERS
from scrapy_rep.census.row import REDIRECTED, Row
from scrapy_rep.census.row import UNREACHABLE as CANNOT_BE_READ
from scrapy_rep.census.sketch import is_estimated, similarity
from scrapy_rep.protocol.display import number_of
from scrapy_rep.tools.lint import Severity

from .joined import ComparedSurvey, Joined
from .totals import Sums, severity_of

EVERYONE_ELSE: Final = "every crawler that it does not name"

APPEARED, GONE = "only in the new survey", "only in the old survey"
NEW_FILE, NO_FILE_ANY_MORE = "new robots.txt", "robots.txt removed"
UNREACHABLE, REACHABLE_AGAIN = "now unreachable", "reachable again"
OTHER_FILE: Final = "file changed"
"""What happened to a site between two surveys."""

IN_ANY, IN_BOTH, CHANGED = "sites in any survey", "sites in both surveys", "changed"
SHUTTING_OUT: Final = "newly close everything to a crawler"
LETTING_IN: Final = "no longer close everything to one"
"""How many sites there are, how many of those in both changed, and how."""

CHANGED_BACK, IN_BETWEEN = "changed, and back", "only in a survey in between"
MISSING_IN_BETWEEN: Final = "unchanged, and not in a survey in between"
"""What happened to a site whose first and last rows do not differ."""

_OF_THE_LISTS: Final = (APPEARED, GONE, IN_BETWEEN, MISSING_IN_BETWEEN)
_UNKNOWN: Final = (CANNOT_BE_READ, REDIRECTED)


@dataclass(frozen=True, slots=True)
class SurveyChange:
    """What happened to a site between two surveys.

    ``shut_out`` are the crawlers to which everything is newly closed, ``let_in`` those to which it is no longer; a
    crawler counts when a file names it.
    """

    what: str
    shut_out: list[str] = field(default_factory=list)
    let_in: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SiteChange:
    """A site that changed, with its ``rows``, one for each survey, None where it was not surveyed.

    ``overall`` is the change between the first survey and the last, ``steps`` are those between each survey and
    the next, None where nothing changed.
    """

    rows: Sequence[Row | None]
    overall: SurveyChange
    steps: Sequence[SurveyChange | None]

    @property
    def old(self) -> Row | None:
        """The row of the first survey."""
        return self.rows[0]

    @property
    def new(self) -> Row | None:
        """The row of the last survey."""
        return self.rows[-1]

    @property
    def site(self) -> str:
        """The site."""
        return next(row.site for row in self.rows if row)

    @property
    def files(self) -> tuple[Row, Row] | None:
        """The first and the last row, if both have a robots.txt."""
        if self.old and self.new and self.old.has_file and self.new.has_file:
            return self.old, self.new
        return None

    @property
    def similarity(self) -> int | None:
        """How many of the lines are the same, in per cent; None unless there are two files.

        An estimate never says 100: only files of few lines, which are compared exactly, may differ in nothing else
        than comments, case, order and hosts.
        """
        if not self.files:
            return None
        old, new = (row.sketch or "" for row in self.files)
        if not (old and new):
            return None
        return min(round(100 * similarity(old, new)), 99 if is_estimated(old, new) else 100)

    @property
    def new_errors(self) -> list[str]:
        """The codes of errors that the last file has and the first one has not."""
        return added_findings(*self.files, Severity.ERROR) if self.files else []


class Changes:
    """The changes of all sites between two surveys: the ``sites`` by what happened, and by crawler."""

    def __init__(self) -> None:
        self.sites: Counter[str] = Counter()
        self.shut_out: Counter[str] = Counter()
        self.let_in: Counter[str] = Counter()

    def add(self, old: Row | None, new: Row | None, change: SurveyChange | None) -> None:
        """Count a site with its rows, and its *change*, if any."""
        self.sites[IN_ANY] += 1
        self.sites[IN_BOTH] += bool(old and new)
        if change:
            self.sites[change.what] += 1
            self.sites[CHANGED] += change.what not in _OF_THE_LISTS
            self.sites[SHUTTING_OUT] += bool(change.shut_out)
            self.sites[LETTING_IN] += bool(change.let_in)
            self.shut_out.update(change.shut_out)
            self.let_in.update(change.let_in)

    def summary(self, both: str) -> str:
        """The changes in a line; *both* names the two surveys."""
        number = self.sites
        return (
            f"{number_of(number[IN_BOTH], 'site', 'sites')} in {both}, {number[CHANGED]:,} changed,"
            f" {number[SHUTTING_OUT]:,} {SHUTTING_OUT}, {number[LETTING_IN]:,} no longer do"
        )


class Comparison:
    """Sums up the changes between the surveys *sources*, two or more, and what they have in figures.

    ``overall`` are the changes between the first and the last, ``steps`` those between each and the next. ``all``
    are the sums of each survey, ``same`` those of the sites in every survey, ``known`` those of the sites whose
    restrictions are known in every survey. Lines are drawn of the latter two: a share of all moves with the list.
    Raises ``OSError``, and ``ValueError`` for what is no survey.
    """

    def __init__(self, sources: Sequence[ComparedSurvey]) -> None:
        self._joined = Joined(sources)
        self.surveys = self._joined.surveys
        self.overall = Changes()
        self.steps = [Changes() for _ in self.surveys[1:]]
        self.all, self.same, self.known = ([Sums() for _ in self.surveys] for _ in range(3))

    def changes(self) -> Iterator[SiteChange]:
        """Yield each site that changed, and add it up; the sums are complete at the end."""
        for rows in self._joined.sites():
            self._add(rows)
            change = _site_change(rows)
            self.overall.add(rows[0], rows[-1], change.overall if change else None)
            steps = change.steps if change else [None] * len(self.steps)
            for sums, pair, step in zip(self.steps, pairwise(rows), steps, strict=True):
                sums.add(*pair, step)
            if change:
                yield change
        # Each counts in the wider ones.
        for all_, same, known in zip(self.all, self.same, self.known, strict=True):
            same.update(known)
            all_.update(same)

    def _add(self, rows: Sequence[Row | None]) -> None:
        """Count a site by its *rows*, one for each survey."""
        found = [(rank, row) for rank, row in enumerate(rows) if row]
        is_same = len(found) == len(rows)
        is_known = is_same and all(OTHERS in row.restriction for _, row in found)
        sums = self.known if is_known else self.same if is_same else self.all
        for rank, row in found:
            sums[rank].add(row)


def _site_change(rows: Sequence[Row | None]) -> SiteChange | None:
    steps = [_change(old, new) for old, new in pairwise(rows)]
    if not any(steps):
        return None
    overall = _change(rows[0], rows[-1])
    if not overall:  # the first and the last do not differ
        has_changed = any(_change(*pair) for pair in pairwise(row for row in rows if row))
        what = IN_BETWEEN if not rows[0] else CHANGED_BACK if has_changed else MISSING_IN_BETWEEN
        overall = SurveyChange(what)
    return SiteChange(rows, overall, steps)


def _change(old: Row | None, new: Row | None) -> SurveyChange | None:
    if old is None or new is None:
        return None if old is new else SurveyChange(GONE if old else APPEARED)
    what = _what(old, new)
    if not what:
        return None
    if old.kind in _UNKNOWN or new.kind in _UNKNOWN:
        return SurveyChange(what)
    was, now = _closed(old), _closed(new)
    names = [*dict.fromkeys([*treatments(new), *treatments(old), EVERYONE_ELSE])]
    shut_out = [name for name in names if _is_in(name, now) and not _is_in(name, was)]
    let_in = [name for name in names if _is_in(name, was) and not _is_in(name, now)]
    return SurveyChange(what, shut_out, let_in)


def _what(old: Row, new: Row) -> str:
    if bool(old.problem) != bool(new.problem):
        return UNREACHABLE if new.problem else REACHABLE_AGAIN
    if old.has_file != new.has_file:
        return NEW_FILE if new.has_file else NO_FILE_ANY_MORE
    if old.has_file:
        return OTHER_FILE if old.sha256 != new.sha256 else ""
    return OTHER_FILE if old.kind != new.kind else ""


def treatments(record: Row) -> dict[str, str]:
    """What the file of *record* closes to each well-known crawler that it names."""
    return {name: record.restriction[name] for name in record.named} if record.has_file else {}


def _closed(record: Row) -> dict[str, bool]:
    """To which crawlers everything is closed."""
    closed = {name: how == ALL for name, how in treatments(record).items()}
    return closed | {EVERYONE_ELSE: record.has_file and record.shuts_out}


def _is_in(name: str, closed: dict[str, bool]) -> bool:
    return closed.get(name, closed[EVERYONE_ELSE])


def added_findings(old: Row, new: Row, *severities: Severity) -> list[str]:
    """Return the codes of findings of these *severities* that *new* has and *old* has not; of light rows none."""
    if old.findings is None or new.findings is None:
        return []
    return [code for code in new.findings if code not in old.findings and severity_of(code) in severities]
