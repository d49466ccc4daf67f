"""A SQLite file of entries and leases that several processes may share: its tables, and the statements on them.

Write-ahead logging lets every process read while one writes, and a process that is killed loses nothing that it
has stored. One thread of a process writes at a time; another one may read meanwhile. Calls block: this module
knows nothing of the event loop, nor of what to do about a file that fails.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from pathlib import Path
from threading import Event, Lock
from typing import Any, Final

from scrapy_rep.clock import clock
from scrapy_rep.crawl.robots.stores.codec import FACTS, SCHEMA, decode, encode, encode_body
from scrapy_rep.directives.ai import origin_of
from scrapy_rep.protocol import Origin
from scrapy_rep.protocol.freshness import CLOCK_SKEW, LIFETIME, LONG_UNREACHABLE, Entry

_APPLICATION: Final = 0x52455030  # SQLite's application_id, in the header of the file: "REP0"
_WRITE_TIMEOUT: Final = 2.0  # seconds that a write waits for other processes
_PAUSE: Final = 0.005  # seconds between two attempts
_BUSY_TIMEOUT: Final = 0.05  # seconds that a read waits, which should never have to
_CHECKPOINT: Final = 200  # transactions, of five pages or so, after which the log is merged into the file
_SWEEP_STEP: Final = 400  # entries that one step of a sweep looks at
_DELETED_AT_ONCE: Final = 40  # entries in one transaction: other processes wait for its end
_LAST_ORIGIN: Final = "\U0010ffff"

_TABLES: Final = (
    "CREATE TABLE IF NOT EXISTS bodies (sha256 TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID",
    """CREATE TABLE IF NOT EXISTS entries (
        origin TEXT PRIMARY KEY, access TEXT NOT NULL, url TEXT NOT NULL, status INTEGER, sha256 TEXT NOT NULL,
        hops TEXT NOT NULL, fetched_at REAL NOT NULL, fresh_until REAL NOT NULL, etag TEXT NOT NULL,
        last_modified TEXT NOT NULL, failures INTEGER NOT NULL, unreachable_since REAL, tried_at REAL NOT NULL,
        retry_at REAL NOT NULL
    ) WITHOUT ROWID""",
    "CREATE INDEX IF NOT EXISTS entries_by_body ON entries (sha256)",
    """CREATE TABLE IF NOT EXISTS leases (
        origin TEXT PRIMARY KEY, holder TEXT NOT NULL, until REAL NOT NULL
    ) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS notes (
        key TEXT PRIMARY KEY, text TEXT NOT NULL, until REAL NOT NULL
    ) WITHOUT ROWID""",
    # A number is never used twice, so whoever knows the last one misses nothing.
    # The statements on this table are with the limiter, which alone needs them.
    """CREATE TABLE IF NOT EXISTS holds (
        number INTEGER PRIMARY KEY AUTOINCREMENT, site TEXT NOT NULL UNIQUE, worker TEXT NOT NULL,
        told REAL NOT NULL, until REAL NOT NULL, delay REAL NOT NULL, pace REAL NOT NULL
    )""",
    "CREATE INDEX IF NOT EXISTS holds_by_end ON holds (until)",
)
_NAMES: Final = {"bodies", "entries", "entries_by_body", "leases", "notes", "holds", "holds_by_end"}
_SELECT: Final = f"SELECT origin, body, {', '.join(FACTS)} FROM entries JOIN bodies USING (sha256)"  # noqa: S608
_GET: Final = f"{_SELECT} WHERE origin = ?"
_ALL: Final = f"{_SELECT} ORDER BY origin"
_COLUMNS: Final = ("origin", "sha256", *FACTS)
# Which body the entry of an origin has, and whether there is one with this SHA-256.
_BODIES: Final = """
SELECT (SELECT sha256 FROM entries WHERE origin = ?), EXISTS (SELECT 1 FROM bodies WHERE sha256 = ?)
"""
# An older answer does not replace a newer one, unless that lies in the future: a wrong clock has dated it.
_PUT: Final = """
INSERT INTO entries ({}) VALUES ({}) ON CONFLICT (origin) DO UPDATE SET {}
WHERE excluded.fetched_at >= fetched_at OR fetched_at > ?
""".format(
    ", ".join(_COLUMNS),
    ", ".join("?" * len(_COLUMNS)),
    ", ".join(f"{name} = excluded.{name}" for name in _COLUMNS[1:]),
)
_LEASE: Final = """
INSERT INTO leases SELECT ?, ?, ? WHERE NOT EXISTS
    (SELECT 1 FROM entries JOIN bodies USING (sha256) WHERE origin = ? AND max(fetched_at, tried_at) > ?)
