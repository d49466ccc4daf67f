"""The SQLite store survives whatever happens to its file, and logs what to do."""

from __future__ import annotations

import logging
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scrapy_rep.crawl.robots.stores.sqlite import NoFileStore, SqliteStore
from scrapy_rep.crawl.robots.stores.sqlite_connection import SqliteConnection
from scrapy_rep.crawl.robots.stores.sqlite_file import SqliteFile
from scrapy_rep.protocol import Origin
from tests.support.in_process import run

from .test_sqlite_file import ENTRY, NOW, ORIGIN


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "robots.sqlite"


@pytest.fixture(autouse=True)
def _now(monkeypatch: pytest.MonkeyPatch) -> None:
    async def here(function: Any, *arguments: Any) -> Any:
        return function(*arguments)

    monkeypatch.setattr("scrapy_rep.clock.clock.time", lambda: NOW)
    monkeypatch.setattr("scrapy_rep.crawl.robots.stores.sqlite_connection.in_thread", here)


def store_at(path: Path) -> SqliteStore:
    return SqliteStore(SqliteConnection(path))


def get(store: SqliteStore) -> bool:
    """Whether the store has the entry."""
    found = run(store.get(ORIGIN))
    assert found in (None, ENTRY)
    return found is not None


def put(store: SqliteStore) -> None:
    run(store.put(ENTRY))


def test_no_file_is_created_before_the_first_call(path: Path) -> None:
    store_at(path).close()
    assert not path.exists()


def test_missing_folders_are_created(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "robots.sqlite"
    store = store_at(path)
    assert not get(store)
    put(store)
    assert get(store)
    store.close()
    again = store_at(path)
    assert get(again)
    again.close()


def test_a_damaged_file_is_set_aside_with_a_warning_and_replaced(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path.write_bytes(b"no database" * 1_000)
    store = store_at(path)
    assert not get(store)
    put(store)
    assert get(store)
    store.close()
    assert path.with_name("robots.sqlite.aside-1").read_bytes() == b"no database" * 1_000
    (warning,) = caplog.records
    assert "belongs to another program (file is not a database): renamed it to" in warning.getMessage()
    assert warning.levelno == logging.WARNING


def test_a_file_that_is_damaged_while_in_use_is_replaced_too(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = store_at(path)
    assert not get(store)
    put(store)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE bodies SET body = 'no compressed octets'")
    connection.commit()
    connection.close()
    assert not get(store)
    put(store)
    assert get(store)
    store.close()
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_two_stores_that_find_the_same_damage_replace_the_file_once(path: Path) -> None:
    path.write_bytes(b"no database" * 1_000)
    first, second = store_at(path), store_at(path)
    assert not get(first)
    put(first)
    assert get(second)
    first.close()
    second.close()
    assert sorted(file.name for file in path.parent.iterdir()) == ["robots.sqlite", "robots.sqlite.aside-1"]


def test_a_store_that_cannot_be_written_warns_once_and_finds_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_bytes(b"")
    store = store_at(tmp_path / "file" / "robots.sqlite")
    assert not get(store)
    put(store)
    assert run(store.acquire_lease(ORIGIN, 10))
    run(store.release_lease(ORIGIN))
    store.close()
    (warning,) = caplog.records
    assert "set REP_STORE_PATH to another file, or REP_STORE to 'memory'." in warning.getMessage()


def test_a_folder_in_place_of_the_file_cannot_be_used(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path.mkdir()
    store = store_at(path)
    assert not get(store)
    assert "cannot be used" in caplog.text
    assert path.is_dir()


def test_calls_after_the_end_of_the_crawl_do_nothing(path: Path) -> None:
    store = store_at(path)
    assert not get(store)
    store.close()
    put(store)
    assert not get(store)
    store.close()


def test_a_damaged_file_that_cannot_be_set_aside_does_not_stop_the_crawl(
    path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_at(path)
    assert not get(store)
    put(store)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE bodies SET body = x'00'")
        connection.commit()
    monkeypatch.setattr("os.replace", _forbidden)
    assert not get(store)
    assert not get(store)
    assert "cannot be used (not here)" in caplog.text


def _forbidden(*_: object) -> None:
    raise PermissionError("not here")


def test_a_crawl_that_ends_during_its_fetch_releases_the_lease(path: Path) -> None:
    store = store_at(path)
    assert not get(store)
    assert run(store.acquire_lease(ORIGIN, 1e12))
    store.close()
    with closing(SqliteFile(path)) as file:
        assert file.lease(ORIGIN, "another", NOW, 10)


def test_a_living_process_keeps_its_lease(path: Path) -> None:
    first, second = store_at(path), store_at(path)
    assert not get(first)
    assert not get(second)
    for _ in range(2):  # it renews it
        assert run(first.acquire_lease(ORIGIN, 10))
        assert not run(second.acquire_lease(ORIGIN, 10))
    for store in (first, second):
        store.close()


def test_a_claim_takes_no_lease_where_another_process_has_stored_an_entry(path: Path) -> None:
    first, second = store_at(path), store_at(path)
    assert not get(first)
    assert run(first.claim(ORIGIN, 10, None))
    assert not run(second.claim(ORIGIN, 10, None))
    put(first)
    assert not run(second.claim(ORIGIN, 10, None))
    assert run(second.claim(ORIGIN, 10, ENTRY))
    for store in (first, second):
        store.close()


def test_a_store_without_a_file_warns_once_and_finds_nothing(caplog: pytest.LogCaptureFixture) -> None:
    store = NoFileStore()
    for _ in range(2):
        assert run(store.get(ORIGIN)) is None
        run(store.put(ENTRY))
        assert run(store.acquire_lease(ORIGIN, 10))
        run(store.release_lease(ORIGIN))
    store.close()
    (warning,) = caplog.records
    assert "Set REP_STORE_PATH to a file" in warning.getMessage()


def test_the_first_put_of_a_crawl_deletes_entries_that_are_no_longer_usable(path: Path) -> None:
    with closing(SqliteFile(path)) as file:
        origin = Origin("http", "old.example", 80)
        old = replace(ENTRY, origin=origin, fetched_at=0.0, fresh_until=1.0, failures=0, retry_at=0.0)
        file.put(old, "me", NOW)
    store = store_at(path)
    assert not get(store)
    put(store)
    store.close()
    with closing(SqliteFile(path)) as file:
        assert list(file.entries()) == [ENTRY]


def test_a_note_is_kept_for_its_time_and_until_everything_is_purged(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_at(path)
    run(store.put_notes({"a": "1", "b": "2"}, 10))
    run(store.put_notes({"a": "3"}, 30))
    assert [run(store.note(key)) for key in "abc"] == ["3", "2", None]
    monkeypatch.setattr("scrapy_rep.clock.clock.time", lambda: NOW + 20)
    assert [run(store.note(key)) for key in "ab"] == ["3", None]
    store.purge(ORIGIN)
    assert run(store.note("a")) == "3"
    store.purge()
    assert run(store.note("a")) is None
    store.close()


def test_a_file_of_an_older_version_gets_the_table_of_notes(path: Path) -> None:
    older = store_at(path)
    put(older)
    older.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE notes")
    store = store_at(path)
    assert get(store)
    run(store.put_notes({"a": "1"}, 10))
    assert run(store.note("a")) == "1"
    store.close()
