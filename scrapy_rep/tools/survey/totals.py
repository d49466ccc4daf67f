"""The totals of many records: everything that the report shows.

Memory grows with the number of sites and names, not with the size of the files.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from scrapy_rep.tools.lint import CODES, Severity

from . import SHUT_OUT, SiteRecord, sketch

COMMENT, BLANK, UNREADABLE = "comment", "blank", "unreadable"
"""The lines that are no known record."""

STAR_GROUP: Final = "a group for all crawlers (*)"
SITEMAP: Final = "a Sitemap line"
SHUTS_OUT_UNNAMED: Final = "/ disallowed to unnamed crawlers"
SHUTS_OUT_AI: Final = "an AI crawler shut out by name"

ALL_SIGNALS: Final = "all signals"
NO, YES = "no", "yes"
"""The answers of signals; where signals disagree, the answer is no."""

FIGURES: Final = {
    "bytes": "bytes",
    "lines": "lines",
    "comments": "lines with a comment",
    "user_agent_fields": "User-agent lines",
    "rules": "Allow and Disallow lines",
    "sitemaps": "Sitemap lines",
}
"""The attributes of a record that are numbers of a file, and what they count."""

_NAMES_COUNTED: Final = 100_000  # in user-agent lines: more come from hostile files alone
_SITES_LISTED: Final = 50  # of those that share a file
_FILES_COMPARED: Final = 100_000  # with each other: memory, 0.5 kB each


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

    @property
    def rules(self) -> int:
        """The number of rules."""
        return self.allow + self.disallow


@dataclass(slots=True)
class SharedFile:
    """A robots.txt that several sites serve: its SHA-256, its sketch, and the names of the first sites."""

    sha256: str
    octets: int
    sketch: str = ""
    count: int = 0
    sites: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SimilarFiles:
    """Files that are nearly identical, and the least similarity, from 0 to 1."""

    files: list[SharedFile]
    similarity: float

    @property
    def count(self) -> int:
        """The number of sites."""
        return sum(file.count for file in self.files)

    @property
    def sites(self) -> list[str]:
        """One site for each file, then others."""
        first = [file.sites[0] for file in self.files]
        return first + [site for file in self.files for site in file.sites[1:]]


class Totals:
    """Sums up records one by one."""

    def __init__(self) -> None:
        self.sites = self.files = 0
        self.traits: Counter[tuple[str, str]] = Counter()
        self.figures: dict[str, list[int]] = {name: [] for name in FIGURES}  # of each file
        self.delays: list[float] = []  # seconds, the longest of each site
        self.rules_per_agent: list[int] = []  # of each name in each file
        self.line_kinds: Counter[str] = Counter()
        self.agents: defaultdict[str, AgentTotals] = defaultdict(AgentTotals)
        self.ai_crawlers: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.findings: Counter[str] = Counter()
        self.with_errors = self.with_signals = 0
        self.ai_answers: defaultdict[str, Counter[tuple[str, str]]] = defaultdict(Counter)  # of each signal
        self.control_tokens: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._files: dict[str, SharedFile] = {}

    def add(self, record: SiteRecord) -> None:
        """Count *record*."""
        self.sites += 1
        self.traits.update(traits(record))
        if record.has_file:
            self._add_file(record)

    def _add_file(self, record: SiteRecord) -> None:
        self.files += 1
        for name, values in self.figures.items():
            values.append(getattr(record, name))
        if record.crawl_delays:
            self.delays.append(record.longest_delay)
        self.findings.update(record.findings)
        self.with_errors += any(severity_of(code) is Severity.ERROR for code in record.findings)
        self._add_lines(record)
        self._add_agents(record)
        self._add_signals(record)
        self._add_content(record)

    def _add_lines(self, record: SiteRecord) -> None:
        others = {COMMENT: record.comment_lines, BLANK: record.blank_lines, UNREADABLE: record.unread_lines}
        self.line_kinds.update({kind: count for kind, count in record.records.items() if kind != "unknown"})
        self.line_kinds.update(others)

    def _add_agents(self, record: SiteRecord) -> None:
        for name, counts in record.agents.items():
            if len(self.agents) >= _NAMES_COUNTED and name.lower() not in self.agents:
                continue
            agent = self.agents[name.lower()]
            agent.sites += 1
            agent.allow += counts["allow"]
            agent.disallow += counts["disallow"]
            agent.spellings[name] += 1
            self.rules_per_agent.append(counts["allow"] + counts["disallow"])
        for name, treatment in record.ai_crawlers.items():
            self.ai_crawlers[name][treatment] += 1

    def _add_signals(self, record: SiteRecord) -> None:
        self.with_signals += bool(record.ai_signals or record.control_tokens)
        stated = {(category, answer) for each in record.ai_answers.values() for category, answer in each.items()}
        self.ai_answers[ALL_SIGNALS].update(one for one in stated if one[1] == NO or (one[0], NO) not in stated)
        for signal, each in record.ai_answers.items():
            self.ai_answers[signal].update(each.items())
        for name, treatment in record.control_tokens.items():
            self.control_tokens[name][treatment] += 1

    def _add_content(self, record: SiteRecord) -> None:
        sha = record.sha256 or ""
        shared = self._files.setdefault(sha, SharedFile(sha, record.bytes, record.sketch))
        shared.count += 1
        if len(shared.sites) < _SITES_LISTED:
            shared.sites.append(record.site)

    def ranked(self, kind: str) -> list[tuple[str, int]]:
        """The traits of *kind*, each with its number of sites, most frequent first."""
        return [(name, count) for (each, name), count in self.traits.most_common() if each == kind]

    def _files_ranked(self) -> list[SharedFile]:
        return sorted(self._files.values(), key=lambda file: (-file.count, file.sites))

    def shared_files(self) -> list[SharedFile]:
        """The files that several sites serve, most frequent first, without the empty file."""
        return [file for file in self._files_ranked() if file.count > 1 and file.octets]

    def similar_files(self) -> list[SimilarFiles]:
        """Groups of files that are nearly, but not all, identical: those of most sites first."""
        found = sketch.groups({file.sha256: file.sketch for file in self._files_ranked()[:_FILES_COMPARED]})
        similar = (
            SimilarFiles([self._files[sha] for sha, _ in members], min(alike for _, alike in members))
            for members in found
        )
        return sorted(similar, key=lambda each: (-each.count, each.sites[0]))

    def top_agents(self, number: int) -> list[AgentTotals]:
        """The *number* names that most sites use."""
        named = (agent for name, agent in self.agents.items() if name)
        return sorted(named, key=lambda agent: (-agent.sites, agent.name))[:number]


def traits(record: SiteRecord) -> Iterator[tuple[str, str]]:
    """Yield what the site of *record* may have in common with others: a kind of trait, and which."""
    yield "serves", record.kind
    if record.status is not None:
        yield "status", str(record.status)
    if record.problem:
        yield "reason", record.reason
    if record.has_file:
        yield from (("finding", code) for code in record.findings)
        yield from (("names", name) for name in record.crawlers)
        yield from (("shuts-out", name) for name, how in record.crawlers.items() if how["treatment"] == SHUT_OUT)
        yield from (("contains", feature) for feature, value in _features(record).items() if value)
        yield from (("signal", signal) for signal in record.ai_signals)
        yield from (("token", name) for name in record.control_tokens)


def _features(record: SiteRecord) -> dict[str, object]:
    """What a file may contain, each with a value that is true when it does."""
    return {
        "a rule": record.rules,
        STAR_GROUP: "*" in record.agents,
        "a group for a named crawler": record.agents.keys() - {"*"},
        SITEMAP: record.sitemaps,
        "a wildcard (*) in a rule": record.wildcards,
        "an end anchor ($) in a rule": record.anchors,
        "an Allow rule": record.allow,
        "a Crawl-delay": record.crawl_delays,
        "a comment": record.comments,
        "an unreadable line": record.unread_lines,
        SHUTS_OUT_UNNAMED: record.shuts_out,
        SHUTS_OUT_AI: SHUT_OUT in record.ai_crawlers.values(),
    }


def severity_of(code: str) -> Severity:
    """Return the severity of findings of *code*; a survey that is resumed may have those of another version."""
    return CODES[code].severity if code in CODES else Severity.NOTE
