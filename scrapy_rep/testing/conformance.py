"""Asks a parser back-end about every situation, through the interface that Scrapy uses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .situations import SITUATIONS, Question, Situation

if TYPE_CHECKING:
    from scrapy.robotstxt import RobotParser

Build = Callable[[bytes], Any]
"""Makes a parser of the octets of a robots.txt; the parser has the method ``allowed`` of a ``RobotParser``."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a parser said to ``question``; ``given`` is None where it raised ``error``."""

    question: Question
    given: bool | None
    error: Exception | None = None

    @property
    def is_right(self) -> bool:
        """Whether that is what the situation expects."""
        return self.given is self.question.allowed

    def __str__(self) -> str:
        """The answer as a sentence."""
        question = self.question
        if self.error is None:
            said = {True: "allows", False: "disallows"}.get(self.given, "says None to")  # type: ignore[arg-type]
        else:
            said = f"raises {type(self.error).__name__}: {self.error}, for"
        expected = "allowed" if question.allowed else "disallowed"
        return f"{said} {question.url} as {question.crawler}: expected {expected}"


class Conformance:
    """The answers of one parser, by situation."""

    def __init__(self, build: Build, situations: Iterable[Situation] = SITUATIONS) -> None:
        """*build* is called once per situation, as Scrapy calls a parser back-end once per origin."""
        self.answers = {situation: answers(build, situation) for situation in situations}

    def failed(self) -> list[Situation]:
        """The situations with a wrong answer, those that are not required too."""
        return [situation for situation, given in self.answers.items() if not all(one.is_right for one in given)]

    def sections(self) -> dict[tuple[str, str], tuple[int, int]]:
        """By source and section: the number of right answers and of all answers."""
        right, total = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
        for situation, given in self.answers.items():
            place = situation.source, situation.section
            right[place] += sum(one.is_right for one in given)
            total[place] += len(given)
        return {place: (right[place], total[place]) for place in total}


def ask(parser: type[RobotParser], situations: Iterable[Situation] = SITUATIONS) -> Conformance:
    """Ask the class *parser*, a value of ``ROBOTSTXT_PARSER``, about *situations*.

    It is built by ``from_crawler`` with a crawler that has Scrapy's default settings and does not run.
    """
    return Conformance(building(parser), situations)


def building(parser: type[RobotParser]) -> Build:
    """How Scrapy makes a *parser*: with a crawler, here one with the default settings that does not run."""
    from scrapy import Spider  # noqa: PLC0415  # the situations need no Scrapy
    from scrapy.crawler import Crawler  # noqa: PLC0415

    crawler = Crawler(Spider)
    return lambda body: parser.from_crawler(crawler, body)


def answers(build: Build, situation: Situation) -> Sequence[Answer]:
    """What the parser that *build* makes of the *situation* answers to its questions; never raises."""
    try:
        parser = build(situation.body)
    except Exception as error:  # noqa: BLE001  # a parser of others; that it raises is its answer
        return [Answer(question, None, error) for question in situation.questions]
    return [_answer(parser, question) for question in situation.questions]


def _answer(parser: Any, question: Question) -> Answer:
    # Scrapy hands over a product token of the settings as text, and the header of a request as octets.
    is_header = "/" in question.crawler
    try:
        given = parser.allowed(question.url, question.crawler.encode() if is_header else question.crawler)
    except Exception as error:  # noqa: BLE001  # as above
        return Answer(question, None, error)
    return Answer(question, bool(given))
