"""What a robots.txt says, URL by URL and crawler by crawler, in one dialect and compared with the others.

`_verdict` alone asks the engine; everything else asks that.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any, Final

from scrapy_rep.clock import clock
from scrapy_rep.directives.robots_signals import RobotsSignals
from scrapy_rep.protocol import DIALECTS, Access, Dialect, Origin, Reason, RobotsTxt, Verdict, parse
from scrapy_rep.protocol.display import shown
from scrapy_rep.tools.answers import rule_text, uses
from scrapy_rep.tools.explanation import Explainer
from scrapy_rep.tools.profiles import Reading, reading

from .question import Question

_MOST_MATCHES: Final = 20
"""Rules that are listed of those that match a URL."""

_MOST_STEPS: Final = 150_000
"""Lines read and patterns tried to list the rules that match, about 0.1 s; the verdicts do not depend on it."""

_MOST_LICENSES: Final = 10

_MOST_DIFFERENCES: Final = 100
"""Differences of one group of dialects that are listed."""

_OF_DIFFERENCE: Final = ("url", "agent", "allowed", "line", "rule")

_LONGEST_RULE: Final = 500
"""Characters of a rule that are given with each verdict."""


@dataclass(frozen=True, slots=True)
class Match:
    """A rule that matches a URL; among those of a URL the strongest comes first."""

    line: int
    rule: str
    length: int


@dataclass(frozen=True, slots=True)
class UrlVerdict:
    """What the file answers about ``url`` to ``agent``; ``line`` is 0 and ``rule`` is empty where no rule decided.

    ``matches`` is None where listing them would have taken too long. ``is_elsewhere``: the URL is of another
    origin than the robots.txt, which does not speak for it.
    """

    url: str
    agent: str
    allowed: bool
    line: int
    rule: str
    reason: str
    matches: tuple[Match, ...] | None
    is_elsewhere: bool


@dataclass(frozen=True, slots=True)
class Uses:
    """The answers to the uses by AI for ``urls``: yes, no or unknown by category."""

    answers: dict[str, str]
    urls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Agent:
    """What else the file says to one crawler. ``group`` is one of `GROUPS`; ``crawl_delay`` is in seconds.

    ``about`` says who sends it, and what for, and ``profile`` how it reads the file, where that is more than
    RFC 9309 says; both are empty for a crawler that is not known.
    """

    agent: str
    about: str
    profile: str
    group: str
    crawl_delay: float | None
    ai: tuple[Uses, ...]
    licenses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The answer: ``verdicts`` in the order of the URLs, for each in the order of the crawlers."""

    access: str
    verdicts: tuple[UrlVerdict, ...]
    agents: tuple[Agent, ...]
    sitemaps: tuple[str, ...]

    def as_facts(self) -> dict[str, Any]:
        """The same as data for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class DialectGroup:
    """Dialects with the same verdicts, and how they differ from those of the dialect that was asked about."""

    dialects: tuple[str, ...]
    is_asked: bool
    differences: tuple[UrlVerdict, ...]
    count: int
    """Of all differences, also those that are not listed."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """All dialects, in groups; ``left_out`` are those for which the time did not suffice."""

    groups: tuple[DialectGroup, ...]
    left_out: tuple[str, ...]

    def as_facts(self) -> dict[str, Any]:
        """The same as data for JSON; of a difference the verdict alone."""
        facts = asdict(self)
        for group in facts["groups"]:
            group["differences"] = [{name: one[name] for name in _OF_DIFFERENCE} for one in group["differences"]]
        return facts


def judge(question: Question) -> Verdicts:
    """Answer *question*."""
    robotstxt = parse(question.robots, question.flavour, limit=question.limit)
    readings = {agent: reading(robotstxt, agent) for agent in question.agents}
    explainers = dict(_affordable(question, robotstxt, readings))
    verdicts = [
        _verdict(question, url, readings[agent], explainers.get(agent))
        for url, agent in product(question.urls, question.agents)
    ]
    agents = [_agent(robotstxt, each, question.urls) for each in readings.values()]
    return Verdicts(question.access.value, tuple(verdicts), tuple(agents), tuple(map(shown, robotstxt.sitemaps)))


def compare(question: Question, seconds: float) -> Comparison:
    """Compare the verdicts of every dialect; start none once *seconds* have passed."""
    until = clock.monotonic() + seconds
    asked = _verdicts(question, question.flavour)
    groups = {_allowed(asked): ([question.dialect], asked)}
    left_out = []
    for name in (name for name in DIALECTS if name != question.dialect):
        if clock.monotonic() >= until:
            left_out.append(name)
            continue
        verdicts = _verdicts(question, DIALECTS[name])
        names, _ = groups.setdefault(_allowed(verdicts), ([], verdicts))
        names.append(name)
    return Comparison(tuple(_group(names, found, asked) for names, found in groups.values()), tuple(left_out))


def _verdict(question: Question, url: str, as_read: Reading, explainer: Explainer | None = None) -> UrlVerdict:
    """What the fetch and the file say together, and by *explainer* the rules that match."""
    if question.access is Access.SUCCESSFUL:
        verdict = as_read.verdict(url)
    elif question.access is Access.UNAVAILABLE:
        verdict = Verdict(True, None, Reason.UNAVAILABLE)
    else:
        verdict = Verdict(False, None, Reason.UNREACHABLE)
    found = explainer.explain(url).matches[:_MOST_MATCHES] if explainer else ()
    matches = tuple(Match(match.rule.line, rule_text(match.rule, _LONGEST_RULE), match.length) for match in found)
    return UrlVerdict(
        url,
        as_read.agent,
        verdict.allowed,
        verdict.line,
        rule_text(verdict.rule, _LONGEST_RULE),
        verdict.reason.value,
        matches if explainer else None,
        _is_elsewhere(url, question.url),
    )


def _is_elsewhere(url: str, robots_url: str) -> bool:
    try:
        return bool(robots_url and "://" in url) and Origin.from_url(url) != Origin.from_url(robots_url)
    except ValueError:
        return False


def _affordable(
    question: Question, robotstxt: RobotsTxt, readings: Mapping[str, Reading]
) -> Iterator[tuple[str, Explainer]]:
    """The crawlers for which the rules that match are listed, since that is cheap."""
    left = _MOST_STEPS
    lines = robotstxt.body.count(b"\n") + robotstxt.body.count(b"\r") + 1
    for agent, as_read in readings.items():
        left -= 3 * lines
        if left > 0:
            left -= len(as_read.robotstxt.rules(as_read.token)) * len(question.urls)
        if left > 0:
            yield agent, Explainer(as_read.robotstxt, as_read.token)


def _verdicts(question: Question, dialect: Dialect) -> list[UrlVerdict]:
    robotstxt = parse(question.robots, dialect, limit=question.limit)
    found = {
        (url, agent): _verdict(question, url, as_read)
        for agent in question.agents  # first, since the rules of a crawler are kept for a few only
        for as_read in [reading(robotstxt, agent)]
        for url in question.urls
    }
    return [found[key] for key in product(question.urls, question.agents)]


def _allowed(verdicts: list[UrlVerdict]) -> tuple[bool, ...]:
    return tuple(verdict.allowed for verdict in verdicts)


def _group(names: list[str], verdicts: list[UrlVerdict], asked: list[UrlVerdict]) -> DialectGroup:
    different = [one for one, other in zip(verdicts, asked, strict=True) if one.allowed is not other.allowed]
    return DialectGroup(tuple(names), verdicts is asked, tuple(different[:_MOST_DIFFERENCES]), len(different))


def _agent(robotstxt: RobotsTxt, as_read: Reading, urls: Iterable[str]) -> Agent:
    signals = RobotsSignals.of(robotstxt, as_read.token)
    by_answers: defaultdict[tuple[tuple[str, str], ...], list[str]] = defaultdict(list)
    for url in urls if signals else ():
        by_answers[tuple(uses(signals.statements(url)).items())].append(url)
    ai = tuple(Uses(dict(found), tuple(group)) for found, group in by_answers.items())
    licenses = tuple(map(shown, signals.licenses[:_MOST_LICENSES]))
    about = as_read.crawler.about if as_read.crawler else ""
    return Agent(as_read.agent, about, as_read.note, as_read.group, as_read.crawl_delay, ai, licenses)
