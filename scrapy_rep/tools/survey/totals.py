"""Sums of rows: those by which surveys are compared, and with more, the totals of everything that a report shows.

Memory grows with the number of different names and figures, not with that of the sites.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from scrapy_rep.census.restriction import ALL, NONE, OTHERS, PART, RESTRICTIONS
from scrapy_rep.census.row import UNREACHABLE, Row
from scrapy_rep.tools.crawlers import AI_CRAWLERS
from scrapy_rep.tools.lint import CODES, Severity

from .owners import Owners

ANY_AI: Final = "any AI crawler"
"""The category of all AI crawlers together."""

AI_CATEGORIES: Final = {ANY_AI: ANY_AI} | {str(each): f"AI crawlers: {each}" for each in AI_CRAWLERS.values()}
"""The categories of AI crawlers, and their names in charts."""

NAMED_ALL, NAMED_PART = "everything, by name", "a part, by name"
STAR_ALL, STAR_PART = "everything, to all crawlers (*)", "a part, to all crawlers (*)"
NOTHING: Final = "nothing"
BLOCKS: Final = {NAMED_ALL: "red", NAMED_PART: "amber", STAR_ALL: "violet", STAR_PART: "faint", NOTHING: "pale"}
"""What a site blocks for AI crawlers, and how, with colours: each site has one of these for each category."""

FIGURES_OF_AI: Final = {
    "by name": (NAMED_ALL, NAMED_PART),
    "completely": (NAMED_ALL, STAR_ALL),
    "only through *": (STAR_ALL, STAR_PART),
}
"""The three figures about AI crawlers, each a sum of `BLOCKS`. A rule for ``*`` is about everyone, such as one on
``/wp-admin/``: no figure adds it to what is said to AI crawlers by name, but the one of sites that are closed."""


class Sums:
    """Sums up rows one by one.

    ``known`` are the sites whose restrictions are known: with a robots.txt, or without any. ``blocks`` are the
    known sites by `BLOCKS` for each category of AI crawlers, ``named`` those that name a crawler, by what they
    close to it.
    """

    def __init__(self) -> None:
        self.sites = self.unreachable = self.known = 0
        self.files = self.linted = self.with_errors = self.with_signals = self.with_delay = 0
        self.blocks: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.named: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def add(self, row: Row) -> None:
        """Count *row*."""
        self.sites += 1
        self.unreachable += row.kind == UNREACHABLE
        if row.restriction:
            self.known += 1
            for category, blocked in blocks(row).items():
                self.blocks[category][blocked] += 1
            for agent in row.named:
                self.named[agent][row.restriction[agent]] += 1
        if row.has_file:
            self._add_file(row)

    def _add_file(self, row: Row) -> None:
        self.files += 1
        self.with_delay += bool(row.crawl_delays)
        self.with_signals += bool(row.ai_signals)
        if row.findings is not None:
            self.linted += 1
            self.with_errors += any(severity_of(code) is Severity.ERROR for code in row.findings)

    def of_ai(self, figure: str) -> int:
        """The sites that one of `FIGURES_OF_AI` counts."""
        return sum(self.blocks[ANY_AI][blocked] for blocked in FIGURES_OF_AI[figure])


def blocks(row: Row) -> dict[str, str]:
    """What the site of *row* blocks for each category of AI crawlers, and for any of them: one of `BLOCKS`.

    The most that is closed to one of its crawlers counts. It is by name where a crawler that the file names has as
    much closed as all others: no file names them all.
    """
    if OTHERS not in row.restriction:
        return {}
    others = row.restriction[OTHERS]
    most = dict.fromkeys(AI_CATEGORIES, (others, False))
    for agent in row.named:
        if agent in AI_CRAWLERS:
            closed = row.restriction[agent]
            for category in (str(AI_CRAWLERS[agent]), ANY_AI):
                if RESTRICTIONS.index(closed) >= RESTRICTIONS.index(most[category][0]):
                    most[category] = closed, True
    return {category: _BLOCKS[found] for category, found in most.items()}


def figures_of_ai(row: Row) -> list[str]:
    """Those of `FIGURES_OF_AI` in which the site of *row* counts, and "known" if its restrictions are."""
    blocked = blocks(row).get(ANY_AI)
    counted = [figure for figure, summed in FIGURES_OF_AI.items() if blocked in summed]
    return [*counted, "known"] if blocked else counted


_BLOCKS: Final = {
    (ALL, True): NAMED_ALL, (PART, True): NAMED_PART, (ALL, False): STAR_ALL, (PART, False): STAR_PART,
    (NONE, True): NOTHING, (NONE, False): NOTHING,
}  # fmt: skip


def severity_of(code: str) -> Severity:
    """Return the severity of findings of *code*; a survey that is resumed may have those of another version."""
    return CODES[code].severity if code in CODES else Severity.NOTE


NO: Final = "no"
"""The answer of signals that counts where they disagree."""

_NAMES_COUNTED: Final = 50_000  # in user-agent lines: more come from hostile files alone


FIGURES: Final = ("bytes", "rules")
"""The attributes of a row of which a report has the median."""


class Totals(Sums):
    """The sums of a report.

    ``agents`` are the files that use a name in user-agent lines, by the name in its first spelling. ``captured``
    has the first time and the last.
    """

    def __init__(self) -> None:
        super().__init__()
        self.captured: tuple[datetime, datetime] | None = None
        self.traits: Counter[tuple[str, str]] = Counter()
        self.agents: Counter[str] = Counter()
        self.with_sitemap = self.with_star = self.refusing = 0
        self.figures: dict[str, Counter[float]] = {name: Counter() for name in FIGURES}
        self.owners = Owners()
        self._spellings: dict[str, str] = {}

    def add(self, row: Row) -> None:
        """Count *row*."""
        super().add(row)
        self.traits.update(traits(row))
        self.refusing += bool(row.refused)
        if row.fetched_at:
            first, last = self.captured or (row.fetched_at, row.fetched_at)
            self.captured = min(first, row.fetched_at), max(last, row.fetched_at)
        self.owners.add(row, figures_of_ai(row))

    def _add_file(self, row: Row) -> None:
        super()._add_file(row)
        for name, values in self.figures.items():
            values[getattr(row, name)] += 1
        self.with_sitemap += bool(row.sitemaps)
        self.with_star += OTHERS in row.agents_disallow
        for name in row.agents_disallow:
            if name.lower() in self._spellings or len(self._spellings) < _NAMES_COUNTED:
                self.agents[self._spellings.setdefault(name.lower(), name)] += 1

    def ranked(self, kind: str) -> list[tuple[str, int]]:
        """The traits of *kind*, each with its number of sites, most frequent first."""
        return [(name, count) for (each, name), count in self.traits.most_common() if each == kind]


def traits(row: Row) -> Iterator[tuple[str, str]]:
    """Yield what the site of *row* may have in common with others: a kind of trait, and which."""
    yield "serves", row.kind
    if row.status is not None:
        yield "status", str(row.status)
    if row.problem:
        yield "reason", row.reason
    if row.refused:
        yield "refuses", row.refusal
    yield from (("blocks", f"{category}: {blocked}") for category, blocked in blocks(row).items())
    if row.has_file:
        yield from (("finding", code) for code in row.findings or ())
        yield from (("names", name) for name in row.named)
        yield from (("shuts-out", name) for name in row.named if row.restriction[name] == ALL)
        yield from (("signal", signal) for signal in row.ai_signals)
        yield from (("answer", answer) for answer in _answers(row))


def _answers(row: Row) -> Iterator[str]:
    """What the file of *row* answers about each use by AI; where its signals disagree, no."""
    answers: dict[str, str] = {}
    for name, answer in row.ai_answers.items():
        use = name.partition(" ")[2]
        answers[use] = NO if NO in (answer, answers.get(use)) else answer
    return (f"{use}: {answer}" for use, answer in answers.items())
