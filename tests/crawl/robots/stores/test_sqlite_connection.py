"""A file that is locked, damaged or gone blocks neither the event loop nor the end of the crawl."""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Barrier, Event
from typing import Any

import pytest

from scrapy_rep.crawl.robots.stores.sqlite_connection import CircuitBreaker, SqliteConnection, StoreAwayError
from scrapy_rep.crawl.robots.stores.sqlite_file import SqliteFile
from tests.support.in_process import run
from tests.support.simulation import Simulation

from .test_sqlite_file import ENTRY, NOW, ORIGIN


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "robots.sqlite"


@pytest.fixture
def clock(clock: Simulation, monkeypatch: pytest.MonkeyPatch) -> Simulation:
    """Each look at it takes a while, so that a wait comes to an end."""

    def monotonic() -> float:
        clock.now += 0.01
        return clock.now

    monkeypatch.setattr("scrapy_rep.crawl.robots.stores.sqlite_file._PAUSE", 0.0)
    monkeypatch.setattr("scrapy_rep.clock.clock.monotonic", monotonic)
    return clock


@pytest.fixture(autouse=True)
def _no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    async def here(function: Any, *arguments: Any) -> Any:
        return function(*arguments)

    monkeypatch.setattr("scrapy_rep.crawl.robots.stores.sqlite_connection.in_thread", here)


@pytest.fixture
def connection(path: Path) -> Iterator[SqliteConnection]:
    SqliteFile(path).close()
    connection = SqliteConnection(path)
    yield connection
    connection.close(lambda _: None)


@pytest.fixture
def other(connection: SqliteConnection) -> Iterator[sqlite3.Connection]:
    """Another process, which may lock the file."""
    with closing(sqlite3.connect(connection.path, isolation_level=None)) as database:
        yield database


def write(connection: SqliteConnection) -> None:
    connection.write_now(lambda file: file.put(ENTRY, "me", NOW))


def read(connection: SqliteConnection) -> bool:
    return run(connection.read(lambda file: file.get(ORIGIN))) is not None


def levels(caplog: pytest.LogCaptureFixture) -> list[int]:
    return [record.levelno for record in caplog.records if record.levelno >= logging.INFO]


def test_a_locked_file_is_not_tried_for_a_while_after_one_warning(
    connection: SqliteConnection, other: sqlite3.Connection, clock: Simulation, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    other.execute("BEGIN IMMEDIATE")
    began = clock.now
    with pytest.raises(StoreAwayError):
        write(connection)
    waited = clock.now - began
    assert 2 <= waited < 3
    for _ in range(20):
        with pytest.raises(StoreAwayError):
            write(connection)
    assert clock.now - began - waited < 1  # none of them waits
    assert levels(caplog) == [logging.WARNING]
    assert "cannot be used (database is locked)" in caplog.text
    other.execute("ROLLBACK")
    clock.now += 10
    write(connection)
    assert levels(caplog) == [logging.WARNING, logging.INFO]
    assert "can be used again, after" in caplog.text


def test_a_write_locked_file_can_still_be_read(
    connection: SqliteConnection, other: sqlite3.Connection, clock: Simulation
) -> None:
    write(connection)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreAwayError):
        write(connection)
    assert read(connection)


def test_a_file_that_is_locked_again_after_a_recovery_is_warned_of_again(
    connection: SqliteConnection, other: sqlite3.Connection, clock: Simulation, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    for _ in range(2):
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreAwayError):
            write(connection)
        other.execute("ROLLBACK")
        clock.now += 10
        write(connection)
    assert levels(caplog) == [logging.WARNING, logging.INFO] * 2


