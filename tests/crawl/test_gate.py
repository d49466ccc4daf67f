"""Nothing that robots.txt disallows is requested, however the requests and the fetch interleave."""

from __future__ import annotations

import pytest

from tests.support.crawl import crawl, on_each_loop
from tests.support.site import Answer, Site, hang, redirect, reset, robots, sequence

RULES = "User-agent: *\nDisallow: /private\n"
TWELVE = [f"/private/{number}" for number in range(12)]


@on_each_loop
def test_twelve_disallowed_urls_wait_for_one_fetch_and_none_is_requested(loop: str) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RULES, delay=0.3))
        result = crawl(*(site.origin + path for path in [*TWELVE, "/open"]), loop=loop)
        assert sorted(site.paths()) == ["/open", "/robots.txt"]
    assert [failure.reason for failure in result.failures] == ["rule"] * 12
    assert result.urls == [f"{site.origin}/open"]


@on_each_loop
def test_twelve_urls_that_wait_for_a_fetch_that_fails_are_not_requested(loop: str) -> None:
    with Site() as site:
        site.answer("/robots.txt", Answer(503, delay=0.2))
        settings = {"REP_RETRY_TIMES": 1, "REP_RETRY_DELAY": 0.3}
        result = crawl(*(site.origin + path for path in TWELVE), loop=loop, settings=settings)
        assert site.paths() == ["/robots.txt", "/robots.txt"]
    assert [failure.reason for failure in result.failures] == ["unreachable"] * 12


@on_each_loop
def test_one_503_at_the_start_loses_no_page(loop: str) -> None:
    with Site() as site:
        site.answer("/robots.txt", sequence(Answer(503), robots(RULES)))
        urls, settings = [site.origin + "/open", site.origin + "/private"], {"REP_RETRY_DELAY": 0.2}
        result = crawl(*urls, loop=loop, settings=settings)
        assert sorted(site.paths()) == ["/open", "/robots.txt", "/robots.txt"]
    assert result.urls == [f"{site.origin}/open"]
    assert result.failures[0].reason == "rule"


@on_each_loop
def test_attempts_are_made_while_the_spider_is_being_opened(loop: str) -> None:
    with Site() as site:
        site.answer("/robots.txt", sequence(Answer(503), Answer(503), robots("")))
        settings = {"REP_RETRY_DELAY": 0.1}
        spider = "tests.crawl.spiders:AsksBeforeItStarts"
        result = crawl(f"{site.origin}/page", spider=spider, settings=settings, loop=loop)
        assert site.count("/robots.txt") == 3
    assert (result.stats["asked"], len(result.pages)) == ("successful", 1)


@on_each_loop
def test_a_crawl_that_closes_waits_for_the_fetch_and_starts_no_further_attempt(loop: str) -> None:
    with Site() as site:
        site.answer("/robots.txt", Answer(503))
        settings = {"REP_RETRY_DELAY": 20.0}
        urls = [site.origin + path for path in TWELVE]
        result = crawl(*urls, loop=loop, settings=settings, interrupt_when=lambda: bool(site.log))
        assert site.paths() == ["/robots.txt"]
    assert result.stats["finish_reason"] == "shutdown"
    assert result.seconds < 10
    assert result.failures == []  # they are with the scheduler


@on_each_loop
def test_a_fetch_under_way_when_the_crawl_closes_is_cancelled_and_lets_nothing_through(loop: str) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RULES, delay=30.0))
        urls = [site.origin + path for path in TWELVE]
        result = crawl(*urls, loop=loop, interrupt_when=lambda: bool(site.log), timeout=25.0)
        assert site.paths() == ["/robots.txt"]
    assert (result.stats["finish_reason"], result.failures, result.tracebacks) == ("shutdown", [], [])


@pytest.mark.parametrize("bound", ["REP_MEMORY_ENTRIES", "REP_MEMORY_SIZE"], ids=["evicted", "too large"])
@on_each_loop
def test_an_entry_that_memory_does_not_hold_still_decides_for_its_waiters(loop: str, bound: str) -> None:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        site.answer("/robots.txt", robots(RULES, delay=0.2))
        urls = [origin + path for path in TWELVE for origin in site.origins]
        result = crawl(*urls, loop=loop, settings={bound: 1})
        assert set(site.paths()) == {"/robots.txt"}
    assert [failure.reason for failure in result.failures] == ["rule"] * 24
    assert result.stats["rep/memory/evicted_count"] >= (bound == "REP_MEMORY_ENTRIES")


