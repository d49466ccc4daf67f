"""What stops a crawl before it starts, and what the add-on assembles when it does start."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.crawl import Crawl, crawl, on_each_loop
from tests.support.site import Site, robots

BY_HAND: dict[str, Any] = {
    "ADDONS": {},
    "ROBOTSTXT_OBEY": True,
    "ROBOTSTXT_PARSER": "scrapy_rep.RepRobotParser",
    "DOWNLOADER_MIDDLEWARES": {
        "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
        "scrapy_rep.RepMiddleware": 100,
    },
    "EXTENSIONS": {"scrapy_rep.RepExtension": 0},
}


def closed_by(settings: dict[str, Any], loop: str = "asyncio") -> str:
    """The message with which a crawl under *settings* ends before its first request."""
    with Site() as site:
        result = crawl(f"{site.origin}/page", settings=settings, loop=loop, apart=True)
        assert site.paths() == []
    assert result.exit_code == 1
    return result.stderr


@on_each_loop
def test_an_impossible_setting_stops_the_crawl(loop: str) -> None:
    message = "REP_MAX_SIZE = -5: expected a number of octets, 1 or more"
    told = closed_by({"REP_MAX_SIZE": -5}, loop)
    assert f"[scrapy_rep.settings] CRITICAL: {message}\n" in told.partition("Traceback")[0]
    assert "direct cause" not in told


def test_a_misspelt_setting_stops_the_crawl() -> None:
    assert "unknown setting REP_UNREACHABEL: did you mean REP_UNREACHABLE?" in closed_by(
        {"REP_UNREACHABEL": "allow"}
    )


def test_an_unusable_product_token_stops_the_crawl() -> None:
    assert "ROBOTSTXT_USER_AGENT = '(+)': it takes a product token" in closed_by({"ROBOTSTXT_USER_AGENT": "(+)"})


def test_a_parser_back_end_that_cannot_be_had_stops_the_crawl() -> None:
    assert "nosuchparser" in closed_by({"ROBOTSTXT_PARSER": "nosuchparser.Parser"})


def test_a_middleware_without_its_extension_stops_the_crawl_and_names_what_to_add() -> None:
    assert "EXTENSIONS lacks scrapy_rep.RepExtension" in closed_by({**BY_HAND, "EXTENSIONS": {}})


def pages_under(settings: dict[str, Any]) -> Crawl:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /private\n"))
        return crawl(f"{site.origin}/open", f"{site.origin}/private", settings=settings)


def test_without_the_add_on_the_parts_can_be_set_one_by_one() -> None:
    result = pages_under(BY_HAND)
    assert [failure.type for failure in result.failures] == ["ForbiddenByRobots"]
    assert result.stats["robotstxt/request_count"] == 1


def test_the_parser_works_in_the_middleware_of_scrapy() -> None:
    result = pages_under({"ADDONS": {}, "ROBOTSTXT_OBEY": True, "ROBOTSTXT_PARSER": "scrapy_rep.RepRobotParser"})
    assert [failure.type for failure in result.failures] == ["IgnoreRequest"]
    assert len(result.pages) == 1


@pytest.mark.parametrize("name", ["ProtegoRobotParser", "PythonRobotParser"])
def test_any_parser_back_end_works_in_our_middleware(name: str) -> None:
    result = pages_under({"ROBOTSTXT_PARSER": f"scrapy.robotstxt.{name}"})
    assert [(failure.type, failure.reason, failure.line) for failure in result.failures] == [
        ("ForbiddenByRobots", "rule", 0)
    ]
    assert len(result.pages) == 1


def test_a_parser_back_end_is_handed_allow_all_for_an_origin_without_robots_txt() -> None:
    with Site() as site:
        result = crawl(f"{site.origin}/open", settings={"ROBOTSTXT_PARSER": "tests.crawl.parsers.Telling"})
    assert len(result.pages) == 1
    at_start_up = ["parser was handed b''"]
    assert result.lines("INFO", "tests") == [*at_start_up, "parser was handed b''"]


def test_a_parser_back_end_that_breaks_allows_nothing() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nAllow: /\n"))
        urls = [f"{site.origin}/{number}" for number in range(3)]
        result = crawl(*urls, settings={"ROBOTSTXT_PARSER": "tests.crawl.parsers.Breaking"})
        assert site.paths() == ["/robots.txt"]
    assert [(failure.reason, failure.cause) for failure in result.failures] == [
        ("unreachable", ["ArithmeticError", "cannot parse"])
    ] * 3
    assert result.lines("WARNING", "scrapy_rep")[:1] == [
        f"ROBOTSTXT_PARSER cannot parse robots.txt of {site.origin} (cannot parse):"
        " its pages are forbidden until it changes"
    ]