def test_close_interrupts_a_waiting_write_and_does_not_wait_itself(
    connection: SqliteConnection, other: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scrapy_rep.crawl.robots.stores.sqlite_file._WRITE_TIMEOUT", 600.0)
    other.execute("BEGIN IMMEDIATE")
    waits = Event()
    done: list[str] = []

    def put(file: SqliteFile) -> None:
        waits.set()
        file.put(ENTRY, "me", NOW)

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(connection.write_now, put)
        assert waits.wait(60)
        connection.close(lambda _: done.append("never, the file is locked") if other.in_transaction else None)
        assert isinstance(writing.exception(60), StoreAwayError)
    with pytest.raises(StoreAwayError):
        write(connection)


def test_close_does_not_wait_for_a_locked_file(
    connection: SqliteConnection, other: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scrapy_rep.crawl.robots.stores.sqlite_file._WRITE_TIMEOUT", 600.0)
    write(connection)
    other.execute("BEGIN IMMEDIATE")
    began = time.monotonic()
    connection.close(lambda file: file.release_all("me"))
    assert time.monotonic() - began < 300


def test_damage_that_many_threads_find_at_once_replaces_the_file_once(connection: SqliteConnection) -> None:
    with ThreadPoolExecutor(8) as pool:
        for damage in range(1, 4):
            write(connection)
            with closing(sqlite3.connect(connection.path)) as database:
                database.execute("UPDATE bodies SET body = x'00'")
                database.commit()
            barrier = Barrier(8)

            def meet(_: int, barrier: Barrier = barrier) -> None:
                file = connection._file
                assert file
                barrier.wait()
                with pytest.raises(StoreAwayError):
                    connection._run(lambda file: file.get(ORIGIN), file, connection._reads)

            list(pool.map(meet, range(8)))
            write(connection)
            assert read(connection)
            assert len(list(connection.path.parent.glob("*.aside-?"))) == damage


def test_a_file_that_keeps_getting_damaged_is_no_longer_used(
    connection: SqliteConnection, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(6):
        write(connection)
        with closing(sqlite3.connect(connection.path)) as database:
            database.execute("UPDATE bodies SET body = x'00'")
            database.commit()
        with pytest.raises(StoreAwayError):
            read(connection)
    with pytest.raises(StoreAwayError):
        write(connection)
    assert "keeps getting damaged" in caplog.text


def test_a_folder_that_becomes_writable_is_used_then(
    tmp_path: Path, clock: Simulation, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    (tmp_path / "file").write_bytes(b"")
    connection = SqliteConnection(tmp_path / "file" / "robots.sqlite")
    with pytest.raises(StoreAwayError):
        read(connection)
    (tmp_path / "file").unlink()
    clock.now += 10
    write(connection)
    assert read(connection)
    assert levels(caplog) == [logging.WARNING, logging.INFO]
    connection.close(lambda _: None)


def write_in_event_loop(connection: SqliteConnection, *numbers: int) -> None:
    async def write() -> None:
        for number in numbers:
            entry = replace(ENTRY, origin=replace(ORIGIN, port=number))
            await connection.write(lambda file: file.put(entry, "me", NOW))  # noqa: B023  # called at once

    run(write())


def threads_of(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The functions that were called in a thread, as a list that grows."""
    called: list[Any] = []

    async def note(function: Any, *arguments: Any) -> Any:
        called.append(function)
        return function(*arguments)

    monkeypatch.setattr("scrapy_rep.crawl.robots.stores.sqlite_connection.in_thread", note)
    return called


def test_a_write_that_need_not_wait_takes_no_thread(
    connection: SqliteConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(connection)
    in_threads = threads_of(monkeypatch)
    write_in_event_loop(connection, 7)
    assert in_threads == []
    assert run(connection.read(lambda file: len(list(file.entries())))) == 2


def test_a_write_that_has_to_wait_for_another_process_does_so_in_a_thread(
    connection: SqliteConnection, other: sqlite3.Connection, clock: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(connection)
    other.execute("BEGIN IMMEDIATE")
    in_threads = threads_of(monkeypatch)
    with pytest.raises(StoreAwayError):
        write_in_event_loop(connection, 1)
    assert in_threads == [connection.write_now]
    other.execute("ROLLBACK")
    clock.now += 10
    write_in_event_loop(connection, 1)  # in a thread: nobody knows yet whether the file can be used again
    write_in_event_loop(connection, 1)
    assert in_threads == [connection.write_now] * 2


def test_a_write_that_has_to_wait_for_a_thread_of_this_process_does_so_in_a_thread(
    connection: SqliteConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(connection)
    in_threads = threads_of(monkeypatch)
    is_writing, may_end = Event(), Event()

    def put(_: SqliteFile) -> None:
        is_writing.set()
        assert may_end.wait(30)

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(connection.write_now, put)
        assert is_writing.wait(30)
        pool_of_others = ThreadPoolExecutor(1)
        other_write = pool_of_others.submit(write_in_event_loop, connection, 1)
        while not in_threads:
            time.sleep(0.001)
        may_end.set()
        writing.result(30)
        other_write.result(30)
        pool_of_others.shutdown()
    assert in_threads == [connection.write_now]


def test_the_log_is_merged_into_the_file_now_and_then_in_a_thread(
    connection: SqliteConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(connection)
    in_threads = threads_of(monkeypatch)
    write_in_event_loop(connection, *range(1_000))
    assert 2 <= len(in_threads) <= 10
    assert connection.path.with_name("robots.sqlite-wal").stat().st_size < 8_000_000
    assert connection.path.stat().st_size > 100_000


def test_a_closed_breaker_allows_every_call() -> None:
    breaker = CircuitBreaker()
    assert breaker.allows()
    assert breaker.allows()


def test_an_open_breaker_allows_one_call_after_each_pause(clock: Simulation) -> None:
    breaker = CircuitBreaker()
    breaker.fail()
    assert not breaker.allows()
    clock.now += 5
    assert breaker.allows()
    assert not breaker.allows()


def test_the_pauses_of_a_breaker_grow_to_half_a_minute(clock: Simulation) -> None:
    breaker = CircuitBreaker()
    began = clock.now
    for _ in range(10):
        breaker.fail()
    clock.now += 29
    assert not breaker.allows()
    clock.now += 1
    assert breaker.allows()
    assert breaker.succeed() == pytest.approx(clock.now - began, abs=0.1)
    assert breaker.allows()
    assert not breaker.is_open
