"""Requests that wait for a robots.txt cost the others nothing."""

from __future__ import annotations

from pathlib import Path
from time import gmtime, strftime, time

import pytest

from tests.support.crawl import RECORDER, crawl, crawl_until, on_each_loop
from tests.support.site import Answer, Site, hang, robots

PAGES = [f"/page/{number}" for number in range(40)]
HANGING = [f"127.0.3.{number}" for number in range(1, 41)]


@pytest.mark.parametrize("spider", [RECORDER, "tests.crawl.spiders:Burst"])
@on_each_loop
def test_forty_hanging_origins_do_not_hold_up_a_healthy_one(loop: str, spider: str) -> None:
    with Site(["127.0.0.1", *HANGING]) as site:
        healthy, *hanging = site.origins
        site.answer("/robots.txt", hang())
        site.answer("/robots.txt", robots("User-agent: *\nAllow: /\n"), healthy)
        # The hanging ones come first, so that they take every place there is.
        urls = [f"{origin}/page" for origin in hanging] + [healthy + path for path in PAGES]
        settings = {"REP_TIMEOUT": 6.0, "REP_RETRY_TIMES": 0}
        result = crawl(*urls, loop=loop, settings=settings, spider=spider)
    assert len(result.pages) == len(PAGES)
    # Scrapy's built-in needs more than the 6 s in which the first sixteen hang.
    assert max(page.time for page in result.pages) < 4.0
    assert [failure.reason for failure in result.failures] == ["unreachable"] * len(hanging)


def most_at_once(site: Site, seconds: float) -> int:
    """The most pages that the site was busy with at one time, when each takes so many seconds."""
    times = [arrival.time for arrival in site.log if arrival.path != "/robots.txt"]
    return max(len([other for other in times if time <= other < time + seconds]) for time in times)


@on_each_loop
def test_those_who_waited_together_keep_to_the_concurrency_of_their_download_slot(loop: str) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nAllow: /\n", delay=0.7))
        site.answer("*", Answer(delay=0.4))
        result = crawl(*(site.origin + path for path in PAGES), loop=loop)
        assert most_at_once(site, 0.38) == 8
    assert len(result.pages) == len(PAGES)


@on_each_loop
def test_those_who_waited_together_keep_to_the_concurrency_of_the_crawl(loop: str) -> None:
    with Site([f"127.0.6.{number}" for number in range(1, 21)]) as site:
        site.answer("/robots.txt", robots("User-agent: *\nAllow: /\n", delay=0.7))
        site.answer("*", Answer(delay=0.4))
        result = crawl(*(origin + path for path in PAGES[:4] for origin in site.origins), loop=loop)
        assert most_at_once(site, 0.38) == 16
    assert len(result.pages) == 80


@on_each_loop
def test_a_slow_middleware_behind_ours_lets_no_more_through(loop: str) -> None:
    with Site([f"127.0.6.{number}" for number in range(1, 31)]) as site:
        site.answer("/robots.txt", robots("User-agent: *\nAllow: /\n", delay=0.5))
        site.answer("*", Answer(delay=0.4))
        settings = {
            "CONCURRENT_REQUESTS": 8,
            "DOWNLOADER_MIDDLEWARES": {"tests.crawl.middlewares.Slow": 500},
        }
        result = crawl(*(origin + "/page" for origin in site.origins), loop=loop, settings=settings)
        assert most_at_once(site, 0.38) <= 8
    assert len(result.pages) == 30


@on_each_loop
def test_pages_that_are_still_in_a_middleware_behind_ours_take_places_too(loop: str) -> None:
    with Site([f"127.0.12.{number}" for number in range(1, 6)]) as site:
        known, *others = site.origins
        site.answer("/robots.txt", robots("", delay=0.5))
        site.answer("/robots.txt", robots(""), known)
        site.answer("*", Answer(delay=1.0))
        site.answer("/start", Answer(), known)
        pages = [f"{origin}/page" for origin in others] + [f"{known}/first/{number}" for number in range(4)]
        settings = {
            "CONCURRENT_REQUESTS": 4,
            "DOWNLOADER_MIDDLEWARES": {"tests.crawl.middlewares.SlowForFirst": 500},
        }
        spider = "tests.crawl.spiders:BurstLater"
        crawl(f"{known}/start", *pages, spider=spider, attributes={"first": 1}, settings=settings, loop=loop)
        assert most_at_once(site, 0.95) == 4
        assert len(site.paths()) == 5 + 9


