"""Scrapy's HTTP cache replays a crawl; what goes to the network is judged by what the network says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.crawl import Crawl, crawl
from tests.support.site import Answer, Site, robots

PRIVATE = robots("User-agent: *\nDisallow: /private\n")


@pytest.fixture
def cache(tmp_path: Path) -> dict[str, Any]:
    """Settings of a crawl that records and replays, with Scrapy's default policy: nothing expires."""
    return {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path / "cache"), "REP_STORE": "memory"}


def run(site: Site, cache: dict[str, Any], *pages: str, **settings: Any) -> Crawl:
    return crawl(*(f"{site.origin}{page}" for page in pages), settings={**cache, **settings})


def test_a_recorded_503_for_robots_txt_is_no_attempt(cache: dict[str, Any]) -> None:
    recorded = {"HTTPCACHE_IGNORE_HTTP_CODES": [], "REP_RETRY_TIMES": 0}
    with Site() as site:
        site.answer("/robots.txt", Answer(503))
        assert not run(site, cache, "/", **recorded).pages
        site.answer("/robots.txt", PRIVATE)
        result = run(site, cache, "/", **recorded)
        assert len(result.pages) == 1
        assert site.paths() == ["/robots.txt", "/robots.txt", "/"]


def test_a_recorded_robots_txt_judges_no_page_that_goes_to_the_network(cache: dict[str, Any]) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow:\n"))
        assert len(run(site, cache, "/old").pages) == 1
        site.answer("/robots.txt", PRIVATE)
        result = run(site, cache, "/old", "/private/new", "/new")
        assert sorted(page.url.removeprefix(site.origin) for page in result.pages) == ["/new", "/old"]
        assert site.paths() == ["/robots.txt", "/old", "/robots.txt", "/new"]


def test_a_replay_makes_no_request_at_all(cache: dict[str, Any]) -> None:
    with Site() as site:
        site.answer("/robots.txt", PRIVATE)
        run(site, cache, "/a", "/b")
        asked = len(site.paths())
        for offline in (False, True):
            result = run(site, cache, "/a", "/b", HTTPCACHE_IGNORE_MISSING=offline)
            assert len(result.pages) == 2
        assert len(site.paths()) == asked


def test_an_offline_replay_stays_offline(cache: dict[str, Any]) -> None:
    with Site() as site:
        site.answer("/robots.txt", Answer(503))
        run(site, cache, "/", HTTPCACHE_IGNORE_HTTP_CODES=[], REP_RETRY_TIMES=0)
        asked = len(site.paths())
        result = run(site, cache, "/", "/missing", HTTPCACHE_IGNORE_MISSING=True, REP_RETRY_TIMES=0)
        assert (result.pages, len(site.paths())) == ([], asked)


def test_a_recorded_robots_txt_does_not_enter_the_store(cache: dict[str, Any], tmp_path: Path) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow:\n"))
        run(site, cache, "/old")
        stored = {"REP_STORE": "sqlite", "REP_STORE_PATH": str(tmp_path / "robots.sqlite")}
        assert len(run(site, cache, "/old", **stored).pages) == 1
        site.answer("/robots.txt", PRIVATE)
        live = {"HTTPCACHE_ENABLED": False, **stored}
        assert not run(site, cache, "/private/new", **live).pages


def test_a_page_that_answered_429_is_asked_again(cache: dict[str, Any]) -> None:
    with Site() as site:
        site.answer("/robots.txt", PRIVATE)
        answers = iter([Answer(429, headers=[("Retry-After", "0")]), Answer(body=b"ready")])
        site.answer("/busy", lambda _: next(answers))
        result = run(site, cache, "/busy")
        assert [page.status for page in result.pages] == [200]
        assert site.paths().count("/busy") == 2
