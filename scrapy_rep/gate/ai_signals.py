"""What a site says about the use of its pages by AI: in its robots.txt, its tdmrep.json and its ai.txt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from scrapy_rep.directives import ai_txt, tdm
from scrapy_rep.directives.answers import Statement, answers, first_refusal
from scrapy_rep.directives.robots_signals import NO_SIGNALS, RobotsSignals
from scrapy_rep.directives.vocabulary import Category, Signal
from scrapy_rep.protocol import Access

if TYPE_CHECKING:
    from scrapy_rep.protocol import RobotsTxt
    from scrapy_rep.robots.robots import Robots
    from scrapy_rep.settings import RepSettings

_MAX_STATEMENTS: Final = 50
"""Statements that a stamp holds."""


def said_by_files(robots: Robots, token: str, url: str) -> list[Statement]:
    """What the files of the origin besides robots.txt say to *token* about *url*."""
    said = robots.reservations.about(url).statements() if tdm.PATH in robots.files else []
    return said + ai_txt.read_file(robots.ai_txt, token, url) if ai_txt.PATH in robots.files else said


class AiSignals:
    """What sites say about the declared purposes of one crawl (``REP_PURPOSES``)."""

    def __init__(self, settings: RepSettings) -> None:
        self.purposes = settings.purposes
        self.obeys = settings.ai_signals == "obey"
        self._signals: WeakKeyDictionary[RobotsTxt, dict[str, RobotsSignals]] = WeakKeyDictionary()

    def refusal(self, robots: Robots, token: str, url: str) -> Statement | None:
        """The statement by which *robots* reserves *url*, which it allows, from a purpose; None if not obeyed."""
        if not self.obeys:
            return None
        return first_refusal(self._of(robots, token).statements(url), self.purposes)

    def values(self, robots: Robots, token: str, url: str) -> dict[str, Any]:
        """What *robots* says to *token* about *url*, which it allows, as the part of a stamp."""
        signals = self._of(robots, token)
        return as_values([*signals.statements(url), *said_by_files(robots, token, url)], signals.licenses)

    def _of(self, robots: Robots, token: str) -> RobotsSignals:
        if robots.access is not Access.SUCCESSFUL:
            return NO_SIGNALS
        by_token = self._signals.setdefault(robots.robotstxt, {})
        if token not in by_token:
            by_token[token] = RobotsSignals.of(robots.robotstxt, token)
        return by_token[token]


# How statements are kept in a stamp.


def as_values(statements: Iterable[Statement], licenses: Iterable[str]) -> dict[str, Any]:
    """The part of a stamp that tells of *statements*, those that say no first, and *licenses*, in JSON values."""
    said = sorted(statements, key=lambda one: one.allows is not False)
    return {
        "answers": {category.value: answer.value for category, answer in answers(said).items()},
        "statements": [_as_dict(one) for one in said[:_MAX_STATEMENTS]],
        "licenses": [*licenses],
    }


def statements_in(values: Mapping[str, Any] | None) -> list[Statement]:
    """The statements of that part of a stamp."""
    return [
        Statement(**{
            **one, "signal": Signal(one["signal"]), "category": one["category"] and Category(one["category"])
        })
        for one in (values or {}).get("statements", ())
    ]  # fmt: skip


def _as_dict(statement: Statement) -> dict[str, Any]:
    values = {field.name: getattr(statement, field.name) for field in fields(statement)}
    category = statement.category.value if statement.category else None
    return {**values, "signal": statement.signal.value, "category": category}
