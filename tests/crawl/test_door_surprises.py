"""The promises of the door where a project does what nobody expects, and when it ends in the middle of that."""

from __future__ import annotations

from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from tests.support.crawl import LOOPS, crawl
from tests.support.site import Answer, Site, redirect, robots, sequence

from .handler_starts import NotedStarts, assert_delay_is_kept
from .test_door import MEMORY, PRIVATE, SCRAPYS_QUEUES, SPIDERS
from .test_door_processes import processes

QUEUES = pytest.mark.parametrize("queue", [SCRAPYS_QUEUES[0], "scrapy_rep.RepPriorityQueue"])
PLACES: dict[str, Any] = {"EXTENSIONS": {f"{SPIDERS}.CountsPlaces": 5_000}}
AT_THE_DOOR = {f"{SPIDERS}.ChecksNoDelay": 9_999}
WHERE = pytest.mark.parametrize("where", [{}, AT_THE_DOOR], ids=["in the download slot", "at the door"])


def middleware(name: str, order: int = 900) -> dict[str, Any]:
    """Settings: a middleware of the project, behind the gate."""
    return {"DOWNLOADER_MIDDLEWARES": {f"{SPIDERS}.{name}": order}}


@QUEUES
def test_what_pipelines_of_two_processes_download_when_they_open_keeps_a_delay(queue: str, tmp_path: Path) -> None:
    starts = NotedStarts(tmp_path)
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.5\n"))
        pipelines = {"ITEM_PIPELINES": {f"{SPIDERS}.OpensWithFiles": 1}, "SCHEDULER_PRIORITY_QUEUE": queue}
        processes(
            lambda process: [f"{site.origin}/{process}/page"],
            {"REP_STORE_PATH": str(tmp_path / "robots.sqlite"), **starts.settings, **pipelines},
            spider=f"{SPIDERS}:HasFiles",
            attributes=lambda process: {"files": [f"{site.origin}/{process}/{number}" for number in range(3)]},
        )
    assert_delay_is_kept(0.5, site, starts)


def test_a_middleware_that_handles_all_failures_gets_nothing_that_the_door_sends_back() -> None:
    both = {**middleware("AddsSession")["DOWNLOADER_MIDDLEWARES"], f"{SPIDERS}.HandlesFailures": 560}
    with Site() as site:
        site.answer("/robots.txt", PRIVATE)
        result = crawl(f"{site.origin}/a", settings={**MEMORY, "DOWNLOADER_MIDDLEWARES": both}, apart=True)
    assert site.paths() == ["/robots.txt", "/a?session=1"]
    assert [page.status for page in result.pages] == [200]


def test_the_redirect_of_a_request_that_was_sent_back_may_be_sent_back_too() -> None:
    with Site() as site:
        site.answer("/robots.txt", PRIVATE)
        site.answer("/a?session=1", redirect("/b"))
        crawl(f"{site.origin}/a", settings={**MEMORY, **middleware("AddsSession")}, apart=True)
    assert site.paths() == ["/robots.txt", "/a?session=1", "/b?session=1"]


def test_the_redirect_of_a_request_that_was_sent_back_is_filtered_as_others_are() -> None:
    with Site() as site:
        site.answer("/robots.txt", PRIVATE)
        site.answer("/a?session=1", redirect("/a"))
        settings = {**MEMORY, **middleware("AddsSession")}
        crawl({"url": f"{site.origin}/a", "dont_filter": False}, settings=settings, apart=True)
    assert site.paths() == ["/robots.txt", "/a?session=1"]


def test_a_target_that_a_middleware_changes_behind_the_gate_is_judged() -> None:
    with Site(["127.0.0.1", "127.0.96.1", "127.0.96.2"]) as site:
        service, free, _ = site.origins
        site.answer("/robots.txt", PRIVATE)
        targets = {"REP_TARGET_URL": {"127.0.0.1": "url"}, "REP_MODES": {"127.0.96.1": "ignore"}}
        settings = {**MEMORY, **targets, **middleware("ChangesTarget")}
        crawl(f"{service}/?url={free}/open", settings=settings, apart=True)
    assert not [path for path in site.paths() if "private" in path]


def test_download_handlers_that_take_no_door_send_nothing() -> None:
    with Site() as site:
        site.answer("/robots.txt", PRIVATE)
        settings = {**MEMORY, "DOWNLOADER": f"{SPIDERS}.WithFrozenHandlers"}
        result = crawl(f"{site.origin}/", settings=settings, apart=True)
    assert site.paths() == []
    assert any("downloader.handlers" in line.message for line in result.log if line.level == "ERROR")


@pytest.mark.parametrize("loop", LOOPS)
def test_a_crawl_whose_door_cannot_begin_sends_nothing_and_ends(loop: str) -> None:
    with Site() as site:
        site.answer("/robots.txt", PRIVATE)
        settings = {**MEMORY, "EXTENSIONS": {f"{SPIDERS}.BreaksStart": 9_999}}
        result = crawl(f"{site.origin}/", f"{site.origin}/private", settings=settings, loop=loop, apart=True)
    assert site.paths() == []
    assert result.reason == "rep_no_door"
    assert any("a fault at the start" in line.traceback for line in result.log)


def crawl_and_ask_later(site: Site, files: int, settings: dict[str, Any], path: str = "") -> None:
    """Request *files* that wait for a delay, and then one more page, when their robots.txt has expired."""
    crawl(
        "data:,start",
        spider=f"{SPIDERS}:AsksLater",
        attributes={
            "files": [f"{site.origin}/{number}{path}" for number in range(files)],
            "later": f"{site.origin}/later{path}",
        },
        settings={**MEMORY, "REP_MIN_TTL": 1, **settings},
        apart=True,
    )


