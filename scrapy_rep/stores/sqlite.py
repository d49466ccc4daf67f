"""The default store: a SQLite file in the project's data folder, shared by processes and runs.

Reads take some tens of microseconds and stay on the event loop; writes may wait for another process or
for the disk and go to a thread. A file that is damaged, foreign or of another schema is set aside and a
fresh one is made; without a place to write there is no store, and the crawl goes on.
"""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path
from platform import node
from time import time
from typing import TYPE_CHECKING, Final, TypeVar
from uuid import uuid4

from scrapy.utils.project import data_path

from scrapy_rep.protocol.cache import LONG_UNREACHABLE
from scrapy_rep.settings import RepSettings
from scrapy_rep.threads import in_thread

from .sqlite_file import SqliteFile

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self

    from scrapy_rep.protocol import Origin
    from scrapy_rep.protocol.cache import Entry

logger = logging.getLogger(__name__)

T = TypeVar("T")

DEFAULT_PATH: Final = "robots.sqlite"
_MOST_TROUBLE: Final = 5  # times that a file is replaced in one crawl


def path_of_store(settings: RepSettings) -> Path:
    """The file that ``REP_STORE_PATH`` names; a relative one is in the project's data folder, ``.scrapy``."""
    return Path(data_path(settings.store_path or DEFAULT_PATH))


class SqliteStore:
    """Entries in a `SqliteFile`; goes on without when there can be none."""

    def __init__(self, path: Path, stale_max: float = LONG_UNREACHABLE) -> None:
        """*stale_max* seconds an entry may stand in when it has expired; later it is forgotten."""
        self._path = path
        self._stale_max = stale_max
        self._has_tidied = False
        self._holder = f"{os.getpid()}@{node()}-{uuid4().hex}"
        self._trouble = 0
        self._inode: int | None = None
        self._file: SqliteFile | None = None
        self._is_open = False
        self._claimed: set[Origin] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        settings = RepSettings.from_crawler(crawler)
        return cls(path_of_store(settings), settings.stale_max)

    async def get(self, origin: Origin) -> Entry | None:
        """The entry of *origin*, fresh or not; None when there is none."""
        if not self._is_open:  # a crawl that needs no store leaves no file behind
            self._is_open = True
            self._open()
        return self._try(lambda file: file.get(origin), None)

    async def put(self, entry: Entry) -> None:
        """Keep *entry* and give back the claim to its origin."""
        self._claimed.discard(entry.origin)
        await self._in_thread(partial(self._put, entry=entry), None)

    async def claim(self, origin: Origin, seconds: float) -> bool:
        """Whether this crawl may fetch *origin* now; a store that cannot tell lets it."""
        granted = await self._in_thread(partial(self._claim, origin=origin, seconds=seconds), True)
        if granted:
            self._claimed.add(origin)
        return granted

    async def release(self, origin: Origin) -> None:
        """Give back the claim to *origin*."""
        self._claimed.discard(origin)
        await self._in_thread(lambda file: file.release(origin, self._holder), None)

    def _claim(self, file: SqliteFile, origin: Origin, seconds: float) -> bool:
        if file.claim(origin, self._holder, time(), seconds):
            return True
        holder = file.holder(origin)
        if holder and _has_died(holder):
            file.release(origin, holder)
            return file.claim(origin, self._holder, time(), seconds)
        return False

    def _put(self, file: SqliteFile, entry: Entry) -> None:
        file.put(entry, self._holder)
        if not self._has_tidied:  # once in a crawl, and in a thread
            self._has_tidied = True
            file.forget(time(), self._stale_max)

    def close(self) -> None:
        """Close the file; fetches that were cut off are others' to make now."""
        for origin in self._claimed:
            self._try(partial(SqliteFile.release, origin=origin, holder=self._holder), None)
        self._claimed.clear()
        self._close_file()

    def _close_file(self) -> None:
        if self._file:
            self._file.close()
        self._file = None

    async def _in_thread(self, work: Callable[[SqliteFile], T], otherwise: T) -> T:
        """As `_try`, off the event loop."""
        return await in_thread(self._try, work, otherwise) if self._file else otherwise

    def _try(self, work: Callable[[SqliteFile], T], otherwise: T) -> T:
        """What *work* returns, or *otherwise* when the file does not allow it."""
        file = self._file
        if file is None:
            return otherwise
        try:
            return work(file)
        except (sqlite3.Error, OSError) as error:
            self._recover(file, error)
            return otherwise

    def _recover(self, file: SqliteFile, error: Exception) -> None:
        """After an *error* of *file*: a busy one is left alone, a full disk too; a damaged file is replaced."""
        if self._file is not file:
            return  # somebody else has seen to it, or the crawl is over
        if isinstance(error, (sqlite3.OperationalError, OSError)):
            logger.debug("The store %s: %s", self._path, error)
            return
        self._trouble += 1
        self._close_file()
        if self._trouble > _MOST_TROUBLE:
            self._give_up(error)
        else:
            self._open(error)

    def _open(self, damage: Exception | None = None) -> None:
        """Open the file; one that has *damage* is set aside before."""
        try:
            if damage:
                self._set_aside(damage)
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._open_or_replace()
        except (sqlite3.Error, OSError) as error:
            self._give_up(error)

    def _open_or_replace(self) -> SqliteFile:
        self._inode = _inode(self._path)
        try:
            return SqliteFile(self._path)
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError as error:
            self._set_aside(error)
            return SqliteFile(self._path)
        finally:
            self._inode = _inode(self._path)

    def _give_up(self, error: Exception) -> None:
        logger.warning(
            "The store %s cannot be used (%s): robots.txt files are remembered for this crawl alone."
            " Set REP_STORE_PATH to a file that can be written, or REP_STORE to memory.",
            self._path, error,
        )  # fmt: skip

    def _set_aside(self, error: Exception) -> None:
        if _inode(self._path) != self._inode:
            return  # another process has been faster
        target = next(path for path in map(self._aside, count(1)) if not path.exists())
        for suffix in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                os.replace(f"{self._path}{suffix}", f"{target}{suffix}")
        logger.warning(
            "The store %s is damaged or not ours (%s): it is now %s, and a new one is made.",
            self._path,
            error,
            target,
        )

    def _aside(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.aside-{number}")

    def __repr__(self) -> str:
        return f"<SqliteStore {self._path}{'' if self._file else ' (not in use)'}>"


def _has_died(holder: str) -> bool:
    """Whether *holder* was a process of this machine and is no more; of others nobody can say."""
    pid, _, rest = holder.partition("@")
    if os.name != "posix" or not pid.isdigit() or not rest.startswith(f"{node()}-"):
        return False
    try:
        os.kill(int(pid), 0)
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:
        pass  # it lives, and is somebody else's
    return False


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None
