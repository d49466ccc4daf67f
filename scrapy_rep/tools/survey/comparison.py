"""Two surveys of the same sites: what changed at each, who newly shuts out whom.

Records are joined by site. Where a robots.txt could not be read, on either side, nothing is said about its rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from scrapy_rep.tools.lint import Severity

from . import AS_ALL, SHUT_OUT, SiteRecord
from .folder import SurveyFolder
from .sketch import is_estimated, similarity
from .totals import Totals, severity_of

EVERYONE_ELSE: Final = "every crawler that it does not name"

APPEARED, GONE = "only in the new survey", "only in the old survey"
NEW_FILE, NO_FILE_ANY_MORE = "new robots.txt", "robots.txt removed"
UNREACHABLE, REACHABLE_AGAIN = "now unreachable", "reachable again"
OTHER_FILE: Final = "file changed"
"""What happened to a site."""


@dataclass(frozen=True, slots=True)
class SiteChange:
    """A site that changed, with its records; ``old`` or ``new`` is None where it was not surveyed.

    ``shut_out`` are the crawlers that may request ``/`` no more, ``let_in`` those that may again; a crawler counts
    when a file names it.
    """

    old: SiteRecord | None
    new: SiteRecord | None
    what: str
    shut_out: list[str] = field(default_factory=list)
    let_in: list[str] = field(default_factory=list)

    @property
    def site(self) -> str:
        """The site."""
        record = self.new or self.old
        return record.site if record else ""

    @property
    def files(self) -> tuple[SiteRecord, SiteRecord] | None:
        """Both records, if both have a robots.txt."""
        if self.old and self.new and self.old.has_file and self.new.has_file:
            return self.old, self.new
        return None

    @property
    def similarity(self) -> int | None:
        """How many of the lines are the same, in per cent; None unless there are two files.

        An estimate never says 100: only files of few lines, which are compared exactly, may differ in nothing else
        than comments, case, order and hosts.
        """
        if not self.files or not all(record.sketch for record in self.files):
            return None
        old, new = (record.sketch for record in self.files)
        return min(round(100 * similarity(old, new)), 99 if is_estimated(old, new) else 100)

    @property
    def new_errors(self) -> list[str]:
        """The codes of errors that the new file has and the old one has not."""
        return added_findings(*self.files, Severity.ERROR) if self.files else []


class Comparison:
    """Sums up the changes between the surveys in two folders."""

    def __init__(self, old: SurveyFolder, new: SurveyFolder) -> None:
        self.old, self.new = Totals(), Totals()
        self.in_both = 0
        self.what: Counter[str] = Counter()
        self.shut_out: Counter[str] = Counter()  # sites, by crawler
        self.let_in: Counter[str] = Counter()
        self.shutting_out = self.letting_in = 0  # sites
        self._folders = old, new

    def changes(self) -> Iterator[SiteChange]:
        """Yield each site that changed, and add it up; the sums are complete at the end.

        Raises ``OSError``, and ``ValueError`` for a folder without a survey.
        """
        old_folder, new_folder = self._folders
        positions: dict[str, int] = {}
        for position, record in old_folder.positioned_records():
            positions[record.site] = position
            self.old.add(record)
        for new in new_folder.records():
            self.new.add(new)
            place = positions.pop(new.site, None)
            old = None if place is None else old_folder.record_at(place)
            self.in_both += old is not None
            change = _change(old, new)
            if change:
                yield self._counted(change)
        for place in positions.values():
            yield self._counted(SiteChange(old_folder.record_at(place), None, GONE))

    def _counted(self, change: SiteChange) -> SiteChange:
        self.what[change.what] += 1
        self.shut_out.update(change.shut_out)
        self.let_in.update(change.let_in)
        self.shutting_out += bool(change.shut_out)
        self.letting_in += bool(change.let_in)
        return change

    @property
    def changed(self) -> int:
        """The number of sites in both surveys that changed."""
        return self.what.total() - self.what[APPEARED] - self.what[GONE]


def _change(old: SiteRecord | None, new: SiteRecord) -> SiteChange | None:
    if old is None:
        return SiteChange(None, new, APPEARED)
    what = _what(old, new)
    if not what:
        return None
    if old.problem or new.problem:
        return SiteChange(old, new, what)
    was, now = _closed(old), _closed(new)
    names = [*dict.fromkeys([*treatments(new), *treatments(old), EVERYONE_ELSE])]
    shut_out = [name for name in names if _is_in(name, now) and not _is_in(name, was)]
    let_in = [name for name in names if _is_in(name, was) and not _is_in(name, now)]
    return SiteChange(old, new, what, shut_out, let_in)


def _what(old: SiteRecord, new: SiteRecord) -> str:
    if bool(old.problem) != bool(new.problem):
        return UNREACHABLE if new.problem else REACHABLE_AGAIN
    if old.has_file != new.has_file:
        return NEW_FILE if new.has_file else NO_FILE_ANY_MORE
    if old.has_file:
        return OTHER_FILE if old.sha256 != new.sha256 else ""
    return OTHER_FILE if old.kind != new.kind else ""


def treatments(record: SiteRecord) -> dict[str, str]:
    """How the file of *record* treats each well-known crawler that it names; of an old record, each AI crawler."""
    if not record.has_file:
        return {}
    named = {name: how for name, how in record.ai_crawlers.items() if how != AS_ALL}
    return named | {name: crawler["treatment"] for name, crawler in record.crawlers.items()}


def _closed(record: SiteRecord) -> dict[str, bool]:
    """Which crawlers may not request ``/``."""
    closed = {name: how == SHUT_OUT for name, how in treatments(record).items()}
    return closed | {EVERYONE_ELSE: record.has_file and record.shuts_out}


def _is_in(name: str, closed: dict[str, bool]) -> bool:
    return closed.get(name, closed[EVERYONE_ELSE])


def added_findings(old: SiteRecord, new: SiteRecord, *severities: Severity) -> list[str]:
    """Return the codes of findings of these *severities* that *new* has and *old* has not."""
    return [code for code in new.findings if code not in old.findings and severity_of(code) in severities]
