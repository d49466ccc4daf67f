"""A file that is locked, damaged or gone holds up neither the event loop nor the crawl nor its end."""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier, Event
from typing import Any

import pytest

from scrapy_rep.stores.sqlite_file import SqliteFile
from scrapy_rep.stores.sqlite_link import SqliteLink, StoreAwayError
from tests.support.in_process import run
from tests.support.simulation import Simulation

from .test_sqlite_file import ENTRY, NOW, ORIGIN


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "robots.sqlite"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Simulation:
    """Of everybody who waits, which then costs no time."""
    clock = Simulation()

    def monotonic() -> float:
        clock.now += 0.01
        return clock.now

    monkeypatch.setattr("scrapy_rep.stores.sqlite_file._STEP", 0.0)
    for module in ("circuit_breaker", "sqlite_file"):
        monkeypatch.setattr(f"scrapy_rep.stores.{module}.monotonic", monotonic)
    return clock


@pytest.fixture(autouse=True)
def _no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    async def here(function: Any, *arguments: Any) -> Any:
        return function(*arguments)

    monkeypatch.setattr("scrapy_rep.stores.sqlite_link.in_thread", here)


@pytest.fixture
def link(path: Path) -> Iterator[SqliteLink]:
    SqliteFile(path).close()
    link = SqliteLink(path)
    yield link
    link.close(lambda _: None)


@pytest.fixture
def other(link: SqliteLink) -> Iterator[sqlite3.Connection]:
    """Another process, which may lock the file."""
    with closing(sqlite3.connect(link.path, isolation_level=None)) as connection:
        yield connection


def write(link: SqliteLink) -> None:
    link.write_now(lambda file: file.put(ENTRY, "me", NOW))


def read(link: SqliteLink) -> bool:
    return run(link.read(lambda file: file.get(ORIGIN))) is not None


def levels(caplog: pytest.LogCaptureFixture) -> list[int]:
    return [record.levelno for record in caplog.records if record.levelno >= logging.INFO]


def test_a_locked_file_is_given_up_for_a_while_with_one_warning(
    link: SqliteLink, other: sqlite3.Connection, clock: Simulation, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    other.execute("BEGIN IMMEDIATE")
    began = clock.now
    with pytest.raises(StoreAwayError):
        write(link)
    waited = clock.now - began
    assert 2 <= waited < 3
    for _ in range(20):
        with pytest.raises(StoreAwayError):
            write(link)
    assert clock.now - began - waited < 1  # none of them waits
    assert levels(caplog) == [logging.WARNING]
    assert "cannot be used now (database is locked)" in caplog.text
    other.execute("ROLLBACK")
    clock.now += 10
    write(link)
    assert levels(caplog) == [logging.WARNING, logging.INFO]
    assert "can be used again after" in caplog.text


def test_what_is_in_a_file_that_is_write_locked_is_still_read(
    link: SqliteLink, other: sqlite3.Connection, clock: Simulation
) -> None:
    write(link)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreAwayError):
        write(link)
    assert read(link)


def test_a_locked_file_is_warned_of_again_when_it_was_back(
    link: SqliteLink, other: sqlite3.Connection, clock: Simulation, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    for _ in range(2):
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreAwayError):
            write(link)
        other.execute("ROLLBACK")
        clock.now += 10
        write(link)
    assert levels(caplog) == [logging.WARNING, logging.INFO] * 2


def test_closing_interrupts_a_write_that_waits_and_waits_for_nothing_itself(
    link: SqliteLink, other: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scrapy_rep.stores.sqlite_file._PATIENCE", 600.0)
    other.execute("BEGIN IMMEDIATE")
    waits = Event()
    done: list[str] = []

    def put(file: SqliteFile) -> None:
        waits.set()
        file.put(ENTRY, "me", NOW)

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(link.write_now, put)
        assert waits.wait(60)
        link.close(lambda _: done.append("never, the file is locked") if other.in_transaction else None)
        assert isinstance(writing.exception(60), StoreAwayError)
    with pytest.raises(StoreAwayError):
        write(link)


def test_the_last_words_of_a_crawl_do_not_wait_for_a_locked_file(
    link: SqliteLink, other: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scrapy_rep.stores.sqlite_file._PATIENCE", 600.0)
    write(link)
    other.execute("BEGIN IMMEDIATE")
    began = time.monotonic()
    link.close(lambda file: file.release_all("me"))
    assert time.monotonic() - began < 300


def test_damage_that_many_threads_meet_at_once_replaces_the_file_once(link: SqliteLink) -> None:
    with ThreadPoolExecutor(8) as pool:
        for damage in range(1, 4):
            write(link)
            with closing(sqlite3.connect(link.path)) as connection:
                connection.execute("UPDATE bodies SET body = x'00'")
                connection.commit()
            barrier = Barrier(8)

            def meet(_: int, barrier: Barrier = barrier) -> None:
                file = link._file
                assert file
                barrier.wait()
                with pytest.raises(StoreAwayError):
                    link._do(lambda file: file.get(ORIGIN), file, link._reads)

            list(pool.map(meet, range(8)))
            write(link)
            assert read(link)
            assert len(list(link.path.parent.glob("*.aside-?"))) == damage


def test_a_file_that_is_damaged_again_and_again_is_used_no_more(
    link: SqliteLink, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(6):
        write(link)
        with closing(sqlite3.connect(link.path)) as connection:
            connection.execute("UPDATE bodies SET body = x'00'")
            connection.commit()
        with pytest.raises(StoreAwayError):
            read(link)
    with pytest.raises(StoreAwayError):
        write(link)
    assert "again and again" in caplog.text


def test_a_folder_that_can_be_written_to_later_is_used_then(
    tmp_path: Path, clock: Simulation, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    (tmp_path / "file").write_bytes(b"")
    link = SqliteLink(tmp_path / "file" / "robots.sqlite")
    with pytest.raises(StoreAwayError):
        read(link)
    (tmp_path / "file").unlink()
    clock.now += 10
    write(link)
    assert read(link)
    assert levels(caplog) == [logging.WARNING, logging.INFO]
    link.close(lambda _: None)
