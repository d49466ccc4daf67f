"""Assertions about a crawl: they answer as its gate decides."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.robotstxt import ProtegoRobotParser
from scrapy.settings import Settings

from scrapy_rep.testing import RobotsSite, assert_allowed, assert_disallowed, assertions
from scrapy_rep.testing.assertions import judge
from scrapy_rep.tools.commands import crawl_runner
from tests.support.command_here import ProcessHere
from tests.support.exceptions import exception
from tests.support.in_process import ADDON as QUIET_ADDON
from tests.support.in_process import in_the_loop

ADDON: dict[str, Any] = {"ADDONS": {"scrapy_rep.Addon": 300}, "USER_AGENT": "ExampleBot/1.0"}
here = pytest.mark.usefixtures("_here")
RULES = "User-agent: ExampleBot\nDisallow: /private\nAllow: /private/open\n"


@pytest.fixture
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    """The crawl for settings runs in the process of the tests, instead of one of its own."""
    monkeypatch.setattr(assertions, "_by_settings", judge)
    monkeypatch.setattr(crawl_runner, "_process", ProcessHere)


@pytest.fixture
def site() -> Iterator[RobotsSite]:
    with RobotsSite(RULES) as site:
        yield site


def problem(assertion: Callable[..., None], *arguments: Any) -> str:
    with pytest.raises(AssertionError) as caught:
        assertion(*arguments)
    return str(caught.value)


# By settings


def test_what_the_settings_allow_and_disallow_is_asserted_with_one_fetch(site: RobotsSite) -> None:
    assert_allowed(ADDON, site.url("/"), site.url("/private/open"))
    assert_disallowed(Settings(ADDON), site.url("/private"), site.url("/private/1"))
    assert site.paths == ["/robots.txt", "/robots.txt"]


@here
def test_a_wrong_assertion_names_every_url_and_the_line_that_decides(site: RobotsSite) -> None:
    told = problem(assert_disallowed, ADDON, site.url("/"), site.url("/private/open"), site.url("/private"))
    assert told.splitlines() == [
        f"{site.url('/')} is allowed: no rule",
        f"{site.url('/private/open')} is allowed: line 3, Allow: /private/open",
    ]
    told = problem(assert_allowed, ADDON, site.url("/private"))
    assert told == f"{site.url('/private')} is disallowed: Forbidden by robots.txt (line 2, Disallow: /private)"


@here
def test_a_robots_txt_that_is_unreachable_disallows_and_one_that_is_missing_allows(site: RobotsSite) -> None:
    site.answer("/robots.txt", status=503)
    assert "unreachable) (HTTP status 503)" in problem(assert_allowed, ADDON, site.url("/"))
    site.answer("/robots.txt", status=404)
    assert_allowed(ADDON, site.url("/private"))


@here
def test_modes_and_exceptions_of_the_settings_count(site: RobotsSite) -> None:
    settings = {**ADDON, "REP_EXCEPTIONS": [exception(site.url("/private/1"))]}
    assert_disallowed(settings, site.url("/private/2"))
    assert "is allowed: excepted, line 2, " in problem(assert_disallowed, settings, site.url("/private/1"))
    reported = {**ADDON, "REP_MODES": {"127.0.0.1": "report"}}
    assert "is allowed: reported, line 2, " in problem(assert_disallowed, reported, site.url("/private"))
    off = {**ADDON, "ROBOTSTXT_OBEY": False}
    assert problem(assert_disallowed, off, site.url("/private")).endswith("is allowed: robots.txt is not checked")


@here
def test_a_delay_that_is_too_long_for_the_settings_disallows(site: RobotsSite) -> None:
    site.robots = "User-agent: *\nCrawl-delay: 1000\n"
    assert_allowed(ADDON, site.url("/"))
    settings = {**ADDON, "REP_CRAWL_DELAY_MAX": 5, "REP_CRAWL_DELAY_OVER_MAX": "skip"}
    assert "(line 2, crawl-delay)" in problem(assert_allowed, settings, site.url("/"))


@here
def test_redirects_of_robots_txt_are_followed(site: RobotsSite) -> None:
    site.answer("/robots.txt", status=301, headers={"Location": "/elsewhere"})
    site.answer("/elsewhere", RULES)
    assert_disallowed(ADDON, site.url("/private"))


class Refusing(ProtegoRobotParser):
    def allowed(self, url: str | bytes, user_agent: str | bytes) -> bool:
        return False


@here
def test_the_parser_of_the_settings_is_asked(site: RobotsSite) -> None:
    assert_disallowed({**ADDON, "ROBOTSTXT_PARSER": Refusing}, site.url("/private/open"))


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"ROBOTSTXT_OBEY": True}, "the settings enable no scrapy_rep.RepMiddleware: set ADDONS"),
        ({**ADDON, "REP_NONSENSE": 1}, "unknown setting REP_NONSENSE"),
        ({**ADDON, "HOOK": lambda: None}, "name classes and functions by their import path"),
    ],
)
def test_settings_that_cannot_be_used_say_what_to_change(settings: dict[str, Any], expected: str) -> None:
    assert expected in problem(assert_allowed, settings, "http://127.0.0.1:9/")


def test_what_is_no_url_is_named_before_anything_is_started() -> None:
    with pytest.raises(ValueError, match="Missing scheme in request url: /private"):
        assert_allowed(ADDON, "http://127.0.0.1:9/", "/private")


def test_an_assertion_about_nothing_fails() -> None:
    assert "no URL given" in problem(assert_disallowed, ADDON)


# By a crawler


class Pages(Spider):
    name = "pages"

    def parse(self, response: Any) -> None:
        pass


async def crawled(*urls: str, **settings: Any) -> Crawler:
    crawler = Crawler(Pages, {**QUIET_ADDON, **ADDON, **settings})
    await crawler.crawl_async(start_urls=[*urls])
    return crawler


@in_the_loop
async def test_a_crawler_that_has_crawled_answers_from_what_it_knows() -> None:
    with RobotsSite(RULES) as site:
        crawler = await crawled(site.url("/"), site.url("/private"))
    assert site.pages == ["/"]
    assert_allowed(crawler, site.url("/other"), site.url("/private/open"))
    assert_disallowed(crawler, site.url("/private"))
    assert problem(assert_allowed, crawler, site.url("/private")).endswith(
        "disallowed: line 2, Disallow: /private"
    )


@in_the_loop
async def test_the_modes_of_a_crawler_count() -> None:
    with RobotsSite(RULES) as site:
        crawler = await crawled(site.url("/"), REP_MODES={"127.0.0.1": "report"})
        assert "is allowed: reported, line 2" in problem(assert_disallowed, crawler, site.url("/private"))
        crawler = await crawled(site.url("/"), ROBOTSTXT_OBEY=False)
        assert "is allowed: robots.txt is not checked" in problem(assert_disallowed, crawler, site.url("/private"))


@in_the_loop
async def test_a_crawler_that_knows_too_little_says_so() -> None:
    with RobotsSite(RULES) as site:
        crawler = await crawled(site.url("/"))
    assert "has not fetched the robots.txt for http://127.0.0.1:9/" in problem(
        assert_allowed, crawler, "http://127.0.0.1:9/"
    )
    assert "ask after the crawl" in problem(assert_allowed, Crawler(Pages, ADDON), "http://127.0.0.1:9/")
