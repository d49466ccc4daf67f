"""Surveys of the same sites: what changed at each, and for which crawlers.

Rows are joined by site, and only sites in every survey count: a list of other sites is no change. Where a
robots.txt could not be read, on either side, nothing is said about its rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from scrapy_rep.census.restriction import ALL, NONE, OTHERS
from scrapy_rep.census.row import Row
from scrapy_rep.protocol.display import number_of

from .joined import ComparedSurvey, Joined
from .owners import Owners
from .totals import Sums, figures_of_ai

NEW_FILE, NO_FILE_ANY_MORE = "new robots.txt", "robots.txt removed"
UNREACHABLE, REACHABLE_AGAIN = "now unreachable", "reachable again"
OTHER_FILE, CHANGED_BACK = "file changed", "changed, and back"
"""What happened to a site between two surveys."""

SITES, CHANGED = "sites in every survey", "changed"
SHUTTING_OUT: Final = "newly close everything to a crawler"
LETTING_IN: Final = "no longer close everything to one"
"""How many sites there are, how many of them changed, and how."""


class CrawlerEvent(NamedTuple):
    """Something else is closed to *crawler* than before, or it is named now and was not, or the reverse.

    ``before`` and ``now`` are ``none``, ``part`` or ``all``; behind the latter two stands whether this is by name,
    or through the group for all crawlers.
    """

    crawler: str
    before: str
    now: str

    @property
    def shuts_out(self) -> bool:
        """Whether everything is newly closed."""
        return self.now.startswith(ALL) and not self.before.startswith(ALL)

    @property
    def lets_in(self) -> bool:
        """Whether everything was closed, and is no longer."""
        return self.before.startswith(ALL) and not self.now.startswith(ALL)


class SurveyChange(NamedTuple):
    """What happened to a site between two surveys, and for which crawlers: those that a file names, and ``*``."""

    what: str
    events: Sequence[CrawlerEvent] = ()


def dated_events(rows: Sequence[Row], dates: Sequence[str]) -> Iterator[tuple[str, str, str, str, str]]:
    """The events of the site of *rows*, one row for each of *dates*, as lines of ``compare.csv``.

    Site, crawler, date of the survey that shows it, before, now. A robots.txt that could not be read is passed
    over: the one before counts.
    """
    known = [(date, row) for date, row in zip(dates, rows, strict=True) if OTHERS in row.restriction]
    for (_, old), (date, new) in pairwise(known):
        if old is not new:
            yield from ((new.site, each.crawler, date, each.before, each.now) for each in _events(old, new))


class Changes:
    """The changes of all sites between two surveys: the ``sites`` by what happened, and by crawler."""

    def __init__(self) -> None:
        self.sites: Counter[str] = Counter()
        self.shut_out: Counter[str] = Counter()
        self.let_in: Counter[str] = Counter()

    def add(self, change: SurveyChange | None) -> None:
        """Count a site, and its *change*, if any."""
        self.sites[SITES] += 1
        if change:
            shut_out = [event.crawler for event in change.events if event.shuts_out]
            let_in = [event.crawler for event in change.events if event.lets_in]
            self.sites.update([CHANGED, change.what])
            self.sites[SHUTTING_OUT] += bool(shut_out)
            self.sites[LETTING_IN] += bool(let_in)
            self.shut_out.update(shut_out)
            self.let_in.update(let_in)

    def summary(self) -> str:
        """The changes in a line."""
        number = self.sites
        return (
            f"{number_of(number[SITES], 'site', 'sites')} in every survey, {number[CHANGED]:,} changed,"
            f" {number[SHUTTING_OUT]:,} {SHUTTING_OUT}, {number[LETTING_IN]:,} no longer do"
        )


class Comparison:
    """Sums up the changes between the surveys *sources*, two or more, and what they have in figures.

    ``overall`` are the changes between the first and the last, ``steps`` those from each to the next, ``sums``
    those of each survey: all of the sites in every survey, the one denominator. ``left_out`` is the number of the
    others. ``owners`` are the domains of the first survey and of the last. Raises ``OSError``, and ``ValueError``
    for what is no survey.
    """

    def __init__(self, sources: Sequence[ComparedSurvey]) -> None:
        self._joined = Joined(sources)
        self.dates, self.is_dated = self._joined.labels, self._joined.is_dated
        self.overall = Changes()
        self.steps = [Changes() for _ in self.dates[1:]]
        self.sums = [Sums() for _ in self.dates]
        self.owners = Owners(), Owners()
        self.left_out = 0

    def changes(self) -> Iterator[tuple[Sequence[Row], SurveyChange]]:
        """Yield the rows of each site that changed, and how; and add all up: the sums are complete at the end."""
        for rows in self._joined.sites():
            if len(rows) < len(self.dates):
                self.left_out += 1
                continue
            for sums, row in zip(self.sums, rows, strict=True):
                sums.add(row)
            for owners, row in zip(self.owners, (rows[0], rows[-1]), strict=True):
                owners.add(row, figures_of_ai(row))
            steps = [_change(old, new) if old is not new else None for old, new in pairwise(rows)]
            for changes, step in zip(self.steps, steps, strict=True):
                changes.add(step)
            overall = _change(rows[0], rows[-1])
            if not overall and any(steps):
                overall = SurveyChange(CHANGED_BACK)
            self.overall.add(overall)
            if overall:
                yield rows, overall


def _change(old: Row, new: Row) -> SurveyChange | None:
    what = _what(old, new)
    return SurveyChange(what, [*_events(old, new)]) if what else None


def _what(old: Row, new: Row) -> str:
    if bool(old.problem) != bool(new.problem):
        return UNREACHABLE if new.problem else REACHABLE_AGAIN
    if old.has_file != new.has_file:
        return NEW_FILE if new.has_file else NO_FILE_ANY_MORE
    if old.has_file:
        return OTHER_FILE if old.sha256 != new.sha256 else ""
    return OTHER_FILE if old.kind != new.kind else ""


def _events(old: Row, new: Row) -> Iterator[CrawlerEvent]:
    """Yield what changed from *old* to *new* for each crawler that one of them names, and for ``*``."""
    if OTHERS not in old.restriction or OTHERS not in new.restriction:
        return
    for crawler in dict.fromkeys([*new.named, *old.named, OTHERS]):
        before, now = _closed_to(crawler, old), _closed_to(crawler, new)
        if before != now:
            yield CrawlerEvent(crawler, before, now)


def _closed_to(crawler: str, row: Row) -> str:
    """What the site of *row* closes to *crawler*, and whether by name; of ``*`` that goes without saying."""
    is_named = crawler in row.named
    closed = row.restriction[crawler if is_named else OTHERS]
    if closed == NONE or crawler == OTHERS:
        return closed
    return f"{closed} by name" if is_named else f"{closed} through *"
