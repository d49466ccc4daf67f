"""Sums of rows: those by which surveys are compared, and with more, the totals of everything that a report shows.

Memory grows with the number of different names and figures, not with that of the sites.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from scrapy_rep.census.restriction import ALL, NONE, OTHERS, RESTRICTIONS
from scrapy_rep.census.row import UNREACHABLE, Row
from scrapy_rep.tools.crawlers import AI_CRAWLERS
from scrapy_rep.tools.lint import CODES, Severity

from .contents import Contents

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
        self.line_kinds.update({kind: count for kind, count in row.records.items() if kind != "unknown"})
        self.line_kinds.update({COMMENT: row.comment_lines, BLANK: row.blank_lines, UNREADABLE: row.unread_lines})
        self._add_agents(row)
        self._add_signals(row)
        if self._names is None:
            self.contents.add(row)
        elif (sha := row.sha256 or "") in self._files:
            self.sites_by_file[sha] += 1

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
