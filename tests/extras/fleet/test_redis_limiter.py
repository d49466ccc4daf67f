"""What is particular to the limiter in Redis."""

from __future__ import annotations

from typing import Any

import pytest
from redis import Redis

from scrapy_rep.extras.fleet.limiters import RedisRateLimiter
from tests.support.direct_connection import DirectConnection, at_once

from .conftest import DELAY, KEY, NoConnection, Permit, Worker, assert_is_away


def test_when_redis_is_away_so_is_the_limiter(redis_client: Redis) -> None:
    limiter = RedisRateLimiter(NoConnection(redis_client), "a")  # type: ignore[arg-type]
    assert_is_away(limiter, "Redis at home does not answer")


def test_when_redis_has_lost_its_data_all_wait_a_delay(redis_workers: list[Worker], redis_client: Redis) -> None:
    a, b, *_ = redis_workers
    a.start()
    redis_client.flushall()
    answer = b.ask(since=0.1)
    assert answer.starts_in is None
    assert answer.retry_in > DELAY - 0.05
    assert b.start()


def test_redis_forgets_download_slots_and_workers_that_stay_away(
    redis_workers: list[Worker], redis_client: Redis
) -> None:
    a, b, *_ = redis_workers
    a.start()
    b.ask()
    assert 60_000 < redis_client.pttl(f"rep:permits:{KEY}") <= 71_000


def test_what_another_worker_changes_between_the_two_steps_of_a_question_counts(
    redis_workers: list[Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b, *_ = redis_workers
    read = a.limiter._read  # type: ignore[attr-defined]

    def read_late(*arguments: Any) -> Any:
        found = read(*arguments)
        if not permits:
            permits.append(b.ask())
        return found

    permits: list[Permit] = []
    monkeypatch.setattr(a.limiter, "_read", read_late)
    assert a.ask().starts_in is None
    assert permits[0].starts_in is not None


def test_what_another_program_has_put_there_is_replaced(redis_workers: list[Worker], redis_client: Redis) -> None:
    for text in (b"", b"{}", b"[1]", b'[1, 2, 3, {"a": 4}]', b"[[", b"\xff"):
        redis_client.set(f"rep:permits:{KEY}", text)
        assert redis_workers[0].ask().starts_in == 0


def test_a_report_of_what_redis_has_forgotten_leaves_nothing_behind(
    redis_workers: list[Worker], redis_client: Redis
) -> None:
    permit = redis_workers[0].take()
    redis_client.flushall()
    redis_workers[0].report(permit)
    assert not redis_client.keys("rep:*")


def test_prefixes_do_not_meet(redis_workers: list[Worker], redis_client: Redis) -> None:
    redis_workers[0].ask()
    link = DirectConnection(redis_client)
    link.prefix = "other:"
    other = RedisRateLimiter(link, "a")  # type: ignore[arg-type]
    permit = at_once(other.acquire(KEY, DELAY, since=None, missed=-1, more=False))
    assert permit.starts_at == redis_workers[0].simulation.now