def test_an_origin_that_had_its_patience_fails_at_once_until_the_next_attempt() -> None:
    with Site() as site:
        site.answer("/robots.txt", reset())
        spider = "tests.crawl.spiders:OneAfterAnother"
        settings = {"REP_RETRY_TIMES": 0, "REP_RETRY_DELAY": 20.0}
        result = crawl(*(site.origin + path for path in TWELVE), spider=spider, settings=settings)
    assert len(result.failures) == 12
    assert result.stats["robotstxt/request_count"] == 1
    waits = [failure.retry_after or 0.0 for failure in result.failures]
    assert waits == sorted(waits, reverse=True)
    assert 19 < max(waits) <= 20


def test_retry_after_puts_the_next_attempt_off() -> None:
    with Site() as site:
        site.answer("/robots.txt", Answer(503, headers=[("Retry-After", "120")]))
        result = crawl(site.origin + "/", settings={"REP_UNREACHABLE_WAIT": 5})
        assert site.paths() == ["/robots.txt"]
    assert 100 < (result.failures[0].retry_after or 0.0) <= 120


def test_the_wait_for_an_unreachable_origin_does_not_end_while_the_process_stands_still() -> None:
    with Site() as site:
        site.answer("/robots.txt", sequence(Answer(503), robots("")))
        settings = {"REP_RETRY_DELAY": 0.4, "REP_UNREACHABLE_WAIT": 0.8}
        middlewares = {"tests.crawl.middlewares.StandsStill": 10}
        result = crawl(f"{site.origin}/page", settings={**settings, "DOWNLOADER_MIDDLEWARES": middlewares})
    assert result.urls == [f"{site.origin}/page"]


def test_a_black_hole_costs_a_page_no_more_than_the_time_out_times_the_tries() -> None:
    with Site() as site:
        site.answer("/robots.txt", hang())
        settings = {"REP_TIMEOUT": 0.4, "REP_RETRY_TIMES": 2, "REP_RETRY_DELAY": 0.1}
        result = crawl(site.origin + "/", settings=settings)
        assert site.count("/robots.txt") == 3
    assert 1.1 < result.failures[0].time < 2.7


def test_with_unreachable_allowed_the_pages_are_had() -> None:
    with Site() as site:
        site.answer("/robots.txt", Answer(503))
        settings = {"REP_UNREACHABLE": "allow", "REP_RETRY_TIMES": 0}
        assert crawl(site.origin + "/page", settings=settings).urls == [f"{site.origin}/page"]


@pytest.mark.parametrize(("meaning", "pages"), [("allow", 1), ("disallow", 0)])
def test_a_status_means_what_the_settings_say(meaning: str, pages: int) -> None:
    status = {"allow": 503, "disallow": 403}[meaning]
    with Site() as site:
        site.answer("/robots.txt", Answer(status))
        result = crawl(site.origin + "/page", settings={"REP_STATUS_ACCESS": {str(status): meaning}})
        assert site.count("/robots.txt") == 1
    assert len(result.pages) == pages


def test_rfc_2_2_2_robots_txt_itself_is_allowed_even_when_unreachable() -> None:
    with Site() as site:
        site.answer("/robots.txt", sequence(Answer(503), Answer(503), robots(RULES)))
        result = crawl(site.origin + "/page", site.origin + "/robots.txt", settings={"REP_RETRY_TIMES": 0})
    assert result.urls == [f"{site.origin}/robots.txt"]


def test_a_hop_that_an_entry_in_hand_forbids_counts_as_missing() -> None:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        first, second = site.origins
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /other-robots\n"), second)
        site.answer("/other-robots", robots("User-agent: *\nDisallow: /\n"), second)
        site.answer("/robots.txt", redirect(f"{second}/other-robots"), first)
        spider = "tests.crawl.spiders:OneAfterAnother"
        result = crawl(f"{second}/page", f"{first}/page", spider=spider)
        assert site.count("/other-robots") == 0
    assert result.urls == [f"{second}/page", f"{first}/page"]


def test_a_request_may_opt_out_and_other_schemes_pass() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /\n"))
        result = crawl(
            {"url": site.origin + "/page", "meta": {"dont_obey_robotstxt": True}}, "data:text/plain,hello"
        )
        assert site.paths() == ["/page"]
    assert len(result.pages) == 2
