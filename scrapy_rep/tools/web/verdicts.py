"""The first part of an answer: URL by URL and crawler by crawler, with what else the file says to each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Final

from scrapy_rep.directives.robots_signals import RobotsSignals
from scrapy_rep.directives.vocabulary import Category, answers
from scrapy_rep.protocol import Access, Origin, Reason, RobotsTxt, Rule, Verdict, parse
from scrapy_rep.protocol.display import abridged, shown
from scrapy_rep.tools.crawlers import crawler_of
from scrapy_rep.tools.explanation import Explainer

from .question import Question

_MOST_MATCHES: Final = 20
"""Rules that are listed of those that match a URL."""

_MOST_STEPS: Final = 150_000
"""Lines read and patterns tried to list the rules that match, about 0.1 s; the verdicts do not depend on it."""

_MOST_LICENSES: Final = 10

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
    """What else the file says to one crawler. ``group`` is "own", "*" or "none"; ``crawl_delay`` is in seconds.

    ``about`` says who sends it, and what for; empty for a crawler that is not known.
    """

    agent: str
    about: str
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


def judge(question: Question) -> Verdicts:
    """Answer *question*."""
    robotstxt = parse(question.robots, question.flavour, limit=question.limit)
    asker = _Asker(question, robotstxt)
    verdicts = [asker.verdict(url, agent) for url in question.urls for agent in question.agents]
    agents = [_agent(robotstxt, agent, question.urls) for agent in question.agents]
    return Verdicts(question.access.value, tuple(verdicts), tuple(agents), tuple(map(shown, robotstxt.sitemaps)))


def verdict_of(question: Question, robotstxt: RobotsTxt, agent: str, url: str) -> Verdict:
    """The verdict that the fetch and the file give together."""
    if question.access is Access.UNAVAILABLE:
        return Verdict(True, None, Reason.UNAVAILABLE)
    if question.access is Access.UNREACHABLE:
        return Verdict(False, None, Reason.UNREACHABLE)
    return robotstxt.verdict(agent, url)


def rule_text(rule: Rule | None) -> str:
    """*rule* as it is written, or the start of a long one; empty for none."""
    return abridged(str(rule or ""), _LONGEST_RULE)


class _Asker:
    """Asks about each URL and crawler, and lists the rules that match while that is cheap."""

    def __init__(self, question: Question, robotstxt: RobotsTxt) -> None:
        self._question = question
        self._robotstxt = robotstxt
        self._origin = _origin(question.url)
        self._explainers = dict(self._affordable())

    def _affordable(self) -> Iterable[tuple[str, Explainer]]:
        left = _MOST_STEPS
        lines = self._robotstxt.body.count(b"\n") + self._robotstxt.body.count(b"\r") + 1
        for agent in self._question.agents:
            left -= 3 * lines
            if left > 0:
                left -= len(self._robotstxt.rules(agent)) * len(self._question.urls)
            if left > 0:
                yield agent, Explainer(self._robotstxt, agent)

    def verdict(self, url: str, agent: str) -> UrlVerdict:
        verdict = verdict_of(self._question, self._robotstxt, agent, url)
        origin = _origin(url)
        return UrlVerdict(
            url,
            agent,
            verdict.allowed,
            verdict.line,
            rule_text(verdict.rule),
            verdict.reason.value,
            self._matches(url, agent),
            bool(self._origin and origin and origin != self._origin),
        )

    def _matches(self, url: str, agent: str) -> tuple[Match, ...] | None:
        explainer = self._explainers.get(agent)
        if explainer is None:
            return None
        found = explainer.explain(url).matches[:_MOST_MATCHES]
        return tuple(Match(match.rule.line, rule_text(match.rule), match.length) for match in found)


def _agent(robotstxt: RobotsTxt, agent: str, urls: Iterable[str]) -> Agent:
    signals = RobotsSignals.of(robotstxt, agent)
    by_answers: defaultdict[tuple[tuple[str, str], ...], list[str]] = defaultdict(list)
    for url in urls if signals else ():
        found = answers(signals.statements(url))
        by_answers[tuple((use.value, found[use].value) for use in Category)].append(url)
    uses = tuple(Uses(dict(found), tuple(group)) for found, group in by_answers.items())
    group = "own" if robotstxt.has_group(agent) else "*" if _has_rules_for_all(robotstxt) else "none"
    licenses = tuple(map(shown, signals.licenses[:_MOST_LICENSES]))
    known = crawler_of(agent)
    return Agent(agent, known.about if known else "", group, robotstxt.crawl_delay(agent), uses, licenses)


def _has_rules_for_all(robotstxt: RobotsTxt) -> bool:
    return bool(robotstxt.rules("*"))


def _origin(url: str) -> Origin | None:
    try:
        return Origin.from_url(url) if "://" in url else None
    except ValueError:
        return None
