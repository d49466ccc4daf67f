"""The SQLite file keeps entries and leases, also when processes are killed or write at once."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from random import randbytes
from threading import Barrier
from time import monotonic

import pytest

from scrapy_rep.crawl.robots.stores.codec import SCHEMA
from scrapy_rep.crawl.robots.stores.sqlite_file import ForeignFileError, LaterFileError, SqliteFile
from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.freshness import Entry
from tests.support.crawl import PROCESSES

NOW = 1_800_000_000.0
ORIGIN = Origin("https", "example.com", 8443)
ENTRY = Entry(
    ORIGIN,
    Access.SUCCESSFUL,
    "https://www.example.com/robots.txt",
    200,
    b"User-agent: *\nDisallow: /\xff\x00\n",
    ("https://www.example.com/robots.txt",),
    NOW,
    NOW + 86_400,
    '"etag"',
    "Fri, 15 Jan 2027 08:00:00 GMT",
    3,
    NOW + 90_000,
    NOW + 90_001,
    NOW + 90_005,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "robots.sqlite"


@pytest.fixture
def busy(path: Path) -> Iterator[sqlite3.Connection]:
    """Another process that is writing."""
    SqliteFile(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield connection


@pytest.fixture
def file(path: Path) -> Iterator[SqliteFile]:
    with closing(SqliteFile(path)) as opened:
        yield opened


def entry_of(number: int, body: bytes = b"Disallow: /") -> Entry:
    return replace(ENTRY, origin=Origin("http", f"h{number}.example", 80), body=body)


def bodies(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("SELECT count(*) FROM bodies").fetchone()[0])


def test_get_returns_what_another_process_put(file: SqliteFile, path: Path) -> None:
    unknown = replace(ENTRY, access=Access.UNREACHABLE, status=None, body=b"", hops=(), unreachable_since=None)
    other = replace(unknown, origin=Origin("ftp", "::1", 21))
    for entry in (ENTRY, other):
        file.put(entry, "me", NOW)
    with closing(SqliteFile(path)) as again:
        assert [again.get(ORIGIN), file.get(other.origin)] == [ENTRY, other]
        assert again.get(Origin("http", "example.com", 80)) is None


def test_a_body_is_stored_once_for_all_its_origins_and_deleted_with_the_last(file: SqliteFile, path: Path) -> None:
    for number in range(3):
        file.put(entry_of(number), "me", NOW)
    assert bodies(path) == 1
    file.put(entry_of(0, b"other"), "me", NOW)
    assert bodies(path) == 2
    for number in range(1, 3):
        file.put(entry_of(number, b"other"), "me", NOW)
    assert bodies(path) == 1


def test_an_older_answer_does_not_replace_a_newer_one(file: SqliteFile, path: Path) -> None:
    file.put(replace(ENTRY, fetched_at=NOW + 10, body=b"new"), "me", NOW)
    file.put(replace(ENTRY, fetched_at=NOW, body=b"old"), "slow", NOW)
    kept = file.get(ORIGIN)
    assert (kept and kept.body, bodies(path)) == (b"new", 1)


def test_an_entry_dated_in_the_future_is_replaced(file: SqliteFile) -> None:
    file.put(replace(ENTRY, fetched_at=NOW + 1e6, body=b"of next week"), "me", NOW + 1e6)
    file.put(replace(ENTRY, fetched_at=NOW, body=b"of now"), "me", NOW)
    kept = file.get(ORIGIN)
    assert kept
    assert kept.body == b"of now"


def test_one_holder_at_a_time_has_a_lease_until_it_is_released_or_ends(file: SqliteFile) -> None:
    assert file.lease(ORIGIN, "me", NOW, 10)
    assert file.lease(ORIGIN, "me", NOW + 5, 10)  # again: it lasts longer
    assert not file.lease(ORIGIN, "you", NOW + 14, 10)
    assert file.lease(ORIGIN, "you", NOW + 15, 10)
    file.release_lease(ORIGIN, "me")
    assert not file.lease(ORIGIN, "me", NOW + 16, 10)
    file.release_lease(ORIGIN, "you")
    assert file.lease(ORIGIN, "me", NOW + 16, 10)


def test_a_lease_can_be_had_unless_there_is_a_newer_entry_than_was_seen(file: SqliteFile) -> None:
    assert file.lease(ORIGIN, "me", NOW, 10, -1.0)
    assert not file.lease(ORIGIN, "you", NOW, 10, -1.0)
    file.put(ENTRY, "me", NOW)
    assert not file.lease(ORIGIN, "you", NOW, 10, -1.0)  # it would fetch what "me" has just stored
    assert file.lease(ORIGIN, "you", NOW, 10, ENTRY.dated_at)
    file.put(replace(ENTRY, tried_at=ENTRY.tried_at + 1), "you", NOW)
    assert not file.lease(ORIGIN, "me", NOW, 10, ENTRY.dated_at)
    file.purge()
    assert file.lease(ORIGIN, "me", NOW, 10, ENTRY.dated_at)


def test_an_entry_whose_body_is_gone_keeps_nobody_from_a_lease(file: SqliteFile, path: Path) -> None:
    file.put(ENTRY, "me", NOW)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DELETE FROM bodies")
        connection.commit()
    assert file.get(ORIGIN) is None
    assert file.lease(ORIGIN, "me", NOW, 10, -1.0)


def test_put_releases_the_lease(file: SqliteFile) -> None:
    assert file.lease(ORIGIN, "me", NOW, 10)
    file.put(ENTRY, "me", NOW)
    assert file.lease(ORIGIN, "you", NOW, 10)


def test_purge_deletes_one_origin_or_all_with_their_bodies(file: SqliteFile, path: Path) -> None:
    for number in range(3):
        file.put(entry_of(number, b"%d" % number), "me", NOW)
    assert (file.purge(entry_of(1).origin), file.purge(ORIGIN), bodies(path)) == (1, 0, 2)
    assert [entry.origin.host for entry in file.entries()] == ["h0.example", "h2.example"]
    assert (file.purge(), list(file.entries()), bodies(path)) == (2, [], 0)


@pytest.mark.parametrize("content", [b"not a database at all, but long enough to have a header", b"SQLite"])
def test_a_file_that_is_no_database_raises_no_operational_error(path: Path, content: bytes) -> None:
    path.write_bytes(content * 100)
    with pytest.raises(sqlite3.DatabaseError) as caught:
        SqliteFile(path)
    assert not isinstance(caught.value, sqlite3.OperationalError)


def test_a_database_of_another_program_or_an_earlier_schema_is_not_ours(path: Path) -> None:
    SqliteFile(path).close()
    set_schema(path, SCHEMA - 1)
    with pytest.raises(ForeignFileError, match=f"schema {SCHEMA - 1}, not {SCHEMA}"):
        SqliteFile(path)
    foreign = path.with_name("foreign")
    connection = sqlite3.connect(foreign)
    connection.execute("CREATE TABLE entries (x)")
    connection.close()
    with pytest.raises(ForeignFileError, match="application id 0x0"):
        SqliteFile(foreign)


def test_a_file_of_a_later_version_cannot_be_used_and_is_not_damaged(path: Path) -> None:
    SqliteFile(path).close()
    set_schema(path, SCHEMA + 1)
    with pytest.raises(LaterFileError, match=f"a later version of scrapy_rep made it: schema {SCHEMA + 1}, not"):
        SqliteFile(path)


def set_schema(path: Path, schema: int) -> None:
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {schema}")
    connection.close()


def write(path: Path, numbers: range, told: Connection) -> None:
    """Put entries, and tell the number of each."""
    file = SqliteFile(path)
    for number in numbers:
        file.put(entry_of(number, b"Disallow: /%d" % number), "writer", NOW)
        told.send(number)


def writer(path: Path, numbers: range) -> tuple[BaseProcess, Connection]:
    """A process that writes, and what it tells."""
    heard, told = PROCESSES.Pipe(duplex=False)
    process = PROCESSES.Process(target=write, args=(path, numbers, told))
    process.start()
    told.close()
    return process, heard


def test_a_killed_writer_loses_nothing_that_was_stored_and_damages_nothing(path: Path) -> None:
    stored = 0
    for _ in range(2):
        process, heard = writer(path, range(stored, 10**6))
        while heard.recv() < stored + 40:
            pass
        process.kill()
        with suppress(EOFError):
            while True:
                stored = heard.recv() + 1
        process.join()
        with closing(SqliteFile(path)) as file:
            kept = {entry.origin.host for entry in file.entries()}
        assert kept >= {f"h{number}.example" for number in range(stored)}
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_entries_that_four_processes_write_at_once_are_all_stored(path: Path) -> None:
    writers = [writer(path, range(number * 100, number * 100 + 100)) for number in range(4)]
    for process, _ in writers:
        process.join(60)
    assert [process.exitcode for process, _ in writers] == [0] * 4
    with closing(SqliteFile(path)) as file:
        assert len(list(file.entries())) == 400


@pytest.mark.parametrize("times", [25, pytest.param(200, marks=pytest.mark.full)])
def test_a_new_file_can_be_opened_by_many_at_the_same_moment(tmp_path: Path, times: int) -> None:
    together = Barrier(8)

    def open_with_the_others(path: Path) -> None:
        together.wait(30)
        SqliteFile(path).close()

    with ThreadPoolExecutor(together.parties) as openers:
        for number in range(times):  # before each statement was tried again, about one of 100 openings failed
            path = tmp_path / f"{number}.sqlite"
            list(openers.map(open_with_the_others, [path] * together.parties))


def test_a_file_that_another_process_writes_to_is_opened_at_once(
    path: Path, busy: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scrapy_rep.crawl.robots.stores.sqlite_file._WRITE_TIMEOUT", 60.0)
    began = monotonic()
    with closing(SqliteFile(path)) as file:
        assert file.get(ORIGIN) is None
    assert busy.in_transaction
    assert monotonic() - began < 30  # a write would wait for a minute


@pytest.mark.parametrize(
    "damage",
    [
        "bodies SET body = 'x'",
        "entries SET hops = '['",
        "entries SET hops = printf('%.*c', 100000, '[')",
        "entries SET access = 'x'",
    ],
)
def test_a_row_that_is_no_entry_counts_as_damage(path: Path, file: SqliteFile, damage: str) -> None:
    file.put(ENTRY, "me", NOW)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"UPDATE {damage}")
        connection.commit()
    with pytest.raises(sqlite3.DatabaseError, match=r"the entry of https://example.com:8443 cannot be read"):
        file.get(ORIGIN)


@pytest.mark.parametrize("failures", [0, 3])
@pytest.mark.parametrize("retry_at", [NOW, NOW + 1e6])
@pytest.mark.parametrize("stale_max", [0.0, 1e7])
def test_what_is_no_longer_usable_is_deleted_with_its_body(
    path: Path, file: SqliteFile, failures: int, retry_at: float, stale_max: float
) -> None:
    entry = replace(ENTRY, failures=failures, retry_at=retry_at)
    lasting = replace(ENTRY, origin=Origin("http", "b.example", 80), body=b"", fresh_until=NOW + 1e9)
    for each in (entry, lasting):
        file.put(each, "me", NOW)
    file.lease(ORIGIN, "killed", NOW, 10)
    assert sum(file.sweep(ORIGIN, entry.of_use_until(stale_max) - 1, stale_max)) == 0
    assert sum(file.sweep(ORIGIN, entry.of_use_until(stale_max) + 1, stale_max)) == 1
    assert list(file.entries()) == [lasting]
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM bodies").fetchone() == (1,)
        assert connection.execute("SELECT count(*) FROM leases").fetchone() == (0,)


@pytest.fixture
def many(file: SqliteFile) -> list[Entry]:
    entries = [
        replace(ENTRY, origin=Origin("http", f"{number:04}.example", 80), body=randbytes(4_000))  # noqa: S311
        for number in range(1_000)
    ]
    for entry in entries:
        file.put(entry, "me", NOW)
    return entries


def test_a_sweep_deletes_in_steps_and_lets_others_write_in_between(
    path: Path, file: SqliteFile, many: list[Entry]
) -> None:
    kept = replace(ENTRY, fresh_until=NOW + 1e9)
    steps = file.sweep(many[600].origin, many[0].of_use_until(0.0) + 1, 0.0)
    deleted = [next(steps)]
    assert {entry.origin for entry in many} - {entry.origin for entry in file.entries()} == {
        entry.origin for entry in many[601:]
    }  # behind where it starts
    with closing(SqliteFile(path)) as other:
        other.put(kept, "another", NOW)
    deleted += steps
    assert deleted == [399, 0, 400, 201]  # the new entry is a step of its own
    assert list(file.entries()) == [kept]


def test_a_sweep_leaves_an_entry_that_was_fetched_again_meanwhile(file: SqliteFile, many: list[Entry]) -> None:
    steps = file.sweep(many[0].origin, many[0].of_use_until(0.0) + 1, 0.0)
    next(steps)
    again = replace(many[-1], fetched_at=NOW + 1, fresh_until=NOW + 1e9)
    file.put(again, "another", NOW + 1)
    assert sum(steps) == 599
    assert list(file.entries()) == [again]
