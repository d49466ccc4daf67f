"""What is particular to the limiter in a SQLite file."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from scrapy_rep.politeness.rate_limiter import RateLimiterAwayError
from scrapy_rep.politeness.sqlite_rate_limiter import SqliteRateLimiter
from scrapy_rep.stores.sqlite_connection import SqliteConnection, StoreAwayError
from tests.support.direct_connection import at_once

from .conftest import DELAY, KEY, Worker

CRAWL = """
import asyncio, sys, time
from pathlib import Path
from scrapy_rep.politeness.sqlite_rate_limiter import SqliteRateLimiter
from scrapy_rep.stores import sqlite_connection
from tests.support.in_process import run

async def crawl(path, name, delay, pages):
    sqlite_connection.in_thread = asyncio.to_thread
    limiter = SqliteRateLimiter(sqlite_connection.SqliteConnection(path), name)
    last = missed = None
    while pages:
        since = None if last is None else time.monotonic() - last
        permit = await limiter.acquire("host", delay, since=since, missed=missed, more=pages > 1)
        expires_at = time.monotonic() + permit.expires_in
        missed = None
        if permit.starts_in is None:
            await asyncio.sleep(permit.retry_in)
            continue
        await asyncio.sleep(permit.starts_in)
        last = time.monotonic()
        if last >= expires_at:
            missed = permit.number
            continue
        print(last, flush=True)
        pages -= 1
        await limiter.report_start("host", permit.number, time.monotonic() - last)

run(crawl(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3]), int(sys.argv[4])))
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "robots.sqlite"


def process(path: Path, name: str, delay: float, pages: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", CRAWL, str(path), name, str(delay), str(pages)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def starts_of(processes: list[subprocess.Popen[str]]) -> list[float]:
    return sorted(float(line) for each in processes for line in each.communicate(timeout=120)[0].split())


def test_several_processes_keep_one_delay(path: Path) -> None:
    """By the clock of those who start, which is one."""
    delay = 0.06
    processes = [process(path, name, delay, 8) for name in "abc"]
    starts = starts_of(processes)
    assert [each.returncode for each in processes] == [0] * 3
    assert len(starts) == 24
    assert min(after - before for before, after in pairwise(starts)) >= delay - 0.001


def test_a_process_that_is_killed_does_not_stop_the_others(path: Path) -> None:
    delay = 0.05
    killed, *others = [process(path, name, delay, pages) for name, pages in (("a", 10_000), ("b", 10), ("c", 10))]
    assert killed.stdout
    before = [float(killed.stdout.readline()) for _ in range(5)]
    os.kill(killed.pid, signal.SIGKILL)
    starts = starts_of(others)
    with killed:
        before += [float(line) for line in killed.stdout if line.endswith("\n")]
    assert len(starts) == 20
    assert min(after - before for before, after in pairwise(sorted(before + starts))) >= delay - 0.001


@pytest.fixture
def locked(
    path: Path, sqlite_workers: list[Worker], monkeypatch: pytest.MonkeyPatch
) -> Iterator[sqlite3.Connection]:
    """Another process holds the file of the workers."""
    monkeypatch.setattr("scrapy_rep.stores.sqlite_file._WRITE_TIMEOUT", 0.0)
    sqlite_workers[0].ask()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield connection


def test_when_the_file_is_locked_the_limiter_is_away(
    sqlite_workers: list[Worker], locked: sqlite3.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    a, *_ = sqlite_workers
    limiter = a.limiter
    for call in (
        limiter.acquire(KEY, DELAY, since=None, missed=None, more=False),
        limiter.report_start(KEY, 1, 0.0),
        limiter.release(KEY, 1),
        limiter.restart_delay(KEY, 60.0),
    ):
        with pytest.raises(RateLimiterAwayError, match="cannot be used"):
            at_once(call)
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_when_the_file_is_back_others_may_not_know_it_for_a_while(path: Path, locked: sqlite3.Connection) -> None:
    link = SqliteConnection(path)
    limiter = SqliteRateLimiter(link, "e")
    assert not limiter.is_settling
    with pytest.raises(StoreAwayError):
        link.write_now(lambda file: file.purge())
    locked.execute("ROLLBACK")
    link._writes._retry_at = 0.0
    link.write_now(lambda file: file.purge())
    assert limiter.is_settling
    link.close(lambda _: None)


def test_after_a_restart_of_the_machine_nobody_waits_for_longer_than_a_delay(sqlite_workers: list[Worker]) -> None:
    a, b, *_ = sqlite_workers
    for worker in (a, b):
        worker.ask(more=True)
    a.simulation.now = 10.0
    assert sqlite_workers[2].start() < 10 + 2 * DELAY


def test_what_nobody_needs_any_more_is_forgotten(sqlite_workers: list[Worker], path: Path) -> None:
    a, b, *_ = sqlite_workers
    a.start()
    a.restart_delay()
    a.simulation.now += 1_000
    at_once(b.limiter.acquire("other.example", DELAY, since=None, missed=None, more=False))
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT key FROM turns").fetchall() == [("other.example",)]
        assert connection.execute("SELECT * FROM turn_queue").fetchall() == []


def test_when_the_file_was_replaced_all_wait_a_delay(sqlite_workers: list[Worker], path: Path) -> None:
    a, b, *_ = sqlite_workers
    a.start()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DELETE FROM turns")
        connection.commit()
    answer = b.ask(since=0.5)
    assert answer.starts_in is None
    assert answer.retry_in > DELAY - 0.05


def test_download_slots_do_not_meet(sqlite_workers: list[Worker]) -> None:
    a, b, *_ = sqlite_workers
    a.ask()
    permit = at_once(b.limiter.acquire("other.example", DELAY, since=None, missed=None, more=False))
    assert permit.starts_in == 0
