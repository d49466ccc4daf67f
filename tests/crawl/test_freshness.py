"""How long an entry is used, in crawls whose wall clock jumps."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import signals

from tests.support.crawl import Crawl, crawl
from tests.support.site import Answer, Answers, Site, robots, sequence

A_DAY = 86_400
RULES = robots("User-agent: *\nDisallow: /1\n")


def pages_apart(
    seconds: float, answer: Answers, settings: dict[str, Any] | None = None
) -> tuple[Crawl, list[str]]:
    """Three pages of one origin, so many seconds of wall-clock time between them, and what the site was asked."""
    with Site() as site:
        site.answer("/robots.txt", answer)
        result = crawl(
            *(f"{site.origin}/{number}" for number in range(3)),
            spider="tests.crawl.spiders:TimeTraveller",
            attributes={"jump": seconds},
            settings=settings,
        )
        return result, site.paths()


def test_rfc_2_4_an_entry_is_used_for_a_day_and_no_longer() -> None:
    _, asked = pages_apart(A_DAY * 0.6, RULES)
    assert asked == ["/robots.txt", "/0", "/robots.txt", "/2"]


def test_changed_rules_hold_from_the_next_fetch_on() -> None:
    result, asked = pages_apart(A_DAY, sequence(RULES, robots("User-agent: *\nDisallow: /2\n")))
    assert asked == ["/robots.txt", "/0", "/robots.txt", "/1", "/robots.txt"]
    assert [failure.rule for failure in result.failures] == ["Disallow: /2"]


@pytest.mark.skipif(not hasattr(signals, "robots_parsed"), reason="this Scrapy has no signal robots_parsed")
def test_robots_parsed_is_sent_again_only_when_the_body_changed() -> None:
    result, asked = pages_apart(A_DAY, sequence(RULES, RULES, robots("User-agent: *\n")))
    assert asked.count("/robots.txt") == 3
    assert [url[-1] for url in result.robots_parsed] == ["0", "2"]


def test_an_unreachable_origin_is_asked_again_when_the_next_attempt_is_due() -> None:
    result, asked = pages_apart(5, sequence(Answer(503), RULES), {"REP_RETRY_TIMES": 0, "REP_RETRY_DELAY": 4})
    assert asked == ["/robots.txt", "/robots.txt", "/2"]
    assert [failure.reason for failure in result.failures] == ["unreachable", "rule"]


def test_an_origin_that_stays_unreachable_has_one_attempt_each_time_and_more_between_them() -> None:
    settings = {"REP_RETRY_TIMES": 1, "REP_RETRY_DELAY": 0.2}
    result, asked = pages_apart(100, Answer(503), settings)
    assert asked == ["/robots.txt"] * 4
    assert [round(failure.retry_after or 0, 1) for failure in result.failures] == [0.4, 0.8, 1.6]
