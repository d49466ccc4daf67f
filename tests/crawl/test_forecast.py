"""A crawl says how long the requests that wait for delayed hosts take, and how much of that fits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.crawl import Crawl, crawl, on_each_loop
from tests.support.site import Site, robots, sitemap, sitemap_index

OURS = "tests.crawl.sitemap_spiders:Ours"
SCRAPYS = "tests.crawl.sitemap_spiders:Scrapys"


@pytest.fixture
def site() -> Iterator[Site]:
    with Site(("127.0.0.1", "127.0.0.2")) as running:
        yield running


def forecasts(result: Crawl) -> list[str]:
    assert not result.tracebacks
    lines = result.lines("INFO", "scrapy_rep.crawl.pacing.delay_report")
    return [line for line in lines if line.startswith("So far")]


def pages(origin: str, number: int) -> list[str]:
    return [f"{origin}/{page}" for page in range(number)]


def crawl_sitemaps(site: Site, spider: str = OURS, loop: str = "asyncio", **settings: Any) -> Crawl:
    where = {"sites": [site.origin], "sitemap_urls": [f"{site.origin}/robots.txt"] if spider == SCRAPYS else []}
    return crawl(spider=spider, settings=settings, loop=loop, attributes=where)


@on_each_loop
def test_at_each_interval_the_slowest_hosts_are_named_with_the_time_that_is_left(site: Site, loop: str) -> None:
    slow, fast = site.origins
    site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.2\n"), slow)
    site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.1\n"), fast)
    urls = pages(slow, 8) + pages(fast, 12)
    result = crawl(*urls, settings={"LOGSTATS_INTERVAL": 0.3, "LOG_LEVEL": "INFO"}, loop=loop)
    assert len(result.pages) == 20
    first, *more = forecasts(result)
    assert 1 <= len(more) <= result.seconds / 0.3
    found = re.fullmatch(
        r"So far, (\d+) requests wait for Crawl-delays, (.+) in all:"
        r" 127\.0\.0\.1 (\d+) x 0\.2 s = (.+), 127\.0\.0\.2 (\d+) x 0\.1 s = (.+)\.",
        first,
    )
    assert found
    assert int(found[1]) == int(found[3]) + int(found[5])
    assert found[2] == found[4] == f"{int(found[3]) * 0.2:.3g} s"
    assert 4 <= int(found[3]) <= 8  # on a slow machine the first one has not started
    assert int(more[-1].split()[2]) < int(found[1])


def test_the_stats_hold_what_was_counted_last(site: Site) -> None:
    site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 1\n"))
    settings = {"LOGSTATS_INTERVAL": 0.2, "CLOSESPIDER_TIMEOUT": 0.8}
    stats = crawl(*pages(site.origin, 100), settings=settings).stats
    assert stats["rep/forecast/request_count"] in {98, 99, 100}
    assert stats["rep/forecast/seconds"] == stats["rep/forecast/request_count"]


def test_nothing_is_left_when_the_crawl_has_finished(site: Site) -> None:
    site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.15\n"))
    result = crawl(*pages(site.origin, 4), settings={"LOGSTATS_INTERVAL": 0.1})
    assert forecasts(result)
    assert (result.stats["rep/forecast/request_count"], result.stats["rep/forecast/seconds"]) == (0, 0)


def test_without_a_delay_nothing_is_logged_or_counted(site: Site) -> None:
    site.answer("/robots.txt", robots("User-agent: *\nDisallow: /no\n"))
    settings = {"LOGSTATS_INTERVAL": 0.05, "DOWNLOAD_DELAY": 0.1, "RANDOMIZE_DOWNLOAD_DELAY": False}
    result = crawl(*pages(site.origin, 4), settings=settings)
    assert forecasts(result) == []
    assert not [stat for stat in result.stats if stat.startswith("rep/forecast")]


@pytest.mark.parametrize("interval", [0, 60])
def test_a_timer_keeps_no_crawl_alive_and_none_runs_without_an_interval(site: Site, interval: float) -> None:
    site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.1\n"))
    result = crawl(*pages(site.origin, 3), settings={"LOGSTATS_INTERVAL": interval})
    assert (result.reason, len(result.pages)) == ("finished", 3)
    assert result.seconds < 20
    assert forecasts(result) == []


def test_a_longer_delay_of_the_project_counts(site: Site) -> None:
    site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.1\n"))
    settings = {"LOGSTATS_INTERVAL": 0.2, "DOWNLOAD_DELAY": 2, "RANDOMIZE_DOWNLOAD_DELAY": False}
    result = crawl(*pages(site.origin, 50), settings={**settings, "CLOSESPIDER_TIMEOUT": 0.8})
    assert "127.0.0.1 50 x 2 s = 1 min 40 s" in forecasts(result)[0]


@on_each_loop
@pytest.mark.parametrize("spider", [OURS, SCRAPYS])
def test_the_end_of_the_first_sitemap_says_at_once_how_much_fits(site: Site, spider: str, loop: str) -> None:
    site.answer("/robots.txt", robots("Sitemap: /index.xml\nUser-agent: *\nCrawl-delay: 0.2\n"))
    site.answer("/index.xml", sitemap_index(f"{site.origin}/1.xml"))
    site.answer("/1.xml", sitemap(*pages(site.origin, 100)))
    result = crawl_sitemaps(site, spider, loop, CLOSESPIDER_TIMEOUT=2)
    (line,) = forecasts(result)
    found = re.fullmatch(
        r"So far, (\d+) requests wait for Crawl-delays, (\S+) s in all:"
        r" 127\.0\.0\.1 \1 x 0\.2 s = \2 s\."
        r" CLOSESPIDER_TIMEOUT ends the crawl in (\d\.\d+) s: about (\d)% of these requests fit\.",
        line,
    )
    assert found
    assert found[1] in {"99", "100"}  # on a slow machine the first one has started
    assert float(found[3]) < 1.7
    assert abs(int(found[4]) - 100 * float(found[3]) / float(found[2])) < 0.51
    assert result.stats["rep/forecast/request_count"] == int(found[1])


def test_later_sitemaps_of_a_host_wait_for_the_interval(site: Site) -> None:
    site.answer("/robots.txt", robots("Sitemap: /1.xml\nSitemap: /2.xml\nUser-agent: *\nCrawl-delay: 0.1\n"))
    for name, page in (("1", "a"), ("2", "b")):
        site.answer(f"/{name}.xml", sitemap(f"{site.origin}/{page}", f"{site.origin}/{page}2"))
    result = crawl_sitemaps(site)
    assert len(result.pages) == 4
    assert len(forecasts(result)) == 1
    assert re.search(r": 127\.0\.0\.1 [23] x 0\.1 s = ", forecasts(result)[0])  # and the other sitemap


def test_a_spider_with_asynchronous_callbacks_is_told_at_once_as_well(site: Site) -> None:
    site.answer("/robots.txt", robots("Sitemap: /1.xml\nUser-agent: *\nCrawl-delay: 0.1\n"))
    site.answer("/1.xml", sitemap(*pages(site.origin, 3)))
    makes_async = {"tests.crawl.sitemap_spiders.MakesOutputAsync": 960}
    result = crawl_sitemaps(site, SPIDER_MIDDLEWARES=makes_async)
    assert len(result.pages) == 3
    assert len(forecasts(result)) == 1


def test_sitemaps_of_a_host_without_delay_are_quiet(site: Site) -> None:
    site.answer("/robots.txt", robots("Sitemap: /1.xml\n"))
    site.answer("/1.xml", sitemap(*pages(site.origin, 3)))
    result = crawl_sitemaps(site)
    assert len(result.pages) == 3
    assert forecasts(result) == []


def test_requests_on_disk_are_counted_too(site: Site, tmp_path: Path) -> None:
    site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.6\n"))
    site.answer("/1.xml", sitemap(*pages(site.origin, 30)))
    settings = {"JOBDIR": str(tmp_path / "job"), "CLOSESPIDER_TIMEOUT": 1.2}
    attributes = {"sites": [], "sitemap_urls": [f"{site.origin}/1.xml"]}
    begun = crawl(spider=SCRAPYS, settings=settings, attributes=attributes)
    settings["LOGSTATS_INTERVAL"] = 0.3
    resumed = crawl(spider=SCRAPYS, settings=settings, attributes=attributes)
    assert "127.0.0.1 30 x 0.6 s" in forecasts(begun)[0]
    assert f"127.0.0.1 {30 - len(begun.pages)} x 0.6 s" in forecasts(resumed)[0]


def test_with_the_queue_of_scrapy_nothing_is_forecast(site: Site) -> None:
    site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.1\n"))
    queue = "scrapy.pqueues.DownloaderAwarePriorityQueue"
    settings = {"LOGSTATS_INTERVAL": 0.05, "SCHEDULER_PRIORITY_QUEUE": queue}
    assert forecasts(crawl(*pages(site.origin, 3), settings=settings)) == []


def test_of_many_delayed_hosts_the_five_slowest_are_named() -> None:
    with Site([f"127.0.6.{number}" for number in range(1, 9)]) as site:
        for number, origin in enumerate(site.origins, start=1):
            site.answer("/robots.txt", robots(f"User-agent: *\nCrawl-delay: {number}\n"), origin)
        urls = [url for origin in site.origins for url in pages(origin, 3)]
        result = crawl(*urls, settings={"LOGSTATS_INTERVAL": 0.3, "CLOSESPIDER_TIMEOUT": 1})
    line = forecasts(result)[0]
    assert re.findall(r"127\.0\.6\.(\d)", line) == ["8", "7", "6", "5", "4"]
    assert ", and 3 faster hosts. CLOSESPIDER_TIMEOUT ends " in line
