"""The way of one crawl to its SQLite file: opened when it is first needed, replaced when it is damaged.

A file that cannot be used now (another process holds it, the disk is full, nobody may write there) is given up
for a while: one WARNING, then one attempt after each pause, and INFO when it is back. Nothing here blocks the
event loop or the end of a crawl for longer than a moment.
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
from time import monotonic
from typing import Final, TypeVar

from scrapy_rep.crawl.event_loop import in_thread

from .circuit_breaker import CircuitBreaker
from .sqlite_file import SqliteFile

T = TypeVar("T")

logger = logging.getLogger(__name__)

_MOST_DAMAGES: Final = 5  # times that a file is replaced in one crawl
_LAST_WORDS: Final = 0.1  # seconds that closing waits for a thread


class StoreAwayError(Exception):
    """The file cannot be used now: go on without."""


class SqliteLink:
    """Calls to the file at *path*; each raises `StoreAwayError` when it cannot be used.

    Reads take some tens of microseconds and stay on the event loop; writes may wait for another process or
    for the disk and go to a thread, one at a time.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: SqliteFile | None = None
        self._lock = Lock()  # of those who open, write to and close the file
        self._dropping = Lock()
        self._dropped: list[SqliteFile] = []  # to be closed by one who has the lock
        self._closing = Event()
        self._reads, self._writes = CircuitBreaker(), CircuitBreaker()
        self._damage: Exception | None = None  # of the file that is there, which is to be set aside
        self._damages = 0
        self._inode: int | None = None
        self._back_at = float("-inf")  # monotonic

    @property
    def seconds_in_use(self) -> float:
        """How long the file can be written to again; endless where it always could."""
        return monotonic() - self._back_at

    async def read(self, work: Callable[[SqliteFile], T]) -> T:
        """What *work* returns; on the event loop once the file is open."""
        file = self._file
        if file is None:
            file = await in_thread(self._open)
        if not self._reads.allows():
            raise StoreAwayError
        return self._do(work, file, self._reads)

    async def write(self, work: Callable[[SqliteFile], T]) -> T:
        """What *work* returns, called in a thread."""
        return await in_thread(self.write_now, work)

    def write_now(self, work: Callable[[SqliteFile], T]) -> T:
        """As `write`, in this thread."""
        with self._lock:
            try:
                if self._file is None:
                    self._open_file()
                if self._file is None or not self._writes.allows():
                    raise StoreAwayError
                return self._do(work, self._file, self._writes)
            finally:
                if self._closing.is_set():
                    self._close_files()

    def close(self, last: Callable[[SqliteFile], None]) -> None:
        """Do *last* if that can be done at once, and close the file; a thread that is at it closes it soon."""
        self._closing.set()
        if not self._lock.acquire(timeout=_LAST_WORDS):
            return
        try:
            if self._file and not self._writes.is_open:
                with suppress(sqlite3.Error):
                    last(self._file)
            self._close_files()
        finally:
            self._lock.release()

    def _do(self, work: Callable[[SqliteFile], T], file: SqliteFile, breaker: CircuitBreaker) -> T:
        try:
            result = work(file)
        except (sqlite3.OperationalError, OSError) as error:  # busy, full: nothing is wrong with what is in it
            self._give_up(breaker, error)
            raise StoreAwayError from error
        except sqlite3.ProgrammingError as error:  # closed meanwhile
            raise StoreAwayError from error
        except sqlite3.Error as error:
            self._replace_next_time(file, error)
            raise StoreAwayError from error
        self._regain(breaker)
        return result

    def _open(self) -> SqliteFile:
        with self._lock:
            if self._file is None:
                self._open_file()
            if self._file is None:
                raise StoreAwayError
            return self._file

    def _open_file(self) -> None:
        """Open the file, where that may be tried; one that is damaged or not ours is set aside before."""
        if self._closing.is_set() or not self._writes.allows():
            return
        self._close_files()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self._damage:
                self._set_aside(self._damage)
                self._damage = None
            self._file = self._open_or_replace()
        except (sqlite3.Error, OSError) as error:
            self._give_up(self._writes, error)
        else:
            self._regain(self._writes)

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

    def _replace_next_time(self, file: SqliteFile, error: Exception) -> None:
        """Of several who meet the same damage the first sees to it."""
        with self._dropping:
            if self._file is not file:
                return
            self._dropped.append(file)
            self._file, self._damage = None, error
            self._damages += 1
        if self._damages > _MOST_DAMAGES:
            self._closing.set()
            logger.warning(
                "The store %s is damaged again and again (%s): it is not used any more.", self.path, error
            )

    def _give_up(self, breaker: CircuitBreaker, error: Exception) -> None:
        if self._closing.is_set():
            return
        is_known = self._reads.is_open or self._writes.is_open
        breaker.fail()
        log = logger.debug if is_known else logger.warning
        log(
            "The store %s cannot be used now (%s): this crawl shares neither robots.txt files nor delays."
            " If that lasts, set REP_STORE_PATH to a file that can be written, or REP_STORE to memory.",
            self.path, error,
        )  # fmt: skip

    def _regain(self, breaker: CircuitBreaker) -> None:
        if breaker.is_open:
            away = breaker.succeed()
            self._back_at = monotonic()
            if not (self._reads.is_open or self._writes.is_open):
                logger.info("The store %s can be used again after %.1f s.", self.path, away)

    def _set_aside(self, error: Exception) -> None:
        if _inode(self.path) != self._inode:
            return  # another process has been faster
        target = next(path for path in map(self._aside, count(1)) if not path.exists())
        for suffix in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                os.replace(f"{self.path}{suffix}", f"{target}{suffix}")
        logger.warning(
            "The store %s is damaged or not ours (%s): it is now %s, and a new one is made.",
            self.path,
            error,
            target,
        )

    def _aside(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}.aside-{number}")

    def _close_files(self) -> None:
        files, self._file = [self._file, *self._dropped], None
        self._dropped.clear()
        for file in filter(None, files):
            file.close()

    def __repr__(self) -> str:
        return f"<SqliteLink {self.path}{'' if self._file else ' (not in use)'}>"


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None
