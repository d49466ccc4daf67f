"""What one process promises holds at the download handlers, whichever way a request takes to them."""

from __future__ import annotations

from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from scrapy import Request, signals

from tests.support.crawl import LOOPS, crawl
from tests.support.redis_server import RedisServer
from tests.support.site import Answer, Site, redirect, robots

from .handler_starts import NotedStarts, assert_delay_is_kept
from .test_ftp import ftp_site

SPIDERS = "tests.crawl.door_spiders"
MEMORY: dict[str, Any] = {"REP_STORE": "memory"}
PRIVATE = robots("User-agent: *\nDisallow: /private\n")
HAS_VERBATIM = hasattr(Request, "_url_is_verbatim")
SCRAPYS_QUEUES = ["scrapy.pqueues.ScrapyPriorityQueue", "scrapy.pqueues.DownloaderAwarePriorityQueue"]


@pytest.fixture
def starts(tmp_path: Path) -> NotedStarts:
    return NotedStarts(tmp_path)


def store(name: str, folder: Path) -> dict[str, Any]:
    """Settings: with a store in a file delays are shared, and need permits of a rate limiter."""
    return {"REP_STORE_PATH": str(folder / "robots.sqlite")} if name == "sqlite" else MEMORY


@pytest.mark.parametrize("queue", [SCRAPYS_QUEUES[0], "scrapy_rep.RepPriorityQueue"])
@pytest.mark.parametrize(
    ("slots", "settings"),
    [
        ("ab", {}),
        ("", {"DOWNLOADER_MIDDLEWARES": {f"{SPIDERS}.ChoosesSlotByPage": 610}}),
        ("", {"EXTENSIONS": {f"{SPIDERS}.LowersDelays": 9_999}}),
    ],
    ids=["requests name two", "a middleware chooses two", "an extension lowers their delay"],
)
def test_a_crawl_delay_holds_whatever_a_project_does_to_download_slots(
    slots: str, settings: dict[str, Any], queue: str, starts: NotedStarts
) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.3\n"))
        requests = [
            {"url": f"{site.origin}/{page}", "meta": {"download_slot": slots[page % 2]} if slots else {}}
            for page in range(5)
        ]
        settings = {**MEMORY, **starts.settings, "SCHEDULER_PRIORITY_QUEUE": queue, **settings}
        result = crawl(*requests, settings=settings, apart=True)
    assert len(result.pages) == 5
    assert_delay_is_kept(0.3, site, starts)


@pytest.mark.untraced
@pytest.mark.parametrize(
    ("limiter", "files"),
    [
        ("sqlite", 2_000),
        pytest.param("memory", 2_000, marks=pytest.mark.full),
        pytest.param("sqlite", 8_000, marks=pytest.mark.full),
    ],
)
def test_media_requests_that_wait_for_a_busy_host_cost_nothing_and_hold_up_no_other_host(
    limiter: str, files: int, tmp_path: Path
) -> None:
    pipeline = {"ITEM_PIPELINES": {"scrapy.pipelines.files.FilesPipeline": 1}, "FILES_STORE": str(tmp_path)}
    with Site(["127.0.0.1", "127.0.72.1"]) as site:
        busy, other = site.origins
        site.answer("/robots.txt", PRIVATE)
        site.answer("/busy", Answer(429, headers=[("Retry-After", "300")]))
        result = crawl(
            *(f"{other}/{page}" for page in range(20)),
            spider=f"{SPIDERS}:WaitsForMedia",
            attributes={
                "busy": f"{busy}/busy",
                "files": [f"{busy}/{file}" for file in range(files)],
                "last": f"{other}/last",
            },
            settings={**store(limiter, tmp_path), **pipeline, "RETRY_ENABLED": False, "CLOSESPIDER_TIMEOUT": 30},
            interrupt_when=lambda: site.count("/last") > 0,
        )
        ended = monotonic()
        assert site.paths(busy) == ["/robots.txt", "/busy"]
    assert len(result.pages) >= 20
    assert max(page.time for page in result.pages) < 3.0
    assert result.stats["waiting/cpu_share"] < 0.03  # below 0.01 on an idle machine
    assert result.reason == "shutdown"
    assert ended - site.log[-1].time < max(8.0, files / 400)


