"""What the linter says of crawlers that read a file otherwise than Google does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_rep.protocol import DIALECTS, parse
from scrapy_rep.tools.lint import Finding, lint

RUN = b"User-agent: %s\nCrawl-delay: 5\n\nUser-agent: other\nDisallow: /\n"
"""To Google a group of two crawlers: only a rule ends a run of user-agent lines."""


def found(body: bytes) -> list[Finding]:
    return [each for each in lint(body) if each.code == "read-otherwise"]


@pytest.mark.parametrize(("agent", "name"), [(b"Yandex", "YandexBot"), (b"Baiduspider", "Baiduspider")])
def test_a_blank_line_ends_the_group_of_a_crawler_that_is_named(agent: bytes, name: str) -> None:
    (finding,) = found(RUN % agent)
    assert finding.line == 5
    assert finding.message == (
        f"{name} may request / (no rule matches); as Google reads the file, it may not (line 5)."
    )


def test_the_first_rule_that_matches_decides_for_baidu() -> None:
    (finding,) = found(b"User-agent: Baiduspider\nDisallow: /a\nAllow: /a/b\n")
    assert finding.message == (
        "Baiduspider may not request /a/b (line 2); as Google reads the file, it may (line 3)."
    )
    assert "--dialect baidu" in finding.advice


def test_a_misspelt_key_counts_for_google_alone() -> None:
    (finding,) = found(b"User-agent: bingbot\nDisalow: /a\n")
    assert finding.message.startswith("bingbot may request /a (no rule matches)")


def test_bing_its_crawler_is_asked_by_its_former_name_where_that_alone_is_named() -> None:
    (finding,) = found(b"User-agent: msnbot\nDisalow: /a\n")
    assert finding.message.startswith("bingbot may request /a (no rule matches)")


@pytest.mark.parametrize("agent", [b"*", b"Googlebot", b"msnbot-news-x"])
def test_of_crawlers_that_are_not_named_nothing_is_said(agent: bytes) -> None:
    assert found(RUN % agent) == []


def test_a_family_is_asked_about_by_the_name_that_the_file_uses() -> None:
    assert found(b"User-agent: Yandex\nDisallow: /a\n\nUser-agent: *\nDisallow: /b\n") == []


def test_of_very_many_rules_nothing_is_said() -> None:
    rules = b"".join(b"Disallow: /a%d\nAllow: /a%d/b\n" % (number, number) for number in range(600))
    assert found(b"User-agent: Baiduspider\n" + rules) == []
    assert found(b"User-agent: Baiduspider\n" + rules[:1_000]) != []


LINES = st.sampled_from(
    ["User-agent: Yandex", "User-agent: YandexBot", "User-agent: *", "Disallow: /a", "Allow: /a/b", "Allow: /",
     "Disallow: /*a$", "Disallow:", "Disalow: /c", "", "Crawl-delay: 1"]
)  # fmt: skip


@given(st.lists(LINES, max_size=12))
def test_what_is_said_is_what_the_two_readings_answer(lines: list[str]) -> None:
    body = "\n".join(["User-agent: YandexBot", *lines]).encode()
    for finding in found(body):
        words = finding.message.split()
        path = words[words.index("request") + 1]
        may = "may not" not in finding.message.partition(";")[0]
        assert parse(body, DIALECTS["yandex"]).verdict("YandexBot", path).allowed is may
        assert parse(body).verdict("YandexBot", path).allowed is not may
