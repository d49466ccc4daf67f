"""Requests that wait for a robots.txt cost the others nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.crawl import RECORDER, crawl, on_each_loop
from tests.support.site import Answer, Arrival, Site, robots

PAGES = [f"/page/{number}" for number in range(40)]
HOSTS = [f"127.0.3.{number}" for number in range(1, 41)]
ALLOW = "User-agent: *\nAllow: /\n"


def behind_ours(name: str, order: int = 500, **settings: Any) -> dict[str, Any]:
    return {"DOWNLOADER_MIDDLEWARES": {f"tests.crawl.middlewares.{name}": order}, **settings}


@dataclass
class Busy:
    """Answers a page after so many seconds, and none before ``expected`` are under way; ``most`` were at once."""

    expected: int = 1
    seconds: float = 0.1
    most: int = 0
    _now: int = 0

    def __call__(self, _: Arrival) -> Answer:
        self._now += 1
        self.most = max(self.most, self._now)
        return Answer(delay=self.seconds, when=self._may_end)

    def _may_end(self) -> bool:
        self._now -= self.most >= self.expected
        return self.most >= self.expected


@pytest.mark.parametrize(
    ("spider", "settings"),
    [(RECORDER, {}), ("tests.crawl.spiders:Burst", {}), (RECORDER, behind_ours("Replaces"))],
    ids=["start requests", "a burst", "requests that a middleware behind ours makes anew"],
)
@on_each_loop
def test_forty_hanging_origins_do_not_hold_up_a_healthy_one(
    loop: str, spider: str, settings: dict[str, Any]
) -> None:
    with Site(["127.0.0.1", *HOSTS]) as site:
        healthy, *hanging = site.origins
        # They answer when the healthy one was asked for all its pages, or if that has to wait for them, too late.
        site.answer("/robots.txt", robots(ALLOW, when=lambda: len(site.paths(healthy)) > len(PAGES)))
        site.answer("/robots.txt", robots(ALLOW), healthy)
        # The hanging ones come first, so that they take every place there is.
        urls = [f"{origin}/page" for origin in hanging] + [healthy + path for path in PAGES]
        settings = {"REP_TIMEOUT": 20.0, "REP_RETRY_TIMES": 0, **settings}
        result = crawl(*urls, loop=loop, settings=settings, spider=spider)
    assert result.failures == []
    assert len(result.pages) == len(PAGES) + len(hanging)


@pytest.mark.parametrize(("hosts", "most"), [(1, 8), (20, 16)], ids=["of their download slot", "of the crawl"])
@on_each_loop
def test_those_who_waited_together_keep_to_the_concurrency(loop: str, hosts: int, most: int) -> None:
    busy = Busy(most)
    with Site(HOSTS[:hosts]) as site:
        site.answer("/robots.txt", robots(ALLOW, delay=0.3))
        site.answer("*", busy)
        urls = [origin + path for path in PAGES[: 40 // hosts] for origin in site.origins]
        result = crawl(*urls, loop=loop)
    assert (busy.most, len(result.pages)) == (most, 40)


@on_each_loop
def test_a_slow_middleware_behind_ours_lets_no_more_through(loop: str) -> None:
    busy = Busy()
    with Site(HOSTS[:30]) as site:
        site.answer("/robots.txt", robots(ALLOW, delay=0.3))
        site.answer("*", busy)
        settings = behind_ours("Slow", CONCURRENT_REQUESTS=8)
        result = crawl(*(origin + "/page" for origin in site.origins), loop=loop, settings=settings)
    assert busy.most <= 8
    assert len(result.pages) == 30


@on_each_loop
def test_pages_that_are_still_in_a_middleware_behind_ours_take_places_too(loop: str) -> None:
    busy = Busy(4, 0.5)
    with Site(HOSTS[:5]) as site:
        known, *others = site.origins
        site.answer("/robots.txt", robots("", delay=0.2))  # while the pages of the known one are in the middleware
        site.answer("/robots.txt", robots(""), known)
        site.answer("*", busy)
        site.answer("/start", Answer(), known)
        urls = [f"{origin}/page" for origin in others] + [f"{known}/first/{number}" for number in range(4)]
        settings, spider = behind_ours("SlowForFirst", CONCURRENT_REQUESTS=4), "tests.crawl.spiders:BurstLater"
        crawl(f"{known}/start", *urls, spider=spider, attributes={"first": 1}, settings=settings, loop=loop)
        assert busy.most == 4
        assert len(site.paths()) == 5 + 9


def test_a_middleware_that_chooses_download_slots_behind_ours_costs_no_place() -> None:
    busy = Busy(16)
    with Site() as site:
        site.answer("/robots.txt", robots("", delay=0.3))
        site.answer("*", busy)
        crawl(*(site.origin + path for path in PAGES), settings=behind_ours("ChoosesSlots", 610))
    assert busy.most == 16


@on_each_loop
def test_a_job_goes_on_with_those_who_waited_when_the_crawl_closed(loop: str, tmp_path: Path) -> None:
    with Site(HOSTS[:5]) as site:
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.05\n", delay=0.3))
        urls = [origin + path for path in PAGES[:8] for origin in site.origins]
        requests = [{"url": url, "dont_filter": False} for url in urls]
        settings = {"JOBDIR": str(tmp_path), "CONCURRENT_REQUESTS": 4}
        first = crawl(*requests, settings={**settings, "CLOSESPIDER_PAGECOUNT": 5}, loop=loop)
        second = crawl(*requests, settings=settings, loop=loop)
    assert first.reason == "closespider_pagecount"
    assert len(first.pages) < 24
    assert sorted(first.urls + second.urls) == sorted(urls)
    assert first.failures == second.failures == []
