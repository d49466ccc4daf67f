"""Splash as ``docs/howto/splash.md`` shows it: the robots.txt of the page decides, paces and is stamped."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.support.crawl import Crawl, crawl
from tests.support.site import Site, robots

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it uses what Scrapy has deprecated
    try:
        import scrapy_splash
    except ImportError:  # it is not installed, or cannot be imported with this version of Scrapy
        scrapy_splash = None

PROJECT = "tests.crawl.splash_project"
needs_plugin = pytest.mark.skipif(scrapy_splash is None, reason="scrapy-splash cannot be imported")
SPLASH, SHOP = "127.0.0.9", "127.0.0.1"


@pytest.fixture
def site() -> Iterator[Site]:
    """Splash, which renders nothing and whose own robots.txt forbids everything, and a shop."""
    with Site([SPLASH, SHOP]) as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /\n"), site.origins[0])
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /private\n"), site.origins[1])
        yield site


def rendered(page: str, **meta: Any) -> dict[str, Any]:
    """A request that scrapy-splash replaces by one for Splash."""
    return {"url": page, "meta": {"splash": {"endpoint": "render.html", "slot_policy": "scrapy_default"}, **meta}}


def by_plugin(site: Site, *requests: Any, spider: str = "Stamps", link: str = "", **settings: Any) -> Crawl:
    """A crawl of the project in the how-to."""
    plugins = {"scrapy_splash.SplashCookiesMiddleware": 723, f"{PROJECT}.ObeyingSplashMiddleware": 725}
    settings = {
        "SPLASH_URL": site.origins[0], "DOWNLOADER_MIDDLEWARES": plugins, "REP_TARGET_URL": f"{PROJECT}.page",
        **settings,
    }  # fmt: skip
    spider = f"tests.crawl.target_spiders:{spider}"
    return crawl(*requests, settings=settings, spider=spider, attributes={"link": link}, apart=True)


def test_without_the_plugin_the_page_is_a_parameter_of_splash(site: Site) -> None:
    splash, shop = site.origins
    urls = [f"{splash}/render.html?{urlencode({'url': f'{shop}/{path}'})}" for path in ("p", "private/1")]
    settings = {"REP_TARGET_URL": {SPLASH: "url"}}
    result = crawl(*urls, settings=settings, spider="tests.crawl.target_spiders:Stamps")
    (page,) = result.pages
    assert (page.tag["stamp"]["verdict"], page.tag["stamp"]["origin"], page.tag["slot"]) == ("allowed", shop, SHOP)
    assert [failure.origin for failure in result.failures] == [shop]


@needs_plugin
def test_the_page_is_judged_and_the_stamp_says_so(site: Site) -> None:
    shop = site.origins[1]
    result = by_plugin(site, rendered(f"{shop}/p"), rendered(f"{shop}/private/1"))
    (page,) = result.pages
    assert (page.tag["slot"], page.tag["flags"]) == (SHOP, [])
    assert (page.tag["stamp"]["verdict"], page.tag["stamp"]["origin"]) == ("allowed", shop)
    assert [failure.line for failure in result.failures] == [2]
    assert site.paths() == ["/robots.txt", "/render.html"]


@needs_plugin
def test_what_splash_is_asked_for_is_judged_if_it_is_another_page(site: Site) -> None:
    request = rendered(f"{site.origins[1]}/p")
    request["meta"]["splash"]["args"] = {"url": f"{site.origins[1]}/private/1"}
    assert [failure.line for failure in by_plugin(site, request).failures] == [2]
    assert "/render.html" not in site.paths()


@needs_plugin
def test_pages_of_one_site_are_paced_by_its_delay(site: Site) -> None:
    shop = site.origins[1]
    site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.4\n"), shop)
    result = by_plugin(site, *(rendered(f"{shop}/{number}") for number in range(3)))
    starts = [start.time for start in result.starts if start.url.endswith("/render.html")]
    assert len(starts) == 3
    assert all(after - before >= 0.4 for before, after in pairwise(starts))


@needs_plugin
def test_a_request_that_does_not_obey_stays_one(site: Site) -> None:
    (page,) = by_plugin(site, rendered(f"{site.origins[1]}/private/1", dont_obey_robotstxt=True)).pages
    assert (page.tag["stamp"]["verdict"], page.tag["flags"]) == ("ignored", ["robots:ignored"])
    assert site.paths() == ["/render.html"]


@needs_plugin
def test_a_request_with_the_meta_of_a_page_from_splash_is_judged(site: Site) -> None:
    shop = site.origins[1]
    result = by_plugin(site, rendered(f"{shop}/p"), spider="CopiesMeta", link=f"{shop}/private/1")
    assert [failure.line for failure in result.failures] == [2]
    assert site.paths(shop) == ["/robots.txt"]


@needs_plugin
def test_the_audit_log_has_the_page_and_then_the_request_for_splash(site: Site, tmp_path: Path) -> None:
    audit, shop = tmp_path / "audit.jsonl", site.origins[1]
    by_plugin(site, rendered(f"{shop}/p"), REP_AUDIT=str(audit), REP_AUDIT_ALL=True)
    decisions = [json.loads(line) for line in audit.read_text().splitlines() if '"event":"decision"' in line]
    assert [(decision["url"], decision["via"]) for decision in decisions] == [
        (f"{shop}/p", None), (f"{shop}/p", SPLASH),
    ]  # fmt: skip
