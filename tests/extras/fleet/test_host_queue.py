"""`RedisHostQueue`: several real crawls, one real Redis, one queue of hosts."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from time import monotonic, sleep
from typing import Any

import pytest
from redis import Redis
from scrapy import Request

from scrapy_rep.extras.fleet.host_queue import start_right
from tests.crawl.fleet import LEAST, MEMORY, SLOW, gaps, results, starts_of, wait_until
from tests.support.crawl import Crawl, crawl, crawl_until, on_each_loop
from tests.support.redis_server import KEEPS_DATA, RedisServer, free_port
from tests.support.simulation import Simulation
from tests.support.site import Answer, Site, robots

QUEUE = "recorder:requests:hosts:"


@pytest.fixture
def server(redis_server: RedisServer) -> RedisServer:
    return redis_server


def settings_of(server: RedisServer, **settings: Any) -> dict[str, Any]:
    return {
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "SCHEDULER_QUEUE_CLASS": "scrapy_rep.RedisHostQueue",
        "SCHEDULER_PERSIST": True,
        "DUPEFILTER_CLASS": "scrapy_rep.RedisHostDupeFilter",
        "REDIS_URL": server.url,
        "REP_REDIS_URL": server.url,
        **MEMORY,
        **settings,
    }


def once(*urls: str) -> list[dict[str, Any]]:
    """Requests that the shared filter of duplicates sees."""
    return [{"url": url, "dont_filter": False} for url in urls]


def crawl_together(server: RedisServer, urls: list[str], number: int = 3, **settings: Any) -> list[Crawl]:
    with ThreadPoolExecutor(number) as pool:
        shared = settings_of(server, **settings)
        return results([pool.submit(crawl, *once(*urls), settings=shared) for _ in range(number)])


def paths(site: Site, origin: str = "") -> Counter[str]:
    return Counter(f"{one.origin}{one.path}" for one in site.log if one.origin.startswith(origin))


def test_workers_take_turns_at_sites_and_slow_ones_hold_up_no_fast_one(server: RedisServer) -> None:
    with Site([f"127.0.31.{number}" for number in range(1, 9)]) as site, server.client() as client:
        for origin in site.origins[::2]:
            site.answer("/robots.txt", SLOW, origin)
        urls = [f"{origin}/{page}" for page in range(8) for origin in site.origins]
        found = crawl_together(server, urls)
        assert paths(site) == Counter([*urls, *(f"{origin}/robots.txt" for origin in site.origins)])
        assert client.get(f"{QUEUE}count") == b"0"
        assert not client.keys(f"{QUEUE}claims:*")
        assert not client.keys(f"{QUEUE}queue:*")
    assert sorted(url for result in found for url in result.urls) == sorted(urls)
    for origin in site.origins[::2]:
        assert min(gaps(starts_of(found, f"{origin}/"))) >= LEAST
    first = min(start.time for start in starts_of(found))
    fast = [start.time for origin in site.origins[1::2] for start in starts_of(found, f"{origin}/")]
    assert max(fast) - first < 1.5
    assert max(start.time for start in starts_of(found)) - first < 3.5  # of 1.6 s


@on_each_loop
def test_a_worker_alone_crawls_on_each_loop(server: RedisServer, loop: str) -> None:
    with Site() as site:
        site.answer("/robots.txt", SLOW)
        urls = [f"{site.origin}/{page}" for page in range(5)]
        result = crawl(*once(*urls, f"{site.origin}/private", *urls), settings=settings_of(server), loop=loop)
    assert sorted(result.urls) == sorted(urls)
    assert [failure.reason for failure in result.failures] == ["rule"]
    assert min(gaps(result.starts)) >= LEAST
    assert result.reason == "finished"
    assert not result.tracebacks


def test_priorities_hold_within_a_site(server: RedisServer) -> None:
    with Site() as site:
        site.answer("/robots.txt", SLOW)
        requests = [{"url": f"{site.origin}/{priority}", "priority": priority} for priority in (1, 5, 3)]
        crawl(*requests, settings=settings_of(server))
        assert site.paths() == ["/robots.txt", "/5", "/3", "/1"]


def test_a_disallowed_page_uses_no_start(server: RedisServer) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /private\nCrawl-delay: 1\n"))
        urls = [f"{site.origin}/private/{page}" for page in range(20)]
        result = crawl(*once(*urls, f"{site.origin}/"), settings=settings_of(server))
        assert site.paths() == ["/robots.txt", "/"]
    assert len(result.failures) == 20
    assert result.seconds < 6  # at a start for each it would be 20


def test_a_killed_worker_loses_nothing_and_repeats_what_it_held_once(server: RedisServer) -> None:
    with Site([f"127.0.32.{number}" for number in range(1, 5)]) as site:
        site.answer("/robots.txt", SLOW)
        urls = [f"{origin}/{page}" for page in range(8) for origin in site.origins]
        for page in range(8):
            site.answer(f"/{page}", Answer(delay=0.3))  # so a worker has some in hand
        quick = settings_of(server, SCHEDULER_QUEUE_CLASS="tests.extras.fleet.host_queues.ImpatientQueue")
        with ThreadPoolExecutor(1) as pool:
            second = pool.submit(crawl, *once(*urls), settings=quick)
            crawl_until(lambda: len(site.log) >= 16, *once(*urls), settings=quick)
            (found,) = results([second])
        pages = paths(site)
    assert set(urls) <= set(pages)
    assert max(pages[url] for url in urls) <= 2
    assert sum(pages[url] - 1 for url in urls) <= 16
    assert found.stats.get("rep/host_queue/returned_count", 0) > 0
    for origin in site.origins:
        times = sorted(one.time for one in site.log if one.origin == origin)
        assert min(after - before for before, after in pairwise(times)) >= 0.9 * LEAST


def test_a_request_that_is_pushed_while_a_worker_sleeps_starts_at_once(server: RedisServer) -> None:
    with Site(["127.0.33.1", "127.0.33.2"]) as site, server.client() as client:
        slow, other = site.origins
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 5\n"), slow)
        with ThreadPoolExecutor(2) as pool:
            sleeper = pool.submit(crawl, *once(f"{slow}/1", f"{slow}/2"), settings=settings_of(server))
            wait_until(lambda: f"{slow}/1" in paths(site))
            sleep(1)
            polls = _scripts_run(client)
            sleep(1)
            assert _scripts_run(client) - polls <= 4
            pushed = monotonic()
            client.zadd(f"{QUEUE}queue:127.0.33.2", {_stored(f"{other}/page"): 0})
            client.incr(f"{QUEUE}count")
            client.zadd(f"{QUEUE}new", {"127.0.33.2": 0})
            assert client.delete(f"{QUEUE}asleep") == 1
            client.publish(f"{QUEUE}wake", "")
            results([sleeper])
        (began,) = (one.time for one in site.log if one.origin == other and one.path == "/robots.txt")
        assert began - pushed < 0.2


def _stored(url: str) -> bytes:
    return b"%015d" % 999 + pickle.dumps({**Request(url, dont_filter=True).to_dict(), "callback": "page"})


def _scripts_run(client: Any) -> int:
    return int(client.info("commandstats").get("cmdstat_evalsha", {"calls": 0})["calls"])


def test_a_request_that_cannot_be_read_is_named_and_set_aside(server: RedisServer) -> None:
    with Site() as site, server.client() as client:
        client.zadd(f"{QUEUE}queue:127.0.0.1", {b"%015d" % 1 + b"not a pickle": 0})
        client.zadd(f"{QUEUE}new", {"127.0.0.1": 0})
        client.set(f"{QUEUE}count", 1)
        client.set(f"{QUEUE}number", 1)
        result = crawl(*once(f"{site.origin}/"), settings=settings_of(server))
        assert client.llen(f"{QUEUE}unreadable") == 1
        assert client.get(f"{QUEUE}count") == b"0"
    assert len(result.pages) == 1
    assert result.stats["rep/host_queue/unreadable_count"] == 1
    (line,) = result.lines("ERROR")
    assert "127.0.0.1" in line
    assert "recorder:requests:hosts:unreadable" in line


def test_the_queue_of_another_version_is_refused(server: RedisServer) -> None:
    with Site() as site, server.client() as client:
        client.set(f"{QUEUE}format", "0")
        result = crawl(f"{site.origin}/", settings=settings_of(server), apart=True)
        assert not site.log
    assert result.exit_code == 1 or not result.pages
    assert any("SCHEDULER_QUEUE_KEY" in f"{line.message}{line.traceback}" for line in result.log)


def test_a_hold_is_kept_by_all_workers(server: RedisServer) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nAllow: /\n"))
        answers = iter([Answer(429, headers=[("Retry-After", "2")])])
        site.answer("/0", lambda _: next(answers, Answer()))
        urls = [f"{site.origin}/{page}" for page in range(12)]
        crawl_together(server, urls, 2, CONCURRENT_REQUESTS=1)
        held = max(after.time - before.time for before, after in pairwise(site.log))
        assert set(urls) <= set(paths(site))
    assert held >= 1.9


def test_a_worker_that_closes_gives_back_what_it_has_not_started(server: RedisServer) -> None:
    with Site() as site, server.client() as client:
        site.answer("/robots.txt", SLOW)
        urls = [f"{site.origin}/{page}" for page in range(8)]
        first = crawl(*once(*urls), settings=settings_of(server, CLOSESPIDER_PAGECOUNT=3))
        assert not client.keys(f"{QUEUE}claims:*")
        assert int(client.get(f"{QUEUE}count") or 0) == client.zcard(f"{QUEUE}queue:127.0.0.1")
        second = crawl(*once(*urls), settings=settings_of(server))
        assert paths(site) == Counter([*urls, *[f"{site.origin}/robots.txt"]])
    assert first.reason == "closespider_pagecount"
    assert len(first.pages) + len(second.pages) == 8


def test_requests_without_a_site_go_back_too(server: RedisServer) -> None:
    urls = [f"data:,{number}" for number in range(8)]
    settings = settings_of(server, CONCURRENT_REQUESTS=1)
    first = crawl(*once(*urls), settings={**settings, "CLOSESPIDER_PAGECOUNT": 3})
    second = crawl(*once(*urls), settings=settings)
    assert sorted([*first.urls, *second.urls]) == urls


def test_an_emptied_queue_keeps_the_delays(server: RedisServer) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 3"))
        found = [
            crawl(f"{site.origin}/", settings=settings_of(server, SCHEDULER_FLUSH_ON_START=is_over))
            for is_over in (False, True)
        ]
    assert min(gaps(starts_of(found, f"{site.origin}/"))) >= 3


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"SCHEDULER_PERSIST": False}, "set SCHEDULER_PERSIST = True"),
        ({"REDIS_PARAMS": {"decode_responses": True}}, "remove decode_responses from REDIS_PARAMS"),
    ],
)
def test_settings_that_would_lose_requests_are_refused(
    server: RedisServer, settings: dict[str, Any], message: str
) -> None:
    result = crawl("data:,", settings=settings_of(server, **settings), apart=True)
    assert any(message in f"{line.message}{line.traceback}" for line in result.log)


def without_memory(client: Redis, *, is_over: bool) -> None:
    client.config_set("maxmemory", 0 if is_over else 1)


def as_replica(client: Redis, *, is_over: bool) -> None:
    client.execute_command("REPLICAOF", *(("NO", "ONE") if is_over else ("127.0.0.1", free_port())))


@pytest.mark.parametrize("change", [without_memory, as_replica])
def test_a_redis_that_refuses_writes_for_a_while_loses_no_request(
    server: RedisServer, change: Callable[..., None]
) -> None:
    with Site() as site, server.client() as client:
        site.answer("/robots.txt", SLOW)
        urls = [f"{site.origin}/{page}" for page in range(12)]
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(crawl, *once(*urls), settings=settings_of(server, CONCURRENT_REQUESTS=2))
            wait_until(lambda: len(site.log) >= 3)
            change(client, is_over=False)
            sleep(1)
            change(client, is_over=True)
            result = running.result()
        assert set(urls) <= set(paths(site))
    assert not result.tracebacks


def test_redis_may_go_and_come_back(server: RedisServer) -> None:
    with Site() as site, RedisServer(*KEEPS_DATA) as own:
        site.answer("/robots.txt", SLOW)
        urls = [f"{site.origin}/{page}" for page in range(12)]
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(crawl, *once(*urls), settings=settings_of(own))
            wait_until(lambda: len(site.log) >= 4)
            own.kill()
            sleep(1)
            own.start()
            result = running.result()
        assert set(urls) <= set(paths(site))
    assert not result.tracebacks
    assert result.reason == "finished"
    assert min(gaps(result.starts)) >= LEAST


def test_a_redis_that_is_flushed_ends_the_crawl_that_it_has_lost(server: RedisServer) -> None:
    with Site() as site, server.client() as client:
        site.answer("/robots.txt", SLOW)
        with ThreadPoolExecutor(1) as pool:
            urls = [f"{site.origin}/{page}" for page in range(50)]
            running = pool.submit(crawl, *once(*urls), settings=settings_of(server))
            wait_until(lambda: len(site.log) >= 4)
            client.flushall()
            result = running.result()
    assert result.reason == "finished"
    assert not result.tracebacks
    assert result.seconds < 8  # of 10 for all pages


def test_the_serializer_of_the_project_is_used(server: RedisServer) -> None:
    with Site() as site, server.client() as client:
        site.answer("/robots.txt", SLOW)
        settings = settings_of(server, SCHEDULER_SERIALIZER="tests.extras.fleet.host_queues")
        with ThreadPoolExecutor(1) as pool:
            urls = [f"{site.origin}/{page}" for page in range(8)]
            running = pool.submit(crawl, *once(*urls), settings=settings)
            wait_until(lambda: client.zcard(f"{QUEUE}queue:127.0.0.1") > 0)
            (stored,) = client.zrange(f"{QUEUE}queue:127.0.0.1", 0, 0)
            result = running.result()
    assert stored[15:16] == b"{"
    assert sorted(result.urls) == sorted(urls)


def test_a_site_that_answers_429_for_ever_holds_up_no_other(server: RedisServer) -> None:
    with Site([f"127.0.34.{number}" for number in range(1, 9)]) as site:
        busy, others = site.origins[:4], site.origins[4:]
        for origin in busy:
            for page in range(2):
                site.answer(f"/{page}", Answer(429, headers=[("Retry-After", "2")]), origin)
        urls = [f"{origin}/{page}" for page in range(2) for origin in busy]
        good = [f"{origin}/{page}" for page in range(6) for origin in others]
        shared = settings_of(server, CONCURRENT_REQUESTS=4, RETRY_TIMES=1)
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(crawl, *once(*urls, *good), settings=shared)
            wait_until(lambda: set(good) <= set(paths(site)))
            first, last = site.log[0].time, max(one.time for one in site.log if one.origin in others)
            running.result()
    assert last - first < 2


def test_a_start_may_be_used_where_a_back_off_has_just_ended(clock: Simulation) -> None:
    permit = start_right(clock.monotonic(), starts_in=0, time=1, delay=0)
    assert permit.expires_at > clock.monotonic()


def test_a_start_may_be_used_although_redis_took_long(clock: Simulation) -> None:
    asked_at = clock.monotonic()
    clock.advance(0.3)
    permit = start_right(asked_at, starts_in=0, time=1, delay=1_010_000)
    assert clock.monotonic() < permit.expires_at < asked_at + 0.6
