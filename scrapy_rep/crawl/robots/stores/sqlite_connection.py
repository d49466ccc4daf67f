"""A crawl's connection to its SQLite file, which recovers when the file fails.

The file is opened on first use, and replaced if it is damaged. While it cannot be used (locked by another process,
disk full, not writable), calls fail at once: one WARNING, an attempt after each pause, and an INFO when it works
again. No call blocks the event loop, or the end of a crawl, for longer than a tenth of a second.
"""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Event, Lock
from typing import Final, TypeVar

from scrapy_rep.clock import clock
from scrapy_rep.crawl.robots.stores.sqlite_file import BusyError, SqliteFile
from scrapy_rep.crawl.runtime.event_loop import in_thread
from scrapy_rep.protocol.freshness import Backoff

T = TypeVar("T")

logger = logging.getLogger(__name__)

_MAX_REPLACEMENTS: Final = 5  # of a damaged file, in one crawl
_CLOSE_TIMEOUT: Final = 0.1  # seconds that `close` waits for a thread that writes

LONGEST_PAUSE: Final = 30.0
"""Maximum seconds until a file that failed is tried again."""

_PAUSES: Final = Backoff(5.0, LONGEST_PAUSE)


class StoreAwayError(OSError):
    """The SQLite file cannot be used now; callers go on without it."""


class CircuitBreaker:
    """Closed while calls succeed. A failed call opens it; it then allows a single call after each pause."""

    def __init__(self) -> None:
        self.is_open = False
        self._failures = 0
        self._opened_at = self._retry_at = 0.0

    def allows(self) -> bool:
        """Whether a call is allowed now. While open, True once after each pause."""
        if not self.is_open:
            return True
        is_due = clock.monotonic() >= self._retry_at
        if is_due:
            self._pause()
        return is_due

    def fail(self) -> None:
        """Record a failed call: open the breaker, and lengthen the pause."""
        if not self.is_open:
            self.is_open, self._failures, self._opened_at = True, 0, clock.monotonic()
        self._failures += 1
        self._pause()

    def succeed(self) -> float:
        """Record a successful call: close the breaker. Returns the seconds since it opened."""
        self.is_open = False
        return clock.monotonic() - self._opened_at

    def _pause(self) -> None:
        self._retry_at = clock.monotonic() + _PAUSES.distance(self._failures)


