"""`SqliteStore`, the default store: a file that processes and runs share.

The file is in the project's data folder. Without a project there is no data folder, and nothing is stored unless
``REP_STORE_PATH`` names a file.
"""

from __future__ import annotations

import logging
import sqlite3
from contextlib import contextmanager, suppress
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from scrapy.exceptions import NotConfigured
from scrapy.utils.project import project_data_dir

from scrapy_rep.clock import clock
from scrapy_rep.crawl.robots.stores import NullStore
from scrapy_rep.crawl.robots.stores.sqlite_connection import SqliteConnection, StoreAwayError
from scrapy_rep.crawl.robots.stores.sqlite_file import SqliteFile
from scrapy_rep.crawl.runtime.crawl import Crawl
from scrapy_rep.protocol.freshness import LONG_UNREACHABLE
from scrapy_rep.settings import NOT_SHARED, RepSettings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from scrapy.crawler import Crawler
    from typing_extensions import Self

    from scrapy_rep.protocol import Origin
    from scrapy_rep.protocol.freshness import Entry

logger = logging.getLogger(__name__)

DEFAULT_PATH: Final = "robots.sqlite"


def path_of_store(settings: RepSettings) -> Path | None:
    """Return the path of the SQLite file, or None if there is neither a project nor a ``REP_STORE_PATH``.

    A relative path starts from the project's data folder, ``.scrapy``. Without a project (scripts and eggs have no
    ``scrapy.cfg``), it starts from the working directory.
    """
    try:
        return Path(project_data_dir(), settings.store_path or DEFAULT_PATH)
    except NotConfigured:
        return Path(settings.store_path).absolute() if settings.store_path else None


class SqliteStore:
    """A `Store` in a SQLite file. While the file cannot be used, it returns no entries and grants every lease."""

    def __init__(self, connection: SqliteConnection, stale_max: float = LONG_UNREACHABLE) -> None:
        """*stale_max*: seconds for which an expired entry may be served stale, and is therefore kept."""
        self.connection = connection
        self._stale_max = stale_max
        self._has_leased = self._has_swept = False
        self._sweep: Iterator[int] | None = None
        self._at_rest: SqliteFile | None = None
        self._holder = uuid4().hex

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self | NoFileStore:
        settings = Crawl.of(crawler).settings
        path = path_of_store(settings)
        return cls(SqliteConnection(path), settings.stale_max) if path else NoFileStore()

    async def get(self, origin: Origin) -> Entry | None:
        try:
            return await self.connection.read(lambda file: file.get(origin))
        except StoreAwayError:
            return None

    async def put(self, entry: Entry) -> None:
        with suppress(StoreAwayError):
            await self.connection.write(lambda file: file.put(entry, self._holder, clock.time()))
            if not self._has_swept:
                await self.connection.write_in_thread(lambda file: self._sweep_on(file, entry.origin))

    async def acquire_lease(self, origin: Origin, seconds: float) -> bool:
        """As `Store.acquire_lease`, between processes that share the file."""
        return await self._lease(origin, seconds, inf)

    async def claim(self, origin: Origin, seconds: float, seen: Entry | None) -> bool:
        """Try to get the lease, unless an entry newer than *seen* is stored."""
        return await self._lease(origin, seconds, seen.dated_at if seen else -1.0)

    async def release_lease(self, origin: Origin) -> None:
        with suppress(StoreAwayError):
            await self.connection.write(lambda file: file.release_lease(origin, self._holder))

    async def note(self, key: str) -> str | None:
        try:
            return await self.connection.read(lambda file: file.note(key, clock.time()))
        except StoreAwayError:
            return None

    async def put_notes(self, notes: Mapping[str, str], seconds: float) -> None:
        with suppress(StoreAwayError):
            await self.connection.write(lambda file: file.put_notes(notes, clock.time(), seconds))

    def close(self) -> None:
        """Release all leases of this crawl, which other processes may need now, and close the file."""
        self.connection.close(self._release_all)
        if self._at_rest:
            self._at_rest.close()

    def entries(self, origin: Origin | None = None) -> Iterator[Entry]:
        """As `Store.entries`. Commands change no file that they cannot read."""
        with self._file() as file:
            yield from file.entries(origin)

    def purge(self, origin: Origin | None = None) -> int:
        with self._file() as file:
            return file.purge(origin)

    @contextmanager
    def _file(self) -> Iterator[SqliteFile]:
        """Open the file outside a crawl: never create it, and leave a damaged or foreign file in place."""
        path = self.connection.path
        if not path.exists():
            more = f". {NOT_SHARED}" if path.name == DEFAULT_PATH else ""
            raise StoreAwayError(
                f"there is no store at {path}: name another one with -s REP_STORE_PATH=FILE{more}"
            )
        try:
            self._at_rest = self._at_rest or SqliteFile(path)
            yield self._at_rest
        except sqlite3.Error as error:
            raise StoreAwayError(f"the store {path} cannot be read: {error}") from None

    async def _lease(self, origin: Origin, seconds: float, since: float) -> bool:
        self._has_leased = True
        terms = (origin, self._holder, clock.time(), seconds, since)
        try:
            return await self.connection.write(lambda file: file.lease(*terms))
        except StoreAwayError:
            return True

    def _sweep_on(self, file: SqliteFile, start: Origin) -> None:
        """Run the next step of this crawl's only sweep."""
        if self._sweep is None:
            self._sweep = file.sweep(start, clock.time(), self._stale_max)
        self._has_swept = next(self._sweep, None) is None

    def _release_all(self, file: SqliteFile) -> None:
        if self._has_leased:
            file.release_all(self._holder)

    def __repr__(self) -> str:
        return f"<SqliteStore {self.connection!r}>"


class NoFileStore(NullStore):
    """A store without a file. The first `get` warns, so a crawl that needs no robots.txt stays silent."""

    _has_warned = False

    async def get(self, origin: Origin) -> Entry | None:  # noqa: ARG002
        if not self._has_warned:
            self._has_warned = True
            logger.warning(
                "Without a project (no scrapy.cfg found) robots.txt files are kept for this crawl only. Set"
                " REP_STORE_PATH to a file to keep them for the next one, or REP_STORE to 'memory' to hide this."
            )
        return None

    def entries(self, origin: Origin | None = None) -> Iterator[Entry]:  # noqa: ARG002
        raise StoreAwayError(
            "without a project (scrapy.cfg) there is no default store: name one with -s REP_STORE_PATH=FILE"
        )

    def purge(self, origin: Origin | None = None) -> int:
        return len([*self.entries(origin)])
