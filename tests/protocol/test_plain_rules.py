"""The plain way of Google's dialects gives the answers of the fast one; other dialects, beyond their cases."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import example, given

from scrapy_rep.protocol import DIALECTS, GOOGLE, GOOGLE_EXACT, Dialect, Reason, RobotsTxt, parse, product_token
from scrapy_rep.protocol.crawler_rules import shared_memory
from scrapy_rep.protocol.dialect import Octets, Star
from scrapy_rep.protocol.dialects import (
    BING,
    DRAFT_1996,
    GEOPORTAL_FIRST,
    GEOPORTAL_LONGEST,
    STANDARD_1994,
    YANDEX,
)
from scrapy_rep.protocol.path_pattern import path_of
from scrapy_rep.protocol.plain_reader import PlainReader
from scrapy_rep.protocol.plain_rules import PlainRules
from scrapy_rep.testing import SITUATIONS
from tests.support.memory import octets_kept
from tests.support.properties import fewer

from .test_fast_reader import BODIES, TOKENS, URLS
from .test_google_verdicts import FOLDER, answers, bodies

GOOGLES = pytest.mark.parametrize("dialect", [GOOGLE, GOOGLE_EXACT], ids=lambda dialect: dialect.name)
OTHERS = [dialect for dialect in DIALECTS.values() if not dialect.is_googles]


def robots(dialect: Dialect, *lines: str) -> RobotsTxt:
    return parse("\n".join(lines).encode(), dialect)


def assert_as_fast(body: bytes, dialect: Dialect, token: str, urls: list[str]) -> None:
    fast, plain = parse(body, dialect, limit=None), PlainRules(PlainReader(body, dialect), token)
    assert plain.by_name is fast.has_group(token)
    for url in urls:
        path = path_of(url, canonical_octets=dialect.canonical_octets)
        assert plain.verdict(path) == fast.verdict_on_path(token, path), url


@GOOGLES
@fewer(4)
@given(body=BODIES)
@example(body=b"User-agent: *\nDisallow: /\nAllow: /index.htm?x\n")
def test_ours_googles_dialects_are_read_the_plain_way_as_the_fast_one(dialect: Dialect, body: bytes) -> None:
    for token in TOKENS:
        assert_as_fast(body, dialect, token, URLS)
        fast, plain = parse(body, dialect, limit=None), PlainRules(PlainReader(body, dialect), token)
        assert (plain.agents, plain.rules, plain.extensions) == (
            fast.agents_for(token), fast.rules(token), fast.extensions_for(token),
        )  # fmt: skip


@GOOGLES
def test_google_the_situations_are_read_the_plain_way_as_the_fast_one(dialect: Dialect) -> None:
    for situation in SITUATIONS:
        for question in situation.questions:
            assert_as_fast(situation.body, dialect, product_token(question.crawler), [question.url])


@pytest.mark.skipif(not FOLDER, reason="SCRAPY_REP_CORPUS names no folder")
@pytest.mark.parametrize("each", [4_001, pytest.param(401, marks=pytest.mark.full)])
def test_google_real_files_are_read_the_plain_way_as_the_fast_one(each: int) -> None:
    files = bodies(Path(FOLDER))
    rows = [*islice(answers(Path(FOLDER)), 0, None, each)]
    assert len(rows) == 150_296 // each + 1
    for row in rows:
        for dialect in (GOOGLE, GOOGLE_EXACT):
            assert_as_fast(files[row.file], dialect, row.agent, [row.url])


def test_ours_only_googles_dialects_have_a_fast_way() -> None:
    assert [dialect.name for dialect in DIALECTS.values() if dialect.is_googles] == ["google", "google-exact"]
    assert replace(GOOGLE_EXACT, wide_tokens=True).is_googles
    assert not replace(GOOGLE, star=Star.ALWAYS).is_googles
    assert not replace(GOOGLE, octets=Octets.WRITTEN).is_googles


@fewer(4)
@given(body=BODIES)
def test_ours_no_body_makes_an_answer_of_any_dialect_fail(body: bytes) -> None:
    for dialect in OTHERS:
        file = parse(body, dialect)
        for token in TOKENS:
            for url in URLS:
                verdict = file.verdict(token, url)
                assert verdict.line >= (verdict.reason is Reason.RULE)
                file.clean_param(url), file.at_host(url)
            assert {rule.line for rule in file.rules(token)} <= {record.line for record in file.records}
            file.crawl_delay(token), file.request_rate(token), file.extensions_for(token)


def test_ours_all_groups_with_the_longest_name_count_at_yandex() -> None:
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


def test_ours_an_empty_name_is_part_of_no_name() -> None:
    for dialect in OTHERS:
        file = robots(dialect, "User-agent:", "Disallow: /")
        assert file.verdict("a", "/x").allowed
        assert file.verdict("", "/x").allowed


def test_ours_groups_of_star_count_at_geoportal_for_a_crawler_that_is_named() -> None:
    lines = "User-agent: a", "Allow: /x", "User-agent: *", "Disallow: /"
    for dialect in (GEOPORTAL_FIRST, GEOPORTAL_LONGEST):
        file = robots(dialect, *lines)
        assert [file.verdict("a", path).line for path in ("/x", "/y")] == [2, 4]
        assert [agent.line for agent in file.agents_for("a")] == [1, 3]
        assert [rule.line for rule in file.rules("a")] == [2, 4]


def test_ours_the_kind_of_a_record_is_that_of_the_dialect() -> None:
    lines = "User-agent: a", "Allow: /", "Useragent: b"
    kinds = {d.name: [str(r.kind) for r in robots(d, *lines).records] for d in (GOOGLE, STANDARD_1994, DRAFT_1996)}
    assert kinds == {
        "google": ["user-agent", "allow", "user-agent"],
        "1994": ["user-agent", "unknown", "unknown"],
        "1996": ["user-agent", "allow", "unknown"],
    }
    assert [len(group.agents) for group in robots(GEOPORTAL_FIRST, *lines).groups] == [1]


@pytest.mark.parametrize("dialect", [YANDEX, GEOPORTAL_FIRST], ids=lambda dialect: dialect.name)
def test_ours_the_memory_of_plain_rules_is_counted(dialect: Dialect) -> None:
    rules = [f"Disallow: /{path}" for path in ("a", "*a" * 400, "a" * 999)]
    for line in [*rules, "Disallow:", "Allow: /x/", "User-agent: a"]:
        body = b"User-agent: a\n" + f"{line}\n".encode() * (60_000 // len(line))
        reader = PlainReader(body, dialect)
        assert octets_kept(lambda reader=reader: asked(reader)) <= PlainRules(reader, "a").octets, line  # type: ignore[misc]


def asked(reader: PlainReader) -> PlainRules:
    rules = PlainRules(reader, "a")
    rules.verdict(b"/b")
    _ = rules.agents, rules.rules
    return rules


def test_ours_plain_rules_count_towards_the_memory_that_all_files_share(monkeypatch: pytest.MonkeyPatch) -> None:
    body = b"User-agent: *\n" + b"".join(b"Disallow: /%d\n" % number for number in range(1_000))
    monkeypatch.setattr(shared_memory, "most_octets", 1_000_000)
    files = [parse(body, BING) for _ in range(5)]
    assert [file.verdict("a", "/999").line for file in files] == [1_001] * 5
    assert [repr(file).partition("tokens=")[2] for file in files[:2]] == ["[]>", "[]>"]
    assert repr(files[-1]).endswith("tokens=['a']>")
