"""The audit log of real crawls: what is written, when, and what happens when it cannot be."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from scrapy_rep.extras.audit.audit_log import AuditLog
from scrapy_rep.tools.audit.logs import read_events
from tests.support.crawl import Crawl, crawl, crawl_until
from tests.support.crawl_site import visit
from tests.support.exceptions import day, exception
from tests.support.site import Answer, Site, redirect, robots

RULES = "User-agent: *\nAllow: /open\nDisallow: /private\nDisallow: /api/\n"


def events(path: Path, kind: str = "") -> list[dict[str, Any]]:
    found = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [event for event in found if kind in {"", event["event"]}]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "audit.jsonl"


def audited(path: Path, rules: Any, *requests: Any, **settings: Any) -> tuple[Site, Crawl]:
    return visit(rules, *requests, REP_AUDIT=str(path), REP_RETRY_TIMES=0, **settings)


def values(event: dict[str, Any], *names: str) -> list[Any]:
    return [event[name] for name in names]


def test_an_outsider_reads_who_asked_what_was_said_and_what_was_done(path: Path, tmp_path: Path) -> None:
    bodies = tmp_path / "bodies"
    with Site() as site:
        site.answer("/robots.txt", robots(RULES))
        settings = {
            "REP_AUDIT": str(path), "REP_AUDIT_BODIES": str(bodies), "USER_AGENT": "my/1",
            "REP_EXCEPTIONS": [
                exception(url) for url in (f"{site.origin}/api/", f"{site.origin}/never", "http://127.9.9.9/not/met")
            ],
        }  # fmt: skip
        paths = ["open/1", "open/2", "other", "private", "api/1"]
        result = crawl(*[f"{site.origin}/{path}" for path in paths], settings=settings)
    assert [event["event"] for event in events(path)] == ["start", "robots", "decision", "decision", "sums", "end"]
    assert [line.flaw for line in read_events(path)] == [None] * 6
    start, seen, *decisions, sums, end = events(path)
    assert values(start, "spider", "agents", "user_agent", "mode") == ["recorder", ["my"], "my/1", "obey"]
    granted = {"url": f"{site.origin}/api/", "reason": "ticket 47", "until": day(), "for": ["rule"]}
    assert start["exceptions"][0] == granted
    digest = sha256(RULES.encode()).hexdigest()
    told = [site.origin, 200, "successful", digest, len(RULES)]
    assert values(seen, "origin", "status", "access", "sha256", "bytes") == told
    assert (bodies / f"{digest}.txt").read_text() == RULES
    by_path = {event["url"].removeprefix(site.origin): event for event in decisions}
    assert set(by_path) == {"/private", "/api/1"}
    assert values(by_path["/private"], "verdict", "line") == ["forbidden", 3]
    assert by_path["/api/1"]["exception"]["reason"] == "ticket 47"
    assert {(count["verdict"], count["rule"]): count["count"] for count in sums["counts"]} == {
        ("allowed", "Allow: /open"): 2, ("allowed", "no rule"): 1,
        ("forbidden", "Disallow: /private"): 1, ("excepted", "Disallow: /api/"): 1,
    }  # fmt: skip
    assert values(end, "reason", "counts") == ["finished", {"allowed": 3, "forbidden": 1, "excepted": 1}]
    assert [unused["url"] for unused in end["unused"]] == [f"{site.origin}/never"]
    assert len(result.pages) == 4


def test_with_audit_all_each_request_has_a_line(path: Path) -> None:
    audited(path, None, *(f"/{number}" for number in range(5)), REP_AUDIT_ALL=True)
    assert len(events(path, "decision")) == 5


def test_with_obeying_off_the_log_says_so(path: Path) -> None:
    site, result = audited(path, None, "/page", ROBOTSTXT_OBEY=False)
    assert site.paths() == ["/page"]
    assert events(path, "start")[0]["mode"] == "off"
    assert events(path, "end")[0]["counts"] == {"off": 1}
    assert result.pages[0].stamp is not None
    assert (result.pages[0].stamp["mode"], result.pages[0].flags) == ("off", [])


def test_an_unreachable_origin_has_its_failure_in_the_log(path: Path) -> None:
    audited(path, Answer(503), "/page")
    (seen,) = events(path, "robots")
    assert values(seen, "access", "status", "error") == ["unreachable", 503, "HTTP status 503"]
    assert values(seen, "sha256", "fetched") == [None, None]


def test_a_password_in_a_url_is_not_written(path: Path) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RULES))
        url = site.origin.replace("//", "//user:secret@") + "/private"
        crawl({"url": url, "headers": {"Referer": url}}, settings={"REP_AUDIT": str(path)})
    assert events(path, "decision")[0]["url"] == f"{site.origin}/private"
    assert "secret" not in path.read_text()


def test_a_password_in_a_redirect_of_robots_txt_is_not_written(path: Path) -> None:
    with Site() as site:
        site.answer("/robots.txt", redirect(site.origin.replace("//", "//user:secret@") + "/else"))
        crawl(f"{site.origin}/page", settings={"REP_AUDIT": str(path), "REP_RETRY_TIMES": 0})
    (seen,) = events(path, "robots")
    assert seen["hops"] == [f"{site.origin}/else"]
    assert "secret@" not in json.dumps([seen["url"], seen["hops"]])


@pytest.mark.parametrize(("headers", "asked"), [([("Retry-After", "2")], 2.0), ([], None)])
def test_a_download_slot_that_backs_off_is_in_the_log(path: Path, headers: Any, asked: float | None) -> None:
    busy = {"/busy": Answer(429, headers=headers)}
    site, _ = audited(path, None, "/busy", answers=busy, RETRY_ENABLED=False)
    (event,) = events(path, "backoff")
    assert values(event, "slot", "reason", "why", "asked") == ["127.0.0.1", "429", "HTTP status 429", asked]
    assert event["url"] == f"{site.origin}/busy"
    assert 1.0 <= event["seconds"] <= (asked or 1.3)


def test_a_failure_that_repeats_is_in_the_log_with_its_reason(path: Path) -> None:
    settings = {"ROBOTSTXT_OBEY": False, "CONCURRENT_REQUESTS": 1, "RETRY_ENABLED": False}
    crawl(*(f"http://127.0.0.1:9/{page}" for page in range(2)), settings={"REP_AUDIT": str(path), **settings})
    (event,) = events(path, "backoff")
    assert values(event, "reason", "asked") == ["failure", None]
    assert "refused" in event["why"]


@pytest.mark.parametrize("settings", [{"REP_BACKOFF": False}, {"EXTENSIONS": {"scrapy_rep.CrawlDelay": None}}])
def test_without_back_off_the_log_has_none(path: Path, settings: dict[str, Any]) -> None:
    others = {
        "REP_CRAWL_DELAY": "ignore",
        "RETRY_ENABLED": False,
    }
    audited(path, None, "/busy", answers={"/busy": Answer(429)}, **settings, **others)
    assert events(path, "end")
    assert not events(path, "backoff")


def test_the_path_may_name_spider_time_and_process(tmp_path: Path) -> None:
    audited(tmp_path / "%(name)s-%(time)s-%(pid)s.jsonl", None, "/page")
    (path,) = tmp_path.iterdir()
    assert path.name.startswith("recorder-20")
    assert path.name.endswith(f"-{os.getpid()}.jsonl")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"REP_AUDIT": "%(spider)s.jsonl"}, "it takes %(name)s, %(time)s, %(pid)s"),
        ({"REP_AUDIT": "/proc/no/audit"}, "it cannot be written"),
        ({"REP_AUDIT": "nul\0.jsonl"}, "it cannot be written"),
        ({"REP_AUDIT": ""}, "REP_AUDIT_REQUIRED is set without REP_AUDIT"),
        ({"REP_AUDIT_BODIES": f"{__file__}/bodies"}, "REP_AUDIT_BODIES = "),
    ],
)
def test_a_path_that_cannot_be_used_stops_the_crawl_at_start_up(
    path: Path, settings: dict[str, Any], message: str
) -> None:
    result = crawl(
        "http://127.0.0.1:9/", settings={"REP_AUDIT": str(path), "REP_AUDIT_REQUIRED": True, **settings}
    )
    assert result.exit_code == 1
    assert message in result.lines("CRITICAL", "scrapy_rep")[0]


def test_a_crawl_that_fails_at_start_up_writes_nothing_and_leaves_no_thread(path: Path) -> None:
    result = crawl("http://127.0.0.1:9/", settings={"REP_AUDIT": str(path), "SCHEDULER": "no.such.Thing"})
    assert result.exit_code == 1
    assert path.read_bytes() == b""


def test_a_killed_crawl_leaves_whole_lines_and_the_next_one_goes_on(path: Path) -> None:
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


def test_two_crawls_at_once_write_a_file_each(path: Path) -> None:
    pytest.importorskip("fcntl")
    other = AuditLog(path)
    _, result = audited(path, None, "/page")
    other.close()
    assert events(path.with_name(f"audit-{os.getpid()}.jsonl"), "end")
    assert "Another crawl writes to the audit log" in result.lines("WARNING")[0]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("is_required", [False, True])
def test_a_full_disk_ends_the_log_and_the_crawl_if_it_is_required(is_required: bool) -> None:
    urls = [f"/{number}" for number in range(60 if is_required else 6)]
    settings: dict[str, Any] = {"REP_AUDIT_REQUIRED": is_required, "DOWNLOAD_DELAY": 0.2}
    _, result = audited(Path("/dev/full"), None, *urls, **settings)
    if is_required:
        assert result.reason == "rep_audit_failed"
        assert len(result.pages) < len(urls)
        assert {failure.type for failure in result.failures} <= {"AuditRequiredError"}
    else:
        assert len(result.pages) == len(urls)
        assert sum("cannot be written" in line for line in result.lines("WARNING")) == 1
