"""The sum of many records: what the report shows. Grows with the kinds of things seen, not with their octets."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Final

from .measure import SHUT_OUT
from .record import SiteRecord

EVERYTHING: Final = "no page for an unnamed crawler"
WITH_RULES: Final = "with rules"
NO_FILE: Final = "no robots.txt"
GROUP_FOR_ALL: Final = "a group for all (*)"
UNREAD: Final = "unread"
OF_A_PAGE: Final = "of a web page"
AI_SHUT_OUT: Final = "an AI crawler shut out by name"

_NAMES_COUNTED: Final = 100_000  # in user-agent lines
_NAMES_KEPT: Final = 50  # sites that share a file, by name


@dataclass(slots=True)
class AgentTotals:
    """What the sites say to one name: how many name it, with how many rules, and the spellings of it."""

    sites: int = 0
    allow: int = 0
    disallow: int = 0
    spellings: Counter[str] = field(default_factory=Counter)

    @property
    def name(self) -> str:
        """The spelling that most sites use."""
        return self.spellings.most_common(1)[0][0]


@dataclass(slots=True)
class SharedFile:
    """Sites whose robots.txt is the very same; the first of them by name."""

    octets: int
    count: int = 0
    sites: list[str] = field(default_factory=list)


class Totals:
    """Sums records as they come."""

    def __init__(self) -> None:
        self.sites = 0
        self.kinds: Counter[str] = Counter()
        self.statuses: Counter[str] = Counter()
        self.problems: Counter[str] = Counter()
        self.sizes: list[int] = []
        self.lines: list[int] = []
        self.rules: list[int] = []
        self.agent_rules: list[int] = []  # of each name in each file
        self.line_kinds: Counter[str] = Counter()
        self.agents: defaultdict[str, AgentTotals] = defaultdict(AgentTotals)
        self.ai_crawlers: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.findings: Counter[str] = Counter()
        self.finding_sites: Counter[str] = Counter()
        self.delays: list[float] = []  # the longest of each site
        self.sitemaps: list[int] = []
        self.has: Counter[str] = Counter()
        self.files: dict[str, SharedFile] = {}

    @property
    def with_file(self) -> int:
        """The sites that have a robots.txt."""
        return len(self.sizes)

    def add(self, record: SiteRecord) -> None:
        """Count *record*."""
        self.sites += 1
        self.kinds[_kind(record)] += 1
        if record.status is not None:
            self.statuses[str(record.status)] += 1
        if record.problem:
            self.problems[_kind_of_problem(record.problem)] += 1
        if record.has_file:
            self._add_file(record)

    def _add_file(self, record: SiteRecord) -> None:
        self.sizes.append(record.bytes)
        self.lines.append(record.lines)
        self.rules.append(record.rules)
        self.sitemaps.append(record.sitemaps)
        if record.crawl_delays:
            self.delays.append(max(record.crawl_delays.values()))
        self.findings.update(record.findings)
        self.finding_sites.update(record.findings.keys())
        self._add_lines(record)
        self._add_features(record)
        for name, counts in record.agents.items():
            if len(self.agents) >= _NAMES_COUNTED and name.lower() not in self.agents:
                continue  # of hostile files: nobody knows so many crawlers
            agent = self.agents[name.lower()]
            agent.sites += 1
            agent.allow += counts["allow"]
            agent.disallow += counts["disallow"]
            agent.spellings[name] += 1
            self.agent_rules.append(counts["allow"] + counts["disallow"])
        for name, said in record.ai_crawlers.items():
            self.ai_crawlers[name][said] += 1
        self._add_content(record)

    def _add_lines(self, record: SiteRecord) -> None:
        self.line_kinds.update({kind: count for kind, count in record.records.items() if kind != "unknown"})
        unread = OF_A_PAGE if record.is_html else UNREAD
        self.line_kinds.update(
            {"comment": record.comment_lines, "blank": record.blank_lines, unread: record.unread_lines}
        )

    def _add_features(self, record: SiteRecord) -> None:
        features = {
            "a rule": record.rules,
            GROUP_FOR_ALL: "*" in record.agents,
            "a group for a named crawler": set(record.agents) - {"*"},
            "a Sitemap line": record.sitemaps,
            "a wildcard * in a rule": record.wildcards,
            "an anchor $ in a rule": record.anchors,
            "an Allow rule": record.allow,
            "a Crawl-delay": record.crawl_delays,
            "a comment": record.comment_lines + record.lines_with_comment,
            "a line that nobody reads": record.unread_lines,
            EVERYTHING: record.shuts_out,
            AI_SHUT_OUT: SHUT_OUT in record.ai_crawlers.values(),
        }
        self.has.update(name for name, value in features.items() if value)

    def _add_content(self, record: SiteRecord) -> None:
        shared = self.files.setdefault(record.sha256 or "", SharedFile(record.bytes))
        shared.count += 1
        if len(shared.sites) < _NAMES_KEPT:
            shared.sites.append(record.site)

    def shared_files(self) -> list[SharedFile]:
        """The files that more than one site has, those of most sites first; empty ones are no news."""
        shared = (file for file in self.files.values() if file.count > 1 and file.octets)
        return sorted(shared, key=lambda file: (-file.count, file.sites))

    def top_agents(self, number: int) -> list[AgentTotals]:
        """The names that most sites name."""
        named = (agent for name, agent in self.agents.items() if name)
        return sorted(named, key=lambda agent: (-agent.sites, agent.name))[:number]

    def share(self, count: int) -> float:
        """*count* of the sites that have a robots.txt, from 0 to 1."""
        return count / self.with_file if self.with_file else 0.0


def middle(values: Sequence[float]) -> float:
    """The median, 0 of nothing."""
    return float(median(values)) if values else 0.0


def _kind(record: SiteRecord) -> str:
    if record.problem:
        return "unreachable"
    if record.access != "successful":
        return NO_FILE
    if record.is_html:
        return "a page instead"
    if record.rules:
        return WITH_RULES
    return "without rules" if record.bytes else "empty"


def _kind_of_problem(problem: str) -> str:
    """What stands before the colon, the exception's name; of a `FetchError`, whose name says nothing, the rest."""
    name, _, rest = problem.partition(":")
    return (rest if name == "FetchError" else name).strip()[:60]
