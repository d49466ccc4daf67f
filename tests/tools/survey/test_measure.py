"""The figures of one file."""

from __future__ import annotations

import json
import os
from itertools import islice
from pathlib import Path

import pytest

from scrapy_rep.protocol import DIALECTS
from scrapy_rep.tools.survey import AS_ALL, RESTRICTED, SHUT_OUT, WELCOME, SiteRecord
from scrapy_rep.tools.survey.measure import measure
from tests.protocol.test_google_verdicts import FOLDER, bodies

from .counting import count

BODY = b"""# for all
User-agent: *
User-agent: MJ12bot/1.4   # the same
Crawl-delay: 2
Disallow: /*?s=
Allow: /a$

user-agent: mj12BOT
Disallow: /x
Sitemap: https://h/a.xml
Sitemap: https://h/a.xml
Nonsense: x
what is this?
User-agent: GPTBot
Disallow: /
User-agent: CCBot
Disallow: /x
User-agent: ClaudeBot
Disallow:
"""


def test_lines_records_and_rules_are_counted() -> None:
    record = measure("s", BODY)
    assert (record.bytes, record.lines, record.blank_lines, record.comment_lines) == (len(BODY), 19, 1, 1)
    assert (record.lines_with_comment, record.unread_lines, record.unread_share) == (1, 2, round(2 / 19, 6))
    assert (record.groups, record.user_agent_fields, record.allow, record.disallow) == (5, 6, 1, 5)
    assert (record.wildcards, record.anchors, record.sitemaps) == (1, 1, 1)
    assert record.records == {
        "user-agent": 6, "crawl-delay": 1, "disallow": 5, "allow": 1, "sitemap": 2, "unknown": 1
    }  # fmt: skip


def test_rules_and_delays_are_counted_by_name_whatever_its_case() -> None:
    record = measure("s", BODY)
    assert record.agents["*"] == {"allow": 1, "disallow": 1}
    assert record.agents["MJ12bot"] == {"allow": 1, "disallow": 2}
    assert list(record.agents) == ["*", "MJ12bot", "GPTBot", "CCBot", "ClaudeBot"]
    assert record.crawl_delays == {"*": 2.0, "MJ12bot": 2.0}


def test_a_name_of_thousands_of_octets_is_cut() -> None:
    record = measure("s", b"User-agent: " + b"x" * 5_000 + b"\nDisallow: /\n")
    assert list(record.agents) == ["x" * 64]


def test_what_is_said_to_ai_crawlers_is_told_apart() -> None:
    assert measure("s", BODY).ai_crawlers == {"GPTBot": SHUT_OUT, "CCBot": RESTRICTED, "ClaudeBot": WELCOME}
    closed = measure("s", b"User-agent: *\nDisallow: /\nUser-agent: GPTBot\nAllow: /")
    assert (closed.shuts_out, closed.ai_crawlers["GPTBot"], closed.ai_crawlers["CCBot"]) == (True, WELCOME, AS_ALL)


def test_ours_a_line_without_a_token_is_not_for_crawlers_that_no_line_names() -> None:
    body = b"User-agent: 360Spider\nDisallow: /\n"
    for dialect in DIALECTS.values():
        record = measure("s", body, dialect=dialect)
        assert (record.shuts_out, record.ai_crawlers) == (False, {}), dialect.name


def said(*lines: str) -> SiteRecord:
    return measure("s", "\n".join(["User-agent: *", *lines]).encode())


def test_ours_lines_of_signals_are_counted_those_of_a_license_with_a_url_alone() -> None:
    record = said("Content-Signal: ai-train=no", "Content-Signal: x", "License: none", "License: https://h/l.xml")
    assert record.ai_signals == {"Content-Signal": 2, "License": 1}
    assert said("Disallow: /x").ai_signals == {}
    assert measure("s", b"<html>\nLicense: https://h/l.xml\nContent-Signal: ai-train=no\n").ai_signals == {}


def test_ours_the_answers_of_signals_are_told_apart_and_unknown_ones_left_out() -> None:
    record = said("Content-Signal: ai-train=yes, search=yes, ai_input=no", "Content-Usage: train-ai=n", "Allow: /")
    assert record.ai_answers == {
        "Content-Signal": {"search": "yes", "ai-train": "yes"}, "Content-Usage": {"ai-train": "no"}
    }  # fmt: skip
    assert said("Content-Usage: train-ai=no", "Content-Signal: use=full").ai_answers == {}


def test_ours_a_site_that_may_not_be_crawled_has_signals_and_no_answers() -> None:
    record = said("Content-Signal: ai-train=no", "Disallow: /")
    assert (record.ai_signals, record.ai_answers) == ({"Content-Signal": 1}, {})
    assert said("Content-Signal: ai-train=no", "Disallow: /x").ai_answers


def test_ours_the_answers_are_those_for_crawlers_that_no_group_names() -> None:
    body = b"User-agent: a\nContent-Signal: ai-train=no\n\nUser-agent: *\nContent-Usage: /y train-ai=n\n"
    assert measure("s", body).ai_answers == {}
    assert measure("s", b"Content-Signal: ai-train=no\n" + body).ai_answers == {
        "Content-Signal": {"ai-train": "no"}
    }


def test_ours_control_tokens_are_counted_when_they_are_named() -> None:
    body = b"User-agent: google-extended\nDisallow: /\nUser-agent: Applebot-Extended\nDisallow:\n"
    assert measure("s", body).control_tokens == {"Google-Extended": SHUT_OUT, "Applebot-Extended": WELCOME}
    assert said("Disallow: /").control_tokens == {}


def test_findings_are_counted_by_code_those_about_the_fetch_too() -> None:
    body = b"User-agent: *\nDisallow: a\nDisallow: b\n"
    assert measure("https://h", body).findings["path-without-slash"] == 2
    moved = measure("https://h", body, url="https://h/x", hops=["https://h/x"], status=200)
    assert moved.findings["redirected"] == 1


def test_a_record_is_a_line_of_json_whatever_the_octets() -> None:
    for body in (
        b"",
        b"\0",
        b"\xff\xfe\0U\0s",
        b"User-agent: \xff\xe2\x80\xae\nDisallow: /\xff",
        os.urandom(5_000),
    ):
        line = measure("s", body, status=200).to_json()
        assert "\n" not in line
        assert json.loads(line)["status"] == 200
        line.encode()


def test_an_empty_file_has_nothing() -> None:
    record = measure("s", b"")
    assert (record.lines, record.unread_share, record.groups, record.agents, record.has_file) == (
        0,
        0.0,
        0,
        {},
        True,
    )


@pytest.mark.skipif(not FOLDER, reason="SCRAPY_REP_CORPUS names no folder")
def test_real_files_are_counted_as_simple_code_counts_them() -> None:
    for name, body in islice(bodies(Path(FOLDER)).items(), 0, None, 40):
        record, expected = measure(name, body), count(body)
        figures = (record.bytes, record.lines, record.blank_lines, record.comment_lines, record.lines_with_comment)
        assert figures == tuple(expected[key] for key in ("bytes", "lines", "blank", "comment", "behind")), name
        kinds = ("allow", "disallow", "user-agent", "sitemap", "crawl-delay")
        assert [record.records.get(kind, 0) for kind in kinds] == [expected[kind] for kind in kinds], name
