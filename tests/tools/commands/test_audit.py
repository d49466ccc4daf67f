"""``scrapy robots audit``: the log of a real crawl, verified, summed up, and broken by one octet."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from scrapy_rep.tools.commands import audit
from tests.support.command import command_here
from tests.support.crawl import crawl, on_each_loop
from tests.support.site import Site, robots
from tests.tools.audit.sample import (
    AI,
    BACKOFF,
    EXCEPTED,
    EXCEPTION,
    PAGE,
    ROBOTS,
    RUN,
    SHOP,
    START,
    dropped,
    end,
    sums,
    write,
)


def audited(*arguments: object) -> tuple[int, str]:
    return command_here(audit, *map(str, arguments))


@on_each_loop
def test_the_log_of_a_crawl_is_verified_until_one_octet_of_it_changes(tmp_path: Path, loop: str) -> None:
    log, bodies = tmp_path / "audit.jsonl", tmp_path / "bodies"
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /api/\n"))
        owned, reported = site.origins
        result = crawl(
            f"{owned}/page", f"{owned}/api/1", f"{owned}/api/2", f"{owned}/api/not", f"{reported}/api/1",
            {"url": f"{owned}/api/not?", "meta": {"dont_obey_robotstxt": True, "rep_reason": "we own it"}},
            settings={
                "ROBOTSTXT_OBEY": True, "REP_AUDIT": str(log), "REP_AUDIT_BODIES": str(bodies),
                "REP_MODES": {reported: "report"},
                "REP_EXCEPTIONS": [{**EXCEPTION, "url": f"{owned}/api/{number}"} for number in (1, 2, 3)],
            },
            loop=loop,
        )  # fmt: skip
        assert (len(result.pages), len(result.failures), result.reason) == (5, 1, "finished")
    code, out = audited(log, "--bodies", bodies, "--json")
    facts = json.loads(out)
    (run,) = facts["runs"]
    assert (code, facts["intact"], facts["problems"], facts["notes"], facts["bodies_checked"]) == (
        0,
        True,
        [],
        [],
        1,
    )
    assert run["counts"] == {"allowed": 1, "excepted": 2, "reported": 1, "ignored": 1, "forbidden": 1}
    assert (run["spider"], run["end_reason"], run["agents"], run["mode"]) == (
        "recorder", "finished", ["Scrapy"], "obey"
    )  # fmt: skip
    assert {(group["origin"], group["rule"], group["word"]) for group in run["groups"]} == {
        (owned, "Disallow: /api/", "an exception until 2027-03-31: written permission of the shop"),
        (owned, "Disallow: /api/", ""),
        (owned, "", "the spider (dont_obey_robotstxt): we own it"),
        (reported, "Disallow: /api/", "the setting REP_MODES (report)"),
    }
    assert [one["count"] for one in run["exceptions_used"]] == [1, 1]
    assert [one["url"] for one in run["exceptions_unused"]] == [f"{owned}/api/3"]
    assert run["robots"] == {"successful": 2}

    lines = log.read_bytes().splitlines()
    number = next(index for index, line in enumerate(lines, start=1) if b"/api/1" in line and index > 1)
    lines[number - 1] = lines[number - 1].replace(b"/api/1", b"/api/7")
    log.write_bytes(b"\n".join(lines) + b"\n")
    code, out = audited(log)
    assert (code, "The log is NOT intact" in out) == (1, True)
    assert f"{log}:{number + 1}: this line does not follow line {number}: line {number} was changed, or" in out


def test_what_a_site_or_a_spider_makes_up_does_not_stop_the_log_and_is_short(tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    with Site() as site:
        site.answer("/robots.txt", robots(f"User-agent: *\nDisallow: /{'*' * 10_000}\n"))
        request = {"url": f"{site.origin}/page", "headers": {"Referer": "http://[x"}}
        result = crawl(request, settings={"ROBOTSTXT_OBEY": True, "REP_AUDIT": str(log)})
    assert [failure.type for failure in result.failures] == ["ForbiddenByRobots"]
    (decided,) = (json.loads(line) for line in log.read_text("utf-8").splitlines() if '"decision"' in line)
    assert (len(decided["rule"]), decided["referer"]) == (1_001, None)
    assert max(map(len, log.read_bytes().splitlines())) < 3_000
    assert audited(log)[0] == 0


def test_a_body_that_was_changed_ends_it_with_1(tmp_path: Path) -> None:
    seen = {"event": "robots", "origin": SHOP, "access": "successful", "sha256": "ab" * 32}
    log = write(tmp_path / "a.jsonl", START, seen)
    code, out = audited(log, "--bodies", tmp_path)
    assert (code, f"{log}:2: the robots.txt {tmp_path / ('ab' * 32)}.txt is missing" in out) == (1, True)
    assert audited(log)[0] == 0


def test_text_names_what_went_against_robots_txt_and_by_whose_decision(tmp_path: Path) -> None:
    code, out = audited(write(tmp_path / "a.jsonl", *RUN, *RUN))
    assert (code, out.count("\nagainst ")) == (0, 1)
    assert (
        """\
