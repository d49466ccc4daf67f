"""Dated surveys in figures: each with all its sites, and all with the same sites, so that lines can be drawn.

Where the list of sites changes from survey to survey, a share of all sites moves although no site did. Lines are
therefore about the sites that are in every survey alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from scrapy_rep.census.restriction import ALL, NONE, OTHERS
from scrapy_rep.census.row import UNREACHABLE, Row
from scrapy_rep.tools.crawlers import AI_CRAWLERS, COMMON_AI_CRAWLERS
from scrapy_rep.tools.lint import Severity

from .totals import by_category, severity_of


class Figures:
    """Sites of one survey, and their files, in figures."""

    def __init__(self) -> None:
        self.sites = self.files = self.unreachable = 0
        self.linted = self.with_errors = self.naming_ai = self.with_signals = 0  # files
        self.bytes: Counter[float] = Counter()  # files by size
        self.delays: Counter[float] = Counter()  # files by their longest delay in seconds
        self.lines = self.rules = self.user_agent_fields = 0

    def add(self, row: Row) -> None:
        """Count *row*."""
        self.sites += 1
        self.unreachable += row.kind == UNREACHABLE
        if row.has_file:
            self._add_file(row)

    def _add_file(self, row: Row) -> None:
        self.files += 1
        self.bytes[row.bytes] += 1
        self.lines += row.lines
        self.rules += row.rules
        self.user_agent_fields += row.user_agent_fields
        self.with_signals += bool(row.ai_signals)
        self.naming_ai += any(row.restriction[name] == ALL for name in row.named if name in AI_CRAWLERS)
        if row.crawl_delays:
            self.delays[row.longest_delay] += 1
        if row.findings is not None:
            self.linted += 1
            self.with_errors += any(severity_of(code) is Severity.ERROR for code in row.findings)


class Restrictions:
    """What the same sites close in one survey: by category of AI crawlers, and to each common AI crawler."""

    def __init__(self) -> None:
        self.categories: Counter[tuple[str, str]] = Counter()  # sites by category and the most that is closed
        self.agents: Counter[tuple[str, str]] = Counter()

    def add(self, row: Row) -> None:
        """Count *row*, whose restrictions are known."""
        others = row.restriction[OTHERS]
        self.categories.update(by_category(row).items())
        self.agents.update((name, row.restriction.get(name, others)) for name in COMMON_AI_CRAWLERS)

    def closed(self, category: str) -> tuple[int, int]:
        """The numbers of sites that close everything to a crawler of *category*, and that close something."""
        everything = self.categories[category, ALL]
        return everything, sum(
            count for (name, closes), count in self.categories.items() if name == category and closes != NONE
        )


class Trends:
    """Sums up *number* surveys by site.

    ``all`` are the figures of each survey, ``same`` those of the sites in every survey, ``restrictions`` those of
    the ``known`` sites, whose restrictions are known in every survey.
    """

    def __init__(self, number: int) -> None:
        self.all = [Figures() for _ in range(number)]
        self.same = [Figures() for _ in range(number)]
        self.restrictions = [Restrictions() for _ in range(number)]
        self.known = 0

    @property
    def in_every(self) -> int:
        """The number of sites in every survey."""
        return self.same[0].sites

    def add(self, rows: Sequence[Row | None]) -> None:
        """Count a site by its *rows*, one for each survey."""
        for figures, row in zip(self.all, rows, strict=True):
            if row:
                figures.add(row)
        found = [row for row in rows if row]
        if len(found) < len(rows):
            return
        for figures, row in zip(self.same, found, strict=True):
            figures.add(row)
        if all(is_known(row) for row in found):
            self.known += 1
            for restrictions, row in zip(self.restrictions, found, strict=True):
                restrictions.add(row)


def is_known(row: Row) -> bool:
    """Whether it is known what the site of *row* closes."""
    return OTHERS in row.restriction