@pytest.mark.parametrize(
    ("queue", "limiter"),
    [
        *zip(SCRAPYS_QUEUES, ["memory", "sqlite"]),
        *(
            pytest.param(*each, marks=pytest.mark.full)
            for each in zip([*SCRAPYS_QUEUES, "scrapy_rep.RepPriorityQueue"], ["sqlite", "memory", "sqlite"])
        ),
    ],
)
def test_ctrl_c_ends_a_job_of_scrapys_queue_that_waits_for_a_delay_and_every_request_is_made_once(
    queue: str, limiter: str, tmp_path: Path
) -> None:
    settings = {"JOBDIR": str(tmp_path / "job"), "SCHEDULER_PRIORITY_QUEUE": queue}
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 30\n"))
        requests = [{"url": f"{site.origin}/{page}", "dont_filter": False} for page in range(20)]

        def waits() -> bool:
            return bool(site.log) and monotonic() > site.log[0].time + 0.5

        first = crawl(
            *requests,
            settings={**settings, **store(limiter, tmp_path), "CLOSESPIDER_TIMEOUT": 40},
            interrupt_when=waits,
            timeout=15.0,
        )
        seconds = monotonic() - site.log[0].time
        assert site.paths() == ["/robots.txt"]
        site.answer("/robots.txt", robots(""))
        crawl(*requests, settings={**settings, **MEMORY})
        made = [path for path in site.paths() if path != "/robots.txt"]
    assert first.reason == "shutdown"
    assert seconds < 8.0
    assert first.failures == []
    assert sorted(made) == sorted(f"/{page}" for page in range(20))


def test_a_url_that_a_middleware_changes_behind_the_gate_is_judged() -> None:
    with Site() as site:
        site.answer("/robots.txt", PRIVATE)
        middlewares = {"DOWNLOADER_MIDDLEWARES": {f"{SPIDERS}.ChangesUrl": 900}}
        result = crawl(f"{site.origin}/open", f"{site.origin}/other", settings={**MEMORY, **middlewares})
    assert sorted(site.paths()) == ["/other", "/robots.txt"]
    assert len(result.failures) == 1


@pytest.mark.parametrize("host", ["known", "new"])
def test_a_disallowed_url_that_is_handed_to_the_download_handlers_is_not_requested(host: str) -> None:
    with Site(["127.0.0.1", "127.0.73.1"]) as site:
        site.answer("/robots.txt", PRIVATE)
        asked = f"{site.origins[host == 'new']}/private"
        result = crawl(f"{site.origin}/", spider=f"{SPIDERS}:AsksTheHandlers", attributes={"url": asked},
                       settings=MEMORY)  # fmt: skip
    assert len(result.pages) == 1
    assert not result.tracebacks
    assert "/private" not in site.paths()


if_told = pytest.mark.skipif(
    not hasattr(signals, "robots_parsed"), reason="CrawlDelay alone hears of no robots.txt before Scrapy 2.18"
)
DELAYS_ALONE = {
    "ADDONS": {},
    "ROBOTSTXT_OBEY": True,
    "ROBOTSTXT_PARSER": "scrapy_rep.RepRobotParser",
    "EXTENSIONS": {"scrapy_rep.CrawlDelay": 900},
    "SCHEDULER_PRIORITY_QUEUE": SCRAPYS_QUEUES[0],
}


@pytest.mark.parametrize("settings", [{}, DELAYS_ALONE], ids=["the add-on", "CrawlDelay alone"])
def test_a_crawl_whose_downloader_has_no_handlers_sends_nothing_and_says_why(settings: dict[str, Any]) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.3\n"))
        downloader = {"DOWNLOADER": f"{SPIDERS}.WithoutHandlers"}
        result = crawl(f"{site.origin}/", settings={**MEMORY, **settings, **downloader}, apart=True)
        assert site.paths() == []
    told = "".join(f"{line.message}\n" for line in result.log if line.level in {"ERROR", "CRITICAL"})
    assert "downloader.handlers" in told
    assert "DOWNLOADER" in told  # the setting to change


@pytest.mark.parametrize(
    "settings", [{}, pytest.param(DELAYS_ALONE, marks=if_told)], ids=["the add-on", "CrawlDelay alone"]
)
def test_a_downloader_without_slots_sends_nothing_without_the_delay(
    settings: dict[str, Any], starts: NotedStarts
) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.3\n"))
        downloader = {"DOWNLOADER": f"{SPIDERS}.WithoutSlots", "CLOSESPIDER_TIMEOUT": 8}
        urls = [f"{site.origin}/{page}" for page in range(4)]
        crawl(*urls, settings={**MEMORY, **starts.settings, **settings, **downloader}, apart=True)
    if site.log:  # it may refuse instead
        assert_delay_is_kept(0.3, site, starts)


