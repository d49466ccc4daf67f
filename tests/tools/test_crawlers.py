"""The table of known crawlers, and guesses of what a misspelt name means."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from scrapy_rep.tools.crawlers import (
    AI_CRAWLERS,
    AI_CRAWLERS_IN_USE,
    ARCHIVE_CRAWLERS,
    CRAWLERS,
    SEARCH_CRAWLERS,
    Category,
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


@pytest.mark.parametrize("name", SEARCH_CRAWLERS + AI_CRAWLERS_IN_USE + ARCHIVE_CRAWLERS)
def test_what_is_offered_is_in_the_table_and_in_use(name: str) -> None:
    crawler = crawler_of(name)
    assert crawler is not None
    assert (crawler.token, crawler.until) == (name, "")


_TRAINING = [
    "GPTBot", "ClaudeBot", "CCBot", "Bytespider", "meta-externalagent", "Amazonbot", "Google-Extended",
    "Applebot-Extended", "Webzio-Extended", "MistralAI-Training", "cohere-training-data-crawler", "DeepSeekBot",
    "FacebookBot", "AI2Bot", "omgili", "Diffbot", "img2dataset", "anthropic-ai", "Claude-Web",
]  # fmt: skip
_SEARCH = [
    "OAI-SearchBot", "Claude-SearchBot", "PerplexityBot", "DuckAssistBot", "meta-webindexer", "Amzn-SearchBot",
    "MistralAI-Index", "YouBot", "Google-CloudVertexBot",
]  # fmt: skip
_USER_REQUEST = [
    "ChatGPT-User", "Claude-User", "Perplexity-User", "MistralAI-User", "meta-externalfetcher", "Amzn-User",
    "Google-NotebookLM", "Google-Agent", "cohere-ai",
]  # fmt: skip


@pytest.mark.parametrize(
    ("category", "names"),
    [(Category.TRAINING, _TRAINING), (Category.SEARCH, _SEARCH), (Category.USER_REQUEST, _USER_REQUEST)],
)
def test_an_ai_crawler_has_what_its_owner_does_with_its_pages(category: Category, names: list[str]) -> None:
    assert {name: AI_CRAWLERS[name] for name in names} == dict.fromkeys(names, category)


def test_ai_crawlers_are_of_three_categories() -> None:
    assert set(AI_CRAWLERS.values()) == {Category.TRAINING, Category.SEARCH, Category.USER_REQUEST}


@pytest.mark.parametrize(
    "name", ["Googlebot", "bingbot", "Applebot", "ia_archiver", "facebookexternalhit", "Wget"]
)
def test_a_crawler_of_a_search_engine_an_archive_or_a_preview_is_no_ai_crawler(name: str) -> None:
    assert crawler_of(name) is not None
    assert name not in AI_CRAWLERS


def test_retired_ai_crawlers_are_known_as_such_and_not_offered() -> None:
    assert set(AI_CRAWLERS) - set(AI_CRAWLERS_IN_USE) == {"anthropic-ai", "Claude-Web"}


def test_an_ai_crawler_is_called_by_one_word_which_no_other_crawler_shares() -> None:
    assert [name for name in AI_CRAWLERS if " " in name] == []
    assert [name for name in AI_CRAWLERS if (crawler := crawler_of(name)) is None or crawler.token != name] == []


@pytest.mark.parametrize(
    ("name", "category"),
    [
        ("Googlebot", Category.SEARCH),
        ("archive.org_bot", Category.ARCHIVE),
        ("AhrefsBot", Category.SEO),
        ("AdsBot-Google", Category.ADVERTISING),
        ("Twitterbot", Category.PREVIEW),
        ("Wget", Category.TOOL),
        ("Google-Safety", Category.OTHER),
    ],
)
def test_every_crawler_has_a_category_that_reads_as_text(name: str, category: Category) -> None:
    crawler = crawler_of(name)
    assert crawler is not None
    assert crawler.category == category == str(category)


@pytest.mark.parametrize(
    ("name", "token"),
    [
        ("The Knowledge AI", "The Knowledge AI"),
        ("the  knowledge ai/1.0", "The Knowledge AI"),
        ("Download Ninja", "Download Ninja"),
        ("Offline Explorer/1.4", "Offline Explorer"),
        ("Sogou web spider", "Sogou web spider"),
        ("Sogou inst spider", "Sogou"),
        ("ChatGPT Agent", "ChatGPT Agent"),
        ("Kangaroo Bot", "Kangaroo Bot"),
        ("Linguee Bot", "Linguee"),
    ],
)
def test_a_crawler_of_several_words_is_known_by_all_of_them(name: str, token: str) -> None:
    crawler = crawler_of(name)
    assert crawler is not None
    assert crawler.token == token
    assert crawler_like(name) is None


@pytest.mark.parametrize(
    "name",
    [
        "The", "The Intraformant", "the", "Web", "Web Sucker", "Web Image Collector", "Download", "Download Demon",
        "Offline", "Offline Navigator", "Kangaroo", "Screaming", "Sidetrade", "Poseidon", "Spider", "Code",
    ],
)  # fmt: skip
def test_a_word_that_is_part_of_a_name_is_no_crawler(name: str) -> None:
    assert crawler_of(name) is None
    assert crawler_like(name) is None


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
