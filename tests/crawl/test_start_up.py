"""What stops a crawl before it starts, and what the add-on assembles when it does start."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.crawl import crawl, on_each_loop
from tests.support.crawl_site import visit
from tests.support.site import Site

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
SCRAPYS_GATE = {"ADDONS": {}, "ROBOTSTXT_OBEY": True, "ROBOTSTXT_PARSER": "scrapy_rep.RepRobotParser"}
RULES = "User-agent: *\nDisallow: /private\n"


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


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"REP_UNREACHABEL": "allow"}, "unknown setting REP_UNREACHABEL: did you mean REP_UNREACHABLE?"),
        ({"ROBOTSTXT_USER_AGENT": "(+)"}, "ROBOTSTXT_USER_AGENT = '(+)': it takes a product token"),
        ({"ROBOTSTXT_USER_AGENT": "User-Agent: my/1.0"}, "it takes a product token or a User-Agent header"),
        ({"ROBOTSTXT_PARSER": "nosuchparser.Parser"}, "nosuchparser"),
        ({**BY_HAND, "EXTENSIONS": {}}, "EXTENSIONS lacks scrapy_rep.RepExtension"),
    ],
)
def test_what_cannot_work_stops_the_crawl_and_names_what_to_change(settings: Any, message: str) -> None:
    site, result = visit(None, "/page", **settings)
    assert (site.paths(), result.exit_code) == ([], 1)
    assert message in result.stderr


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        (BY_HAND, "ForbiddenByRobots"),
        (SCRAPYS_GATE, "IgnoreRequest"),
        ({"ROBOTSTXT_PARSER": "scrapy.robotstxt.ProtegoRobotParser"}, "ForbiddenByRobots"),
        ({"ROBOTSTXT_PARSER": "scrapy.robotstxt.PythonRobotParser"}, "ForbiddenByRobots"),
    ],
    ids=["part by part", "our parser in Scrapy's gate", "Protego in our gate", "Python in our gate"],
)
def test_parts_can_be_set_one_by_one_and_with_those_of_scrapy(settings: dict[str, Any], error: str) -> None:
    site, result = visit(RULES, "/open", "/private", **settings)
    assert result.urls == [f"{site.origin}/open"]
    assert [failure.type for failure in result.failures] == [error]
    assert result.stats["robotstxt/request_count"] == 1
    if "ROBOTSTXT_OBEY" not in settings:
        assert [(failure.reason, failure.line) for failure in result.failures] == [("rule", 0)]


def test_a_parser_back_end_is_handed_allow_all_for_an_origin_without_robots_txt() -> None:
    _, result = visit(None, "/open", ROBOTSTXT_PARSER="tests.crawl.parsers.Telling")
    assert len(result.pages) == 1
    at_start_up = ["parser was handed b''"]
    assert result.lines("INFO", "tests") == [*at_start_up, "parser was handed b''"]


def test_a_parser_back_end_that_breaks_allows_nothing() -> None:
    rules, parser = "User-agent: *\nAllow: /\n", "tests.crawl.parsers.Breaking"
    site, result = visit(rules, "/1", "/2", "/3", ROBOTSTXT_PARSER=parser)
    assert site.paths() == ["/robots.txt"]
    told = [(failure.reason, failure.cause) for failure in result.failures]
    assert told == [("unreachable", ["ArithmeticError", "cannot parse"])] * 3
    assert result.lines("WARNING", "scrapy_rep")[:1] == [
        f"ROBOTSTXT_PARSER cannot parse robots.txt of {site.origin} (cannot parse):"
        " its pages are forbidden until it changes"
    ]
