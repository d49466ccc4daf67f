"""Attacks on the door."""

from __future__ import annotations

from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from tests.support.crawl import LOOPS, crawl
from tests.support.site import Answer, Site, redirect, robots, sequence

from .handler_starts import NotedStarts, assert_delay_is_kept
from .test_door_processes import processes

SPIDERS = "tests.crawl.attack_spiders"
MEMORY: dict[str, Any] = {"REP_STORE": "memory", "EXTENSIONS": {f"{SPIDERS}.Facts": 5_000}}
SCRAPYS = {"SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue"}
ALL = ["asyncio", "twisted", "reactorless"]


@pytest.fixture
def starts(tmp_path: Path) -> NotedStarts:
    return NotedStarts(tmp_path)


def test_requests_that_a_middleware_answers_are_not_kept() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /private\n"))
        result = crawl(
            *(f"{site.origin}/{n}" for n in range(600)),
            settings={**MEMORY, "DOWNLOADER_MIDDLEWARES": {f"{SPIDERS}.Answers": 900}}, apart=True,
        )
    assert len(result.pages) == 600
    assert result.stats["attack/judged"] < 200


@pytest.mark.parametrize("loop", ALL)
@pytest.mark.parametrize("limiter", ["memory", "sqlite"])
def test_ctrl_c_ends_many_that_wait_at_the_door(loop: str, limiter: str, tmp_path: Path) -> None:
    store = MEMORY if limiter == "memory" else {**MEMORY, "REP_STORE_PATH": str(tmp_path / "r.sqlite")}
    store = {k: v for k, v in store.items() if not (limiter == "sqlite" and k == "REP_STORE")}
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 20\n"))
        began = monotonic()
        settings = {**store, "CONCURRENT_REQUESTS_PER_DOMAIN": 1000, "DOWNLOAD_DELAY": 0}
        result = crawl(
            f"data:,x", spider=f"{SPIDERS}:Media",
            attributes={"files": [f"{site.origin}/{n}" for n in range(600)]},
            settings={**settings, "EXTENSIONS": {f"{SPIDERS}.Facts": 5_000,
                      f"{SPIDERS}.LowersAll": 9_999}},
            loop=loop, interrupt_when=lambda: bool(site.log) and monotonic() > site.log[0].time + 4,
            timeout=25,
        )
        print(monotonic() - began, {k: v for k, v in result.stats.items() if "attack" in k and "file" not in k})
        print(site.paths()[:5])
        print([line.message[:300] + line.traceback[-500:] for line in result.log if line.level in {"ERROR", "CRITICAL"}][:3])
    assert result.reason == "shutdown"
    assert result.stats["attack/total"] == 16
    assert result.stats["attack/outside"] == 0


@pytest.mark.parametrize("queue", [SCRAPYS, {}], ids=["scrapy", "ours"])
def test_a_redirect_of_what_was_sent_back_may_be_sent_back_too(queue: Any) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /private\n"))
        site.answer("/a1?sid=1", redirect("/a2"))
        result = crawl(f"{site.origin}/a1", apart=True,
                       settings={**MEMORY, **queue, "DOWNLOADER_MIDDLEWARES": {f"{SPIDERS}.AddsSession": 900}})
    assert site.paths() == ["/robots.txt", "/a1?sid=1", "/a2?sid=1"], result.failures


def test_a_middleware_that_sees_all_failures_sees_none_of_the_door() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /private\n"))
        result = crawl(f"{site.origin}/a1", apart=True, settings={**MEMORY, "DOWNLOADER_MIDDLEWARES": {
            f"{SPIDERS}.AddsSession": 900, f"{SPIDERS}.SavesFailures": 560}})
    assert site.paths() == ["/robots.txt", "/a1?sid=1"], result.pages


def test_handlers_that_take_no_door_send_nothing() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /private\n"))
        result = crawl(f"{site.origin}/open", apart=True, settings={
            **MEMORY, "DOWNLOADER": f"{SPIDERS}.FrozenHandlers",
            "DOWNLOADER_MIDDLEWARES": {"tests.crawl.door_spiders.ChangesUrl": 900}})
        print([line.message[:200] for line in result.log if line.level in {"ERROR", "CRITICAL"}])
    assert "/private" not in site.paths()


