"""What a new robots.txt of a site changes in meaning: who may fetch what, delays, uses by AI and sitemaps.

Comments, order, spelling and rules that change no verdict are not changes.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from scrapy_rep.directives.robots_signals import RobotsSignals
from scrapy_rep.protocol import Dialect, Kind, Origin, RobotsTxt, Rule, Verdict, parse
from scrapy_rep.protocol.body_kind import body_kind
from scrapy_rep.protocol.display import abridged, iso_time, number_of, shown
from scrapy_rep.tools.answers import MOST, listed, rule_text, some, uses, verdict_facts
from scrapy_rep.tools.difference import SAMPLE_HOST, even_sample, paths_of, patterns_in
from scrapy_rep.tools.profiles import reading

from .copies import Copy

T = TypeVar("T")

_LONGEST: Final = 200  # characters of a rule, a path or a URL
_RULES: Final = 10  # changes of verdicts on paths made of rules that are told of the same agents
_NAMED: Final = 3  # agents or sitemaps of a longer list that a sentence names


@dataclass(frozen=True, slots=True)
class Change:
    """A change at a ``site``: its ``kind``, a sentence about it, and the same as data for JSON."""

    site: str
    kind: str
    text: str
    facts: dict[str, Any] = field(default_factory=dict)

    def as_facts(self) -> dict[str, Any]:
        """``site``, ``change``, ``text`` and what else is known of this kind of change."""
        return {"site": self.site, "change": self.kind, "text": self.text, **self.facts}


@dataclass(frozen=True, slots=True)
class Watch:
    """The questions that the old and the new robots.txt of each site are asked.

    ``agents`` are product tokens. Without ``paths`` the paths are derived from the rules of both files. ``limit``
    is the number of octets of each that are read, in ``dialect``.
    """

    agents: tuple[str, ...]
    paths: tuple[str, ...]
    dialect: Dialect
    limit: int

    def changes(self, site: str, old: Copy, new: Copy) -> Iterator[Change]:
        """Yield what *new*, fetched from *site*, changes in comparison with *old*.

        While the site is unreachable nothing is said of its rules. Once it is reachable again they are compared
        with those of the copy that was read last.
        """
        if new.problem:
            if not old.problem:
                # RFC 9309 section 2.3.1.4
                text = f"now unreachable ({new.problem}): crawlers must assume that everything is disallowed"
                yield Change(site, "unreachable", text, {"problem": new.problem})
            return
        found = self._of_files(site, self._read(old), self._read(new))
        first = next(found, None)
        if old.problem:
            same = "" if first else f", nothing else has changed since {iso_time(old.read_at)[:10]}"
            yield Change(site, "reachable", f"reachable again{same}", {"problem": old.problem})
        if first:
            yield first
        yield from found

    def sentences(self, changes: Iterable[Change]) -> Iterator[str]:
        """The sentences about *changes* of a site; of many rules for the same agents the first, and their number.

        Only verdicts on paths made of rules may be that many: others are as few as what was asked about.
        """
        most = len(self.paths) or _RULES
        told: Counter[tuple[str, ...]] = Counter()
        for change in changes:
            agents = tuple(change.facts["agents"]) if change.kind == "verdict" else ()
            told[agents] += 1
            if not agents or told[agents] <= most:
                yield change.text
        for agents, number in told.items():
            if agents and number > most:
                yield f"and {number_of(number - most, 'more rule', 'more rules')} for {self._names(agents)}"

    def _read(self, copy: Copy) -> _Read:
        robotstxt = parse(copy.body or b"", self.dialect, limit=self.limit)
        if copy.body is None:
            return _Read(robotstxt, f"HTTP status {copy.status}")
        instead = "" if robotstxt.groups else body_kind(robotstxt.body).instead
        return _Read(robotstxt, instead and f"{instead} instead")

    def _of_files(self, site: str, old: _Read, new: _Read) -> Iterator[Change]:
        if new.missing:
            if not old.missing and _says_something(old.robotstxt):
                text = f"robots.txt is gone ({new.missing}): everything is allowed"
                yield Change(site, "gone", text, {"why": new.missing})
            return
        if old.missing and _says_something(new.robotstxt):
            yield Change(site, "new", f"there is a robots.txt now (before: {old.missing})", {"why": old.missing})
        if old.robotstxt.body != new.robotstxt.body:
            crawlers = alike(self.agents, old.robotstxt, new.robotstxt)
            verdicts = [
                self.of_verdicts(site, each, self.paths or each.sample_paths(len(crawlers))) for each in crawlers
            ]
            # The first for each, about "/" if that has changed, stands before what the rules of others may fill.
            yield from chain.from_iterable(islice(each, 1) for each in verdicts)
            yield from self._of_delays(site, crawlers)
            yield from self._of_uses(site, crawlers)
            yield from _of_sitemaps(site, old.robotstxt, new.robotstxt)
            yield from chain.from_iterable(verdicts)

    def of_verdicts(self, site: str, crawlers: Crawlers, paths: Iterable[str]) -> Iterator[Change]:
        """A change for each rule that forbids, or no longer forbids, something on *paths* to *crawlers*."""
        found: dict[tuple[bool, Rule | None], tuple[Verdict, Verdict, list[str]]] = {}
        for path in paths:
            old, new = crawlers.old.verdict(path), crawlers.new.verdict(path)
            if old.allowed is not new.allowed:
                forbids = old if new.allowed else new
                _, _, those = found.setdefault((new.allowed, forbids.rule), (old, new, []))
                those.append(path)
        for old, new, those in found.values():
            first = [abridged(shown(path.removeprefix(SAMPLE_HOST)), _LONGEST) for path in those[:MOST]]
            # Of paths made of rules, which say little, the number is not told.
            more = len(those) - 1 if self.paths else 0
            where = first[0] + (f" and {number_of(more, 'more path', 'more paths')}" if more else "")
            may = "may now fetch" if new.allowed else "may no longer fetch"
            deciding, before = (new, "") if new.rule else (old, "before: ")
            why = f"{before}line {deciding.line}, {rule_text(deciding.rule, _LONGEST)}"
            facts = {
                "agents": crawlers.names,
                "paths": first,
                "number_of_paths": len(those),
                "old": verdict_facts(old, _LONGEST),
                "new": verdict_facts(new, _LONGEST),
            }
            yield Change(site, "verdict", f"{self._names(crawlers.names)} {may} {where} ({why})", facts)

    def _of_delays(self, site: str, crawlers: Iterable[Crawlers]) -> Iterator[Change]:
        for (before, after), names in _differing(crawlers, lambda said: said.crawl_delay):
            text = f"Crawl-delay for {self._names(names)}: {_seconds(after)} (before: {_seconds(before)})"
            yield Change(site, "crawl-delay", text, {"agents": names, "old": before, "new": after})

    def _of_uses(self, site: str, crawlers: Iterable[Crawlers]) -> Iterator[Change]:
        for (before, after), names in _differing(crawlers, lambda said: said.uses):
            now = dict(after)
            changed = {use: was for use, was in before if was != now[use]}
            answers = ", ".join(f"{use} {now[use]} (before: {was})" for use, was in changed.items())
            facts = {"agents": names, "old": changed, "new": {use: now[use] for use in changed}}
            yield Change(site, "ai-use", f"AI use by {self._names(names)}: {answers}", facts)

    def _names(self, agents: Sequence[str]) -> str:
        """The crawlers called *agents*, as the subject of a sentence."""
        if len(agents) == len(self.agents) > _NAMED:
            return f"all {len(agents)} crawlers asked about"
        names = some([shown(agent) for agent in agents if agent != "*"], _NAMED)
        return listed([*names, *["crawlers without a group of their own"] * ("*" in agents)])


@dataclass(frozen=True, slots=True)
class _Read:
    """A robots.txt; ``missing`` says what there is instead, and is empty where there is one."""

    robotstxt: RobotsTxt
    missing: str


def _differing(
    crawlers: Iterable[Crawlers], asked: Callable[[CrawlerInstructions], T]
) -> Iterator[tuple[tuple[T, T], list[str]]]:
    """What the old and the new file answer where that differs, with the crawlers to which it does."""
    found: defaultdict[tuple[T, T], list[str]] = defaultdict(list)
    for each in crawlers:
        found[asked(each.old), asked(each.new)].extend(each.names)
    return (one for one in found.items() if one[0][0] != one[0][1])


def _says_something(robotstxt: RobotsTxt) -> bool:
    """Whether a record of *robotstxt* has a meaning; an empty rule forbids nothing."""
    return any(one.value and one.kind not in {Kind.USER_AGENT, Kind.UNKNOWN} for one in robotstxt.records)


def _of_sitemaps(site: str, old: RobotsTxt, new: RobotsTxt) -> Iterator[Change]:
    before, after = ({_same(url): shown(url) for url in file.sitemaps} for file in (old, new))
    lists = {
        "added": [url for key, url in after.items() if key not in before],
        "removed": [url for key, url in before.items() if key not in after],
    }
    if any(lists.values()):
        parts = (
            f"{what}: {listed([abridged(one, _LONGEST) for one in some(urls, _NAMED)])}"
            for what, urls in lists.items()
            if urls
        )
        yield Change(site, "sitemaps", f"Sitemap lines {'; '.join(parts)}", {**lists})


def _same(url: str) -> Hashable:
    """Equal for URLs that differ in how scheme, host and port are spelt alone."""
    try:
        parts = urlsplit(url)
        return Origin.from_url(url), parts.path or "/", parts.query
    except ValueError:
        return url


def _seconds(delay: float | None) -> str:
    return "none" if delay is None else f"{delay:g} s"


# What an old and a new robots.txt say to each of many crawlers, which are asked about together where they can be.


def alike(agents: Iterable[str], old: RobotsTxt, new: RobotsTxt) -> list[Crawlers]:
    """The crawlers called *agents*, those to which both files say the same together."""
    known: dict[object, CrawlerInstructions] = {}
    found: dict[tuple[CrawlerInstructions, CrawlerInstructions], list[str]] = {}
    for agent in agents:
        before, after = (_instructions(file, agent, known) for file in (old, new))
        found.setdefault((before, after), []).append(agent)
    return [Crawlers(names, *said) for said, names in found.items()]


@dataclass(frozen=True, slots=True)
class CrawlerInstructions:
    """What ``robotstxt`` says to a crawler, asked by ``token``; equal for crawlers to which it says the same."""

    robotstxt: RobotsTxt = field(compare=False)
    token: str = field(compare=False)
    lines: bytes
    """The lines of the rules, 4 octets each: the rules themselves would take a hundred times as much."""
    crawl_delay: float | None
    uses: tuple[tuple[str, str], ...]
    """Each use by AI with the answer about ``/``."""

    def rules(self) -> tuple[Rule, ...]:
        """The rules for the crawler."""
        return self.robotstxt.rules(self.token)

    def verdict(self, path: str) -> Verdict:
        """Whether the crawler may fetch *path*."""
        return self.robotstxt.verdict(self.token, path)


def _instructions(
    robotstxt: RobotsTxt, agent: str, known: dict[object, CrawlerInstructions]
) -> CrawlerInstructions:
    """What *robotstxt* says to the crawler called *agent*; those that it does not name share what is *known*."""
    heard = reading(robotstxt, agent)
    file, delay = heard.robotstxt, heard.crawl_delay
    token = heard.token if file.has_group(heard.token) else "*"
    key = id(robotstxt), file is robotstxt, token, delay
    if key not in known:
        answers = uses(RobotsSignals.of(file, token).statements("/"))
        lines = array("I", (rule.line for rule in file.rules(token))).tobytes()
        known[key] = CrawlerInstructions(file, token, lines, delay, (*answers.items(),))
    return known[key]


@dataclass(frozen=True, slots=True)
class Crawlers:
    """Crawlers called ``names``, and what the ``old`` and the ``new`` file say to each of them."""

    names: list[str]
    old: CrawlerInstructions
    new: CrawlerInstructions

    def sample_paths(self, samples: int) -> list[str]:
        """Paths on which the verdicts may differ: ``/``, and those made of the rules that only one file has.

        *samples* is for how many crawlers there are such paths.
        """
        old, new, dialect = self.old.rules(), self.new.rules(), self.new.robotstxt.dialect
        rules, same = (*old, *new), {_meaning(rule) for rule in old} & {_meaning(rule) for rule in new}
        if not dialect.is_googles:
            same = set()  # there the order of the rules may decide, or the group that they are in
        changed = patterns_in((rule for rule in rules if _meaning(rule) not in same), dialect)
        octets = len(self.old.robotstxt.body) + len(self.new.robotstxt.body)
        return even_sample(dict.fromkeys(["/", *paths_of(changed)]), patterns_in(rules, dialect), octets, samples)


def _meaning(rule: Rule) -> tuple[bool, bytes]:
    return rule.allow, rule.value
