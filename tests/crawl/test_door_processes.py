"""Several processes keep one Crawl-delay, whichever way their requests take to the download handlers."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.support.crawl import RECORDER, Crawl, crawl
from tests.support.redis_server import RedisServer
from tests.support.site import Answer, Site, redirect, robots, sequence

from .fleet import MEMORY, results
from .handler_starts import NotedStarts, assert_delay_is_kept

SPIDERS = "tests.crawl.spiders"
QUEUES = [
    "scrapy.pqueues.ScrapyPriorityQueue",
    "scrapy.pqueues.DownloaderAwarePriorityQueue",
    "scrapy_rep.RepPriorityQueue",
]


@pytest.fixture
def starts(tmp_path: Path) -> NotedStarts:
    return NotedStarts(tmp_path)


@pytest.fixture
def shared(starts: NotedStarts, tmp_path: Path) -> dict[str, Any]:
    """Settings of processes that share a store."""
    return {"REP_STORE_PATH": str(tmp_path / "robots.sqlite"), **starts.settings}


def slow(delay: float, comes_after: float = 0.0) -> Any:
    return robots(f"User-agent: *\nCrawl-delay: {delay}\n", delay=comes_after)


def processes(
    requests: Callable[[int], list[Any]],
    settings: dict[str, Any],
    number: int = 2,
    spider: str = RECORDER,
    attributes: Callable[[int], dict[str, Any]] = lambda _: {},
) -> list[Crawl]:
    """So many crawls at once, each in a process of its own; crawl *n* makes ``requests(n)``."""
    with ThreadPoolExecutor(number) as pool:
        crawls = [
            pool.submit(crawl, *requests(each), settings=settings, spider=spider, attributes=attributes(each))
            for each in range(number)
        ]
        return results(crawls)


@pytest.mark.parametrize(("pages", "delay"), [(2, 0.5), pytest.param(4, 1.0, marks=pytest.mark.full)])
@pytest.mark.parametrize("queue", QUEUES)
def test_two_processes_keep_a_crawl_delay_with_every_queue(
    queue: str, pages: int, delay: float, starts: NotedStarts, shared: dict[str, Any]
) -> None:
    with Site([f"127.0.71.{number}" for number in range(1, 9)]) as site:
        site.answer("/robots.txt", slow(delay))

        def requests(process: int) -> list[str]:
            return [f"{origin}/{process}/{page}" for page in range(pages) for origin in site.origins]

        found = processes(requests, {**shared, "SCHEDULER_PRIORITY_QUEUE": queue})
        assert len(site.log) == 8 * (2 * pages + 1)
    assert [len(result.pages) for result in found] == [8 * pages] * 2
    assert_delay_is_kept(delay, site, starts)


def test_a_process_that_names_its_download_slot_keeps_the_delay_together_with_others(
    starts: NotedStarts, shared: dict[str, Any]
) -> None:
    with Site() as site:
        site.answer("/robots.txt", slow(0.4))
        found = processes(
            lambda process: [
                {"url": f"{site.origin}/{process}/{page}", "meta": {"download_slot": "aaa"} if process else {}}
                for page in range(4)
            ],
            shared,
        )
    assert [len(result.pages) for result in found] == [4, 4]
    assert_delay_is_kept(0.4, site, starts)


@pytest.mark.parametrize(
    "pipeline", ["tests.crawl.door_spiders.DownloadsFiles", "scrapy.pipelines.files.FilesPipeline"]
)
def test_files_of_pipelines_that_waited_for_the_first_robots_txt_keep_its_delay_between_processes(
    pipeline: str, starts: NotedStarts, shared: dict[str, Any], tmp_path: Path
) -> None:
    with Site() as site:
        site.answer("/robots.txt", slow(0.4, comes_after=0.5))
        found = processes(
            lambda _: ["data:,start"],
            {**shared, "ITEM_PIPELINES": {pipeline: 1}, "FILES_STORE": str(tmp_path)},
            spider=f"{SPIDERS}:Downloads",
            attributes=lambda process: {"files": [f"{site.origin}/{process}/{file}" for file in range(4)]},
        )
        assert len(site.log) == 9
    assert sum(len(result.starts) for result in found) == 11  # also two of data: URLs
    assert_delay_is_kept(0.4, site, starts)


@pytest.mark.parametrize(
    ("queue", "hosts", "concurrency"),
    [
        ("PriorityQueue", 8, 16),
        pytest.param("PriorityQueue", 40, 16, marks=pytest.mark.full),
        pytest.param("FifoQueue", 40, 16, marks=pytest.mark.full),
        pytest.param("FifoQueue", 40, 400, marks=pytest.mark.full),
    ],
)
def test_workers_with_a_queue_of_scrapy_redis_keep_a_crawl_delay(
    queue: str, hosts: int, concurrency: int, starts: NotedStarts, redis_server: RedisServer
) -> None:
    settings = {
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "SCHEDULER_QUEUE_CLASS": f"scrapy_redis.queue.{queue}",
        "SCHEDULER_PERSIST": True,
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "REDIS_URL": redis_server.url,
        "REP_REDIS_URL": redis_server.url,
        "CONCURRENT_REQUESTS": concurrency,
        **MEMORY,
        **starts.settings,
    }
    addresses = [f"127.0.74.{number}" for number in range(1, hosts + 1)]
    with Site(addresses) as site:
        for origin in site.origins[::2]:
            site.answer("/robots.txt", slow(1), origin)

        def requests(process: int) -> list[str]:
            return [f"{origin}/{process}/{page}" for page in range(2) for origin in site.origins]

        found = processes(requests, settings, number=3)
        assert len(site.log) == hosts * 7
    assert sum(len(result.pages) for result in found) == hosts * 6
    assert_delay_is_kept(1.0, site, starts, addresses[::2])


PATHS = [[f"/{process}/{page}" for page in range(3)] for process in range(2)]
"""Paths that two processes have arrive, besides one robots.txt."""

PROXIED = "http://site.example"  # asked of the proxy alone
CACHED = [f"/cached/{page}" for page in range(3)]


def assert_paths_keep_the_delay(
    site: Site, starts: NotedStarts, settings: dict[str, Any], paths: list[list[str]], through_proxy: bool = False
) -> None:
    """Assert that seven requests of two processes keep a delay of 0.4 s; their queue knows no delay."""
    origin, meta = (PROXIED, {"proxy": site.origin}) if through_proxy else (site.origin, {})

    def requests(process: int) -> list[dict[str, Any]]:
        return [{"url": origin + path, "meta": dict(meta)} for path in paths[process]]

    processes(requests, {**settings, "SCHEDULER_PRIORITY_QUEUE": QUEUES[0]})
    assert len(site.log) == 7
    assert_delay_is_kept(0.4, site, starts)


def test_redirects_of_two_processes_keep_a_crawl_delay(starts: NotedStarts, shared: dict[str, Any]) -> None:
    with Site() as site:
        site.answer("/robots.txt", slow(0.4))
        for hops in PATHS:
            for before, after in pairwise(hops):
                site.answer(before, redirect(after))
        assert_paths_keep_the_delay(site, starts, shared, [hops[:1] for hops in PATHS])


def test_retries_of_two_processes_keep_a_crawl_delay(starts: NotedStarts, shared: dict[str, Any]) -> None:
    with Site() as site:
        site.answer("/robots.txt", slow(0.4))
        for path, *_ in PATHS:
            site.answer(path, sequence(*[Answer(500)] * 2, Answer()))
        settings = {**shared, "REP_BACKOFF": False}
        assert_paths_keep_the_delay(site, starts, settings, [paths[:1] for paths in PATHS])


def test_requests_of_two_processes_through_a_proxy_keep_a_crawl_delay(
    starts: NotedStarts, shared: dict[str, Any]
) -> None:
    with Site() as proxy:
        proxy.answer(f"{PROXIED}/robots.txt", slow(0.4))
        assert_paths_keep_the_delay(proxy, starts, shared, PATHS, through_proxy=True)


def test_pages_beside_cached_ones_keep_a_crawl_delay_between_processes(
    starts: NotedStarts, shared: dict[str, Any], tmp_path: Path
) -> None:
    cache = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path / "cache")}
    with Site() as site:
        crawl(*(site.origin + path for path in CACHED), settings={"ADDONS": {}, **cache})
        site.log.clear()
        site.answer("/robots.txt", slow(0.4))
        paths = [[path for pair in zip(some, CACHED) for path in pair] for some in PATHS]
        assert_paths_keep_the_delay(site, starts, {**shared, **cache}, paths)
