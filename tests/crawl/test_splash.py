"""scrapy-splash replaces a request by one for Splash: the page's robots.txt decides, paces and is in the stamp."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.crawl import Crawl, crawl, on_each_loop
from tests.support.site import Answer, Site, robots

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it uses what Scrapy has deprecated
    try:
        import scrapy_splash
    except ImportError:  # it is not installed, or cannot be imported with this version of Scrapy
        scrapy_splash = None

STAND_IN = {"tests.crawl.middlewares.Splashes": 725}
REAL = {"scrapy_splash.SplashCookiesMiddleware": 723, "scrapy_splash.SplashMiddleware": 725}
missing = pytest.mark.skipif(scrapy_splash is None, reason="scrapy-splash cannot be imported")
with_each_plugin = pytest.mark.parametrize(
    "plugin",
    [
        pytest.param(STAND_IN, id="stand-in"),
        pytest.param(REAL, id="scrapy-splash", marks=[pytest.mark.full, missing]),
    ],
)
SPLASH, SHOP, OTHER = "127.0.0.9", "127.0.0.1", "127.0.0.2"


@pytest.fixture
def site() -> Iterator[Site]:
    """Splash, which renders nothing and whose own robots.txt forbids everything, and two sites."""
    with Site([SPLASH, SHOP, OTHER]) as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /\n"), site.origins[0])
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /private\n"), site.origins[1])
        yield site


def rendered(page: str, meta: dict[str, Any] | None = None, **arguments: Any) -> dict[str, Any]:
    """A request that Splash is to render."""
    options = {"endpoint": "render.html", "slot_policy": "scrapy_default", "args": arguments}
    return {"url": page, "meta": {"splash": options, **(meta or {})}}


def through(site: Site, *requests: Any, plugin: Any = None, loop: str = "asyncio", **settings: Any) -> Crawl:
    settings = {"SPLASH_URL": site.origins[0], "DOWNLOADER_MIDDLEWARES": plugin or STAND_IN, **settings}
    spider = "tests.crawl.target_spiders:Stamps"
    return crawl(*requests, settings=settings, spider=spider, loop=loop, apart=plugin is REAL)


@with_each_plugin
def test_ours_the_page_is_judged_and_the_stamp_says_so(site: Site, plugin: dict[str, int]) -> None:
    shop = site.origins[1]
    result = through(site, rendered(f"{shop}/p"), rendered(f"{shop}/private/1"), plugin=plugin)
    (page,) = result.pages
    assert (page.url, page.tag["slot"], page.tag["flags"]) == (f"{shop}/p", SHOP, [])
    assert (page.tag["stamp"]["verdict"], page.tag["stamp"]["origin"]) == ("allowed", shop)
    assert [failure.line for failure in result.failures] == [2]
    assert site.paths() == ["/robots.txt", "/render.html"]


@on_each_loop
@with_each_plugin
def test_ours_pages_of_one_site_are_paced_by_its_delay(site: Site, plugin: dict[str, int], loop: str) -> None:
    shop, other = site.origins[1:]
    site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.4\n"), shop)
    requests = [rendered(f"{origin}/{number}") for number in range(3) for origin in (shop, other)]
    result = through(site, *requests, plugin=plugin, loop=loop)
    _, second, _ = sorted(page.time for page in result.pages if page.url.startswith(shop))
    assert max(page.time for page in result.pages if page.url.startswith(other)) < second
    *_, before, last = (start.time for start in result.starts if start.url.endswith("/render.html"))
    assert last - before >= 0.4  # by the clock of the download slot: both are pages of the shop


@with_each_plugin
def test_ours_a_request_that_does_not_obey_stays_one(site: Site, plugin: dict[str, int]) -> None:
    request = rendered(f"{site.origins[1]}/private/1", {"dont_obey_robotstxt": True})
    result = through(site, request, plugin=plugin)
    (page,) = result.pages
    assert (page.tag["stamp"]["verdict"], page.tag["flags"]) == ("ignored", ["robots:ignored"])
    assert result.stats["rep/dont_obey_count"] == 1
    assert site.paths() == ["/render.html"]


def test_ours_a_page_is_accounted_for_once(site: Site, tmp_path: Path) -> None:
    audit = tmp_path / "audit.jsonl"
    shop = site.origins[1]
    through(site, rendered(f"{shop}/p"), REP_AUDIT=str(audit), REP_AUDIT_ALL=True)
    decisions = [json.loads(line) for line in audit.read_text().splitlines() if '"event":"decision"' in line]
    assert [(decision["url"], decision["via"]) for decision in decisions] == [(f"{shop}/p", SPLASH)]


def test_ours_what_splash_is_asked_for_is_judged_if_it_is_another_page(site: Site) -> None:
    request = rendered(f"{site.origins[2]}/p", url=f"{site.origins[1]}/private/1")
    result = through(site, request)
    assert [failure.origin for failure in result.failures] == [site.origins[1]]
    assert "/render.html" not in site.paths()


def test_ours_splash_sends_the_user_agent_that_is_asked_about(site: Site) -> None:
    shop = site.origins[1]
    site.answer("/robots.txt", robots("User-agent: OtherBot\nDisallow: /\n\nUser-agent: *\nDisallow:\n"), shop)
    request = {**rendered(f"{shop}/p"), "headers": {"User-Agent": "OtherBot/1"}}
    assert [failure.line for failure in through(site, request).failures] == [2]
    request = {**rendered(f"{shop}/p"), "headers": {"User-Agent": "NiceBot/1"}}
    (page,) = through(site, request, USER_AGENT="OtherBot/1").pages
    assert page.tag["stamp"]["agent"] == "NiceBot"


def test_ours_a_page_where_splash_was_redirected_to_is_judged(site: Site) -> None:
    final = f"{site.origins[1]}/private/1"
    site.answer("/render.html", Answer(body=b"page", headers=[("X-Final-Url", final)]), site.origins[0])
    plugins = {**STAND_IN, "tests.crawl.middlewares.Arrives": 700}
    (page,) = through(site, rendered(f"{site.origins[1]}/p"), plugin=plugins).pages
    assert (page.url, page.tag["flags"]) == (final, ["robots:forbidden-url"])


def test_ours_with_robots_txt_off_the_delay_of_the_page_still_counts(site: Site) -> None:
    shop = site.origins[1]
    site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.4\nDisallow: /\n"), shop)
    requests = [rendered(f"{shop}/{number}") for number in range(2)]
    result = through(site, *requests, ROBOTSTXT_OBEY=False, REP_CRAWL_DELAY="obey")
    assert min(result.gaps()) >= 0.4


def test_ours_a_request_with_the_meta_of_a_page_from_splash_is_judged(site: Site) -> None:
    shop = site.origins[1]
    settings = {"SPLASH_URL": site.origins[0], "DOWNLOADER_MIDDLEWARES": STAND_IN}
    result = crawl(
        rendered(f"{shop}/p"), settings=settings, spider="tests.crawl.target_spiders:CopiesMeta",
        attributes={"link": f"{shop}/private/1"},
    )  # fmt: skip
    assert [failure.line for failure in result.failures] == [2]
    assert site.paths(shop) == ["/robots.txt"]
