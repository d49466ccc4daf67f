"""The questions that parsers are asked, and what is made of their answers."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy.robotstxt import RobotParser
from typing_extensions import Self

from scrapy_rep import RepRobotParser
from scrapy_rep.testing import SITUATIONS, Answer, Question, ask

EXPECTED = [question.allowed for situation in SITUATIONS for question in situation.questions]


class Constant(RobotParser):
    """Answers everything alike, and remembers what it was asked."""

    answer: Any = True
    asked: list[Any] = []

    @classmethod
    def from_crawler(cls, crawler: Any, robotstxt_body: bytes) -> Self:  # noqa: ARG003  # Scrapy's interface
        assert crawler.settings["ROBOTSTXT_OBEY"] is False  # a crawler with Scrapy's defaults
        return cls()

    def allowed(self, url: Any, user_agent: Any) -> bool:
        self.asked.append(user_agent)
        return bool(self.answer)


class Refusing(Constant):
    answer = False


class Raising(Constant):
    def allowed(self, url: Any, user_agent: Any) -> bool:
        raise RuntimeError("no idea")


class Unbuildable(Constant):
    @classmethod
    def from_crawler(cls, crawler: Any, robotstxt_body: bytes) -> Self:  # noqa: ARG003  # as above
        raise RuntimeError("no idea")


def right(parser: type[RobotParser]) -> int:
    return sum(count for count, _ in ask(parser).sections().values())


def test_our_parser_is_right_in_all_that_is_not_disputed() -> None:
    assert [situation.section for situation in ask(RepRobotParser).failed()] == [
        "2.2.2 The allow and disallow lines, disputed"
    ]


@pytest.mark.parametrize(("parser", "answer"), [(Constant, True), (Refusing, False)])
def test_a_parser_that_answers_everything_alike_is_right_on_one_side_alone(
    parser: type[RobotParser], answer: bool
) -> None:
    assert right(parser) == EXPECTED.count(answer)


@pytest.mark.parametrize("parser", [Raising, Unbuildable])
def test_a_parser_that_raises_is_wrong(parser: type[RobotParser]) -> None:
    found = ask(parser, SITUATIONS[:1])
    (answers,) = found.answers.values()
    assert found.failed() == [SITUATIONS[0]]
    assert "raises RuntimeError: no idea, for https://www.example.com/photos as ExampleBot" in str(answers[0])


def test_a_product_token_is_handed_over_as_text_and_a_header_as_octets() -> None:
    Constant.asked.clear()
    ask(Constant)
    headers = [asked for asked in Constant.asked if isinstance(asked, bytes)]
    assert b"ExampleBot/1.0" in headers
    assert all(b"/" in header for header in headers)
    assert "ExampleBot" in Constant.asked


def test_a_wrong_answer_says_what_was_expected() -> None:
    question = Question("ExampleBot", "https://www.example.com/a", allowed=False)
    assert str(Answer(question, True)) == "allows https://www.example.com/a as ExampleBot: expected disallowed"
    assert Answer(question, False).is_right
