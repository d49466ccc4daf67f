"""Several real crawls, one real Redis: what the server sees, and whoever is killed."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from redis import Redis

from tests.support.crawl import crawl, crawl_until, on_each_loop
from tests.support.redis_server import RedisServer
from tests.support.site import Site, robots

from .fleet import DELAY, LEAST, MEMORY, SLOW, gaps, pages_of, results, starts_of, workers


@pytest.fixture
def server(redis_server: RedisServer) -> RedisServer:
    """Nobody kills it here."""
    return redis_server


@pytest.mark.parametrize("many", [15, pytest.param(50, marks=pytest.mark.full)])
def test_four_workers_that_crawl_many_origins_from_cold_ask_each_once(server: RedisServer, many: int) -> None:
    with Site([f"127.0.11.{number}" for number in range(1, many + 1)]) as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /private\n", delay=0.6))
        urls = [f"{origin}{path}" for origin in site.origins for path in ("/", "/private")]
        with workers(4, server, lambda _: urls) as crawls:
            found = results(crawls)
        assert site.count("/robots.txt") == many
    assert [(len(result.pages), len(result.failures)) for result in found] == [(many, many)] * 4
    assert sum(result.stats.get("rep/fetched_count", 0) for result in found) == many


@pytest.mark.parametrize(("number", "most"), [(2, 0.8), pytest.param(4, 0.5, marks=pytest.mark.full)])
def test_workers_keep_one_delay_use_it_and_share_it(server: RedisServer, number: int, most: float) -> None:
    with Site() as site:
        site.answer("/robots.txt", SLOW)
        with workers(number, server, pages_of(site, 9)) as crawls:
            starts = sorted(starts_of(results(crawls)), key=lambda start: start.time)
        assert site.count("/robots.txt") == 1
    assert len(starts) == 9 * number + 1
    assert min(gaps(starts)) >= LEAST
    assert median(gaps(starts)) <= 1.5 * DELAY  # a slow machine stretches some, but not most
    order, names = [start.url.removeprefix(site.origin)[1] for start in starts], "0123"[:number]
    first, last = max(map(order.index, names)), min(order[::-1].index(worker) for worker in names)
    shared = order[first : len(order) - last]  # while all were there
    assert len(shared) > 5 * number
    assert all(0.4 / number <= shared.count(worker) / len(shared) <= most for worker in names), "".join(shared)


@on_each_loop
def test_every_loop_acquires_permits_from_robots_txt_on(server: RedisServer, loop: str) -> None:
    with Site() as site:
        site.answer("/robots.txt", SLOW)
        urls = [f"{site.origin}/{page}" for page in (*range(6), "private")]
        result = crawl(*urls, settings={"REP_REDIS_URL": server.url, "DOWNLOAD_DELAY": 0.1}, loop=loop)
    assert min(gaps(result.starts)) >= LEAST
    assert len(result.starts) == 7
    assert (len(result.pages), len(result.failures), result.stats["rep/rate_limiter/permit_count"]) == (6, 1, 6)
    assert result.stats["rep/crawl_delay/waited_seconds"] > 0
    assert result.stats["rep/redis/away_seconds"] == 0
    assert not result.tracebacks


def test_a_worker_alone_asks_once_for_each_start(server: RedisServer) -> None:
    with Site() as site:
        site.answer("/robots.txt", SLOW)
        before = _scripts_run(server)
        result = crawl(*pages_of(site, 20)(0), settings={"REP_REDIS_URL": server.url, **MEMORY})
        assert len(result.pages) == 20
        assert _scripts_run(server) - before < 66  # 52 on an idle machine: 2 for each start, 12 for robots.txt


def _scripts_run(server: RedisServer) -> int:
    with server.client() as client:
        stats: Any = client.info("commandstats")
    return int(stats.get("cmdstat_evalsha", {"calls": 0})["calls"])


def test_a_longer_delay_of_the_users_own_is_kept_and_wastes_no_permit_of_others(server: RedisServer) -> None:
    with Site() as site:
        site.answer("/robots.txt", SLOW)
        urls = pages_of(site, 8)
        delayed = {"DOWNLOAD_DELAY": 0.8, "REP_REDIS_URL": server.url}
        with ThreadPoolExecutor(2) as pool:
            first = pool.submit(crawl, *urls(0)[:4], settings=delayed)
            second = pool.submit(crawl, *urls(1), settings={"REP_REDIS_URL": server.url})
            found = results([first, second])
    assert min(gaps(starts_of(found))) >= LEAST
    slow, fast = (gaps(starts_of([result], f"{site.origin}/{worker}/")) for worker, result in enumerate(found))
    assert min(slow) >= 0.399  # jitter may halve it
    assert median(fast) < 2.5 * DELAY


def test_the_delay_after_robots_txt_is_waited_for_once(server: RedisServer) -> None:
    with Site([f"127.0.13.{number}" for number in range(1, 7)]) as site:
        site.answer("/robots.txt", SLOW)
        # Each download slot draws its jitter: chance brings the bad case about in most runs.
        settings = {"DOWNLOAD_DELAY": 0.6, "REP_REDIS_URL": server.url}
        result = crawl(*(f"{origin}/{page}" for page in range(3) for origin in site.origins), settings=settings)
    for origin in site.origins:
        robots_txt, *pages = starts_of([result], origin)
        assert robots_txt.url.endswith("/robots.txt")
        assert min(gaps(pages)) >= 0.299  # jitter may halve it


def test_slow_hosts_with_many_pages_do_not_slow_a_fast_one(server: RedisServer) -> None:
    with Site(["127.0.0.1", "127.0.12.1", "127.0.12.2"]) as site:
        fast, *slow = site.origins
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.5\n"))
        site.answer("/robots.txt", robots("User-agent: *\nAllow: /\n"), fast)
        urls = [f"{origin}/first" for origin in site.origins]
        urls += [f"{origin}/{page}" for page in range(60) for origin in slow]
        urls += [f"{fast}/page/{number}" for number in range(100)]

        def is_done() -> bool:
            """The fast one has all its pages, or the slow ones have had most of theirs, which takes 20 s."""
            return len(site.paths(fast)) == 102 or any(len(site.paths(origin)) > 40 for origin in slow)

        spider = "tests.crawl.spiders:BurstLater"
        crawl_until(is_done, *urls, settings={"REP_REDIS_URL": server.url}, spider=spider)
        assert len(site.paths(fast)) == 102


def last_start_of_fleet(client: Redis) -> int | None:
    last: int | None = json.loads(client.get("rep:permits:127.0.0.1") or "[null]")[0]
    return last


def test_a_robots_txt_from_scrapys_cache_uses_no_permit(server: RedisServer, tmp_path: Path) -> None:
    settings = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path), "REP_REDIS_URL": server.url, **MEMORY}
    with Site() as site, server.client() as client:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /\nCrawl-delay: 0.5\n"))
        crawl(f"{site.origin}/page", settings=settings)
        assert last_start_of_fleet(client)
        client.flushall()
        crawl(f"{site.origin}/page", settings=settings)
        assert site.paths() == ["/robots.txt"]
        assert not last_start_of_fleet(client)


def test_a_worker_that_is_killed_in_its_fetch_holds_others_up_for_seconds(server: RedisServer) -> None:
    with Site() as site, server.client() as client:
        answers = iter([robots("", delay=60)])
        site.answer("/robots.txt", lambda _: next(answers, SLOW))
        settings = {"REP_REDIS_URL": server.url, "REP_TIMEOUT": 60, **MEMORY}
        crawl_until(lambda: site.count("/robots.txt") == 1, f"{site.origin}/killed", settings=settings)
        (lease,) = client.keys("rep:lease:*")
        assert 0 < client.pttl(lease) <= 9_000
        result = crawl(f"{site.origin}/", f"{site.origin}/private", settings=settings)
    assert site.paths() == ["/robots.txt", "/robots.txt", "/"]
    assert [failure.reason for failure in result.failures] == ["rule"]


def test_a_worker_that_is_slow_to_fetch_keeps_its_lease(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scrapy_rep.crawl.robots.refresh._LEASE_LIFE", 1.5)
    left: list[int] = []

    def is_renewed() -> bool:
        (lease,) = client.keys("rep:lease:*")
        left.append(client.pttl(lease))
        return len(left) > 1 and left[-1] > left[-2]

    with Site() as site, server.client() as client:
        site.answer("/robots.txt", robots("User-agent: *\nAllow: /\n", when=is_renewed))
        result = crawl(f"{site.origin}/", settings={"REP_REDIS_URL": server.url})
        assert client.keys("rep:lease:*") == []
    assert len(result.pages) == 1