@pytest.mark.parametrize("queue", [SCRAPYS, {}], ids=["scrapy", "ours"])
def test_pipelines_that_download_when_they_open_keep_a_delay(queue: Any, starts: NotedStarts, tmp_path: Path) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.5\n"))
        found = processes(
            lambda process: [f"{site.origin}/{process}/page"],
            {"REP_STORE_PATH": str(tmp_path / "robots.sqlite"), **starts.settings, **queue,
             "ITEM_PIPELINES": {f"{SPIDERS}.OpensWithFiles": 1}},
            spider=f"{SPIDERS}:Files",
            attributes=lambda process: {"files": [f"{site.origin}/{process}/{n}" for n in range(3)]},
        )
        print(site.paths())
    assert_delay_is_kept(0.5, site, starts)


def test_ctrl_c_ends_a_crawl_of_requests_that_cannot_be_copied() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 30\n"))
        result = crawl(*(f"{site.origin}/{n}" for n in range(4)), spider=f"{SPIDERS}:MakesRigid",
                       settings={**MEMORY, **SCRAPYS}, timeout=15,
                       interrupt_when=lambda: bool(site.log) and monotonic() > site.log[0].time + 1.5)
    assert result.reason == "shutdown"


@pytest.mark.parametrize("where", ["slot", "door"])
def test_what_waits_is_judged_by_the_robots_txt_of_then(where: str) -> None:
    lives = [("Cache-Control", "max-age=1")]
    first = Answer(body=b"User-agent: *\nCrawl-delay: 1\n", headers=[*lives, ("Content-Type", "text/plain")])
    then = Answer(body=b"User-agent: *\nCrawl-delay: 1\nDisallow: /\n", headers=[("Content-Type", "text/plain")])
    with Site() as site:
        site.answer("/robots.txt", sequence(first, then))
        extensions = {f"{SPIDERS}.LowersAll": 9_999} if where == "door" else {}
        result = crawl("data:,x", spider=f"{SPIDERS}:Refreshes", apart=True,
              attributes={"files": [f"{site.origin}/{n}" for n in range(8)], "later": f"{site.origin}/later"},
              settings={**MEMORY, "REP_MIN_TTL": 1, "EXTENSIONS": {**MEMORY["EXTENSIONS"], **extensions}})
        print([(round(a.time - site.log[0].time, 2), a.path) for a in site.log])
    paths = site.paths()
    second = len(paths) - 1 - paths[::-1].index("/robots.txt")
    assert second > 0
    assert paths[second + 1:] == []


@pytest.mark.parametrize("loop", ALL)
def test_a_verdict_of_a_replay_lets_nothing_out(loop: str, tmp_path: Path) -> None:
    cache = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path / "cache")}
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow:\n"))
        crawl(f"{site.origin}/robots.txt", settings={"ADDONS": {}, **cache}, apart=True)
        site.log.clear()
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /\n"))
        result = crawl(*(f"{site.origin}/{n}" for n in range(10)), settings={**MEMORY, **SCRAPYS, **cache}, loop=loop)
    assert set(site.paths()) <= {"/robots.txt"}
    assert result.stats.get("robotstxt/forbidden") == 10


