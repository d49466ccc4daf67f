"""What may be asked, and what the message says when it may not."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from scrapy_rep.protocol import Access
from scrapy_rep.tools.crawlers import crawler_of
from scrapy_rep.tools.web.fetch import FetchedFile
from scrapy_rep.tools.web.question import CATEGORIES, CheckQuestion, QuestionError, _source, question_in
from scrapy_rep.tools.web.visitors import LOCAL, PUBLIC
from tests.support.markdown import PAGES

SMALL = replace(LOCAL, urls=3, agents=3, verdicts=4, robots_octets=20, url_characters=10, agent_characters=10)


def test_a_question_needs_a_robots_txt_alone() -> None:
    assert question_in({"robots": ""}, LOCAL) == CheckQuestion(b"", ("/",), ("*",), "google")


def test_crawlers_are_asked_about_by_their_product_tokens_once_each() -> None:
    agents = ["Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "Googlebot", " * ", ""]
    assert question_in({"robots": "", "agents": agents}, LOCAL).agents == ("Googlebot", "*")


def test_a_category_stands_for_all_its_crawlers() -> None:
    alone = question_in({"robots": "", "categories": ["training", "training"]}, LOCAL)
    assert (alone.agents, alone.crawlers) == ((), CATEGORIES["training"])
    beside = question_in({"robots": "", "agents": ["*", "GPTBot"], "categories": ["training"]}, LOCAL)
    assert beside.crawlers[:2] == ("*", "GPTBot")
    assert sorted(beside.crawlers[1:]) == sorted(CATEGORIES["training"])


@pytest.mark.parametrize("name", CATEGORIES)
def test_a_category_has_known_crawlers_that_are_in_use(name: str) -> None:
    known = [crawler_of(token) for token in CATEGORIES[name]]
    assert len(known) >= 3
    assert all(crawler and (not crawler.until or name == "search") for crawler in known)


def test_urls_are_asked_about_once_each_in_their_order() -> None:
    assert question_in({"robots": "", "urls": ["/b", "/a ", "", "/b"]}, LOCAL).urls == ("/b", "/a")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "expected a JSON object"),
        ({}, "robots: expected the text"),
        ({"robots": 1}, "robots: expected the text"),
        ({"robots": "x" * 21}, "robots: 21 bytes, but at most 20"),
        ({"robots": "é" * 11}, "robots: 22 bytes"),
        ({"robots": "", "url": "/"}, "unknown field 'url': there are agents, categories, dialect, robots, urls"),
        ({"robots": "", "urls": "/"}, "urls: expected a list of strings"),
        ({"robots": "", "urls": [1]}, "urls: expected a list of strings"),
        ({"robots": "", "urls": ["/1", "/2", "/3", "/4"]}, "urls: 4 given, but at most 3"),
        ({"robots": "", "urls": ["/" * 11]}, "urls: one has more than 10 characters"),
        ({"robots": "", "agents": ["*/"]}, "agents: '*/' contains no product token"),
        ({"robots": "", "agents": ["a", "b", "c"], "urls": ["/1", "/2"]}, "at most 4 verdicts"),
        ({"robots": "", "categories": ["x"]}, "categories: 'x' is not one of training, search"),
        ({"robots": "", "categories": ["training"]}, "1 urls times 45 agents: at most 4 verdicts"),
        ({"robots": "", "dialect": "x\x1b"}, r"dialect: 'x\\x1b' is not one of google"),
        ({"robots": "", "dialect": None}, "dialect: expected one of google"),
    ],
)
def test_the_message_says_what_to_change(data: Any, message: str) -> None:
    with pytest.raises(QuestionError) as raised:
        question_in(data, SMALL)
    assert message in str(raised.value)


def test_what_a_fetch_means_counts_until_there_is_a_text() -> None:
    failed = CheckQuestion(b"", source=FetchedFile(status=503, access=Access.UNREACHABLE))
    assert failed.access is Access.UNREACHABLE
    assert replace(failed, robots=b"User-agent: *").access is Access.SUCCESSFUL


def test_the_source_of_a_file_is_bounded() -> None:
    long = FetchedFile("u" * 9_999, ("h" * 9_999,) * 9, 404, Access.UNAVAILABLE, b"", "t" * 999, 1.5, ("o",) * 9)
    source = _source(json.dumps(long.as_facts()), LOCAL)
    assert (len(source.url), len(source.hops), len(source.hops[0])) == (4_096, 5, 4_096)
    assert (source.status, source.access, source.time) == (404, Access.UNAVAILABLE, 1.5)
    assert (len(source.content_type), len(source.others)) == (256, 5)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "[" * 99_999, '{"url": 1}', '{"hops": 1, "others": []}'])
def test_a_source_that_our_page_did_not_write_is_none(text: str) -> None:
    assert _source(text, LOCAL) == FetchedFile()


def test_strangers_may_ask_for_less() -> None:
    names = [name for name in LOCAL.__slots__ if name not in {"is_public", "fetch_interval"}]
    assert all(getattr(PUBLIC, name) <= getattr(LOCAL, name) for name in names)
    assert PUBLIC.is_public
    assert PUBLIC.fetch_interval > LOCAL.fetch_interval


def test_the_page_on_how_to_run_it_has_the_bounds() -> None:
    table = PAGES["docs/howto/web-checker.md"]
    for limits, column in ((LOCAL, 2), (PUBLIC, 3)):
        cells = {
            row.split("|")[1].strip(): row.split("|")[column].strip() for row in table.splitlines() if "|" in row
        }
        assert cells["bytes of a robots.txt"] == f"{limits.robots_octets:,}"
        assert cells["URLs, crawlers, verdicts"] == f"{limits.urls:,}, {limits.agents}, {limits.verdicts:,}"
        assert cells["time for a fetch, with redirects and comparisons"] == f"{limits.fetch_time:g} s"
        assert cells["time to compute a part of an answer"].startswith(f"{limits.work_time:g} s")
        assert cells["concurrent requests"] == str(limits.requests)
