"""What a site asked one process, and what the others hear of it: through Redis, and through a SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from time import sleep
from typing import Any, TypeVar, cast

import pytest
from redis import Redis

from scrapy_rep.clock import clock
from scrapy_rep.crawl.robots.stores import sqlite_connection
from scrapy_rep.crawl.robots.stores.sqlite_connection import SqliteConnection
from scrapy_rep.extras.fleet import limiters
from scrapy_rep.extras.fleet.limiter import Hold, RateLimiter
from scrapy_rep.extras.fleet.limiters import RedisRateLimiter, SqliteRateLimiter
from tests.support.direct_connection import DirectConnection, at_once

T = TypeVar("T")

HOLD = Hold("a.example", 30.0, 4.0, 0.25)
Join = Callable[[str], RateLimiter]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sqlite_connection, "in_thread", _here)
    return tmp_path / "robots.sqlite"


@pytest.fixture(params=["redis", "sqlite"])
def join(request: pytest.FixtureRequest, path: Path) -> Join:
    """A worker of that name."""
    if request.param == "sqlite":
        return lambda name: SqliteRateLimiter(SqliteConnection(path), name)
    client: Redis = request.getfixturevalue("redis_client")
    return lambda name: RedisRateLimiter(DirectConnection(client), name)  # type: ignore[arg-type]


async def _here(function: Callable[..., T], *arguments: Any) -> T:
    return function(*arguments)


def assert_hears(limiter: RateLimiter, *holds: Hold) -> None:
    found = at_once(limiter.holds())
    assert [(each.site, each.delay, each.pace) for each in found] == [
        (hold.site, hold.delay, hold.pace) for hold in holds
    ]
    assert all(hold.seconds - 1 < each.seconds <= hold.seconds for each, hold in zip(found, holds, strict=True))


def test_the_others_hear_of_it_once(join: Join) -> None:
    a, b, c = map(join, "abc")
    for each in (a, b):
        assert_hears(each)
    at_once(a.hold(HOLD))
    assert_hears(b, HOLD)
    assert_hears(b)
    at_once(b.hold(HOLD._replace(site="b.example")))
    assert_hears(a, HOLD._replace(site="b.example"))
    assert_hears(c, HOLD, HOLD._replace(site="b.example"))


def test_a_later_one_hears_what_is_left_and_not_what_is_over(join: Join) -> None:
    a = join("a")
    at_once(a.hold(HOLD._replace(seconds=0.1)))
    at_once(a.hold(HOLD))
    sleep(0.2)
    (heard,) = at_once(join("b").holds())
    assert 29 < heard.seconds < 29.9


def test_a_site_may_be_any_text(join: Join) -> None:
    odd = HOLD._replace(site="\N{SNOWMAN} 'a'; --")
    at_once(join("a").hold(odd))
    assert_hears(join("b"), odd)


def test_in_a_file_one_that_a_wrong_clock_has_dated_means_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = clock.time()
    a, b = (SqliteRateLimiter(SqliteConnection(path), name) for name in "ab")
    monkeypatch.setattr(clock, "time", lambda: now + 3_600)
    at_once(a.hold(HOLD))
    monkeypatch.setattr(clock, "time", lambda: now)
    assert_hears(b)
    at_once(a.hold(HOLD))
    assert_hears(b, HOLD)


def test_a_crawl_that_stores_nothing_makes_no_file(path: Path) -> None:
    assert_hears(SqliteRateLimiter(SqliteConnection(path), "a"))
    assert not path.exists()


def test_redis_keeps_them_for_as_long_as_they_hold(redis_client: Redis) -> None:
    at_once(RedisRateLimiter(DirectConnection(redis_client), "a").hold(HOLD))  # type: ignore[arg-type]
    assert 29 <= redis_client.ttl("rep:held") <= 30
    assert 29 <= redis_client.ttl("rep:held:order") <= 30


@pytest.mark.parametrize("text", ["", "x", "{}", "[1]", '["c", "soon", 1, 0]', '["c", 1, [], 0]'])
def test_what_is_no_hold_means_nothing_and_is_replaced(redis_client: Redis, text: str) -> None:
    a, b = (RedisRateLimiter(DirectConnection(redis_client), name) for name in "ab")  # type: ignore[arg-type]
    redis_client.hset("rep:held", HOLD.site, text)
    redis_client.zadd("rep:held:order", {HOLD.site: 1})
    assert_hears(b)
    at_once(a.hold(HOLD))
    assert_hears(b, HOLD)


def test_the_longest_hold_of_a_site_counts_whoever_was_asked(join: Join) -> None:
    a, b, c = map(join, "abc")
    at_once(a.hold(HOLD))
    at_once(b.hold(HOLD._replace(seconds=1.0)))
    assert_hears(c, HOLD)
    at_once(b.hold(HOLD._replace(seconds=60.0)))
    assert_hears(c, HOLD._replace(seconds=60.0))


def test_a_thousand_sites_and_more_are_remembered_and_read_once(join: Join) -> None:
    a, b = map(join, "ab")
    for number in range(1_100):
        at_once(a.hold(HOLD._replace(site=f"{number}.example")))
    assert len(at_once(b.holds())) == 1_100
    assert at_once(b.holds()) == []


def test_of_too_many_the_oldest_are_dropped_and_counted(join: Join, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limiters, "MOST_HOLDS", 3)
    a, b = map(join, "ab")
    dropped = [at_once(a.hold(HOLD._replace(site=f"{number}.example"))) for number in range(5)]
    assert dropped == [0, 0, 0, 1, 1]
    assert [hold.site for hold in at_once(b.holds())] == ["2.example", "3.example", "4.example"]


def test_holds_that_are_over_are_deleted(join: Join, redis_client: Redis, path: Path) -> None:
    a = join("a")
    at_once(a.hold(HOLD._replace(site="over.example", seconds=0.05)))
    sleep(0.1)
    at_once(a.hold(HOLD))
    if path.exists():
        with closing(sqlite3.connect(path)) as connection:
            sites = [site for (site,) in connection.execute("SELECT site FROM holds")]
    else:
        sites = [str(key, "ascii") for key in cast("list[bytes]", redis_client.hkeys("rep:held"))]
    assert sites == [HOLD.site]
