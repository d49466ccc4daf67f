"""The sums of rows by which surveys are compared, and with which those of a report begin.

Memory grows with the number of different names and figures, not with that of the sites.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Final

from scrapy_rep.census.restriction import ALL, NONE, OTHERS, RESTRICTIONS
from scrapy_rep.census.row import UNREACHABLE, Row
from scrapy_rep.tools.crawlers import AI_CRAWLERS
from scrapy_rep.tools.lint import CODES, Severity

ANY_AI: Final = "any AI crawler"
"""The category of all AI crawlers together."""

AI_CATEGORIES: Final = (ANY_AI, *dict.fromkeys(map(str, AI_CRAWLERS.values())))
"""The categories of AI crawlers."""

BY_NAME, BY_STAR = "by name", "through *"
"""How a crawler is addressed."""

FIGURES: Final = {
    "bytes": "bytes",
    "lines": "lines",
    "comments": "lines with a comment",
    "user_agent_fields": "User-agent lines",
    "rules": "Allow and Disallow lines",
    "sitemaps": "Sitemap lines",
}
"""The attributes of a row that are numbers of a file, and what they count."""

DELAY: Final = "longest_delay"
"""The attribute of a row that is a figure where the file has a Crawl-delay: in seconds."""


class Sums:
    """Sums up rows one by one.

    ``known`` are the sites whose restrictions are known: with a robots.txt, or without any. ``figures`` are files
    by each of `FIGURES` and by `DELAY`, ``categories`` the sites by the most that is closed to one of each
    category of AI crawlers.
    """

    def __init__(self) -> None:
        self.sites = self.unreachable = self.known = 0
        self.files = self.linted = self.with_errors = self.with_signals = self.shutting_out_ai = 0
        self.figures: dict[str, Counter[float]] = {name: Counter() for name in (*FIGURES, DELAY)}
        self.categories: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.restriction: defaultdict[str, Counter[tuple[str, str]]] = defaultdict(Counter)  # of each agent
        self._unnamed: defaultdict[str, Counter[str]] = defaultdict(Counter)  # sites naming it by what * closes

    def add(self, row: Row) -> None:
        """Count *row*."""
        self.sites += 1
        self.unreachable += row.kind == UNREACHABLE
        if row.restriction:
            self._add_restrictions(row, by_category(row))
        if row.has_file:
            self._add_file(row)

    def _add_restrictions(self, row: Row, closed: dict[str, str]) -> None:
        self.known += 1
        of_others, named = row.restriction.get(OTHERS, NONE), row.named
        for agent, closes in row.restriction.items():
            self.restriction[agent][closes, BY_NAME if agent in named else BY_STAR] += 1
        for agent in named:
            self._unnamed[agent][of_others] += 1
        for category, closes in closed.items():
            self.categories[category][closes] += 1

    def _add_file(self, row: Row) -> None:
        self.files += 1
        for name in FIGURES:
            self.figures[name][getattr(row, name)] += 1
        if row.crawl_delays:
            self.figures[DELAY][row.longest_delay] += 1
        self.with_signals += bool(row.ai_signals)
        self.shutting_out_ai += shuts_out_ai(row)
        if row.findings is not None:
            self.linted += 1
            self.with_errors += any(severity_of(code) is Severity.ERROR for code in row.findings)

    def update(self, other: Sums) -> None:
        """Count what *other* has counted, too."""
        for name, value in vars(other).items():
            if isinstance(value, int):
                setattr(self, name, getattr(self, name) + value)
            else:
                for key, counts in value.items():
                    getattr(self, name)[key].update(counts)

    def closed_to(self, agent: str) -> Counter[tuple[str, str]]:
        """The sites by what is closed to *agent*, and how; where no group names it, that of ``*`` counts."""
        ways = self.restriction.get(agent, Counter())
        found = Counter({way: count for way, count in ways.items() if way[1] == BY_NAME})
        unnamed = self._unnamed.get(agent, Counter())
        for (closes, by), count in self.restriction[OTHERS].items():
            found[closes, by] = count - unnamed[closes]
        return found

    def shut_to(self, agent: str) -> int:
        """The number of sites that close everything to *agent*, either way."""
        found = self.closed_to(agent)
        return found[ALL, BY_NAME] + found[ALL, BY_STAR]


def by_category(row: Row) -> dict[str, str]:
    """The most that the site of *row* closes to a crawler of each category of AI crawlers, and to any of them.

    No file names them all: what is closed to all others counts in each category.
    """
    if OTHERS not in row.restriction:
        return {}
    found = dict.fromkeys(AI_CATEGORIES, row.restriction[OTHERS])
    for agent in row.named:
        if agent in AI_CRAWLERS:
            for name in (str(AI_CRAWLERS[agent]), ANY_AI):
                found[name] = max(found[name], row.restriction[agent], key=RESTRICTIONS.index)
    return found


def shuts_out_ai(row: Row) -> bool:
    """Whether the file of *row* closes everything to an AI crawler by name."""
    return any(row.restriction[name] == ALL for name in row.named if name in AI_CRAWLERS)


def severity_of(code: str) -> Severity:
    """Return the severity of findings of *code*; a survey that is resumed may have those of another version."""
    return CODES[code].severity if code in CODES else Severity.NOTE
