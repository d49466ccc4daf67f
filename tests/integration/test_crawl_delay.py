"""A Crawl-delay holds whatever else is switched on: the gaps between arrivals, measured by the server."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from statistics import fmean, median
from typing import Any

import pytest
from scrapy import signals

from tests.support.crawl import LOOPS, Crawl, crawl
from tests.support.site import Answer, Site, redirect, robots

HALF = robots("User-agent: *\nCrawl-delay: 0.5\n")
LEAST = 0.49  # timers and the noise of arrival take the rest
PATHS = [f"/{number}" for number in range(6)]

HAS_SIGNAL = hasattr(signals, "robots_parsed")
BUILT_IN: dict[str, Any] = {
    "ADDONS": {},
    "ROBOTSTXT_OBEY": True,
    "ROBOTSTXT_PARSER": "scrapy_rep.RepRobotParser",
    "EXTENSIONS": {"scrapy_rep.CrawlDelay": 900},
}
COLLECTS = "tests.integration.spiders:Collects"
BURST = "tests.integration.spiders:Burst"


def gaps(site: Site, origin: str | None = None) -> list[float]:
    """Seconds between the arrivals, at one origin or at all of them.

    When the machine stalls, a request arrives late and the next one on time: what a gap has over the
    usual one is counted with the gap behind it.
    """
    times = [arrival.time for arrival in site.log if origin in (None, arrival.origin)]
    raw = [after - before for before, after in pairwise(times)]
    usual = median(raw) if raw else 0.0
    return [gap + max(before - usual, 0.0) for before, gap in pairwise([usual, *raw])]


def gaps_between_pages(site: Site) -> list[float]:
    """Seconds between the arrivals from the last robots.txt on: before it nobody knows all delays."""
    return gaps(site)[len(site.log) - 1 - site.paths()[::-1].index("/robots.txt") :]


def six_pages(site: Site, answer: Answer = HALF, **kwargs: Any) -> Crawl:
    """The crawl of a robots.txt and six pages."""
    site.answer("/robots.txt", answer)
    result = crawl(*(site.origin + path for path in PATHS), **kwargs)
    assert site.paths()[0] == "/robots.txt"
    assert sorted(site.paths()[1:]) == PATHS
    assert result.lines("ERROR") == []
    return result


@pytest.mark.parametrize("loop", LOOPS)
def test_ours_every_gap_is_kept_from_robots_txt_on(loop: str) -> None:
    with Site() as site:
        six_pages(site, loop=loop)
        assert min(gaps(site)) >= LEAST
        assert max(gaps(site)) < 0.7


@pytest.mark.parametrize("loop", LOOPS)
def test_ours_autothrottle_does_not_lower_the_delay(loop: str) -> None:
    settings = {"AUTOTHROTTLE_ENABLED": True, "AUTOTHROTTLE_START_DELAY": 0.1}
    with Site() as site:
        six_pages(site, loop=loop, settings=settings)
        assert min(gaps(site)) >= LEAST


def test_ours_autothrottle_does_not_lower_the_delay_wherever_the_user_puts_it() -> None:
    throttle = "scrapy.extensions.throttle.AutoThrottle"
    settings = {"AUTOTHROTTLE_ENABLED": True, "AUTOTHROTTLE_START_DELAY": 0.1, "EXTENSIONS": {throttle: 999}}
    with Site() as site:
        six_pages(site, settings=settings)
        assert min(gaps(site)) >= LEAST


def test_ours_autothrottle_may_lengthen_the_delay() -> None:
    settings = {"AUTOTHROTTLE_ENABLED": True, "AUTOTHROTTLE_START_DELAY": 0.1}
    with Site() as site:
        site.answer("*", Answer(delay=0.8))
        six_pages(site, settings=settings)
        assert gaps(site)[-1] >= 0.79


def test_ours_a_longer_delay_of_the_user_is_kept() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.2\n"))
        crawl(*(site.origin + path for path in PATHS[:4]), settings={"DOWNLOAD_DELAY": 1.0})
        # Scrapy's jitter may halve the user's own delay; it stays above ours, so it is left alone.
        assert min(gaps(site)) >= 0.48


def test_ours_jitter_does_not_shorten_the_delay_where_the_users_is_a_little_longer() -> None:
    with Site() as site:
        six_pages(site, settings={"DOWNLOAD_DELAY": 0.55})
        assert min(gaps(site)) >= 0.54


@pytest.mark.parametrize("loop", LOOPS)
def test_ours_concurrency_does_not_shorten_the_delay(loop: str) -> None:
    with Site() as site:
        site.answer("*", Answer(delay=0.6))
        six_pages(site, loop=loop, settings={"CONCURRENT_REQUESTS_PER_DOMAIN": 16})
        assert min(gaps(site)) >= LEAST


@pytest.mark.parametrize("loop", LOOPS)
def test_ours_a_download_slot_built_anew_keeps_the_delay(loop: str) -> None:
    with Site() as site:
        result = six_pages(site, loop=loop, spider=COLLECTS)
        assert min(gaps(site)) >= LEAST
    assert result.stats["collects/slots_left"] == 0


@pytest.mark.parametrize("loop", LOOPS)
def test_ours_a_second_run_that_finds_its_robots_txt_in_the_store_keeps_the_delay(
    loop: str, tmp_path: Path
) -> None:
    settings = {"REP_STORE_PATH": str(tmp_path / "robots.sqlite")}
    with Site() as site:
        site.answer("/robots.txt", HALF)
        urls = [site.origin + path for path in PATHS]
        crawl(urls[0], settings=settings, loop=loop)
        site.log.clear()
        crawl(*urls, settings=settings, loop=loop)
        assert sorted(site.paths()) == PATHS
        assert min(gaps(site)) >= LEAST


def test_ours_a_delay_outlives_the_memory_of_its_robots_txt() -> None:
    with Site(["127.0.0.1", "127.0.0.2", "127.0.0.3"]) as site:
        site.answer("/robots.txt", HALF)
        urls = [origin + path for path in PATHS[:3] for origin in site.origins]
        spider = "tests.integration.spiders:OneAfterAnother"
        result = crawl(*urls, settings={"REP_MEMORY_ENTRIES": 1}, spider=spider)
        assert all(min(gaps(site, origin)) >= LEAST for origin in site.origins)
    assert len(result.pages) == 9


def test_ours_a_slow_robots_txt_of_another_port_holds_up_no_page_for_long() -> None:
    with Site(ports=2) as site:
        paced, other = site.origins
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.2\n"), paced)
        site.answer("/robots.txt", robots("", delay=2.0), other)
        crawl(f"{paced}/0", f"{other}/0", *(f"{paced}/{number}" for number in range(1, 14)))
        times = [arrival.time for arrival in site.log]
    assert max(after - before for before, after in pairwise(times)) < 1.5  # it was 2.2


@pytest.mark.parametrize("loop", LOOPS)
def test_ours_of_two_ports_that_share_a_download_slot_the_larger_delay_holds_for_both(loop: str) -> None:
    with Site(ports=2) as site:
        one, two = site.origins
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.1\n"), one)
        site.answer("/robots.txt", HALF, two)
        urls = [origin + path for path in PATHS[:3] for origin in site.origins]
        result = crawl(urls[1], urls[0], *urls[2:], loop=loop)
        assert min(gaps_between_pages(site)) >= LEAST
    assert len(result.pages) == 6


@pytest.mark.parametrize("loop", LOOPS)
def test_ours_a_download_slot_that_the_user_chose_is_paced(loop: str) -> None:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        site.answer("/robots.txt", HALF, site.origin)
        # The one that asks for a delay is known first.
        site.answer("/robots.txt", Answer(404, delay=0.2), site.origins[1])
        urls = [origin + path for path in PATHS[:3] for origin in site.origins]
        crawl(*({"url": url, "meta": {"download_slot": "shared"}} for url in urls), loop=loop)
        assert len(site.log) == 8
        assert min(gaps_between_pages(site)) >= LEAST


@pytest.mark.parametrize("loop", LOOPS)
def test_ours_a_download_slot_that_a_middleware_behind_the_gate_chose_is_paced(loop: str) -> None:
    with Site() as site:
        settings = {"DOWNLOADER_MIDDLEWARES": {"tests.integration.middlewares.MovesToSlot": 610}}
        six_pages(site, loop=loop, settings=settings)
        assert min(gaps(site)) >= LEAST


@pytest.mark.parametrize("loop", LOOPS)
def test_ours_media_pipelines_keep_the_delay(loop: str, tmp_path: Path) -> None:
    pipeline = {"ITEM_PIPELINES": {"scrapy.pipelines.files.FilesPipeline": 1}, "FILES_STORE": str(tmp_path)}
    with Site() as site:
        site.answer("/robots.txt", HALF)
        files = [f"{site.origin}/file/{number}" for number in range(4)]
        spider = "tests.integration.spiders:Downloads"
        crawl(f"{site.origin}/", spider=spider, attributes={"files": files}, settings=pipeline, loop=loop)
        assert len(site.log) == 6
        assert min(gaps(site)) >= LEAST


def test_ours_a_request_that_does_not_ask_keeps_to_the_pace_of_its_download_slot() -> None:
    with Site() as site:
        site.answer("/robots.txt", HALF)
        rude = [{"url": site.origin + path, "meta": {"dont_obey_robotstxt": True}} for path in PATHS[1:4]]
        crawl(site.origin + PATHS[0], *rude, spider="tests.integration.spiders:OneAfterAnother")
        assert len(site.log) == 5
        assert min(gaps(site)) >= LEAST


@pytest.mark.parametrize("loop", LOOPS)
def test_ours_a_redirect_to_another_host_leaves_the_download_slot_of_the_old_one(loop: str) -> None:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        slow, fast = site.origins
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 1.5\n"), slow)
        site.answer("/moved", redirect(f"{fast}/here"), slow)
        result = crawl(f"{slow}/moved", f"{slow}/next", f"{slow}/last", loop=loop)
        assert min(gaps(site, slow)) >= 1.49
        moved = next(arrival for arrival in site.log if arrival.path == "/moved")
        here = next(arrival for arrival in site.log if arrival.path == "/here")
    assert len(result.pages) == 3
    assert here.time - moved.time < 1.0


def test_ours_a_redirect_keeps_the_download_slot_that_the_user_chose() -> None:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        slow, fast = site.origins
        site.answer("/robots.txt", HALF, slow)
        site.answer("/moved", redirect(f"{fast}/here"), slow)
        crawl({"url": f"{slow}/moved", "meta": {"download_slot": "shared"}})
        assert len(site.log) == 4
        assert min(gaps(site)) >= LEAST


@pytest.mark.parametrize("spider", ["tests.support.run_crawl:Recorder", BURST])
@pytest.mark.parametrize("slow_hosts", [1, 20])
@pytest.mark.parametrize("loop", LOOPS)
def test_ours_slow_hosts_do_not_slow_a_fast_one(loop: str, slow_hosts: int, spider: str) -> None:
    with Site(["127.0.0.1", *(f"127.0.9.{number}" for number in range(1, slow_hosts + 1))]) as site:
        fast, *slow = site.origins
        site.answer("*", Answer(delay=0.1))
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 1\n"))
        site.answer("/robots.txt", robots("User-agent: *\nAllow: /\n"), fast)
        urls = [origin + path for path in PATHS[:4] for origin in slow]
        urls += [f"{fast}/page/{number}" for number in range(160)]
        result = crawl(*urls, loop=loop, spider=spider)
        # The burst at the start delays single arrivals; what comes behind it does not catch up.
        assert all(min(gaps(site, origin)) >= 0.8 for origin in slow)
        assert all(fmean(gaps(site, origin)) >= 0.98 for origin in slow)
        times = [arrival.time for arrival in site.log if arrival.origin == fast]
    assert len(result.pages) == len(urls)
    # Alone it takes 2.0 to 2.3 s; beside 20 slow hosts that fill CONCURRENT_REQUESTS it took 9 s.
    assert times[-1] - times[0] < 4.5


def test_ours_concurrency_that_was_lent_to_a_slow_host_is_given_back() -> None:
    with Site() as site:
        spider = "tests.integration.spiders:TellsConcurrency"
        result = six_pages(site, spider=spider)
    assert result.stats["concurrency/most"] > 16
    assert result.stats["concurrency/last"] == 16


@pytest.mark.skipif(not HAS_SIGNAL, reason="this Scrapy has no signal robots_parsed")
@pytest.mark.parametrize("loop", LOOPS)
def test_ours_scrapys_own_middleware_with_our_parser_keeps_the_delay(loop: str) -> None:
    with Site() as site:
        six_pages(site, loop=loop, settings=BUILT_IN)
        assert min(gaps(site)) >= LEAST


@pytest.mark.skipif(not HAS_SIGNAL, reason="this Scrapy has no signal robots_parsed")
def test_ours_skip_means_obey_where_nobody_can_end_a_request() -> None:
    over_max = {"REP_CRAWL_DELAY_MAX": 0.1, "REP_CRAWL_DELAY_OVER_MAX": "skip"}
    with Site() as site:
        six_pages(site, settings={**BUILT_IN, **over_max})
        assert min(gaps(site)) >= LEAST


@pytest.mark.skipif(not HAS_SIGNAL, reason="this Scrapy has no signal robots_parsed")
def test_ours_a_redirect_leaves_the_old_download_slot_under_scrapys_own_middleware() -> None:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        slow, fast = site.origins
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 1.5\n"), slow)
        site.answer("/moved", redirect(f"{fast}/here"), slow)
        crawl(f"{slow}/moved", f"{slow}/next", settings=BUILT_IN)
        moved = next(arrival for arrival in site.log if arrival.path == "/moved")
        here = next(arrival for arrival in site.log if arrival.path == "/here")
    assert here.time - moved.time < 1.0


@pytest.mark.skipif(not HAS_SIGNAL, reason="the parser back-ends of this Scrapy tell no delays")
@pytest.mark.parametrize("settings", [{}, BUILT_IN], ids=["our gate", "built-in"])
def test_ours_another_parser_back_end_paces_too(settings: dict[str, Any]) -> None:
    with Site() as site:
        parser = {"ROBOTSTXT_PARSER": "scrapy.robotstxt.ProtegoRobotParser"}
        six_pages(site, settings={**settings, **parser})
        assert min(gaps(site)) >= LEAST


@pytest.mark.parametrize(
    ("records", "least", "most"),
    [
        ("Crawl-delay: 1e9", 0.0, 0.3),
        ("Crawl-delay: -1", 0.0, 0.3),
        ("Crawl-delay: nan", 0.0, 0.3),
        ("Crawl-delay: 0.0000001", 0.0, 0.3),
        ("Crawl-delay: 10s", 0.0, 0.3),
        ("Crawl-delay: 9\nUser-agent: scrapy\nCrawl-delay: 3\nUser-agent: scrapy\nCrawl-delay: 0.5", LEAST, 0.7),
    ],
)
def test_ours_an_odd_delay_is_read_as_it_should_be_and_nothing_hangs(
    records: str, least: float, most: float
) -> None:
    with Site() as site:
        six_pages(site, robots(f"User-agent: *\n{records}\n"), loop="twisted")
        assert least <= min(gaps(site))
        assert max(gaps(site)) < most
