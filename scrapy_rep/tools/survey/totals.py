"""The totals of many rows: everything that the report shows.

Memory grows with the number of different names and figures, not with that of the sites.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from scrapy_rep.census.restriction import ALL, NONE, OTHERS, RESTRICTIONS
from scrapy_rep.census.row import Row
from scrapy_rep.tools.crawlers import AI_CRAWLERS
from scrapy_rep.tools.lint import CODES, Severity

from .agent_totals import AgentTotals
from .contents import Contents
from .strata import columns_of

COMMENT, BLANK, UNREADABLE = "comment", "blank", "unreadable"
"""The lines that are no known record."""

STAR_GROUP: Final = "a group for all crawlers (*)"
SITEMAP: Final = "a Sitemap line"
SHUTS_OUT_UNNAMED: Final = "/ disallowed to unnamed crawlers"
SHUTS_OUT_AI: Final = "an AI crawler shut out by name"

ALL_SIGNALS: Final = "all signals"
NO, YES = "no", "yes"
"""The answers of signals; where signals disagree, the answer is no."""

ANY_AI: Final = "any AI crawler"
"""The category of all AI crawlers together."""

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

_AI_CATEGORIES: Final = (ANY_AI, *dict.fromkeys(map(str, AI_CRAWLERS.values())))
_NAMES_COUNTED: Final = 50_000  # in user-agent lines: more come from hostile files alone
_VALUES_COUNTED: Final = 1_000  # of a column of the list of sites


class Totals:
    """Sums up rows one by one."""

    def __init__(self) -> None:
        self.sites = self.files = self.linted = 0
        self.known = 0  # sites whose restrictions are known: with a robots.txt, or without any
        self.captured: tuple[datetime, datetime] | None = None  # the first time and the last
        self.columns: defaultdict[str, Counter[str]] = defaultdict(Counter)  # sites by the value of each
        self.traits: Counter[tuple[str, str]] = Counter()
        self.figures: dict[str, Counter[float]] = {name: Counter() for name in FIGURES}  # files by figure
        self.delays: Counter[float] = Counter()  # files by their longest delay in seconds
        self.rules_per_agent: Counter[float] = Counter()  # of each name in each file
        self.line_kinds: Counter[str] = Counter()
        self.agents: defaultdict[str, AgentTotals] = defaultdict(AgentTotals)
        self.restriction: defaultdict[str, Counter[tuple[str, str]]] = defaultdict(Counter)  # of each agent
        self.categories: defaultdict[str, Counter[str]] = defaultdict(Counter)  # sites by the most that is closed
        self.sitemap_or_delay: Counter[str] = Counter()  # sites that close nothing to a category, and have one
        self._unnamed: defaultdict[str, Counter[str]] = defaultdict(Counter)  # sites naming it by what * closes
        self.findings: Counter[str] = Counter()
        self.with_errors = self.with_signals = 0
        self.ai_answers: defaultdict[str, Counter[tuple[str, str]]] = defaultdict(Counter)  # of each signal
        self.contents = Contents()

    def add(self, row: Row) -> None:
        """Count *row*."""
        self.sites += 1
        self.traits.update(traits(row))
        self._add_columns(row)
        if row.fetched_at:
            first, last = self.captured or (row.fetched_at, row.fetched_at)
            self.captured = min(first, row.fetched_at), max(last, row.fetched_at)
        if row.restriction:
            self._add_restrictions(row)
        if row.has_file:
            self._add_file(row)

    def _add_columns(self, row: Row) -> None:
        for column, value in columns_of(row):
            sites = self.columns[column]
            if value in sites or len(sites) < _VALUES_COUNTED:
                sites[value] += 1

    def _add_restrictions(self, row: Row) -> None:
        self.known += 1
        of_others, named = row.restriction.get(OTHERS, NONE), row.named
        for agent, closes in row.restriction.items():
            self.restriction[agent][closes, BY_NAME if agent in named else BY_STAR] += 1
        for agent in named:
            self._unnamed[agent][of_others] += 1
        closed = by_category(row)
        for category, closes in closed.items():
            self.categories[category][closes] += 1
        if row.sitemaps or row.crawl_delays:
            closed[OTHERS] = of_others
            found = closed if row.sitemaps else _with_delay(row)
            self.sitemap_or_delay.update(category for category in found if closed[category] == NONE)

    def _add_file(self, row: Row) -> None:
        self.files += 1
        for name, values in self.figures.items():
            values[getattr(row, name)] += 1
        if row.crawl_delays:
            self.delays[row.longest_delay] += 1
        if row.findings is not None:
            self.linted += 1
            self.findings.update(row.findings)
            self.with_errors += any(severity_of(code) is Severity.ERROR for code in row.findings)
        self._add_lines(row)
        self._add_agents(row)
        self._add_signals(row)
        self._add_content(row)

    def _add_content(self, row: Row) -> None:
        self.contents.add(row)

    def _add_lines(self, row: Row) -> None:
        others = {COMMENT: row.comment_lines, BLANK: row.blank_lines, UNREADABLE: row.unread_lines}
        self.line_kinds.update({kind: count for kind, count in row.records.items() if kind != "unknown"})
        self.line_kinds.update(others)

    def _add_agents(self, row: Row) -> None:
        for name, disallow in row.agents_disallow.items():
            key, allow = name.lower(), row.agents_allow[name]
            self.rules_per_agent[allow + disallow] += 1
            if self._is_counted(key):
                agent = self.agents[key]
                agent.sites += 1
                agent.allow += allow
                agent.disallow += disallow
                agent.spellings[name] += 1

    def _is_counted(self, name: str) -> bool:
        return name in self.agents or len(self.agents) < _NAMES_COUNTED

    def _add_signals(self, row: Row) -> None:
        self.with_signals += bool(row.ai_signals)
        stated = set()
        for name, answer in row.ai_answers.items():
            signal, _, category = name.partition(" ")
            self.ai_answers[signal][category, answer] += 1
            stated.add((category, answer))
        self.ai_answers[ALL_SIGNALS].update(one for one in stated if one[1] == NO or (one[0], NO) not in stated)

    def ranked(self, kind: str) -> list[tuple[str, int]]:
        """The traits of *kind*, each with its number of sites, most frequent first."""
        return [(name, count) for (each, name), count in self.traits.most_common() if each == kind]

    def closed_to(self, agent: str) -> Counter[tuple[str, str]]:
        """The sites by what is closed to *agent*, and how; where no group names it, that of ``*`` counts."""
        ways = self.restriction.get(agent, Counter())
        found = Counter({way: count for way, count in ways.items() if way[1] == BY_NAME})
        unnamed = self._unnamed.get(agent, Counter())
        for (closes, by), count in self.restriction[OTHERS].items():
            found[closes, by] = count - unnamed[closes]
        return found

    def top_agents(self, number: int) -> list[AgentTotals]:
        """The *number* names that most sites use."""
        named = (agent for name, agent in self.agents.items() if name)
        return sorted(named, key=lambda agent: (-agent.sites, agent.name))[:number]


def by_category(row: Row) -> dict[str, str]:
    """The most that the site of *row* closes to a crawler of each category of AI crawlers, and to any of them.

    No file names them all: what is closed to all others counts in each category.
    """
    if OTHERS not in row.restriction:
        return {}
    found = dict.fromkeys(_AI_CATEGORIES, row.restriction[OTHERS])
    for agent in row.named:
        if agent in AI_CRAWLERS:
            for name in (str(AI_CRAWLERS[agent]), ANY_AI):
                found[name] = max(found[name], row.restriction[agent], key=RESTRICTIONS.index)
    return found


def _with_delay(row: Row) -> set[str]:
    """The categories of AI crawlers, and `OTHERS`, of which a crawler has a Crawl-delay."""
    names = {name.lower() for name, delay in row.crawl_delays.items() if delay}
    if OTHERS in names:
        return {OTHERS, *_AI_CATEGORIES}
    agents = [agent for agent in row.named if agent in AI_CRAWLERS and agent.lower() in names]
    return {str(AI_CRAWLERS[agent]) for agent in agents} | {ANY_AI for _ in agents}


def traits(row: Row) -> Iterator[tuple[str, str]]:
    """Yield what the site of *row* may have in common with others: a kind of trait, and which."""
    yield "serves", row.kind
    if row.status is not None:
        yield "status", str(row.status)
    if row.problem:
        yield "reason", row.reason
    if row.has_file:
        yield from (("finding", code) for code in row.findings or ())
        yield from (("names", name) for name in row.named)
        yield from (("shuts-out", name) for name in row.named if row.restriction[name] == ALL)
        yield from (("contains", feature) for feature, value in _features(row).items() if value)
        yield from (("signal", signal) for signal in row.ai_signals)
        yield from (
            ("closes", f"{closes} to {name}") for name, closes in by_category(row).items() if closes != NONE
        )


def _features(row: Row) -> dict[str, object]:
    """What a file may contain, each with a value that is true when it does."""
    return {
        "a rule": row.rules,
        STAR_GROUP: OTHERS in row.agents_disallow,
        "a group for a named crawler": row.agents_disallow.keys() - {OTHERS},
        SITEMAP: row.sitemaps,
        "a wildcard (*) in a rule": row.wildcards,
        "an end anchor ($) in a rule": row.anchors,
        "an Allow rule": row.allow,
        "a Crawl-delay": row.crawl_delays,
        "a comment": row.comments,
        "an unreadable line": row.unread_lines,
        SHUTS_OUT_UNNAMED: row.shuts_out,
        SHUTS_OUT_AI: any(row.restriction[name] == ALL for name in row.named if name in AI_CRAWLERS),
    }


def severity_of(code: str) -> Severity:
    """Return the severity of findings of *code*; a survey that is resumed may have those of another version."""
    return CODES[code].severity if code in CODES else Severity.NOTE
