"""What a robots.txt says, URL by URL and crawler by crawler.

`_verdict` alone asks the engine; everything else asks that.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

from scrapy_rep.directives.robots_signals import RobotsSignals
from scrapy_rep.protocol import Access, Origin, Reason, RobotsTxt, Verdict, parse
from scrapy_rep.protocol.display import shown
from scrapy_rep.protocol.records import as_text
from scrapy_rep.tools.answers import rule_text, url_problem, uses
from scrapy_rep.tools.explanation import Explainer
from scrapy_rep.tools.profiles import Reading, reading

from .question import CheckQuestion

_MOST_MATCHES: Final = 20
"""Rules that are listed of those that match a URL."""

_MOST_STEPS: Final = 4_000_000
"""Octets times URLs times crawlers with different rules: with more, the rules that match are not listed."""

_MOST_LICENSES: Final = 10

_MOST_OWN_URLS: Final = 7
_LONGEST_PATH: Final = 200
_ANYTHING: Final = "page"
"""In place of a star."""

_LONGEST_RULE: Final = 500
"""Characters of a rule that are given with each verdict."""


@dataclass(frozen=True, slots=True)
class MatchingRule:
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
    matches: tuple[MatchingRule, ...] | None
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


def judge(question: CheckQuestion) -> Verdicts:
    """Answer *question*."""
    robotstxt = parse(question.robots, question.flavour, limit=question.limit)
    readings = [reading(robotstxt, agent) for agent in question.crawlers]
    different = {_rules_of(robotstxt, as_read): as_read for as_read in readings}
    steps = len(question.robots) * len(question.urls) * len(different)
    listed = different if steps < _MOST_STEPS else {}
    explainers = {key: Explainer(as_read.robotstxt, as_read.token) for key, as_read in listed.items()}
    verdicts = _verdicts(question, robotstxt, explainers)
    agents = tuple(_agents(robotstxt, readings, question.urls))
    return Verdicts(question.access.value, tuple(verdicts), agents, tuple(map(shown, robotstxt.sitemaps)))


def own_urls(question: CheckQuestion) -> str:
    """URLs that the rules of the file of *question* are about, a line each; the home page first."""
    groups = parse(question.robots, question.flavour, limit=question.limit).groups
    values = dict.fromkeys(rule.value for group in groups for rule in group.rules)
    paths = [path for path in dict.fromkeys(map(_path_for, values)) if path not in {"", "/"}]
    step = -(-len(paths) // _MOST_OWN_URLS) or 1  # of a long file one of each kind, rather than its beginning
    return "\n".join(["/", *paths[::step]])


def _path_for(value: bytes) -> str:
    """A path that a pattern matches, as a person would write it; empty where none can be asked about."""
    text = as_text(value).removesuffix("$").rstrip("*")
    path = f"/{text.replace('*', _ANYTHING).removeprefix('/')}" if text.startswith(("/", "*")) else ""
    is_fit = len(path) <= _LONGEST_PATH and path.isprintable() and not path.startswith("//")
    return path if is_fit and not url_problem(path) else ""


def _agents(robotstxt: RobotsTxt, readings: Iterable[Reading], urls: Iterable[str]) -> Iterator[Agent]:
    """What else is said to each crawler."""
    said: dict[str, tuple[tuple[Uses, ...], tuple[str, ...]]] = {}
    for as_read in readings:
        rules, crawler = _rules_of(robotstxt, as_read), as_read.crawler
        if rules not in said:
            said[rules] = _signals(robotstxt, as_read.token, urls)
        about = crawler.about if crawler else ""
        yield Agent(as_read.agent, about, as_read.note, as_read.group, as_read.crawl_delay, *said[rules])


def _rules_of(robotstxt: RobotsTxt, as_read: Reading) -> str:
    """What names the rules that are *as_read*: all crawlers that no group names share those for ``*``."""
    if as_read.robotstxt is not robotstxt:
        return ""
    return as_read.token if robotstxt.has_group(as_read.token) else "*"


def _verdict(
    question: CheckQuestion, url: str, as_read: Reading, explainer: Explainer | None = None
) -> UrlVerdict:
    """What the fetch and the file say together, and by *explainer* the rules that match."""
    if question.access is Access.SUCCESSFUL:
        verdict = as_read.verdict(url)
    elif question.access is Access.UNAVAILABLE:
        verdict = Verdict(True, None, Reason.UNAVAILABLE)
    else:
        verdict = Verdict(False, None, Reason.UNREACHABLE)
    found = explainer.explain(url).matches[:_MOST_MATCHES] if explainer else ()
    matches = tuple(
        MatchingRule(match.rule.line, rule_text(match.rule, _LONGEST_RULE), match.length) for match in found
    )
    return UrlVerdict(
        url,
        as_read.agent,
        verdict.allowed,
        verdict.line,
        rule_text(verdict.rule, _LONGEST_RULE),
        verdict.reason.value,
        matches if explainer else None,
        _is_elsewhere(url, question.source.url),
    )


def _is_elsewhere(url: str, robots_url: str) -> bool:
    try:
        return bool(robots_url and "://" in url) and Origin.from_url(url) != Origin.from_url(robots_url)
    except ValueError:
        return False


def _verdicts(
    question: CheckQuestion, robotstxt: RobotsTxt, explainers: Mapping[str, Explainer]
) -> list[UrlVerdict]:
    """What *robotstxt* answers."""
    shared: dict[tuple[str, str], UrlVerdict] = {}
    found: dict[tuple[str, str], UrlVerdict] = {}
    for agent in question.crawlers:  # first, since the rules of a crawler are kept for a few only
        as_read = reading(robotstxt, agent)
        key = _rules_of(robotstxt, as_read)
        for url in question.urls:
            if (url, key) not in shared:
                shared[url, key] = _verdict(question, url, as_read, explainers.get(key))
            found[url, agent] = replace(shared[url, key], agent=agent)
    return [found[pair] for pair in product(question.urls, question.crawlers)]


def _signals(robotstxt: RobotsTxt, token: str, urls: Iterable[str]) -> tuple[tuple[Uses, ...], tuple[str, ...]]:
    """What is said about the use by AI, and the licenses."""
    signals = RobotsSignals.of(robotstxt, token)
    by_answers: defaultdict[tuple[tuple[str, str], ...], list[str]] = defaultdict(list)
    for url in urls if signals else ():
        by_answers[tuple(uses(signals.statements(url)).items())].append(url)
    ai = tuple(Uses(dict(found), tuple(group)) for found, group in by_answers.items())
    return ai, tuple(map(shown, signals.licenses[:_MOST_LICENSES]))