@pytest.mark.untraced
@pytest.mark.parametrize("shared_by", ["sqlite", pytest.param("redis", marks=pytest.mark.full)])
def test_the_next_run_asks_no_host_that_a_back_off_still_holds(
    shared_by: str, redis_server: RedisServer, tmp_path: Path
) -> None:
    hosts = 1_100
    settings = (
        store(shared_by, tmp_path) if shared_by == "sqlite" else {**MEMORY, "REP_REDIS_URL": redis_server.url}
    )
    with Site([f"127.0.{75 + number // 250}.{number % 250 + 1}" for number in range(hosts)]) as site:
        site.answer("*", Answer(429, headers=[("Retry-After", "300")]))
        urls = [f"{origin}/page" for origin in site.origins]
        busy = {**settings, "ROBOTSTXT_OBEY": False, "RETRY_ENABLED": False, "CONCURRENT_REQUESTS": 100}
        crawl(*urls, settings=busy, apart=True)
        assert len(site.log) == hosts
        crawl(*urls, settings={**busy, "CLOSESPIDER_TIMEOUT": 2}, apart=True)
        assert len(site.log) == hosts


LICENSE = "/license.xml"
TDMREP = "/.well-known/tdmrep.json"
AI_TXT = "/ai.txt"
PURPOSES: dict[str, Any] = {"REP_PURPOSES": ["ai-train"], "REP_AI_SOURCES": ["ai.txt"]}


@pytest.mark.parametrize("path", [LICENSE, TDMREP, AI_TXT])
@pytest.mark.parametrize(("folder", "paths"), [("/private", ["/robots.txt"]), ("/open", ["/robots.txt", "/open"])])
def test_a_redirect_of_a_file_about_ai_asks_the_host_that_it_leads_to(
    path: str, folder: str, paths: list[str]
) -> None:
    with Site(["127.0.0.1", "127.0.79.1"]) as site:
        one, other = site.origins
        site.answer("/robots.txt", robots(f"License: {one}{LICENSE}\nUser-agent: *\nDisallow:\n"), one)
        for each in (LICENSE, TDMREP, AI_TXT):
            site.answer(each, Answer(404))
        site.answer(path, redirect(f"{other}{folder}"), one)
        site.answer("/robots.txt", PRIVATE, other)
        result = crawl(f"{one}/", settings={**MEMORY, **PURPOSES})
        assert site.count(path, one) == 1
        assert site.paths(other) == paths
    assert len(result.pages) == 1


RULES = robots("User-agent: *\nDisallow: /search?\nDisallow: /admin$\nDisallow: /secret\n")
REWRITTEN = [
    ("asyncio", "/search;?q=1", False),
    ("asyncio", "/admin;", False),
    *(("asyncio", path, True) for path in (" /secret", "\t/secret", "/admin?")),
    *(("reactorless", f"/public{path}secret", False) for path in ("/%2e%2e/", "/../", "\\..\\")),
    ("reactorless", "/./secret", False),
    ("reactorless", "/admin?", True),
]
"""Loop of the download handler; path, or blanks before the URL; whether Scrapy is told to leave the URL alone."""


@pytest.mark.parametrize(("loop", "path", "is_verbatim"), REWRITTEN)
def test_a_url_that_the_download_handler_rewrites_is_judged_as_it_is_sent(
    loop: str, path: str, is_verbatim: bool
) -> None:
    if (is_verbatim and not HAS_VERBATIM) or loop not in LOOPS:
        pytest.skip("not in this version of Scrapy")
    with Site() as site:
        site.answer("/robots.txt", RULES)
        blank = path[: len(path) - len(path.lstrip())]
        url = f"{blank}{site.origin}{path.lstrip()}"
        crawl({"url": url, "meta": {"verbatim_url": is_verbatim}}, settings=MEMORY, loop=loop)
    assert set(site.paths()) <= {"/robots.txt"}


@pytest.mark.full
def test_a_path_that_the_ftp_handler_decodes_is_judged_as_it_is_sent(tmp_path: Path) -> None:
    (tmp_path / "robots.txt").write_text("User-agent: *\nDisallow: /private/\n")
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "file").write_text("private")
    with ftp_site(tmp_path) as origin:
        result = crawl(f"{origin}/private%2Ffile", settings=MEMORY)
    assert result.pages == []
