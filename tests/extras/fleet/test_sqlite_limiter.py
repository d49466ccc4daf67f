"""What is particular to the limiter in a SQLite file."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from itertools import pairwise
from math import inf
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from scrapy_rep.crawl.robots.stores import sqlite_connection
from scrapy_rep.crawl.robots.stores.sqlite_connection import SqliteConnection, StoreAwayError
from scrapy_rep.extras.fleet.limiters import SqliteRateLimiter
from tests.support.crawl import PROCESSES
from tests.support.direct_connection import at_once

from .conftest import DELAY, Worker, assert_is_away


async def start_pages(path: Path, name: str, delay: float, pages: int, told: Connection) -> None:
    """Do what a crawl does, and tell when each page started."""
    vars(sqlite_connection)["in_thread"] = asyncio.to_thread
    limiter = SqliteRateLimiter(SqliteConnection(path), name)
    last: float | None = None
    missed: int = -1
    while pages:
        since = None if last is None else monotonic() - last
        permit = await limiter.acquire("host", delay, since=since, missed=missed, more=pages > 1)
        missed = -1
        if permit.starts_at == inf:
            await asyncio.sleep(permit.ask_at - monotonic())
            continue
        await asyncio.sleep(permit.starts_at - monotonic())
        last = monotonic()
        if last >= permit.expires_at:
            missed = permit.number
            continue
        told.send(last)
        pages -= 1
        await limiter.close("host", permit.number, monotonic() - last)


def crawl(*arguments: Any) -> None:
    asyncio.run(start_pages(*arguments))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "robots.sqlite"


def process(path: Path, name: str, delay: float, pages: int) -> tuple[BaseProcess, Connection]:
    """A process that crawls, and what it tells."""
    heard, told = PROCESSES.Pipe(duplex=False)
    crawling = PROCESSES.Process(target=crawl, args=(path, name, delay, pages, told))
    crawling.start()
    told.close()
    return crawling, heard


def starts_of(heard: Connection) -> list[float]:
    """All that was told until the process ended."""
    starts: list[float] = []
    with suppress(EOFError):
        while True:
            starts.append(heard.recv())
    return starts


def gaps(starts: list[float]) -> list[float]:
    """By the clock of those who start, which is one."""
    return [after - before for before, after in pairwise(sorted(starts))]


def test_several_processes_keep_one_delay(path: Path) -> None:
    delay = 0.06
    crawls = [process(path, name, delay, 8) for name in "abc"]
    starts = [start for _, heard in crawls for start in starts_of(heard)]
    for crawling, _ in crawls:
        crawling.join(60)
    assert [crawling.exitcode for crawling, _ in crawls] == [0] * 3
    assert len(starts) == 24
    assert min(gaps(starts)) >= delay - 0.001


def test_a_process_that_is_killed_does_not_stop_the_others(path: Path) -> None:
    delay = 0.05
    (killed, heard), *others = [
        process(path, name, delay, pages) for name, pages in (("a", 10_000), ("b", 10), ("c", 10))
    ]
    before = [heard.recv() for _ in range(5)]
    killed.kill()
    before += starts_of(heard)
    starts = [start for _, heard in others for start in starts_of(heard)]
    assert len(starts) == 20
    assert min(gaps(before + starts)) >= delay - 0.001


@pytest.fixture
def locked(
    path: Path, sqlite_workers: list[Worker], monkeypatch: pytest.MonkeyPatch
) -> Iterator[sqlite3.Connection]:
    """Another process holds the file of the workers."""
    monkeypatch.setattr("scrapy_rep.crawl.robots.stores.sqlite_file._WRITE_TIMEOUT", 0.0)
    sqlite_workers[0].ask()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield connection


def test_when_the_file_is_locked_the_limiter_is_away(
    sqlite_workers: list[Worker], locked: sqlite3.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    a, *_ = sqlite_workers
    assert_is_away(a.limiter, "cannot be used")
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
    at_once(b.limiter.acquire("other.example", DELAY, since=None, missed=-1, more=False))
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT key FROM notes").fetchall() == [("permits:other.example",)]


def test_when_the_file_was_replaced_all_wait_a_delay(sqlite_workers: list[Worker], path: Path) -> None:
    a, b, *_ = sqlite_workers
    a.start()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DELETE FROM notes")
        connection.commit()
    answer = b.ask(since=0.5)
    assert answer.starts_in is None
    assert answer.retry_in > DELAY - 0.05


def test_download_slots_do_not_meet(sqlite_workers: list[Worker]) -> None:
    a, b, *_ = sqlite_workers
    a.ask()
    permit = at_once(b.limiter.acquire("other.example", DELAY, since=None, missed=-1, more=False))
    assert permit.starts_at == a.simulation.now
