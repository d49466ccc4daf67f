"""The delay that a robots.txt requests of a crawler."""

from __future__ import annotations

from typing import Any

import pytest

from scrapy_rep.crawl.pacing.requested_delays import requested_delay
from scrapy_rep.crawl.robots.parser import RepRobotParser
from scrapy_rep.protocol import DIALECTS, GOOGLE, Dialect


def asked(text: str, *tokens: str, dialect: Dialect = GOOGLE) -> tuple[float, int] | None:
    """The seconds and the line of the delay that counts."""
    delay = requested_delay(RepRobotParser(text.encode(), dialect), tokens or ("mybot",))
    return (delay.seconds, delay.line) if delay else None


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("10", 10.0), ("0.5", 0.5), ("0.0000001", 1e-7), ("0", None), ("-1", None), ("nan", None), ("1e9", None),
     ("10s", None), ("inf", None), ("", None)],
)  # fmt: skip
def test_a_crawl_delay_counts_when_it_is_a_length_of_time(value: str, seconds: float | None) -> None:
    assert asked(f"User-agent: *\nCrawl-delay: {value}\n") == (seconds and (seconds, 2))


@pytest.mark.parametrize(
    ("text", "delay"),
    [
        ("User-agent: mybot\nCrawl-delay: 7\n\nUser-agent: mybot\nCrawl-delay: 3\nCrawl-delay: soon\n", (3.0, 5)),
        ("User-agent: *\nCrawl-delay: 7\n\nUser-agent: mybot\nDisallow: /x\n", None),
    ],
    ids=["the last readable one of a merged group", "not that of all where there is a group of our own"],
)
def test_the_delay_of_our_group_counts_with_its_line(text: str, delay: tuple[float, int] | None) -> None:
    assert asked(text) == delay


@pytest.mark.parametrize(
    ("dialect", "delay"), [("google", None), ("bing", (7.0, 2)), ("geoportal-first", (9.0, 8)), ("yandex", None)]
)
def test_the_dialect_says_which_delay_counts(dialect: str, delay: tuple[float, int] | None) -> None:
    text = "User-agent: *\nCrawl-delay: 7\n\nUser-agent: mybot\nDisallow: /x\n\nUser-agent: b\nCrawl-delay: 9\n"
    assert asked(text, dialect=DIALECTS[dialect]) == delay


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_crawl_keeps_a_delay_that_its_dialect_does_not_read(dialect: str) -> None:
    text = "User-agent: *\nDisallow: /x\nCrawl-delay: 7\n"
    assert asked(text, dialect=DIALECTS[dialect]) == (7.0, 3)


def test_the_first_token_that_has_a_group_decides() -> None:
    assert asked("User-agent: my\nCrawl-delay: 7\n", "my-news", "my") == (7.0, 2)


def test_a_request_rate_and_a_visit_time_ask_for_no_delay() -> None:
    assert asked("User-agent: *\nRequest-rate: 1/10\nVisit-time: 0600-0845\n") is None


class Foreign:
    """A parser back-end that tells *delay*."""

    def __init__(self, delay: Any) -> None:
        self._delay = delay

    def crawl_delay(self, _: str) -> Any:
        return self._delay


@pytest.mark.parametrize(("told", "seconds"), [(4, 4.0), (None, None), (-1.0, None), (float("nan"), None)])
def test_another_parser_back_end_is_asked_for_a_delay(told: Any, seconds: float | None) -> None:
    delay = requested_delay(Foreign(told), ("mybot",))  # type: ignore[arg-type]
    assert (delay and delay.seconds) == seconds


def test_a_parser_back_end_that_tells_no_delays_asks_for_nothing() -> None:
    assert requested_delay(object(), ("mybot",)) is None  # type: ignore[arg-type]
