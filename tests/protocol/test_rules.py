"""What a robots.txt says to one crawler in dialects that are not Google's, beyond their cases."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given

from scrapy_rep.protocol import DIALECTS, GOOGLE, GOOGLE_EXACT, Dialect, Reason, RobotsTxt, parse
from scrapy_rep.protocol.dialect import (
    DRAFT_1996,
    GEOPORTAL_FIRST,
    GEOPORTAL_LONGEST,
    STANDARD_1994,
    YANDEX,
    Octets,
    Star,
)
from tests.support.properties import fewer

from .any_body import BODIES, TOKENS, URLS

OTHERS = [dialect for dialect in DIALECTS.values() if not dialect.is_googles]


def robots(dialect: Dialect, *lines: str) -> RobotsTxt:
    return parse("\n".join(lines).encode(), dialect)


def test_only_googles_dialects_are_compiled() -> None:
    assert [dialect.name for dialect in DIALECTS.values() if dialect.is_googles] == ["google", "google-exact"]
    assert replace(GOOGLE_EXACT, wide_tokens=True).is_googles
    assert not replace(GOOGLE, star=Star.ALWAYS).is_googles
    assert not replace(GOOGLE, octets=Octets.WRITTEN).is_googles


@fewer(4)
@given(body=BODIES)
def test_no_body_makes_an_answer_of_any_dialect_fail(body: bytes) -> None:
    for dialect in OTHERS:
        file = parse(body, dialect)
        for token in TOKENS:
            for url in URLS:
                verdict = file.verdict(token, url)
                assert verdict.line >= (verdict.reason is Reason.RULE)
                file.clean_param(url), file.at_host(url)
            assert {rule.line for rule in file.rules(token)} <= {record.line for record in file.records}
            file.crawl_delay(token), file.request_rate(token), file.extensions_for(token)


def test_all_groups_with_the_longest_name_count_at_yandex() -> None:
    lines = (
        "User-agent: Yandex",
        "Disallow: /a",
        "User-agent: YandexBot/3.0",
        "Disallow: /b",
        "User-agent: yandexbot",
    )
    file = robots(YANDEX, *lines, "Disallow: /c")
    assert [file.verdict("YandexBot", path).allowed for path in ("/a", "/b", "/c")] == [True, False, False]
    assert [file.verdict("YandexImages", path).line for path in ("/a", "/b", "/c")] == [2, 0, 0]


def test_an_empty_name_is_part_of_no_name() -> None:
    for dialect in OTHERS:
        file = robots(dialect, "User-agent:", "Disallow: /")
        assert file.verdict("a", "/x").allowed
        assert file.verdict("", "/x").allowed


def test_groups_of_star_count_at_geoportal_for_a_crawler_that_is_named() -> None:
    lines = "User-agent: a", "Allow: /x", "User-agent: *", "Disallow: /"
    for dialect in (GEOPORTAL_FIRST, GEOPORTAL_LONGEST):
        file = robots(dialect, *lines)
        assert [file.verdict("a", path).line for path in ("/x", "/y")] == [2, 4]
        assert [agent.line for agent in file.agents_for("a")] == [1, 3]
        assert [rule.line for rule in file.rules("a")] == [2, 4]


def test_the_kind_of_a_record_is_that_of_the_dialect() -> None:
    lines = "User-agent: a", "Allow: /", "Useragent: b"
    kinds = {d.name: [str(r.kind) for r in robots(d, *lines).records] for d in (GOOGLE, STANDARD_1994, DRAFT_1996)}
    assert kinds == {
        "google": ["user-agent", "allow", "user-agent"],
        "1994": ["user-agent", "unknown", "unknown"],
        "1996": ["user-agent", "allow", "unknown"],
    }
    assert [len(group.agents) for group in robots(GEOPORTAL_FIRST, *lines).groups] == [1]
