"""A Crawl-delay holds whatever else is switched on: the gaps between starts, by the downloader's own clock."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scrapy import signals

from tests.support.crawl import LOOPS, RECORDER, Crawl, crawl, loop_params, on_each_download_handler, on_each_loop
from tests.support.site import Answer, Site, redirect, robots

DELAY = 0.1
PACED = robots(f"User-agent: *\nCrawl-delay: {DELAY}\n")
LEAST = DELAY - 0.001  # what rounding takes
PATHS = [f"/{number}" for number in range(6)]

HAS_SIGNAL = hasattr(signals, "robots_parsed")
BUILT_IN: dict[str, Any] = {
    "ADDONS": {},
    "ROBOTSTXT_OBEY": True,
    "ROBOTSTXT_PARSER": "scrapy_rep.RepRobotParser",
    "EXTENSIONS": {"scrapy_rep.CrawlDelay": 900},
}
PROTEGO = {"ROBOTSTXT_PARSER": "scrapy.robotstxt.ProtegoRobotParser"}
AUTOTHROTTLE = {"AUTOTHROTTLE_ENABLED": True, "AUTOTHROTTLE_START_DELAY": 0.02}
SPIDERS = "tests.crawl.spiders"
ONE_BY_ONE = f"{SPIDERS}:OneAfterAnother"

if_told = pytest.mark.skipif(not HAS_SIGNAL, reason="no signal robots_parsed, and no delays of parsers")


def gaps_between_pages(result: Crawl) -> list[float]:
    """Seconds between the starts from the last robots.txt on: before it nobody knows all delays."""
    last = max(number for number, start in enumerate(result.starts) if start.url.endswith("/robots.txt"))
    return result.gaps()[last:]


def six_pages(site: Site, answer: Answer = PACED, **kwargs: Any) -> Crawl:
    """The crawl of a robots.txt and six pages."""
    site.answer("/robots.txt", answer)
    result = crawl(*(site.origin + path for path in PATHS), **kwargs)
    assert site.paths()[0] == "/robots.txt"
    assert sorted(site.paths()[1:]) == PATHS
    assert len(result.starts) == 7
    assert result.lines("ERROR") == []
    return result


def is_paced_to(delay: float, result: Crawl, origin: str = "") -> bool:
    """Whether that was the delay of the download slots of all pages when these started, but for a little more."""
    pages = [one for one in result.starts if one.url.startswith(origin) and not one.url.endswith("/robots.txt")]
    return all(delay <= start.delay <= delay * 1.05 for start in pages)


@on_each_loop
def test_every_gap_is_kept_from_the_answer_of_robots_txt_on(loop: str) -> None:
    with Site() as site:
        result = six_pages(site, replace(PACED, delay=0.15), loop=loop)
    assert min(result.gaps()) >= LEAST
    assert result.gaps()[0] >= 0.15 + LEAST
    assert is_paced_to(DELAY, result)


@pytest.mark.parametrize(
    "settings",
    [
        AUTOTHROTTLE,
        {**AUTOTHROTTLE, "EXTENSIONS": {"scrapy.extensions.throttle.AutoThrottle": 999}},
        {"DOWNLOADER_MIDDLEWARES": {"tests.crawl.middlewares.MovesToSlot": 610}},
        pytest.param(PROTEGO, marks=if_told),
        pytest.param({**BUILT_IN, **PROTEGO}, marks=if_told),
        pytest.param({**BUILT_IN, "REP_CRAWL_DELAY_MAX": 0.05, "REP_CRAWL_DELAY_OVER_MAX": "skip"}, marks=if_told),
    ],
    ids=[
        "autothrottle",
        "autothrottle behind everything else",
        "a download slot that a middleware behind the gate chose",
        "another parser back-end",
        "another parser back-end of Scrapy's own middleware",
        "skip, where nobody can end a request",
    ],
)
def test_every_gap_is_kept_whatever_else_is_set(settings: dict[str, Any]) -> None:
    with Site() as site:
        assert min(six_pages(site, settings=settings).gaps()) >= LEAST


def test_autothrottle_may_lengthen_the_delay() -> None:
    with Site() as site:
        site.answer("*", Answer(delay=0.2))
        result = six_pages(site, settings=AUTOTHROTTLE)
    assert result.starts[-1].delay >= 0.19
    assert min(result.gaps()) >= LEAST  # Scrapy's jitter may halve a delay that is twice ours


def test_a_longer_delay_of_the_user_is_kept() -> None:
    with Site() as site:
        site.answer("/robots.txt", PACED)
        result = crawl(*(site.origin + path for path in PATHS[:4]), settings={"DOWNLOAD_DELAY": 0.4})
    assert is_paced_to(0.4, result)
    # Scrapy's jitter may halve the user's own delay; it stays above ours, so it is left alone.
    assert min(result.gaps()) >= 0.199


def test_jitter_does_not_shorten_the_delay_where_the_users_is_a_little_longer() -> None:
    with Site() as site:
        assert min(six_pages(site, settings={"DOWNLOAD_DELAY": 0.125}).gaps()) >= 0.1249


def test_concurrency_does_not_shorten_the_delay() -> None:
    with Site() as site:
        site.answer("*", Answer(delay=0.15))
        assert min(six_pages(site, settings={"CONCURRENT_REQUESTS_PER_DOMAIN": 16}).gaps()) >= LEAST


@on_each_loop
def test_a_download_slot_built_anew_keeps_the_delay(loop: str) -> None:
    with Site() as site:
        result = six_pages(site, loop=loop, spider=f"{SPIDERS}:Collects")
    assert min(result.gaps()) >= LEAST
    assert result.stats["collects/slots_left"] == 0


@on_each_download_handler
def test_a_second_run_that_finds_its_robots_txt_in_the_store_keeps_the_delay(loop: str, tmp_path: Path) -> None:
    settings = {"REP_STORE_PATH": str(tmp_path / "robots.sqlite")}
    with Site() as site:
        site.answer("/robots.txt", PACED)
        urls = [site.origin + path for path in PATHS]
        crawl(urls[0], settings=settings)
        site.log.clear()
        result = crawl(*urls, settings=settings, loop=loop)
        assert sorted(site.paths()) == PATHS
    assert min(result.gaps()) >= LEAST


def test_a_delay_outlives_the_memory_of_its_robots_txt() -> None:
    with Site(["127.0.0.1", "127.0.0.2", "127.0.0.3"]) as site:
        site.answer("/robots.txt", PACED)
        urls = [origin + path for path in PATHS[:3] for origin in site.origins]
        result = crawl(*urls, settings={"REP_MEMORY_ENTRIES": 1}, spider=ONE_BY_ONE)
    assert all(min(result.gaps(origin)) >= LEAST for origin in site.origins)
    assert len(result.pages) == 9


def test_a_url_without_a_host_is_no_error_while_there_is_a_delay() -> None:
    with Site() as site:
        site.answer("/robots.txt", PACED)
        result = crawl(site.origin, "data:,", spider=ONE_BY_ONE)
    assert len(result.pages) == 2
    assert result.lines("ERROR") == []


def test_a_slow_robots_txt_of_another_port_holds_up_no_page() -> None:
    with Site(ports=2) as site:
        paced, other = site.origins
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.05\n"), paced)
        # It comes when all pages of the other port have been asked for, which therefore do not wait for it.
        site.answer("/robots.txt", robots("", when=lambda: len(site.paths(paced)) == 15), other)
        urls = [f"{paced}/0", f"{other}/0", *(f"{paced}/{number}" for number in range(1, 14))]
        result = crawl(*urls, settings={"REP_TIMEOUT": 50})
    assert result.urls[-1] == f"{other}/0"
    assert len(result.pages) == 15


@on_each_download_handler
def test_of_two_ports_that_share_a_download_slot_the_larger_delay_holds_for_both(loop: str) -> None:
    with Site(ports=2) as site:
        one, two = site.origins
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.05\n"), one)
        site.answer("/robots.txt", PACED, two)
        urls = [origin + path for path in PATHS[:3] for origin in site.origins]
        result = crawl(urls[1], urls[0], *urls[2:], loop=loop)
    assert min(gaps_between_pages(result)) >= LEAST
    assert len(result.pages) == 6


def test_a_download_slot_that_the_user_chose_is_paced() -> None:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        site.answer("/robots.txt", PACED, site.origin)
        # The one that asks for a delay is known first.
        site.answer("/robots.txt", Answer(404, delay=0.1), site.origins[1])
        urls = [origin + path for path in PATHS[:3] for origin in site.origins]
        result = crawl(*({"url": url, "meta": {"download_slot": "shared"}} for url in urls))
    assert len(result.starts) == 8
    assert min(gaps_between_pages(result)) >= LEAST


def test_media_pipelines_keep_the_delay(tmp_path: Path) -> None:
    pipeline = {"ITEM_PIPELINES": {"scrapy.pipelines.files.FilesPipeline": 1}, "FILES_STORE": str(tmp_path)}
    with Site() as site:
        site.answer("/robots.txt", PACED)
        files = [f"{site.origin}/file/{number}" for number in range(4)]
        spider = f"{SPIDERS}:Downloads"
        result = crawl(f"{site.origin}/", spider=spider, attributes={"files": files}, settings=pipeline)
    assert len(result.starts) == 6
    assert min(result.gaps()) >= LEAST


def test_a_request_that_does_not_ask_keeps_to_the_pace_of_its_download_slot() -> None:
    with Site() as site:
        site.answer("/robots.txt", PACED)
        rude = [{"url": site.origin + path, "meta": {"dont_obey_robotstxt": True}} for path in PATHS[1:4]]
        result = crawl(site.origin + PATHS[0], *rude, spider=ONE_BY_ONE)
    assert len(result.starts) == 5
    assert min(result.gaps()) >= LEAST


def paced_at_start(result: Crawl, url: str) -> bool:
    """Whether the download slot of the request for *url* had a delay when that started."""
    (start,) = (start for start in result.starts if start.url == url)
    return start.delay > 0


@pytest.mark.parametrize("settings", [{}, pytest.param(BUILT_IN, marks=if_told)], ids=["ours", "Scrapy's own"])
@on_each_download_handler
def test_a_redirect_to_another_host_leaves_the_download_slot_of_the_old_one(
    loop: str, settings: dict[str, Any]
) -> None:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        slow, fast = site.origins
        site.answer("/robots.txt", PACED, slow)
        site.answer("/moved", redirect(f"{fast}/here"), slow)
        result = crawl(f"{slow}/moved", f"{slow}/next", f"{slow}/last", loop=loop, settings=settings)
    assert min(result.gaps(slow)) >= LEAST
    assert len(result.pages) == 3
    assert paced_at_start(result, f"{slow}/moved")
    assert not paced_at_start(result, f"{fast}/here")


def test_a_redirect_keeps_the_download_slot_that_the_user_chose() -> None:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        slow, fast = site.origins
        site.answer("/robots.txt", PACED, slow)
        site.answer("/moved", redirect(f"{fast}/here"), slow)
        result = crawl({"url": f"{slow}/moved", "meta": {"download_slot": "shared"}})
    assert len(result.starts) == 4
    assert min(result.gaps()) >= LEAST
    assert paced_at_start(result, f"{fast}/here")


@pytest.mark.parametrize(
    ("loop", "slow_hosts", "spider"),
    [
        *(pytest.param(*loop.values, 20, RECORDER, marks=loop.marks) for loop in loop_params(LOOPS)),
        ("asyncio", 1, RECORDER),
        ("asyncio", 20, f"{SPIDERS}:Burst"),
        ("asyncio", 20, f"{SPIDERS}:InTwoParts"),
    ],
)
def test_slow_hosts_do_not_slow_a_fast_one(loop: str, slow_hosts: int, spider: str) -> None:
    with Site(["127.0.0.1", *(f"127.0.9.{number}" for number in range(1, slow_hosts + 1))]) as site:
        fast, *slow = site.origins
        # They come when all requests wait for them.
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 120\n", delay=0.1))
        site.answer("/robots.txt", robots("User-agent: *\nAllow: /\n", delay=0.1), fast)
        urls = [origin + path for path in PATHS[:4] for origin in slow]
        urls += [f"{fast}/page/{number}" for number in range(160)]
        # Closed when the fast one has all its pages; it would not have them in a minute behind a slow one.
        settings = {"CLOSESPIDER_PAGECOUNT": len(site.origins) + 160 + spider.endswith(":Burst")}
        parts = {"last": 160, "hosts": slow_hosts}
        result = crawl(*urls, loop=loop, spider=spider, settings=settings, attributes=parts)
        assert len(site.paths(fast)) == 161
    assert result.reason == "closespider_pagecount"


def test_slow_hosts_keep_their_delays_beside_a_fast_one() -> None:
    with Site(["127.0.0.1", "127.0.9.1", "127.0.9.2"]) as site:
        fast, *slow = site.origins
        site.answer("/robots.txt", PACED)
        site.answer("/robots.txt", robots("User-agent: *\nAllow: /\n"), fast)
        urls = [origin + path for path in PATHS[:4] for origin in slow]
        result = crawl(*urls, *(f"{fast}/page/{number}" for number in range(160)))
    assert all(min(result.gaps(origin)) >= LEAST for origin in slow)
    assert len(result.pages) == 168


@if_told
@on_each_loop
def test_scrapys_own_middleware_with_our_parser_keeps_the_delay(loop: str) -> None:
    with Site() as site:
        assert min(six_pages(site, loop=loop, settings=BUILT_IN).gaps()) >= LEAST


@on_each_loop
def test_odd_delays_are_read_as_they_should_be_and_nothing_hangs(loop: str) -> None:
    odd = [
        ("Crawl-delay: 1e9", 0.0),
        ("Crawl-delay: -1", 0.0),
        ("Crawl-delay: nan", 0.0),
        ("Crawl-delay: 0.0000001", 0.0000001),
        ("Crawl-delay: 10s", 0.0),
        ("Crawl-delay: 9\nUser-agent: scrapy\nCrawl-delay: 3\nUser-agent: scrapy\nCrawl-delay: 0.1", 0.1),
    ]
    with Site([f"127.0.9.{number}" for number, _ in enumerate(odd, start=1)]) as site:
        for origin, (records, _) in zip(site.origins, odd):
            site.answer("/robots.txt", robots(f"User-agent: *\n{records}\n"), origin)
        result = crawl(*(origin + path for path in PATHS for origin in site.origins), loop=loop)
    assert len(result.pages) == len(PATHS) * len(odd)
    for origin, (records, delay) in zip(site.origins, odd):
        assert is_paced_to(delay, result, f"{origin}/"), records
