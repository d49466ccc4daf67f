"""The audit log of real crawls: what is written, when, and what happens when it cannot be."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from scrapy_rep.policy.audit_log import AuditLog, read_events
from tests.support.crawl import crawl, crawl_until, on_each_loop
from tests.support.exceptions import day, exception
from tests.support.site import Answer, Site, redirect, robots

RULES = "User-agent: *\nAllow: /open\nDisallow: /private\nDisallow: /api/\n"


def events(path: Path, kind: str = "") -> list[dict[str, Any]]:
    found = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [event for event in found if kind in {"", event["event"]}]


@on_each_loop
def test_ours_an_outsider_reads_who_asked_what_was_said_and_what_was_done(loop: str, tmp_path: Path) -> None:
    path, bodies = tmp_path / "audit.jsonl", tmp_path / "bodies"
    with Site() as site:
        site.answer("/robots.txt", robots(RULES))
        settings = {
            "REP_AUDIT": str(path), "REP_AUDIT_BODIES": str(bodies), "USER_AGENT": "my/1",
            "REP_EXCEPTIONS": [exception(f"{site.origin}/api/"), exception(f"{site.origin}/never")],
        }  # fmt: skip
        paths = ["open/1", "open/2", "other", "private", "api/1"]
        result = crawl(*[f"{site.origin}/{path}" for path in paths], settings=settings, loop=loop)
    assert [event["event"] for event in events(path)] == ["start", "robots", "decision", "decision", "sums", "end"]
    assert [line.flaw for line in read_events(path)] == [None] * 6
    (start,), (seen,), decisions, (sums,), (end,) = (
        events(path, kind) for kind in ("start", "robots", "decision", "sums", "end")
    )
    assert (start["spider"], start["agents"], start["user_agent"], start["mode"]) == (
        "recorder", ["my"], "my/1", "obey",
    )  # fmt: skip
    assert start["exceptions"][0] == {
        "url": f"{site.origin}/api/", "reason": "ticket 47", "until": day(), "for": ["rule"],
    }  # fmt: skip
    digest = sha256(RULES.encode()).hexdigest()
    assert (seen["origin"], seen["status"], seen["access"], seen["sha256"], seen["bytes"]) == (
        site.origin, 200, "successful", digest, len(RULES),
    )  # fmt: skip
    assert (bodies / f"{digest}.txt").read_text() == RULES
    by_path = {event["url"].removeprefix(site.origin): event for event in decisions}
    assert set(by_path) == {"/private", "/api/1"}
    assert (by_path["/private"]["verdict"], by_path["/private"]["line"]) == ("forbidden", 3)
    assert by_path["/api/1"]["exception"]["reason"] == "ticket 47"
    assert {(count["verdict"], count["rule"]): count["count"] for count in sums["counts"]} == {
        ("allowed", "Allow: /open"): 2, ("allowed", "no rule"): 1,
        ("forbidden", "Disallow: /private"): 1, ("excepted", "Disallow: /api/"): 1,
    }  # fmt: skip
    assert (end["reason"], end["counts"]) == ("finished", {"allowed": 3, "forbidden": 1, "excepted": 1})
    assert [unused["url"] for unused in end["unused"]] == [f"{site.origin}/never"]
    assert len(result.pages) == 4


def test_ours_with_audit_all_each_request_has_a_line(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    with Site() as site:
        crawl(*[f"{site.origin}/{n}" for n in range(5)], settings={"REP_AUDIT": str(path), "REP_AUDIT_ALL": True})
    assert len(events(path, "decision")) == 5


def test_ours_with_obeying_off_the_log_says_so(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    with Site() as site:
        result = crawl(f"{site.origin}/page", settings={"REP_AUDIT": str(path), "ROBOTSTXT_OBEY": False})
        assert site.paths() == ["/page"]
    assert events(path, "start")[0]["mode"] == "off"
    assert events(path, "end")[0]["counts"] == {"off": 1}
    assert result.pages[0].stamp is not None
    assert (result.pages[0].stamp["mode"], result.pages[0].flags) == ("off", [])


def test_ours_an_unreachable_origin_has_its_failure_in_the_log(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    with Site() as site:
        site.answer("/robots.txt", Answer(503))
        crawl(f"{site.origin}/page", settings={"REP_AUDIT": str(path), "REP_RETRY_TIMES": 0})
    (seen,) = events(path, "robots")
    assert (seen["access"], seen["status"], seen["error"]) == ("unreachable", 503, "HTTP status 503")
    assert (seen["sha256"], seen["fetched"]) == (None, None)


def test_ours_a_password_in_a_url_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    with Site() as site:
        url = site.origin.replace("//", "//user:secret@") + "/private"
        site.answer("/robots.txt", robots(RULES))
        crawl({"url": url, "headers": {"Referer": url}}, settings={"REP_AUDIT": str(path)})
    assert events(path, "decision")[0]["url"] == f"{site.origin}/private"
    assert "secret" not in path.read_text()


def test_ours_the_path_may_name_spider_time_and_process(tmp_path: Path) -> None:
    with Site() as site:
        template = str(tmp_path / "%(name)s-%(time)s-%(pid)s.jsonl")
        crawl(f"{site.origin}/page", settings={"REP_AUDIT": template})
    (path,) = tmp_path.iterdir()
    assert path.name.startswith("recorder-20")
    assert path.name.endswith(f"-{os.getpid()}.jsonl")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("%(spider)s.jsonl", "it takes %(name)s, %(time)s, %(pid)s"), ("/proc/no/audit", "it cannot be written"),
        ("nul\0.jsonl", "it cannot be written"), ("", "REP_AUDIT_REQUIRED is set without REP_AUDIT"),
    ],
)  # fmt: skip
def test_ours_a_path_that_cannot_be_used_stops_the_crawl_at_start_up(path: str, message: str) -> None:
    settings = {"REP_AUDIT": path, "REP_AUDIT_REQUIRED": True}
    result = crawl("http://127.0.0.1:9/", settings=settings, apart=True)
    assert result.exit_code == 1
    assert message in result.lines("CRITICAL", "scrapy_rep")[0]


def test_ours_a_folder_of_bodies_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    settings = {"REP_AUDIT": str(tmp_path / "a"), "REP_AUDIT_BODIES": str(tmp_path / "file" / "bodies")}
    result = crawl("http://127.0.0.1:9/", settings=settings, apart=True)
    assert "REP_AUDIT_BODIES = " in result.lines("CRITICAL", "scrapy_rep")[0]


def test_ours_a_crawl_that_fails_at_start_up_writes_nothing_and_leaves_no_thread(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    result = crawl("http://127.0.0.1:9/", settings={"REP_AUDIT": str(path), "SCHEDULER": "no.such.Thing"})
    assert result.exit_code == 1
    assert path.read_bytes() == b""


def test_ours_a_password_in_a_redirect_of_robots_txt_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    with Site() as site:
        url = site.origin.replace("//", "//user:secret@") + "/else"
        site.answer("/robots.txt", redirect(url))
        crawl(f"{site.origin}/page", settings={"REP_AUDIT": str(path), "REP_RETRY_TIMES": 0})
    (seen,) = events(path, "robots")
    assert seen["hops"] == [f"{site.origin}/else"]
    assert "secret@" not in json.dumps([seen["url"], seen["hops"]])


def test_ours_a_killed_crawl_leaves_whole_lines_and_the_next_one_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    settings = {"REP_AUDIT": str(path), "REP_AUDIT_ALL": True}
    with Site() as site:
        urls = [f"{site.origin}/{number}" for number in range(3_000)]
        crawl_until(lambda: path.exists() and path.stat().st_size > 20_000, *urls, settings=settings)
        before = [line.flaw for line in read_events(path)]
        assert set(before[:-1]) == {None}
        crawl(f"{site.origin}/page", settings=settings)
    after = [line.flaw for line in read_events(path)]
    assert set(after) <= {None, "torn"}
    assert len(after) > len(before)


def test_ours_two_crawls_at_once_write_a_file_each(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    path = tmp_path / "audit.jsonl"
    other = AuditLog(path)
    with Site() as site:
        result = crawl(f"{site.origin}/page", settings={"REP_AUDIT": str(path)})
    other.close()
    assert events(tmp_path / f"audit-{os.getpid()}.jsonl", "end")
    assert "Another crawl writes to the audit log" in result.lines("WARNING")[0]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@on_each_loop
def test_ours_a_full_disk_ends_the_log_and_not_the_crawl(loop: str) -> None:
    with Site() as site:
        urls = [f"{site.origin}/{number}" for number in range(6)]
        settings = {"REP_AUDIT": "/dev/full", "DOWNLOAD_DELAY": 0.2}
        result = crawl(*urls, settings=settings, loop=loop)
    assert len(result.pages) == 6
    assert sum("cannot be written" in line for line in result.lines("WARNING")) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@on_each_loop
def test_ours_where_the_log_is_required_a_full_disk_closes_the_spider(loop: str) -> None:
    with Site() as site:
        urls = [f"{site.origin}/{number}" for number in range(60)]
        settings = {"REP_AUDIT": "/dev/full", "REP_AUDIT_REQUIRED": True, "DOWNLOAD_DELAY": 0.2}
        result = crawl(*urls, settings=settings, loop=loop)
    assert result.reason == "rep_audit_failed"
    assert len(result.pages) < 10
    assert {failure.type for failure in result.failures} <= {"AuditRequiredError"}
