"""The rule engine as a parser back-end of Scrapy."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Spider
from scrapy.robotstxt import RobotParser
from scrapy.utils.test import get_crawler

from scrapy_rep import RepRobotParser

BODY = b"""\
User-agent: *
Disallow: /

User-agent: examplebot
Disallow: /private
Crawl-delay: 2.5

User-agent: examplebot-news
Disallow: /news

Sitemap: https://example.com/a.xml
Sitemap: https://example.com/b.xml
"""
HEADER = "Mozilla/5.0 (compatible; ExampleBot/2.1; +https://example.com/bot)"


def parser(body: bytes = BODY, **settings: Any) -> RepRobotParser:
    return RepRobotParser.from_crawler(get_crawler(Spider, settings), body)


def test_it_is_a_parser_back_end_of_scrapy() -> None:
    assert issubclass(RepRobotParser, RobotParser)


@pytest.mark.parametrize("agent", ["ExampleBot", b"examplebot", HEADER, HEADER.encode(), "ExampleBot/3.0"])
def test_an_agent_may_be_a_token_or_a_header_as_text_or_octets(agent: str | bytes) -> None:
    assert parser().allowed("https://example.com/news", agent)
    assert not parser().allowed(b"https://example.com/private/1", agent)
    assert parser().crawl_delay(agent) == 2.5


def test_an_agent_nobody_named_gets_the_rules_for_all() -> None:
    assert not parser().allowed("https://example.com/news", "otherbot")
    assert parser().crawl_delay("otherbot") is None


def test_sitemaps_are_in_the_order_of_their_lines() -> None:
    assert parser().sitemaps == ("https://example.com/a.xml", "https://example.com/b.xml")


def test_the_most_specific_of_several_tokens_that_has_a_group_decides() -> None:
    by_first = parser(REP_USER_AGENTS=["examplebot-news", "examplebot"])
    assert not by_first.allowed("https://example.com/news", "ignored")
    assert by_first.allowed("https://example.com/private", "ignored")
    by_second = parser(REP_USER_AGENTS=["examplebot-video", "examplebot"])
    assert by_second.allowed("https://example.com/news", "ignored")
    assert not by_second.allowed("https://example.com/private", "ignored")


def test_the_dialect_is_that_of_the_settings() -> None:
    body = b"User-agent: *\nDisallow: /%7Euser"
    assert not parser(body).allowed("https://example.com/~user", "x")
    assert parser(body, REP_DIALECT="google-exact").allowed("https://example.com/~user", "x")


def test_octets_beyond_the_size_limit_do_not_count() -> None:
    body = b"User-agent: *\nDisallow: /a\nDisallow: /b\n"
    assert not parser(body).allowed("https://example.com/b", "x")
    assert parser(body, REP_MAX_SIZE=30).allowed("https://example.com/b", "x")
    assert not parser(body, REP_MAX_SIZE=30).allowed("https://example.com/a", "x")


def test_without_a_crawler_the_defaults_hold() -> None:
    assert not RepRobotParser.from_crawler(None, BODY).allowed("https://example.com/private", "examplebot")
