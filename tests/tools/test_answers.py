"""What answers say, as data and as text: the same wherever they are shown."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest

from scrapy_rep.crawl.policy.meta import BLANK
from scrapy_rep.directives.page import combine, read_header
from scrapy_rep.directives.robots_signals import RobotsSignals
from scrapy_rep.directives.vocabulary import Purpose
from scrapy_rep.protocol import Reason, Rule, Verdict, parse
from scrapy_rep.tools.answers import (
    WORDS,
    day_text,
    decision_text,
    delay_text,
    on_line,
    page_facts,
    page_lines,
    record_facts,
    record_text,
    rule_text,
    signal_lines,
    time_fact,
    time_text,
    uses,
    verdict_facts,
    verdict_text,
    why,
    why_without_rule,
)

BY_RULE = Verdict(False, Rule(False, b"/\x1b", 3), Reason.RULE)
BY_DEFAULT = Verdict(True, None, Reason.NO_RULE)


def test_a_verdict_has_its_facts_and_none_where_no_rule_decided() -> None:
    assert verdict_facts(BY_RULE) == {"allowed": False, "line": 3, "rule": "Disallow: /\\x1b", "reason": "rule"}
    assert verdict_facts(BY_DEFAULT) == {"allowed": True, "line": None, "rule": None, "reason": "no rule"}


def test_a_verdict_is_told_with_what_decided() -> None:
    assert verdict_text(BY_RULE) == "disallowed by line 3, Disallow: /\\x1b"
    assert verdict_text(BY_DEFAULT) == "allowed: no rule"
    assert (why(BY_RULE), why(BY_DEFAULT)) == ("line 3, Disallow: /\\x1b", "no rule")
    assert [*WORDS.values()] == ["allowed", "disallowed", "unknown"]


def test_a_long_rule_is_cut_where_that_is_asked_for() -> None:
    rule = Rule(True, b"/" + 20 * b"x", 1)
    assert (rule_text(rule, 9), rule_text(None)) == ("Allow: /x…", "")
    assert rule_text(rule) == f"Allow: /{20 * 'x'}"
    assert verdict_facts(Verdict(True, rule, Reason.RULE), 9)["rule"] == "Allow: /x…"


@pytest.mark.parametrize(
    ("allowed", "reason", "said"),
    [
        (True, Reason.ROBOTS_TXT, "/robots.txt itself"),
        (True, Reason.UNAVAILABLE, "without a robots.txt"),
        (True, Reason.UNREACHABLE, "everything is allowed, as REP_UNREACHABLE says"),
        (False, Reason.UNREACHABLE, "everything is disallowed"),
        (True, Reason.NO_RULE, ""),
    ],
)
def test_why_no_rule_was_asked_is_a_sentence(allowed: bool, reason: Reason, said: str) -> None:
    sentence = why_without_rule(Verdict(allowed, None, reason))
    assert said in sentence
    assert bool(sentence) is bool(said)


EXCEPTION = {"url": "https://a.example/*", "until": "2027-03-31", "reason": "ticket\x1b 47"}


@pytest.mark.parametrize(
    ("stamp", "text"),
    [
        (None, "robots.txt is not checked"),
        ({"verdict": "off"}, "robots.txt is not checked"),
        ({"verdict": "allowed", "reason": "no rule"}, "no rule"),
        ({"verdict": "forbidden", "reason": "rule", "rule": "Disallow: /x", "line": 2}, "line 2, Disallow: /x"),
        ({"verdict": "reported", "reason": "rule", "rule": "Disallow: /x", "line": 2},
         "reported, line 2, Disallow: /x"),
        ({"verdict": "excepted", "reason": "crawl-delay", "exception": EXCEPTION},
         "excepted, crawl-delay (until 2027-03-31: ticket\\x1b 47)"),
    ],
)  # fmt: skip
def test_a_decision_is_told_by_its_stamp(stamp: dict[str, Any] | None, text: str) -> None:
    assert decision_text(stamp and {**BLANK, **stamp}) == text


def test_times_and_delays_are_told() -> None:
    assert (time_text(1_795_348_800.0), time_fact(None)) == ("2026-11-22 12:00 UTC", None)
    assert day_text(datetime(2026, 11, 2, tzinfo=timezone.utc)) == "2 November 2026"
    assert time_fact(1_795_348_800.5) == "2026-11-22T12:00:00+00:00"
    assert (delay_text(1.5), delay_text("1.50")) == ("1.5 s between two requests", "1.50 s between two requests")
    assert (on_line(4), on_line(0)) == (" on line 4", "")


def test_a_record_is_told_with_its_line_and_a_rate_with_its_meaning() -> None:
    rate, note = parse(b"User-agent: *\nRequest-rate: 1/5\nHost: \x1b\n").extensions_for("*")
    assert record_text(rate) == "line 2     Request-rate: 1/5  5 s between two requests"
    assert record_text(note) == "line 3     Host: \\x1b"
    assert record_facts(note) == {"line": 3, "key": "Host", "value": "\\x1b"}


SIGNALS = RobotsSignals.of(parse(b"User-agent: *\nContent-Signal: search=yes, ai-train=no\nAllow: /\n"), "*")


def test_a_signal_is_told_by_use_with_its_line() -> None:
    said = SIGNALS.statements("/")
    assert uses(said) == {"search": "yes", "ai-input": "unknown", "ai-train": "no", "ai-index": "unknown"}
    assert [*signal_lines(said, ["https://a.example/\x1b"], [Purpose.AI_INPUT])] == [
        "search    yes      line 2        Content-Signal: search=yes",
        "ai-input  unknown",
        "ai-train  no       line 2        Content-Signal: ai-train=no",
        "license            https://a.example/\\x1b",
    ]


def test_silence_is_told_of_purposes_alone() -> None:
    assert [*signal_lines([], [], [])] == []
    assert [*signal_lines([], [], [Purpose.SEARCH])] == ["no signals"]


def test_a_page_is_told_rule_by_rule() -> None:
    said = combine(read_header("noindex, otherbot: nofollow, quux"), ["ExampleBot"])
    first, *rules = page_lines(said)
    assert first == "noindex: holds for this crawler"
    assert rules[0].split() == ["X-Robots-Tag", "noindex", "for", "every", "crawler"]
    facts = page_facts(said)
    assert (facts["directives"], facts["rules"][0]["source"]) == (["noindex"], "X-Robots-Tag")