def test_download_slots_that_a_hold_joined_part_again() -> None:
    """One 429 of one host that was asked through two proxies halves the concurrency for good."""
    with Site(["127.0.0.1", "127.0.91.1"]) as site:
        busy, other = site.origins
        site.answer("/busy", Answer(429, headers=[("Retry-After", "1")]), busy)
        first = [{"url": f"{busy}/busy", "meta": {"download_slot": "p1"}},
                 {"url": f"{busy}/x", "meta": {"download_slot": "p2"}}]
        late = [{"url": f"{other}/{n}", "meta": {"download_slot": f"p{n % 2 + 1}"}} for n in range(8)]
        site.answer("*", Answer(delay=0.5), other)
        result = crawl(*first, spider=f"{SPIDERS}:Late", attributes={"late": late, "wait": 36.0}, apart=True,
                       settings={**MEMORY, "ROBOTSTXT_OBEY": False, "CONCURRENT_REQUESTS_PER_DOMAIN": 2,
                                 "RETRY_ENABLED": False}, timeout=90)
        times = [a.time for a in site.log if a.origin == other]
        print([round(t - times[0], 2) for t in times], {k: v for k, v in result.stats.items() if "attack" in k or "backoff" in k})
    assert result.stats["attack/slot_objects"] == result.stats["attack/slots"]
    assert times[-1] - times[0] < 0.9


@pytest.mark.parametrize("queue", [SCRAPYS, {}], ids=["scrapy", "ours"])
def test_a_robots_txt_that_waited_when_the_crawl_closed_is_not_stored_as_unreachable(queue: Any, tmp_path: Path) -> None:
    import sqlite3

    path = tmp_path / "robots.sqlite"
    store = {"REP_STORE_PATH": str(path), "EXTENSIONS": MEMORY["EXTENSIONS"], **queue}
    with Site() as site:
        site.answer("*", Answer(429, headers=[("Retry-After", "60")]))
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /private\n"))
        result = crawl({"url": f"{site.origin}/busy", "meta": {"dont_obey_robotstxt": True}},
                       spider=f"{SPIDERS}:Late", attributes={"late": [{"url": f"{site.origin}/1"}], "wait": 1.0},
                       settings={**store, "RETRY_ENABLED": False}, timeout=20,
                       interrupt_when=lambda: bool(site.log) and monotonic() > site.log[0].time + 3)
        print(site.paths(), result.failures, [l.message for l in result.log if l.name.startswith("scrapy_rep")])
        print(sqlite3.connect(path).execute("select * from sqlite_master").fetchall() if path.exists() else None)
        site.log.clear()
        for table in ("entries", "notes", "origins"):
            try:
                print(table, sqlite3.connect(path).execute(f"select * from {table}").fetchall())
            except Exception as e:
                print(e)
    assert result.reason == "shutdown"
    assert not result.failures


def test_ctrl_c_ends_what_waits_in_download_slots_that_became_one() -> None:
    with Site(["127.0.0.1", "127.0.92.1"]) as site:
        one, two = site.origins
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 20\n"))
        requests = [{"url": f"{origin}/{n}"} for n in range(3) for origin in (one, two)]
        late = [{"url": f"{one}/late", "meta": {"download_slot": "127.0.92.1"}}]
        began = monotonic()
        result = crawl(*requests, spider=f"{SPIDERS}:Late", attributes={"late": late, "wait": 1.0},
                       settings={**MEMORY, **SCRAPYS}, timeout=45,
                       interrupt_when=lambda: bool(site.log) and monotonic() > site.log[0].time + 3)
        print(monotonic() - began, site.paths(), {k: v for k, v in result.stats.items() if "attack" in k})
    assert monotonic() - began < 12
    assert result.stats["attack/total"] == 16


def test_a_delay_that_goes_holds_nobody_any_longer() -> None:
    """The robots.txt changes from 20 s to none while requests wait."""
    lives = [("Cache-Control", "max-age=1"), ("Content-Type", "text/plain")]
    with Site() as site:
        site.answer("/robots.txt", sequence(Answer(body=b"User-agent: *\nCrawl-delay: 8\n", headers=lives),
                                            Answer(body=b"User-agent: *\nDisallow:\n", headers=lives)))
        result = crawl(*(f"{site.origin}/{n}" for n in range(3)), spider=f"{SPIDERS}:Late",
                       attributes={"late": [{"url": f"{site.origin}/late"}], "wait": 2.0}, apart=True,
                       settings={**MEMORY, **SCRAPYS, "REP_MIN_TTL": 1}, timeout=60)
        print([(round(a.time - site.log[0].time, 2), a.path) for a in site.log])
    assert len(result.pages) == 4
    assert result.stats["attack/total"] == 16
