"""The totals of many rows: everything that the report shows.

Memory grows with the number of different names and figures, not with that of the sites.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from scrapy_rep.census.restriction import ALL, NONE, OTHERS
from scrapy_rep.census.row import Row
from scrapy_rep.tools.crawlers import AI_CRAWLERS

from .contents import Contents
from .sums import AI_CATEGORIES, ANY_AI, Sums, by_category, shuts_out_ai

COMMENT, BLANK, UNREADABLE = "comment", "blank", "unreadable"
"""The lines that are no known record."""

ALL_SIGNALS: Final = "all signals"
NO, YES = "no", "yes"
"""The answers of signals; where signals disagree, the answer is no."""

RULES_PER_AGENT: Final = "rules_per_agent"
"""The figure of a name in a file: its number of rules."""

TLD: Final = "tld"
"""The column of the top-level domain, which needs no list."""

UNKNOWN: Final = "unknown"
"""The value of a column that is not there."""

_NAMES_COUNTED: Final = 50_000  # in user-agent lines: more come from hostile files alone
_VALUES_COUNTED: Final = 1_000  # of a column of the list of sites


@dataclass(slots=True)
class AgentTotals:
    """One name in user-agent lines: the sites that use it, its rules, and its spellings."""

    sites: int = 0
    allow: int = 0
    disallow: int = 0
    spellings: Counter[str] = field(default_factory=Counter)

    @property
    def name(self) -> str:
        """The most frequent spelling."""
        return self.spellings.most_common(1)[0][0]


class Totals(Sums):
    """The sums of a report; in a stratum, only *names* in user-agent lines and *files*, by SHA-256, count.

    ``columns`` are the sites by the value of each column of their list, ``sitemap_or_delay`` those that close
    nothing to a category, and have a Sitemap or a delay for it. ``captured`` has the first time and the last.
    """

    def __init__(self, names: Container[str] | None = None, files: Container[str] = ()) -> None:
        super().__init__()
        self._names, self._files = names, files
        self.captured: tuple[datetime, datetime] | None = None
        self.columns: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.traits: Counter[tuple[str, str]] = Counter()
        self.figures[RULES_PER_AGENT] = Counter()  # names in files
        self.line_kinds: Counter[str] = Counter()
        self.agents: defaultdict[str, AgentTotals] = defaultdict(AgentTotals)
        self.sitemap_or_delay: Counter[str] = Counter()
        self.findings: Counter[str] = Counter()
        self.ai_answers: defaultdict[str, Counter[tuple[str, str]]] = defaultdict(Counter)  # of each signal
        self.contents = Contents()
        self.sites_by_file: Counter[str] = Counter()

    def add(self, row: Row) -> None:
        """Count *row*."""
        super().add(row)
        self.traits.update(traits(row))
        if row.fetched_at:
            first, last = self.captured or (row.fetched_at, row.fetched_at)
            self.captured = min(first, row.fetched_at), max(last, row.fetched_at)
        for column, value in columns_of(row).items() if self._names is None else ():
            sites = self.columns[column]
            if value in sites or len(sites) < _VALUES_COUNTED:
                sites[value] += 1

    def _add_restrictions(self, row: Row, closed: dict[str, str]) -> None:
        super()._add_restrictions(row, closed)
        if row.sitemaps or row.crawl_delays:
            closed[OTHERS] = row.restriction.get(OTHERS, NONE)
            found = closed if row.sitemaps else _with_delay(row)
            self.sitemap_or_delay.update(category for category in found if closed[category] == NONE)

    def _add_file(self, row: Row) -> None:
        super()._add_file(row)
        self.findings.update(row.findings or {})
        self._add_lines(row)
        self._add_agents(row)
        self._add_signals(row)
        if self._names is None:
            self.contents.add(row)
        elif (sha := row.sha256 or "") in self._files:
            self.sites_by_file[sha] += 1

    def _add_lines(self, row: Row) -> None:
        others = {COMMENT: row.comment_lines, BLANK: row.blank_lines, UNREADABLE: row.unread_lines}
        self.line_kinds.update({kind: count for kind, count in row.records.items() if kind != "unknown"})
        self.line_kinds.update(others)

    def _add_agents(self, row: Row) -> None:
        for name, disallow in row.agents_disallow.items():
            key, allow = name.lower(), row.agents_allow[name]
            self.figures[RULES_PER_AGENT][allow + disallow] += 1
            if self._is_counted(key):
                agent = self.agents[key]
                agent.sites += 1
                agent.allow += allow
                agent.disallow += disallow
                agent.spellings[name] += 1

    def _is_counted(self, name: str) -> bool:
        if self._names is not None:
            return name in self._names
        return name in self.agents or len(self.agents) < _NAMES_COUNTED

    def _add_signals(self, row: Row) -> None:
        stated = set()
        for name, answer in row.ai_answers.items():
            signal, _, category = name.partition(" ")
            self.ai_answers[signal][category, answer] += 1
            stated.add((category, answer))
        self.ai_answers[ALL_SIGNALS].update(one for one in stated if one[1] == NO or (one[0], NO) not in stated)

    def ranked(self, kind: str) -> list[tuple[str, int]]:
        """The traits of *kind*, each with its number of sites, most frequent first."""
        return [(name, count) for (each, name), count in self.traits.most_common() if each == kind]

    def top_agents(self, number: int) -> list[AgentTotals]:
        """The *number* names that most sites use."""
        named = (agent for name, agent in self.agents.items() if name)
        return sorted(named, key=lambda agent: (-agent.sites, agent.name))[:number]


def columns_of(row: Row) -> dict[str, str]:
    """The columns of the site of *row*, each with its value.

    The top-level domain is the last label of the host; `UNKNOWN` for an IP address, and for what is no origin.
    """
    label = row.site.partition("://")[2].partition(":")[0].rpartition(".")[2]
    return {TLD: UNKNOWN if not label or label.isdigit() or label[0] == "[" else label, **row.strata}


def _with_delay(row: Row) -> set[str]:
    """The categories of AI crawlers, and `OTHERS`, of which a crawler has a Crawl-delay."""
    names = {name.lower() for name, delay in row.crawl_delays.items() if delay}
    if OTHERS in names:
        return {OTHERS, *AI_CATEGORIES}
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
        "a group for all crawlers (*)": OTHERS in row.agents_disallow,
        "a group for a named crawler": row.agents_disallow.keys() - {OTHERS},
        "a Sitemap line": row.sitemaps,
        "a wildcard (*) in a rule": row.wildcards,
        "an end anchor ($) in a rule": row.anchors,
        "an Allow rule": row.allow,
        "a Crawl-delay": row.crawl_delays,
        "a comment": row.comments,
        "an unreadable line": row.unread_lines,
        "/ disallowed to unnamed crawlers": row.shuts_out,
        "an AI crawler shut out by name": shuts_out_ai(row),
    }