@WHERE
def test_what_waits_is_judged_by_the_robots_txt_of_the_time_when_it_leaves(where: dict[str, int]) -> None:
    text = [("Content-Type", "text/plain")]
    old = Answer(body=b"User-agent: *\nCrawl-delay: 1\n", headers=[*text, ("Cache-Control", "max-age=1")])
    new = Answer(body=b"User-agent: *\nCrawl-delay: 1\nDisallow: /\n", headers=text)
    with Site() as site:
        site.answer("/robots.txt", sequence(old, new))
        crawl_and_ask_later(site, 6, {"EXTENSIONS": where})
    _, second = (index for index, path in enumerate(site.paths()) if path == "/robots.txt")
    assert second >= 2
    assert site.paths()[second + 1 :] == []


@pytest.mark.parametrize(
    ("path", "new", "settings"),
    [
        ("", "Disallow: /", {}),
        ("/s;?q=1", "Disallow: /*s?q", {}),
        ("", "Content-Usage: train-ai=n", {"REP_PURPOSES": ["ai-train"], "REP_AI_SIGNALS": "refuse"}),
    ],
    ids=["has expired", "is about the URL that is sent", "is about the use of pages by AI"],
)
def test_what_waits_is_judged_by_a_robots_txt_that(path: str, new: str, settings: dict[str, Any]) -> None:
    headers = [("Content-Type", "text/plain"), ("Cache-Control", "max-age=1")]
    texts = ("User-agent: *\nCrawl-delay: 2\n", f"User-agent: *\nCrawl-delay: 2\n{new}\n")
    with Site() as site:
        site.answer("/robots.txt", sequence(*(Answer(body=text.encode(), headers=headers) for text in texts)))
        crawl_and_ask_later(site, 4, {"EXTENSIONS": AT_THE_DOOR, **settings}, path)
    paths = [each for each in site.paths() if not each.startswith("/.well-known/")]
    assert set(paths[paths.index("/robots.txt", 1) :]) == {"/robots.txt"}


@QUEUES
def test_what_waited_for_a_robots_txt_that_waited_itself_is_kept_in_the_job(queue: str, tmp_path: Path) -> None:
    job = {**MEMORY, "SCHEDULER_PRIORITY_QUEUE": queue, "RETRY_ENABLED": False, "JOBDIR": str(tmp_path / "job")}
    busy = {"meta": {"dont_obey_robotstxt": True}}
    with Site() as site:
        site.answer("*", Answer(429, headers=[("Retry-After", "60")]))
        site.answer("/robots.txt", PRIVATE)
        urls = [f"{site.origin}/{number}" for number in range(3)]
        first = crawl(
            {"url": f"{site.origin}/busy", **busy},
            spider=f"{SPIDERS}:AsksAfterwards",
            attributes={"later": urls},
            settings=job,
            timeout=20,
            interrupt_when=lambda: bool(site.log) and monotonic() > site.log[0].time + 2,
        )
        assert site.paths() == ["/busy"]
        site.answer("*", Answer())
        crawl(settings=job, spider=f"{SPIDERS}:AsksAfterwards", timeout=20)
    assert first.reason == "shutdown"
    assert sorted(site.paths()) == ["/0", "/1", "/2", "/busy", "/robots.txt"]


def test_ctrl_c_ends_what_waits_in_download_slots_of_one_site() -> None:
    with Site(["127.0.0.1", "127.0.92.1"]) as site:
        one, two = site.origins
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 20\n"))
        result = crawl(
            *(f"{origin}/{number}" for number in range(3) for origin in (one, two)),
            spider=f"{SPIDERS}:AsksAfterwards",
            attributes={"later": [f"{one}/later"], "later_meta": {"download_slot": "127.0.92.1"}},
            settings={**MEMORY, **PLACES, "SCHEDULER_PRIORITY_QUEUE": SCRAPYS_QUEUES[0]},
            timeout=15,
            interrupt_when=lambda: bool(site.log) and monotonic() > site.log[0].time + 2,
        )
    assert result.reason == "shutdown"
    assert result.stats["places"] == 16


@WHERE
def test_downloads_that_are_given_up_take_no_place_for_good(where: dict[str, int]) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 1\n"))
        result = crawl(
            "data:,start",
            spider=f"{SPIDERS}:GivesUp",
            attributes={"files": [f"{site.origin}/{number}" for number in range(10)]},
            settings={**MEMORY, "EXTENSIONS": {**PLACES["EXTENSIONS"], **where}},
            apart=True,
        )
    assert result.stats["given_up"] >= 5
    assert result.stats["places"] == 16


@pytest.mark.parametrize("loop", LOOPS)
def test_a_verdict_of_a_replay_lets_no_page_out(loop: str, tmp_path: Path) -> None:
    cache = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path / "cache")}
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow:\n"))
        crawl(f"{site.origin}/robots.txt", settings={"ADDONS": {}, **cache}, apart=True)
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /\n"))
        settings = {**MEMORY, **cache, "SCHEDULER_PRIORITY_QUEUE": SCRAPYS_QUEUES[0]}
        result = crawl(*(f"{site.origin}/{page}" for page in range(10)), settings=settings, loop=loop)
    assert set(site.paths()) <= {"/robots.txt"}
    assert result.stats["robotstxt/forbidden"] == 10
