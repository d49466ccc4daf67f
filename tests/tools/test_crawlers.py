"""The table of known crawlers, and guesses of what a misspelt name means."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from scrapy_rep.tools.crawlers import (
    AI_CRAWLERS,
    ARCHIVE_CRAWLERS,
    CRAWLERS,
    SEARCH_CRAWLERS,
    Crawler,
    Follows,
    crawler_like,
    crawler_of,
)


def test_each_crawler_is_once_in_the_table() -> None:
    assert [key for key, number in Counter(crawler.key for crawler in CRAWLERS).items() if number > 1] == []


@pytest.mark.parametrize("crawler", CRAWLERS, ids=lambda crawler: crawler.token)
def test_a_row_says_where_its_facts_are_from_and_names_a_successor_that_is_known(crawler: Crawler) -> None:
    assert crawler.key
    assert crawler.purpose
    assert crawler.source.title
    assert re.fullmatch(r"(19|20)\d\d(-[01]\d)?", crawler.source.date)
    assert re.fullmatch(r"((19|20)\d\d)?", crawler.until)
    successor = crawler_of(crawler.instead) if crawler.instead else None
    assert bool(successor) is bool(crawler.instead)
    assert successor is None or not successor.until


@pytest.mark.parametrize("name", SEARCH_CRAWLERS + AI_CRAWLERS + ARCHIVE_CRAWLERS)
def test_what_is_offered_is_in_the_table_and_in_use(name: str) -> None:
    crawler = crawler_of(name)
    assert crawler is not None
    assert (crawler.token, crawler.until) == (name, "")


def test_what_users_of_ai_ask_for_is_offered_and_what_no_owner_documents_is_not() -> None:
    asked_for = {"ChatGPT-User", "Claude-User", "Perplexity-User", "MistralAI-User"}
    searching = {"OAI-SearchBot", "Claude-SearchBot", "PerplexityBot", "DuckAssistBot"}
    assert asked_for | searching <= set(AI_CRAWLERS)
    assert not {"Claude-Web", "anthropic-ai", "FacebookBot"} & set(AI_CRAWLERS)


@pytest.mark.parametrize("name", ["Googlebot", "GOOGLEBOT", "Googlebot/2.1", "googlebot (+https://a.example)"])
def test_a_crawler_is_found_whatever_the_case_and_the_text_behind_its_token(name: str) -> None:
    crawler = crawler_of(name)
    assert crawler is not None
    assert (crawler.token, crawler.owner, crawler.follows) == ("Googlebot", "Google", Follows.RULES)
    assert crawler_like(name) is None


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("Goglebot", "Googlebot"),  # one letter missing
        ("Gooogle-Extended", "Google-Extended"),  # too many
        ("Googlebat", "Googlebot"),  # wrong
        ("Googelbot", "Googlebot"),  # swapped
        ("Google bot", "Googlebot"),  # read as Google
        ("GPT Bot", "GPTBot"),
        ("bing", "bingbot"),  # the owner or the product
        ("ChatGPT", "ChatGPT-User"),
    ],
)
def test_a_misspelt_name_is_guessed(name: str, meant: str) -> None:
    crawler = crawler_like(name)
    assert crawler is not None
    assert crawler.token == meant
    assert crawler_of(name) is None


@pytest.mark.parametrize(
    "name", ["", "*", "a", "GTPBat", "SomeOtherBot", "Bongobot", "goolebgot", "\udcff", "x" * 100_000]
)
def test_a_name_that_resembles_none_is_not_guessed(name: str) -> None:
    assert crawler_like(name) is None
    assert crawler_of(name) is None
