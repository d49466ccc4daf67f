"""Workers that die; a Redis that dies, hangs or is not there: no crawl hangs, no delay is broken."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from tests.support.crawl import crawl, crawl_until, on_each_loop
from tests.support.redis_server import RedisServer
from tests.support.site import Answer, Site, robots
from tests.support.tls_proxy import TlsProxy

from .fleet import LEAST, MEMORY, SLOW, gaps, of_redis, pages_of, results, starts_of, wait_until, workers


@pytest.fixture
def server() -> Iterator[RedisServer]:
    with RedisServer() as server:
        yield server


def test_a_worker_that_is_killed_before_its_permit_wastes_one_permit_at_most(server: RedisServer) -> None:
    with Site() as site:
        site.answer("/robots.txt", SLOW)
        urls = pages_of(site, 8)
        settings = {"REP_REDIS_URL": server.url, **MEMORY}
        with workers(2, server, urls) as crawls:
            killed = crawl_until(lambda: any("/2/1" in one.path for one in site.log), *urls(2), settings=settings)
            found = results(crawls)
    starts = starts_of(found)
    assert min(gaps([*killed, *starts])) >= LEAST
    after = [start for start in starts if start.time > killed[-1].time]
    assert len(after) > 4
    # Its permit may be lost; one that no worker can use any more is passed over within seconds.
    assert max(gaps(after)) < 4


@pytest.mark.full
def test_redis_that_is_killed_and_started_again_ends_nothing_and_breaks_no_delay(server: RedisServer) -> None:
    with Site() as site:
        site.answer("/robots.txt", SLOW)
        with workers(2, server, pages_of(site, 16), REP_WORKERS=2) as crawls:
            wait_until(lambda: len(site.log) >= 6)
            server.kill()
            killed = monotonic()
            sleep(2)
            server.start()
            started = monotonic()
            found = results(crawls)
    for result in found:
        own = [start for start in result.starts if killed + 0.5 < start.time < started]
        assert len(own) >= 2
        assert min(gaps(own)) >= 2 * LEAST
    settled = [start for start in starts_of(found) if start.time > started + 2.5]
    assert len(settled) > 3
    assert min(gaps(settled)) >= LEAST
    for result in found:
        assert len(result.pages) == 16
        assert result.stats["rep/redis/away_count"] == 1
        assert result.stats["rep/rate_limiter/local_permit_count"] >= 2
        (warning,), (info,) = of_redis(result, "WARNING"), of_redis(result, "INFO")
        assert "multiplies every crawl delay by 2 (REP_WORKERS)" in warning
        assert "answers again after" in info


@on_each_loop
def test_a_worker_that_closes_sends_back_those_who_wait_for_permits(
    server: RedisServer, loop: str, tmp_path: Path
) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.2\n"))
        requests = [{"url": f"{site.origin}/{number}", "dont_filter": False} for number in range(4)]
        settings = {"REP_REDIS_URL": server.url, "JOBDIR": str(tmp_path), **MEMORY}
        first = crawl(*requests, settings={**settings, "CLOSESPIDER_PAGECOUNT": 2}, loop=loop)  # with robots.txt
        second = crawl(*requests, settings=settings, loop=loop)
    assert (first.reason, len(first.pages)) == ("closespider_pagecount", 1)
    assert sorted(first.urls + second.urls) == [request["url"] for request in requests]
    assert first.failures == second.failures == []
    assert not first.tracebacks


def test_without_redis_from_the_start_the_crawl_goes_on_alone() -> None:
    with Site() as site:
        site.answer("/robots.txt", SLOW)
        urls = [f"{site.origin}/{page}" for page in (*range(4), "private")]
        settings = {"REP_REDIS_URL": "redis://127.0.0.1:9", "REP_WORKERS": 2, **MEMORY}
        result = crawl(*urls, settings=settings)
        assert site.count("/robots.txt") == 1
    assert min(gaps(result.starts)) >= 2 * LEAST
    assert (len(result.pages), len(result.failures)) == (4, 1)
    assert len(of_redis(result, "WARNING")) == 1
    assert result.stats["rep/redis/away_seconds"] > 0


def test_redis_that_is_slow_is_as_good_as_away(server: RedisServer) -> None:
    with Site() as site:
        site.answer("/robots.txt", SLOW)
        settings = {"REP_REDIS_TIMEOUT": 0.2, **MEMORY}
        with workers(1, server, pages_of(site, 14), **settings) as crawls:
            wait_until(lambda: len(site.log) >= 3)
            server.client().execute_command("CLIENT", "PAUSE", "1500")
            (result,) = results(crawls)
    assert min(gaps(result.starts)) >= LEAST
    assert len(result.pages) == 14
    assert result.stats["rep/rate_limiter/local_permit_count"] > 2
    assert len(of_redis(result, "INFO")) == 1


@on_each_loop
def test_without_redis_an_overdue_start_is_made_at_once(loop: str) -> None:
    with Site() as site:
        site.answer("*", Answer(delay=0.25))
        site.answer("/robots.txt", SLOW)
        settings = {"REP_REDIS_URL": "redis://127.0.0.1:9", "CONCURRENT_REQUESTS_PER_DOMAIN": 1, **MEMORY}
        result = crawl(*pages_of(site, 4)(0), settings=settings, loop=loop, timeout=30.0)
    assert len(result.pages) == 4


@on_each_loop
def test_a_spider_that_requires_redis_does_not_start_without(loop: str) -> None:
    with Site() as site:
        settings = {"REP_REDIS_URL": "redis://127.0.0.1:9", "REP_REDIS_REQUIRED": True}
        result = crawl(f"{site.origin}/", settings=settings, loop=loop)
        assert site.log == []
    assert (result.reason, result.pages, result.tracebacks) == ("rep_redis_unavailable", [], [])


def test_a_spider_that_requires_redis_is_closed_when_it_goes(server: RedisServer) -> None:
    with Site() as site:
        site.answer("/robots.txt", SLOW)
        with workers(1, server, pages_of(site, 8), REP_REDIS_REQUIRED=True) as crawls:
            wait_until(lambda: len(site.log) >= 3)
            server.kill()
            seen = len(site.log)
            (result,) = results(crawls)
        assert len(site.log) <= seen + 1
    assert result.reason == "rep_redis_unavailable"
    assert {failure.type for failure in result.failures} <= {"RedisRequiredError"}  # the others are in the queue


@pytest.mark.parametrize(
    ("options", "reason"), [("?ssl_cert_reqs=none", "finished"), ("", "rep_redis_unavailable")]
)
def test_tls_and_a_password_come_from_the_url_and_the_password_is_told_nobody(options: str, reason: str) -> None:
    with RedisServer("--requirepass", "s3cr3t") as server, TlsProxy(server.port) as proxy, Site() as site:
        site.answer("/robots.txt", SLOW)
        url = f"rediss://:s3cr3t@127.0.0.1:{proxy.port}/0{options}"
        result = crawl(f"{site.origin}/", settings={"REP_REDIS_URL": url, "REP_REDIS_REQUIRED": True})
        kept = server.client(password="s3cr3t").keys("rep:entry:*")  # noqa: S106
    assert (result.reason, len(kept)) == (reason, int(reason == "finished"))
    assert "s3cr3t" not in f"{result.log}{result.stderr}{result.stats}{result.failures}"
    assert ("certificate verify failed" in str(of_redis(result, "WARNING"))) == (reason != "finished")


def test_a_wrong_password_is_told_without_it(server: RedisServer) -> None:
    with Site() as site:
        url = server.url.replace("//", "//crawler:s3cr3t@")
        result = crawl(f"{site.origin}/", settings={"REP_REDIS_URL": url, **MEMORY})
    (warning,) = of_redis(result, "WARNING")
    assert "invalid username-password" in warning
    assert len(result.pages) == 1
    assert "s3cr3t" not in f"{result.log}{result.stderr}{result.stats}"


@pytest.mark.parametrize(
    "url", ["redis://:s3cr3t@/0", "redis://:s3c/r3t@127.0.0.1", "http://s3cr3t", "redis://:s3cr3t@127.0.0.1?foo=1"]
)
def test_a_url_that_cannot_be_used_stops_the_start_and_is_not_shown(url: str) -> None:
    result = crawl("http://127.0.0.1:9/", settings={"REP_REDIS_URL": url}, apart=True)
    assert result.exit_code == 1
    told = result.stderr + str(result.log)
    assert "InvalidSettingError: REP_REDIS_URL: " in told
    assert "s3c" not in told


def test_without_redis_py_a_crawl_runs_and_a_url_names_the_extra() -> None:
    with Site() as site:
        without: dict[str, Any] = {"spider": "tests.crawl.without_redis:Recorder", "apart": True}
        assert len(crawl(f"{site.origin}/", **without).pages) == 1
        result = crawl(f"{site.origin}/", settings={"REP_REDIS_URL": "redis://127.0.0.1"}, **without)
    assert result.exit_code == 1
    assert "pip install 'scrapy_rep[redis]'" in result.stderr + str(result.log)
