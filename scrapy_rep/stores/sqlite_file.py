"""A SQLite file of entries that several processes may share: what is in it, and how it is read and written.

Write-ahead logging lets all read while one writes, and a process that is killed loses nothing that was
stored. Bodies are compressed and kept once per content. One thread at a time writes; another may read
meanwhile. Nothing here waits for an event loop.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Lock
from time import monotonic
from typing import Any, Final

from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.freshness import CLOCK_SKEW, LIFETIME, LONG_UNREACHABLE, Entry

_APPLICATION: Final = 0x52455030  # in the header of the file, where it says whose file this is
_SCHEMA: Final = 2
_PATIENCE: Final = 2.0  # seconds that a write waits for other processes
_STEP: Final = 0.05  # seconds of that between two looks; all that a read waits, which should never have to

_TABLES: Final = (
    "CREATE TABLE bodies (sha256 TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID",
    """CREATE TABLE entries (
        origin TEXT PRIMARY KEY, access TEXT NOT NULL, url TEXT NOT NULL, status INTEGER, sha256 TEXT NOT NULL,
        hops TEXT NOT NULL, fetched_at REAL NOT NULL, fresh_until REAL NOT NULL, etag TEXT NOT NULL,
        last_modified TEXT NOT NULL, failures INTEGER NOT NULL, unreachable_since REAL, tried_at REAL NOT NULL,
        retry_at REAL NOT NULL
    ) WITHOUT ROWID""",
    "CREATE INDEX entries_by_body ON entries (sha256)",
    "CREATE TABLE leases (origin TEXT PRIMARY KEY, holder TEXT NOT NULL, until REAL NOT NULL) WITHOUT ROWID",
    # For the rate limiter, in microseconds of the machine's monotonic clock.
    """CREATE TABLE turns (
        key TEXT PRIMARY KEY, last INTEGER, holder TEXT, number INTEGER, due INTEGER NOT NULL,
        lapse INTEGER NOT NULL, until INTEGER NOT NULL
    ) WITHOUT ROWID""",
    """CREATE TABLE turn_queue (
        key TEXT NOT NULL, worker TEXT NOT NULL, came INTEGER NOT NULL, expected INTEGER NOT NULL,
        PRIMARY KEY (key, worker)
    ) WITHOUT ROWID""",
)
_SELECT: Final = "SELECT entries.*, bodies.body FROM entries JOIN bodies USING (sha256)"
_COLUMNS: Final = (
    "origin", "access", "url", "status", "sha256", "hops", "fetched_at", "fresh_until", "etag",
    "last_modified", "failures", "unreachable_since", "tried_at", "retry_at",
)  # fmt: skip
# An answer is not replaced by what another process knew before it, unless a clock that was ahead has dated it.
_PUT: Final = """
INSERT INTO entries VALUES ({}) ON CONFLICT (origin) DO UPDATE SET {}
WHERE :fetched_at >= fetched_at OR fetched_at > :latest
""".format(", ".join(f":{name}" for name in _COLUMNS), ", ".join(f"{name} = :{name}" for name in _COLUMNS[1:]))
_LEASE: Final = """
INSERT INTO leases VALUES (:origin, :holder, :until) ON CONFLICT (origin) DO UPDATE
SET holder = :holder, until = :until WHERE holder = :holder OR until <= :now
"""
_RELEASE: Final = "DELETE FROM leases WHERE origin = ? AND holder = ?"
_DROP_ORPHAN: Final = """
DELETE FROM bodies WHERE sha256 = ? AND NOT EXISTS (SELECT 1 FROM entries WHERE entries.sha256 = bodies.sha256)
"""
_DROP_ORPHANS: Final = "DELETE FROM bodies WHERE sha256 NOT IN (SELECT sha256 FROM entries)"
_FORGET: Final = """
DELETE FROM entries
WHERE max(fresh_until, retry_at) + CASE WHEN failures THEN :failed ELSE :answered END < :now
"""


class ForeignFileError(sqlite3.DatabaseError):
    """A SQLite file that another program, or another version of this one, has made."""


class SqliteFile:
    """The file at *path*, made when there is none.

    Raises ``sqlite3.OperationalError`` where it cannot be opened or made, any other
    ``sqlite3.DatabaseError`` for a file that is damaged or not ours. So does every call.
    """

    def __init__(self, path: Path, stop: Event | None = None) -> None:
        """Once *stop* is set nothing waits for other processes any more."""
        self.path = path
        self._stop = stop or Event()
        self._reading = Lock()  # nobody closes what is being read
        self._writes = _connect(path)
        try:
            self._prepare()
            self._reads = _connect(path)
        except BaseException:
            self._writes.close()
            raise

    def _prepare(self) -> None:
        # In this order: another process makes them all at once, perhaps now.
        (tables,) = self._patiently("SELECT count(*) FROM sqlite_master").fetchone()
        (application,) = self._writes.execute("PRAGMA application_id").fetchone()
        (schema,) = self._writes.execute("PRAGMA user_version").fetchone()
        if tables and (application, schema) != (_APPLICATION, _SCHEMA):
            raise ForeignFileError(f"application id {application:#x}, schema {schema}")
        self._patiently("PRAGMA journal_mode = WAL")
        self._writes.execute("PRAGMA synchronous = NORMAL")
        if not tables:
            self._make_tables()  # nobody need wait for this where another process writes

    def _make_tables(self) -> None:
        with self.transaction() as connection:  # another process may have come first
            if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                for statement in _TABLES:
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                connection.execute(f"PRAGMA user_version = {_SCHEMA}")

    def _patiently(self, statement: str) -> sqlite3.Cursor:
        until = monotonic() + _PATIENCE
        while True:
            try:
                return self._writes.execute(statement)
            except sqlite3.OperationalError as error:  # noqa: PERF203  # that is what it is for
                if "locked" not in str(error) or self._stop.is_set() or monotonic() >= until:
                    raise

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Write something, or nothing when that raises."""
        self._patiently("BEGIN IMMEDIATE")
        try:
            yield self._writes
        except BaseException:
            self._writes.execute("ROLLBACK")
            raise
        self._writes.execute("COMMIT")

    def get(self, origin: Origin) -> Entry | None:
        """The entry of *origin*, or None."""
        with self._reading:
            row = self._reads.execute(f"{_SELECT} WHERE origin = ?", (str(origin),)).fetchone()
        return _entry(row) if row else None

    def put(self, entry: Entry, holder: str, now: float) -> None:
        """Keep *entry*; the lease of *holder* on its origin is released with it."""
        row = {**_row(entry), "latest": now + CLOCK_SKEW}
        with self.transaction() as connection:
            kept = connection.execute("SELECT sha256 FROM entries WHERE origin = :origin", row).fetchone()
            if not connection.execute("SELECT 1 FROM bodies WHERE sha256 = :sha256", row).fetchone():
                connection.execute("INSERT INTO bodies VALUES (?, ?)", (row["sha256"], zlib.compress(entry.body)))
            connection.execute(_PUT, row)
            for body in {row["sha256"], *(kept or ())}:
                connection.execute(_DROP_ORPHAN, (body,))
            connection.execute(_RELEASE, (row["origin"], holder))

    def lease(self, origin: Origin, holder: str, now: float, seconds: float) -> str | None:
        """Let *holder* alone fetch *origin* for so many seconds; returns who else has the lease, or None."""
        lease = {"origin": str(origin), "holder": holder, "now": now, "until": now + seconds}
        with self.transaction() as connection:
            if connection.execute(_LEASE, lease).rowcount:
                return None
            (other,) = connection.execute("SELECT holder FROM leases WHERE origin = :origin", lease).fetchone()
        return str(other)

    def release_lease(self, origin: Origin, holder: str) -> None:
        """End the lease of *holder* on *origin*."""
        with self.transaction() as connection:
            connection.execute(_RELEASE, (str(origin), holder))

    def release_all(self, holder: str) -> None:
        """End all leases of *holder*."""
        with self.transaction() as connection:
            connection.execute("DELETE FROM leases WHERE holder = ?", (holder,))

    def entries(self) -> Iterator[Entry]:
        """All entries, in the order of their origins."""
        return map(_entry, self._reads.execute(f"{_SELECT} ORDER BY origin"))

    def purge(self, origin: Origin | None = None) -> int:
        """Forget *origin*, or all; the number of entries that are gone."""
        where, names = ("WHERE origin = ?", (str(origin),)) if origin else ("", ())
        with self.transaction() as connection:
            gone = connection.execute(f"DELETE FROM entries {where}", names).rowcount  # noqa: S608
            connection.execute(f"DELETE FROM leases {where}", names)  # noqa: S608
            connection.execute(_DROP_ORPHANS)
        return gone

    def forget(self, now: float, stale_max: float) -> int:
        """Forget what is of no more use, as `Entry.of_use_until` has it, and leases that are over.

        Returns the number of entries that are gone.
        """
        times = {"now": now, "failed": LONG_UNREACHABLE, "answered": max(stale_max, LIFETIME)}
        with self.transaction() as connection:
            connection.execute("DELETE FROM leases WHERE until < :now", times)
            gone = connection.execute(_FORGET, times).rowcount
            if gone:
                connection.execute(_DROP_ORPHANS)
        return gone

    def close(self) -> None:
        """Close the file; the last process to do so folds the log into it."""
        with self._reading:
            self._reads.close()
        self._writes.close()


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_STEP, isolation_level=None, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    return connection


def _row(entry: Entry) -> dict[str, Any]:
    row = {name: getattr(entry, name) for name in _COLUMNS}
    hops = json.dumps(entry.hops)
    return {**row, "origin": str(entry.origin), "access": entry.access.value, "hops": hops}


def _entry(row: sqlite3.Row) -> Entry:
    """Raises ``sqlite3.DatabaseError`` for a row that is not what it should be."""
    fields = {name: row[name] for name in _COLUMNS if name != "sha256"}
    try:
        fields["origin"] = Origin.from_url(row["origin"])
        fields["access"] = Access(row["access"])
        fields["hops"] = tuple(json.loads(row["hops"]))
        return Entry(**fields, body=zlib.decompress(row["body"]))
    except (zlib.error, ValueError, TypeError) as error:
        raise sqlite3.DatabaseError(f"the entry of {row['origin']} cannot be read: {error}") from error
