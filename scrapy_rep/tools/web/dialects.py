"""The last part of an answer: what the same file means to parsers of other dialects."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import product
from typing import Any, Final

from scrapy_rep.clock import clock
from scrapy_rep.protocol import DIALECTS, Dialect, parse

from .question import Question
from .verdicts import rule_text, verdict_of

_MOST_DIFFERENCES: Final = 100
"""Differences of one group of dialects that are listed."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A verdict that is another one than in the dialect that was asked about."""

    url: str
    agent: str
    allowed: bool
    line: int
    rule: str


@dataclass(frozen=True, slots=True)
class DialectGroup:
    """Dialects with the same verdicts, and how they differ from those of the dialect that was asked about."""

    dialects: tuple[str, ...]
    is_asked: bool
    differences: tuple[Difference, ...]
    count: int
    """Of all differences, also those that are not listed."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """All dialects, in groups; ``left_out`` are those for which the time did not suffice."""

    groups: tuple[DialectGroup, ...]
    left_out: tuple[str, ...]

    def as_facts(self) -> dict[str, Any]:
        """The same as data for JSON."""
        return asdict(self)


def compare(question: Question, seconds: float) -> Comparison:
    """Compare the verdicts of every dialect; start none once *seconds* have passed."""
    until = clock.monotonic() + seconds
    asked = _verdicts(question, question.flavour)
    by_verdicts: dict[tuple[bool, ...], list[str]] = {_allowed(asked): [question.dialect]}
    found = {_allowed(asked): asked}
    left_out = []
    for name, dialect in DIALECTS.items():
        if name == question.dialect:
            continue
        if clock.monotonic() >= until:
            left_out.append(name)
            continue
        verdicts = _verdicts(question, dialect)
        found.setdefault(_allowed(verdicts), verdicts)
        by_verdicts.setdefault(_allowed(verdicts), []).append(name)
    groups = [_group(tuple(names), found[key], asked) for key, names in by_verdicts.items()]
    return Comparison(tuple(groups), tuple(left_out))


def _verdicts(question: Question, dialect: Dialect) -> list[Difference]:
    robotstxt = parse(question.robots, dialect, limit=question.limit)
    found = {}
    for agent, url in product(question.agents, question.urls):  # the rules of a crawler are kept for a few only
        verdict = verdict_of(question, robotstxt, agent, url)
        found[url, agent] = Difference(url, agent, verdict.allowed, verdict.line, rule_text(verdict.rule))
    return [found[key] for key in product(question.urls, question.agents)]


def _allowed(verdicts: list[Difference]) -> tuple[bool, ...]:
    return tuple(verdict.allowed for verdict in verdicts)


def _group(names: tuple[str, ...], verdicts: list[Difference], asked: list[Difference]) -> DialectGroup:
    different = [one for one, other in zip(verdicts, asked, strict=True) if one.allowed is not other.allowed]
    return DialectGroup(names, verdicts is asked, tuple(different[:_MOST_DIFFERENCES]), len(different))
