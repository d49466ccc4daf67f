"""A SQLite file of entries and leases that processes may share: its tables, and the statements on them.

Write-ahead logging lets all processes read while one writes, and a killed process loses nothing that it has
stored. One thread per process writes at a time; another thread may read meanwhile. Calls block; `SqliteConnection`
deals with the event loop and with files that fail.
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
_BUSY_TIMEOUT: Final = 0.05  # seconds that a read waits; reads should never have to
_CHECKPOINT: Final = 200  # transactions, of five pages or so, after which the log is merged into the file
_SWEEP_STEP: Final = 400  # entries that a step of a sweep checks
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
    # Numbers are never reused: a reader that knows the last number misses no row.
    # The limiter, which alone uses this table, has its statements.
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
# The body of an origin's entry, and whether a body with this SHA-256 is stored.
_BODIES: Final = """
SELECT (SELECT sha256 FROM entries WHERE origin = ?), EXISTS (SELECT 1 FROM bodies WHERE sha256 = ?)
"""
# An older answer does not replace a newer answer, unless a wrong clock has dated that in the future.
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
    """The file belongs to another program, or to a version with an earlier `SCHEMA`."""


class LaterFileError(sqlite3.OperationalError):
    """The file belongs to a version with a later `SCHEMA`, which will use it again."""


class BusyError(sqlite3.OperationalError):
    """Another process is writing to the file, or has it locked."""


class SqliteFile:
    """The file at *path*, created if it does not exist.

    ``waits`` says whether writes may be slow: they then wait for other processes, and now and then for the disk.
    Otherwise they raise `BusyError` if another process is writing, and leave the disk to the system.

    The constructor and every method raise ``sqlite3.OperationalError`` if the file cannot be used now (busy, not
    writable, disk full), and any other ``sqlite3.DatabaseError`` if it is damaged or not ours.
    """

    def __init__(self, path: Path, stop: Event | None = None) -> None:
        """Once *stop* is set, no call waits for other processes."""
        self.path = path
        self.waits = True
        self._transactions = 0  # since the last checkpoint
        self._stop = stop or Event()
        self._reading = Lock()  # keeps `close` from closing the connection under a read
        self._writes = _connect(path, timeout=0)  # `_execute_when_free` waits instead
        try:
            self._prepare()
            self._reads = _connect(path, timeout=_BUSY_TIMEOUT)
        except BaseException:
            self._writes.close()
            raise

    def _prepare(self) -> None:
        # Read the tables first: another process may be creating them, and sets the two numbers with them.
        tables = {name for (name,) in self._execute_when_free("SELECT name FROM sqlite_master")}
        application, schema = self._pragma("application_id"), self._pragma("user_version")
        if tables and application == _APPLICATION and schema > SCHEMA:
            raise LaterFileError(f"a later version of scrapy_rep made it: schema {schema}, not {SCHEMA}")
        if tables and (application, schema) != (_APPLICATION, SCHEMA):
            raise ForeignFileError(f"application id {application:#x}, schema {schema}, not {SCHEMA}")
        self._execute_when_free("PRAGMA journal_mode = WAL")
        self._writes.execute("PRAGMA synchronous = NORMAL")
        self._writes.execute("PRAGMA wal_autocheckpoint = 0")
        if not tables >= _NAMES:  # else open it without waiting for a process that writes to it
            self._create_tables()

    def _create_tables(self) -> None:
        """Create missing tables: another process may have been faster, or an older version came first."""
        with self.transaction() as connection:
            for statement in _TABLES:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            connection.execute(f"PRAGMA user_version = {SCHEMA}")

    def _execute_when_free(self, statement: str, values: Sequence[Any] | dict[str, Any] = ()) -> sqlite3.Cursor:
        """Run *statement*. If this may wait, retry while another process locks the file, until `stop` is set."""
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
        """Run *statement* in its own transaction; return the number of rows that it changed."""
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
        """Whether the next write that may wait merges the log into the file, which takes milliseconds of disk."""
        return self._transactions >= _CHECKPOINT

    def rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return the rows of the SELECT in *statement*."""
        with self._reading:
            return self._reads.execute(statement, values).fetchall()

    def get(self, origin: Origin) -> Entry | None:
        """Return the entry of *origin*, or None."""
        rows = self.rows(_GET, str(origin))
        return _entry(rows[0], origin) if rows else None

    def put(self, entry: Entry, holder: str, now: float) -> None:
        """Store *entry* unless a newer entry is there, and release the lease of *holder* on its origin.

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
        """Give *holder* the lease on *origin* for *seconds*; return whether it succeeds.

        It fails while another holder has the lease, or if the entry of *origin* is dated later than *since*.
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
        """Store *notes* for *seconds*, and delete expired notes."""
        with self.transaction() as connection:
            connection.execute("DELETE FROM notes WHERE until <= ?", (now,))
            rows = [(key, text, now + seconds) for key, text in notes.items()]
            connection.executemany("INSERT OR REPLACE INTO notes VALUES (?, ?, ?)", rows)

    def entries(self, origin: Origin | None = None) -> Iterator[Entry]:
        """Return all entries, sorted by origin, or only the entry of *origin*."""
        found = self._reads.execute(_GET, (str(origin),)) if origin else self._reads.execute(_ALL)
        return map(_entry, found)

    def purge(self, origin: Origin | None = None) -> int:
        """Delete the entry and the lease of *origin*, or everything; return the number of deleted entries."""
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

        A step takes the write lock for a few milliseconds at most, whatever the size of the file, and yields the
        number of entries that it deleted. The sweep goes once round all origins, starting behind *start*, because
        crawls too short for a whole round should start at different places. *stale_max* is in seconds.
        """
        times = {"now": now, "failed": LONG_UNREACHABLE, "answered": max(stale_max, LIFETIME), "step": _SWEEP_STEP}
        self._execute_when_free(_DELETE_ENDED_LEASES, times)
        for after, end in ((str(start), _LAST_ORIGIN), ("", str(start))):
            while rows := self._writes.execute(_STEP, {**times, "after": after, "end": end}).fetchall():
                yield self._delete([row[:2] for row in rows if row[2]], times)
                after = rows[-1][0]  # noqa: PLW2901

    def _delete(self, found: list[tuple[str, str]], times: dict[str, float]) -> int:
        """Delete *found*, unusable origins and bodies, unless they were replaced meanwhile."""
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
    """Read an entry from *row*. Raises ``sqlite3.DatabaseError`` for an invalid row: the file is damaged."""
    key, body, *values = row
    facts = dict(zip(FACTS, values, strict=True))
    try:
        facts["hops"] = json.loads(facts["hops"]) if facts["hops"] != "[]" else []
        return decode(origin or origin_of(key), facts, body)
    except (ValueError, TypeError, RecursionError) as error:  # the last one for thousands of brackets
        raise sqlite3.DatabaseError(f"the entry of {key} cannot be read: {error}") from error
