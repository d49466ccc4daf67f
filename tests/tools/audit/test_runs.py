"""The sums of a run: of what a crawl writes, and of anything else that is JSON."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_rep.crawl.policy.policy import Outcome
from scrapy_rep.tools.audit import bounded, logs
from scrapy_rep.tools.audit.bounded import Fields
from scrapy_rep.tools.audit.logs import Log
from scrapy_rep.tools.audit.runs import TALLIES, VERDICTS, Run, Start
from scrapy_rep.tools.audit.sentences import Summary, report
from tests.support.properties import fewer

from .sample import (
    AI,
    BACKOFF,
    EXCEPTED,
    EXCEPTION,
    LATER,
    PAGE,
    ROBOTS,
    RUN,
    SHOP,
    START,
    TIME,
    UNUSED,
    decision,
    dropped,
    write,
)

WORD = "an exception until 2027-03-31: written permission of the shop"


def run_of(*events: dict[str, Any]) -> Run:
    run = Run(Start.of(1, Fields(START)))
    for event in events:
        run.add(event["event"], Fields(event))
    return run


def tallied(run: Run, name: str) -> dict[tuple[str, ...], tuple[int, list[str]]]:
    facts = run.tallies[name].facts()
    return {(*map(fact.get, TALLIES[name]),): (fact["count"], fact["examples"]) for fact in facts}  # type: ignore[arg-type]


def test_the_verdicts_are_those_of_a_crawl() -> None:
    assert list(VERDICTS) == [outcome.value for outcome in Outcome]


def test_a_run_has_its_start_its_counts_and_its_end() -> None:
    run = run_of(*RUN[1:])
    assert (run.start.spider, run.start.agents, run.start.modes) == (
        "shop",
        ["ExampleBot"],
        {"b.example": "report"},
    )
    assert (run.start.time, run.last_time, run.end) == (TIME, LATER, "finished")
    assert run.counts == {"allowed": 91, "excepted": 2, "reported": 1, "ignored": 1, "off": 3, "forbidden": 1}
    assert (run.sent, run.contradiction()) == (98, "")


def test_requests_are_grouped_by_word_site_and_rule_with_an_example() -> None:
    assert tallied(run_of(*RUN[1:]), "groups") == {
        ("excepted", WORD, SHOP, "Disallow: /api/"): (2, [f"{SHOP}/api/1"]),
        ("reported", "the setting REP_MODES (report)", SHOP, "unreachable"): (1, [f"{SHOP}/b"]),
        ("forbidden", "", SHOP, "Disallow: /api/"): (1, [f"{SHOP}/api/1"]),
        ("ignored", "the spider (dont_obey_robotstxt): our own pictures", SHOP, ""): (1, [f"{SHOP}/i"]),
        ("off", "the setting ROBOTSTXT_OBEY (False)", SHOP, ""): (3, []),
    }  # fmt: skip


def test_exceptions_are_used_or_not_and_stale_copies_are_counted() -> None:
    run = run_of(*RUN[1:])
    assert tallied(run, "exceptions_used") == {(*EXCEPTION.values(),): (2, [f"{SHOP}/api/1"])}
    assert [each["url"] for each in run.tallies["exceptions_unused"].facts()] == [UNUSED["url"]]
    assert tallied(run, "stale") == {(SHOP,): (1, [f"{SHOP}/s"])}


def test_robots_txt_files_are_counted_by_access_and_unreachable_ones_named() -> None:
    seen = {"event": "robots", "origin": SHOP, "access": "unreachable", "error": "timeout"}
    run = run_of(seen, seen, {**seen, "access": "successful"}, {**seen, "access": "strange"})
    assert dict(run.robots) == {"unreachable": 2, "successful": 1, "": 1}
    assert tallied(run, "unreachable") == {(SHOP, "timeout"): (2, [])}


def test_download_slots_that_slowed_down_are_counted_those_that_did_so_most_often_first() -> None:
    failed = {**BACKOFF, "slot": "b.example", "reason": "failure", "why": "connection refused"}
    run = run_of(BACKOFF, failed, {**failed, "why": "HTTP status 503"})
    assert [*tallied(run, "backoffs").items()] == [
        (("b.example",), (2, ["connection refused", "HTTP status 503"])),
        (("shop.example.com",), (1, ["HTTP status 429"])),
    ]


def test_pages_are_counted_by_the_restrictions_that_they_state() -> None:
    both = {**PAGE, "url": f"{SHOP}/2", "directives": ["noindex", "nofollow"]}
    assert tallied(run_of(PAGE, both, {**PAGE, "directives": ["max-snippet=5"]}), "directives") == {
        ("noindex", SHOP, ""): (2, [f"{SHOP}/old", f"{SHOP}/2"]),
        ("nofollow", SHOP, ""): (1, [f"{SHOP}/2"]),
    }


def test_reserved_pages_are_counted_by_purpose_and_by_what_says_no_to_it() -> None:
    silent = {**AI, "url": f"{SHOP}/2", "answers": {"search": "yes", "ai-train": "unknown"}, "statements": []}
    assert tallied(run_of(AI, silent, {**AI, "reserved": False}), "reserved") == {
        ("ai-train", SHOP, "ai-train=no (robots.txt)"): (1, [f"{SHOP}/art"]),
        ("ai-train", SHOP, "nothing said"): (1, [f"{SHOP}/2"]),
    }


def test_dropped_links_and_items_are_summed_over_runs() -> None:
    run = run_of(dropped(3), dropped(2), dropped(7, "item", "its page says noindex"))
    run.merge(run_of(dropped(1), PAGE))
    assert tallied(run, "dropped") == {
        ("item", SHOP, "its page says noindex"): (7, []),
        ("link", SHOP, "Disallow: /api/"): (6, []),
    }
    assert run.tallies["directives"].total() == 1


def test_the_decisions_of_a_killed_run_count_without_its_sums() -> None:
    assert run_of(EXCEPTED, EXCEPTED).counts == {"excepted": 2}


def test_a_request_with_dont_obey_and_no_reason_says_that_there_is_none() -> None:
    run = run_of(decision("ignored", reason="dont_obey_robotstxt", rule=None))
    assert run.tallies["groups"].facts()[0]["word"] == "the spider (dont_obey_robotstxt): without a reason"


def test_groups_are_bounded_and_the_rest_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "_MOST_KEYS", 10)
    run = run_of(*(decision("forbidden", rule=f"Disallow: /{number}") for number in range(25)))
    groups = run.tallies["groups"]
    assert (len(groups.facts()), groups.more, groups.total()) == (10, 15, 25)
    assert run.counts == {"forbidden": 25}


@pytest.mark.parametrize("value", [True, -1, 1.5, float("nan"), float("inf"), 10**15 + 1, "7", None, [7]])
def test_a_count_that_is_none_counts_nothing(value: object) -> None:
    counts = [{"origin": SHOP, "verdict": "allowed", "count": each} for each in (value, 7)]
    assert run_of({"event": "sums", "counts": counts}).counts == {"allowed": 7}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
NAMES = sorted(
    {name for event in [*RUN, BACKOFF, PAGE, AI, dropped(1)] for name in event}
    | {"access", "sha256", "error", "count"}
)
EVENTS = st.fixed_dictionaries(
    {"event": st.sampled_from(["start", "robots", "decision", "backoff", "sums", "end", "page", "ai"])},
    optional={name: JSON for name in NAMES if name != "event"},
)


@fewer(4)
@given(events=st.lists(EVENTS, max_size=5))
def test_whatever_the_fields_hold_nothing_is_raised(
    tmp_path_factory: pytest.TempPathFactory, events: list[dict[str, Any]]
) -> None:
    folder = tmp_path_factory.mktemp("audit")
    log = Log(write(folder / "a.jsonl", *events), folder)
    summary = Summary([log])
    assert all(text.isprintable() for text in summary.sentences())
    assert "<h1>" in report(summary)


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 100_000,
        b'{"event":"start","modes":' + b'{"a":' * 50_000,
        b'{"event":' + b"9" * 10_000 + b"}",
        b'{"event":"sums","counts":NaN}',
        b'{"event":"end","counts":{"allowed":1e999,"off":-1,"ignored":true,"excepted":' + b"9" * 4_000 + b"}}",
        b'{"event":"decision","url":"http://[","verdict":"ignored"}',
        b'{"event":"start","spider":"\\u001b[31m\\u202e\\ud800","agents":["\\u0000"]}',
        b'{"event":"decision","url":"' + b"x" * 10_000_000 + b'"}',
        b"\xff\xfe\0{",
        b"\0" * 1_000_000,
        b"null",
        b"\r",
    ],
    ids=str,
)
def test_a_hostile_line_is_read(tmp_path: Path, line: bytes) -> None:
    log = Log(write(tmp_path / "a.jsonl", START, line))
    summary = Summary([log])
    assert all(text.isprintable() and len(text) < 3_000 for text in summary.sentences())
    assert len(report(summary)) < 100_000


def test_a_line_that_is_too_long_is_hashed_and_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "_LONGEST", 1_000)
    long = json.dumps({"event": "decision", "url": "x" * 5_000}).encode()
    log = Log(write(tmp_path / "a.jsonl", START, ROBOTS, long, EXCEPTED))
    assert [(remark.line, remark.text) for remark in log.problems.first] == [
        (3, "the line is too long for an event")
    ]
    assert sha256(long).hexdigest().encode() in (tmp_path / "a.jsonl").read_bytes()