@on_each_loop
def test_a_middleware_that_makes_requests_anew_behind_ours_costs_no_place(loop: str) -> None:
    with Site(["127.0.0.1", *HANGING[:20]]) as site:
        site.answer("/robots.txt", hang())
        site.answer("/robots.txt", robots(""), site.origin)
        urls = [f"{origin}/page" for origin in site.origins[1:]] + [site.origin + path for path in PAGES]
        settings = {
            "REP_TIMEOUT": 6.0,
            "REP_RETRY_TIMES": 0,
            "DOWNLOADER_MIDDLEWARES": {"tests.crawl.middlewares.Replaces": 500},
        }
        result = crawl(*urls, settings=settings, loop=loop)
    assert len(result.pages) == len(PAGES)
    assert max(page.time for page in result.pages) < 4.0


def test_a_middleware_that_chooses_download_slots_behind_ours_costs_no_place() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("", delay=0.5))
        site.answer("*", Answer(delay=0.3))
        urls = [f"{site.origin}/{number}" for number in range(100)]
        middlewares = {"tests.crawl.middlewares.ChoosesSlots": 610}
        crawl(*urls, settings={"DOWNLOADER_MIDDLEWARES": middlewares})
        assert most_at_once(site, 0.28) == 16


@pytest.mark.parametrize("spider", [RECORDER, "tests.crawl.spiders:InTwoParts"])
def test_slow_hosts_whose_requests_have_waited_do_not_hold_up_a_fast_one(spider: str) -> None:
    with Site([f"127.0.9.{number}" for number in range(1, 4)]) as site:
        *slow, fast = site.origins
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 1\n", delay=0.2))
        site.answer("/robots.txt", robots("User-agent: *\nAllow: /\n", delay=0.2), fast)
        urls = [origin + path for origin in slow for path in PAGES] + [fast + path for path in PAGES]

        def is_done() -> bool:
            return len(site.paths(fast)) > len(PAGES) or len(site.log) > 2 * len(PAGES) + 25

        crawl_until(is_done, *urls, settings={}, spider=spider)
        assert len(site.paths(fast)) == len(PAGES) + 1
        # One after another with those of the slow ones they would need half a minute.
        assert len(site.log) - len(site.paths(fast)) < 12


@on_each_loop
def test_a_job_goes_on_with_those_who_waited_when_the_crawl_closed(loop: str, tmp_path: Path) -> None:
    with Site([f"127.0.11.{number}" for number in range(1, 6)]) as site:
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.05\n", delay=0.5))
        urls = [origin + path for path in PAGES[:20] for origin in site.origins]
        requests = [{"url": url, "dont_filter": False} for url in urls]
        settings = {"JOBDIR": str(tmp_path), "CONCURRENT_REQUESTS": 4}
        first = crawl(*requests, settings={**settings, "CLOSESPIDER_PAGECOUNT": 5}, loop=loop)
        second = crawl(*requests, settings=settings, loop=loop)
    assert first.reason == "closespider_pagecount"
    assert len(first.pages) < 60
    assert sorted(first.urls + second.urls) == sorted(urls)
    assert first.failures == second.failures == []


@on_each_loop
def test_a_job_goes_on_with_those_who_waited_for_further_attempts(loop: str, tmp_path: Path) -> None:
    with Site() as site:
        request = {"url": f"{site.origin}/page", "dont_filter": False}
        settings = {"JOBDIR": str(tmp_path)}
        site.answer("/robots.txt", Answer(503))
        first = crawl(request, settings={**settings, "CLOSESPIDER_TIMEOUT": 1}, loop=loop)
        site.answer("/robots.txt", robots(""))
        second = crawl(request, settings=settings, loop=loop)
    assert (first.reason, first.pages, first.failures) == ("closespider_timeout", [], [])
    assert second.urls == [request["url"]]


def test_a_job_goes_on_with_those_who_waited_for_a_visit_time(tmp_path: Path) -> None:
    opens, closes = (strftime("%H%M", gmtime(time() + seconds)) for seconds in (120, 3_600))
    with Site() as site:
        site.answer("/robots.txt", robots(f"User-agent: *\nVisit-time: {opens}-{closes}\n"))
        request = {"url": f"{site.origin}/page", "dont_filter": False}
        settings = {"JOBDIR": str(tmp_path)}
        timed = {**settings, "REP_RATE_AND_VISIT_TIME": True, "CLOSESPIDER_TIMEOUT": 1}
        first, second = crawl(request, settings=timed), crawl(request, settings=settings)
    assert (first.reason, first.pages, first.failures) == ("closespider_timeout", [], [])
    assert second.urls == [request["url"]]