against      4  excepted  https://shop.example.com  Disallow: /api/
               by an exception until 2027-03-31: written permission of the shop
               https://shop.example.com/api/1
             2  reported  https://shop.example.com  unreachable
               by the setting REP_MODES (report)
               https://shop.example.com/b
"""
        in out
    )
    assert "unused       2  https://old.example/x  a trial  2026-12-01\n" in out
    assert out.startswith(
        "6 of 196 requests went against robots.txt, 2 of them without an exception; 8 were sent "
    )


def test_an_exception_that_one_of_the_runs_needed_is_not_unused(tmp_path: Path) -> None:
    not_needed = {**end(), "unused": [EXCEPTION]}
    _, out = audited(write(tmp_path / "a.jsonl", START, ROBOTS, EXCEPTED, sums(excepted=1), START, not_needed))
    assert "against      1  excepted" in out
    assert "unused" not in out


def test_sites_that_asked_to_slow_down_are_named_those_that_did_so_most_often_first(tmp_path: Path) -> None:
    busy = {**BACKOFF, "slot": "b.example", "why": "HTTP status 503"}
    log = write(tmp_path / "a.jsonl", START, BACKOFF, busy, busy)
    assert json.loads(audited(log, "--json")[1])["runs"][0]["backoffs"] == [
        {"slot": "b.example", "count": 2, "examples": ["HTTP status 503"]},
        {"slot": "shop.example.com", "count": 1, "examples": ["HTTP status 429"]},
    ]


def test_what_pages_say_and_what_was_dropped_is_summed_up_by_site_and_reason(tmp_path: Path) -> None:
    log = write(tmp_path / "a.jsonl", START, PAGE, PAGE, AI, dropped(3))
    (run,) = json.loads(audited(log, "--json")[1])["runs"]
    site = {"origin": SHOP, "examples": [f"{SHOP}/old"]}
    assert run["directives"] == [{**site, "what": "noindex", "why": "", "count": 2}]
    whys = [one["why"] for name in ("reserved", "dropped") for one in run[name]]
    assert whys == ["ai-train=no (robots.txt)", "Disallow: /api/"]


def test_a_torn_last_line_is_said_and_ends_it_with_0(tmp_path: Path) -> None:
    code, out = audited(write(tmp_path / "a.jsonl", *RUN, b'{"event":"sta', end=b""))
    assert (code, ":11: the last line is torn: the process was killed while writing it" in out) == (0, True)


def test_control_characters_reach_no_terminal(tmp_path: Path) -> None:
    evil = {**START, "spider": "\x1b[31m\u202e", "modes": {"\x07": "\x9b"}, "user_agent": "\r\n"}
    busy = {**BACKOFF, "slot": "\x1b[2J", "why": "\u202e"}
    for arguments in ([], ["--json"]):
        _, out = audited(write(tmp_path / "a.jsonl", evil, busy), *arguments)
        assert not set("\x1b\u202e\x07\x9b\r") & set(out)


def test_a_file_that_cannot_be_read_ends_it_with_2_and_the_others_are_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = write(tmp_path / "a.jsonl", *RUN)
    code, out = audited(tmp_path / "none", log, tmp_path)
    assert (code, f"{log}: 10 lines, intact" in out) == (2, True)
    assert capsys.readouterr().err.splitlines() == [
        f"scrapy robots audit: error: {tmp_path / 'none'}: No such file or directory",
        f"scrapy robots audit: error: {tmp_path}: Is a directory",
    ]
    assert audited(log, "--bodies", tmp_path / "none") == (2, "")
    assert audited(log, "--html", tmp_path) == (2, "")


def test_html_is_written_next_to_the_text(tmp_path: Path) -> None:
    code, _ = audited(write(tmp_path / "a.jsonl", *RUN), "--html", tmp_path / "audit.html")
    assert (code, "<h1>Audit of 1 crawl</h1>" in (tmp_path / "audit.html").read_text("utf-8")) == (0, True)


def test_only_the_page_needs_jinja2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.delitem(sys.modules, "scrapy_rep.tools.page", raising=False)
    log = write(tmp_path / "a.jsonl", *RUN)
    assert audited(log, "--json")[0] == 0
    assert audited(log, "--html", tmp_path / "audit.html") == (2, "")
    assert capsys.readouterr().err == (
        "scrapy robots audit: error: Jinja2, which renders the report, is not installed: pip install"
        " 'scrapy_rep[report]'\n"
    )
