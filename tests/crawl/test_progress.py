"""While requests wait for a robots.txt the crawl says for what, and for how long."""

from __future__ import annotations

import re

from tests.support.crawl import crawl
from tests.support.site import Answer, Site, hang, robots, sequence


def test_the_first_failed_attempt_says_why_when_the_next_is_and_how_many_wait() -> None:
    with Site() as site:
        site.answer("/robots.txt", sequence(Answer(503), Answer(503), robots("")))
        settings = {"REP_RETRY_DELAY": 0.2}
        result = crawl(*(f"{site.origin}/{number}" for number in range(3)), settings=settings)
    assert len(result.pages) == 3
    told = [line for line in result.lines("INFO") if "attempt" in line]
    assert len(told) == 1
    assert re.fullmatch(
        rf"robots\.txt of {site.origin}: the first attempt failed \(HTTP status 503\);"
        r" the next one starts in 0\.\d s; 3 requests wait",
        told[0],
    )
    assert result.lines("WARNING", "scrapy_rep") == []


def test_the_last_failed_attempt_is_a_warning_that_counts_them() -> None:
    with Site() as site:
        site.answer("/robots.txt", Answer(503))
        result = crawl(f"{site.origin}/1", settings={"REP_RETRY_DELAY": 0.05, "REP_RETRY_TIMES": 2})
    (warning,) = result.lines("WARNING", "scrapy_rep.crawl.runtime.log")
    assert "is unreachable after 3 attempts (HTTP status 503)" in warning


def test_of_many_origins_that_fail_ten_are_told() -> None:
    with Site([f"127.0.5.{number}" for number in range(1, 13)]) as site:
        for origin in site.origins:
            site.answer("/robots.txt", sequence(Answer(503), robots("")), origin)
        result = crawl(*(f"{origin}/1" for origin in site.origins), settings={"REP_RETRY_DELAY": 0.2})
    assert len([line for line in result.lines("INFO") if "the first attempt failed" in line]) == 10
    assert "The first attempt at robots.txt of 2 more origins failed" in result.lines("INFO")


def test_requests_wait_for_all_attempts_together_no_longer_than_the_setting_says() -> None:
    settings = {
        "EXTENSIONS": {"tests.crawl.extensions.NotesTimeouts": 0},
        "REP_TIMEOUT": 0.4,
        "REP_RETRY_DELAY": 0.05,
        "REP_UNREACHABLE_WAIT": 0.7,
    }
    with Site() as site:
        site.answer("/robots.txt", hang())
        result = crawl(f"{site.origin}/1", settings=settings)
    assert result.failures[0].reason == "unreachable"
    assert result.stats["timeouts/sum"] <= 0.7
    assert result.stats["rep/request_count"] == result.stats["timeouts/count"]


def test_the_first_attempt_has_its_time_out_however_short_the_wait() -> None:
    settings = {"REP_UNREACHABLE_WAIT": 0.1}
    with Site() as site:
        site.answer("/robots.txt", robots("", delay=0.4))
        assert len(crawl(f"{site.origin}/1", settings=settings).pages) == 1