class SqliteConnection:
    """Runs functions on the `SqliteFile` at *path*; calls raise `StoreAwayError` if the file cannot be used.

    Reads take tens of microseconds and run on the event loop, as do writes that need not wait: a thread would cost
    ten times as much. A write that has to wait, for another process or for the disk, runs in a thread. Only one
    write runs at a time.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: SqliteFile | None = None
        self._lock = Lock()  # held to open, write to and close the file
        self._dropping = Lock()  # held briefly, because readers on the event loop also take it
        self._dropped: list[SqliteFile] = []  # damaged; to be closed under the lock
        self._closing = Event()
        self._reads, self._writes = CircuitBreaker(), CircuitBreaker()
        self._damage: Exception | None = None  # why the file must be set aside before it is opened
        self._damages = 0
        self._inode: int | None = None
        self._recovered_at = float("-inf")  # monotonic

    @property
    def seconds_since_recovery(self) -> float:
        """Seconds since the file recovered; infinite if it never failed."""
        return clock.monotonic() - self._recovered_at

    async def read(self, work: Callable[[SqliteFile], T]) -> T:
        """Run *work* on the event loop, and return its result."""
        file = self._file
        if file is None:
            file = await in_thread(self._open)
        if not self._reads.allows():
            raise StoreAwayError
        return self._run(work, file, self._reads)

    async def write(self, work: Callable[[SqliteFile], T]) -> T:
        """Run *work* on the event loop or, if it has to wait, in a thread; return its result.

        On the event loop, *work* raises `BusyError` before it has written anything.
        """
        file = self._file
        if file is None or file.needs_checkpoint or self._writes.is_open or not self._lock.acquire(blocking=False):
            return await self.write_in_thread(work)
        file.waits = False
        try:
            if file is self._file:
                return self._run(work, file, self._writes)
        except BusyError:
            pass
        finally:
            file.waits = True
            self._lock.release()
        return await self.write_in_thread(work)

    async def write_in_thread(self, work: Callable[[SqliteFile], T]) -> T:
        """Run slow *work* in a thread, and return its result."""
        return await in_thread(self.write_now, work)

    def write_now(self, work: Callable[[SqliteFile], T]) -> T:
        """Run *work* in this thread, which may have to wait, and return its result."""
        with self._lock:
            try:
                file = self._opened()
                if not self._writes.allows():
                    raise StoreAwayError
                return self._run(work, file, self._writes)
            finally:
                if self._closing.is_set():
                    self._close_files()

    def close(self, before: Callable[[SqliteFile], None]) -> None:
        """Call *before* with the file, and close it; if a thread is writing, let that thread close it."""
        self._closing.set()
        if not self._lock.acquire(timeout=_CLOSE_TIMEOUT):
            return
        try:
            if self._file and not self._writes.is_open:
                with suppress(sqlite3.Error):
                    before(self._file)
            self._close_files()
        finally:
            self._lock.release()

    def _run(self, work: Callable[[SqliteFile], T], file: SqliteFile, breaker: CircuitBreaker) -> T:
        try:
            result = work(file)
        except (sqlite3.OperationalError, OSError) as error:  # busy or full: the content is sound
            if isinstance(error, BusyError) and not file.waits:
                raise
            self._record_failure(breaker, error)
            raise StoreAwayError from error
        except sqlite3.ProgrammingError as error:  # closed during the call
            raise StoreAwayError from error
        except sqlite3.Error as error:
            self._drop_damaged(file, error)
            raise StoreAwayError from error
        if breaker.is_open:
            self._record_success(breaker)
        return result

    def _open(self) -> SqliteFile:
        with self._lock:
            return self._opened()

    def _opened(self) -> SqliteFile:
        """Return the file; open it if the circuit breaker allows, and set a damaged file aside first."""
        if self._file is not None:
            return self._file
        if self._closing.is_set() or not self._writes.allows():
            raise StoreAwayError
        self._close_files()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self._damage:
                self._set_aside(self._damage)
                self._damage = None
            file = self._file = self._open_or_replace()
        except (sqlite3.Error, OSError) as error:
            self._record_failure(self._writes, error)
            raise StoreAwayError from error
        if self._writes.is_open:
            self._record_success(self._writes)
        return file

    def _open_or_replace(self) -> SqliteFile:
        self._inode = _inode(self.path)
        try:
            return SqliteFile(self.path, self._closing)
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError as error:
            self._set_aside(error)
            return SqliteFile(self.path, self._closing)
        finally:
            self._inode = _inode(self.path)

    def _drop_damaged(self, file: SqliteFile, error: Exception) -> None:
        """Drop a damaged *file*; if several threads meet the same damage, only the first drops it."""
        with self._dropping:
            if self._file is not file:
                return
            self._dropped.append(file)
            self._file, self._damage = None, error
            self._damages += 1
        if self._damages > _MAX_REPLACEMENTS:
            self._closing.set()
            logger.warning(
                "The store %s keeps getting damaged (%s): this crawl no longer uses it.", self.path, error
            )

    def _record_failure(self, breaker: CircuitBreaker, error: Exception) -> None:
        if self._closing.is_set():
            return
        is_known = self._reads.is_open or self._writes.is_open
        breaker.fail()
        log = logger.debug if is_known else logger.warning
        log(
            "The store %s cannot be used (%s): until it can, this crawl shares neither robots.txt files nor crawl"
            " delays with others. If that lasts, set REP_STORE_PATH to another file, or REP_STORE to 'memory'.",
            self.path, error,
        )  # fmt: skip

    def _record_success(self, breaker: CircuitBreaker) -> None:
        away = breaker.succeed()
        self._recovered_at = clock.monotonic()
        if not (self._reads.is_open or self._writes.is_open):
            logger.info("The store %s can be used again, after %.1f s.", self.path, away)

    def _set_aside(self, error: Exception) -> None:
        if _inode(self.path) != self._inode:
            return  # another process has already replaced it
        target = next(path for path in map(self._aside_path, count(1)) if not path.exists())
        for suffix in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                os.replace(f"{self.path}{suffix}", f"{target}{suffix}")
        logger.warning(
            "The store %s is damaged or belongs to another program (%s): renamed it to %s and started a new one.",
            self.path, error, target,
        )  # fmt: skip

    def _aside_path(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}.aside-{number}")

    def _close_files(self) -> None:
        files, self._file = [self._file, *self._dropped], None
        self._dropped.clear()
        for file in filter(None, files):
            file.close()

    def __repr__(self) -> str:
        return f"<SqliteConnection {self.path}{'' if self._file else ' (not in use)'}>"


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None