ON CONFLICT (origin) DO UPDATE SET holder = excluded.holder, until = excluded.until
WHERE holder = excluded.holder OR until <= ?
"""
_RELEASE: Final = "DELETE FROM leases WHERE origin = ? AND holder = ?"
_DELETE_BODY_IF_UNUSED: Final = """
DELETE FROM bodies WHERE sha256 = ? AND NOT EXISTS (SELECT 1 FROM entries WHERE entries.sha256 = bodies.sha256)
"""
_DELETE_UNUSED_BODIES: Final = "DELETE FROM bodies WHERE sha256 NOT IN (SELECT sha256 FROM entries)"
# As `Entry.of_use_until`.
_IS_UNUSABLE: Final = "max(fresh_until, retry_at) + CASE WHEN failures THEN :failed ELSE :answered END < :now"
_STEP: Final = f"""
SELECT origin, sha256, {_IS_UNUSABLE} FROM entries
WHERE origin > :after AND origin <= :end ORDER BY origin LIMIT :step
"""  # noqa: S608
_DELETE_IF_UNUSABLE: Final = f"DELETE FROM entries WHERE origin = :origin AND {_IS_UNUSABLE}"  # noqa: S608
_DELETE_ENDED_LEASES: Final = """
DELETE FROM leases WHERE origin IN (SELECT origin FROM leases WHERE until < :now LIMIT :step)
"""


class ForeignFileError(sqlite3.DatabaseError):
    """The file belongs to another program, or was made by a version with an earlier `SCHEMA`."""


class LaterFileError(sqlite3.OperationalError):
    """The file was made by a version with a later `SCHEMA`, and is for that one to go on with."""


class BusyError(sqlite3.OperationalError):
    """Another process is writing to the file, or has it locked."""


class SqliteFile:
    """The file at *path*, created if it does not exist.

    ``waits`` is whether a write may take its time: it then waits for other processes, and now and then for the
    disk. Otherwise it raises `BusyError` if another process is writing, and leaves the disk to the system.

    The constructor and every method raise ``sqlite3.OperationalError`` when the file cannot be used now (busy, not
    writable, disk full), and any other ``sqlite3.DatabaseError`` when it is damaged or not ours.
    """

    def __init__(self, path: Path, stop: Event | None = None) -> None:
        """Once *stop* is set, no call waits for other processes."""
        self.path = path
        self.waits = True
        self._transactions = 0  # since the last checkpoint
        self._stop = stop or Event()
        self._reading = Lock()  # keeps `close` from closing the connection under a read
        self._writes = _connect(path, timeout=0)  # it is `_execute_when_free` that waits
        try:
            self._prepare()
            self._reads = _connect(path, timeout=_BUSY_TIMEOUT)
        except BaseException:
            self._writes.close()
            raise

    def _prepare(self) -> None:
        # Look at the tables first: another process may be creating them, and it sets the two numbers with them.
        tables = {name for (name,) in self._execute_when_free("SELECT name FROM sqlite_master")}
        application, schema = self._pragma("application_id"), self._pragma("user_version")
        if tables and application == _APPLICATION and schema > SCHEMA:
            raise LaterFileError(f"a later version of scrapy_rep made it: schema {schema}, not {SCHEMA}")
        if tables and (application, schema) != (_APPLICATION, SCHEMA):
            raise ForeignFileError(f"application id {application:#x}, schema {schema}, not {SCHEMA}")
        self._execute_when_free("PRAGMA journal_mode = WAL")
        self._writes.execute("PRAGMA synchronous = NORMAL")
        self._writes.execute("PRAGMA wal_autocheckpoint = 0")
        if not tables >= _NAMES:  # else it is opened without waiting for a process that writes to it
            self._create_tables()

    def _create_tables(self) -> None:
        """Create those that are not there: another process may have been faster, or an older version the first."""
        with self.transaction() as connection:
            for statement in _TABLES:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            connection.execute(f"PRAGMA user_version = {SCHEMA}")

    def _execute_when_free(self, statement: str, values: Sequence[Any] | dict[str, Any] = ()) -> sqlite3.Cursor:
        """Retry *statement* while another process has the file locked, until `stop` is set, if this may wait."""
        until = clock.monotonic() + _WRITE_TIMEOUT
        while True:
            try:
                return self._writes.execute(statement, values)
            except sqlite3.OperationalError as error:  # noqa: PERF203
                if "locked" not in str(error):
                    raise
                if not self.waits or clock.monotonic() >= until or self._stop.wait(_PAUSE):
                    raise BusyError(*error.args) from None

    def _write(self, statement: str, *values: Any) -> int:
        """Run *statement* as a transaction of its own; return the number of rows that it changed."""
        changed = self._execute_when_free(statement, values).rowcount
        self._committed()
        return changed

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Commit what the block writes, or roll it back if the block raises."""
        self._execute_when_free("BEGIN IMMEDIATE")
        try:
            yield self._writes
        except BaseException:
            self._writes.execute("ROLLBACK")
            raise
        self._writes.execute("COMMIT")
        self._committed()

    def _committed(self) -> None:
        self._transactions += 1
        if self.waits and self.needs_checkpoint:
            self._checkpoint()

    def _checkpoint(self) -> None:
        """Merge the log into the file, while other processes read and write."""
        self._writes.execute("PRAGMA wal_checkpoint(PASSIVE)")
        self._transactions = 0

    @property
    def needs_checkpoint(self) -> bool:
        """Whether the next write that may wait merges the log into the file: the disk takes some milliseconds."""
        return self._transactions >= _CHECKPOINT

    def rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return what the SELECT in *statement* finds."""
        with self._reading:
            return self._reads.execute(statement, values).fetchall()

    def get(self, origin: Origin) -> Entry | None:
        """Return the entry of *origin*, or None."""
        rows = self.rows(_GET, str(origin))
        return _entry(rows[0], origin) if rows else None

    def put(self, entry: Entry, holder: str, now: float) -> None:
        """Store *entry* unless a newer one is there, and release the lease of *holder* on its origin.

        *now* is in POSIX seconds, here and below.
        """
        origin, sha256, facts = str(entry.origin), entry.sha256, encode(entry)
        facts["hops"] = json.dumps(facts["hops"]) if entry.hops else "[]"
        with self.transaction() as connection:
            execute = connection.execute
            previous, has_body = execute(_BODIES, (origin, sha256)).fetchone()
            if execute(_PUT, (origin, sha256, *facts.values(), now + CLOCK_SKEW)).rowcount:
                if not has_body:
                    execute("INSERT INTO bodies VALUES (?, ?)", (sha256, encode_body(entry)))
                if previous not in (None, sha256):
                    execute(_DELETE_BODY_IF_UNUSED, (previous,))
            execute(_RELEASE, (origin, holder))

    def lease(self, origin: Origin, holder: str, now: float, seconds: float, since: float = inf) -> bool:
        """Give *holder* the lease on *origin* for *seconds*; return whether it got it.

        It does not while another one has it, nor if the entry of *origin* is dated later than *since*.
        """
        key = str(origin)
        return self._write(_LEASE, key, holder, now + seconds, key, since, now) > 0

    def release_lease(self, origin: Origin, holder: str) -> None:
        """Release the lease on *origin* if *holder* has it."""
        self._write(_RELEASE, str(origin), holder)

    def release_all(self, holder: str) -> None:
        """Release all leases of *holder*."""
        self._write("DELETE FROM leases WHERE holder = ?", holder)

    def note(self, key: str, now: float) -> str | None:
        """Return the text under *key*, or None."""
        rows = self.rows("SELECT text FROM notes WHERE key = ? AND until > ?", key, now)
        return str(rows[0][0]) if rows else None

    def put_notes(self, notes: Mapping[str, str], now: float, seconds: float) -> None:
        """Store *notes* for so many *seconds*, and delete those whose time is over."""
        with self.transaction() as connection:
            connection.execute("DELETE FROM notes WHERE until <= ?", (now,))
            rows = [(key, text, now + seconds) for key, text in notes.items()]
            connection.executemany("INSERT OR REPLACE INTO notes VALUES (?, ?, ?)", rows)

    def entries(self, origin: Origin | None = None) -> Iterator[Entry]:
        """Return all entries, sorted by origin, or that of *origin* alone."""
        found = self._reads.execute(_GET, (str(origin),)) if origin else self._reads.execute(_ALL)
        return map(_entry, found)

    def purge(self, origin: Origin | None = None) -> int:
        """Delete the entry of *origin* and its lease, or all that is kept; return the count of deleted entries."""
        where, names = ("WHERE origin = ?", (str(origin),)) if origin else ("", ())
        with self.transaction() as connection:
            deleted = connection.execute(f"DELETE FROM entries {where}", names).rowcount  # noqa: S608
            connection.execute(f"DELETE FROM leases {where}", names)  # noqa: S608
            if origin is None:
                connection.execute("DELETE FROM notes")
                connection.execute("DELETE FROM holds")
            connection.execute(_DELETE_UNUSED_BODIES)
        return deleted

    def sweep(self, start: Origin, now: float, stale_max: float) -> Iterator[int]:
        """Delete entries that are past `Entry.of_use_until` and leases that have ended.

        Each step takes the write lock for some milliseconds at most, whatever the size of the file, and yields the
        number of entries that it deleted. The sweep goes once round all origins, beginning behind *start*: crawls
        too short for a whole round begin at different places. *stale_max* is in seconds.
        """
        times = {"now": now, "failed": LONG_UNREACHABLE, "answered": max(stale_max, LIFETIME), "step": _SWEEP_STEP}
        self._execute_when_free(_DELETE_ENDED_LEASES, times)
        for after, end in ((str(start), _LAST_ORIGIN), ("", str(start))):
            while rows := self._writes.execute(_STEP, {**times, "after": after, "end": end}).fetchall():
                yield self._delete([row[:2] for row in rows if row[2]], times)
                after = rows[-1][0]  # noqa: PLW2901

    def _delete(self, found: list[tuple[str, str]], times: dict[str, float]) -> int:
        """Delete what was *found* unusable, origins and bodies, unless it was replaced meanwhile."""
        deleted = 0
        for start in range(0, len(found), _DELETED_AT_ONCE):
            some = found[start : start + _DELETED_AT_ONCE]
            with self.transaction() as connection:
                unusable = [{**times, "origin": origin} for origin, _ in some]
                deleted += connection.executemany(_DELETE_IF_UNUSABLE, unusable).rowcount
                connection.executemany(_DELETE_BODY_IF_UNUSED, {(body,) for _, body in some})
        return deleted

    def _pragma(self, name: str) -> int:
        return int(self._execute_when_free(f"PRAGMA {name}").fetchone()[0])

    def close(self) -> None:
        """Close the file. The last process to do so merges the write-ahead log into it."""
        with self._reading:
            self._reads.close()
        self._writes.close()


def _connect(path: Path, timeout: float) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=timeout, isolation_level=None, check_same_thread=False)


def _entry(row: tuple[Any, ...], origin: Origin | None = None) -> Entry:
    """Raise ``sqlite3.DatabaseError`` for a row that holds no valid entry: the file is damaged."""
    key, body, *values = row
    facts = dict(zip(FACTS, values, strict=True))
    try:
        facts["hops"] = json.loads(facts["hops"]) if facts["hops"] != "[]" else []
        return decode(origin or origin_of(key), facts, body)
    except (ValueError, TypeError, RecursionError) as error:  # the last one for thousands of brackets
        raise sqlite3.DatabaseError(f"the entry of {key} cannot be read: {error}") from error
