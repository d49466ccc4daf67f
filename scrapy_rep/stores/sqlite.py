"""The default store: a SQLite file in the project's data folder, shared by processes and runs.

Without a project there is no such folder: entries are kept in memory, unless ``REP_STORE_PATH`` names a file.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from scrapy.exceptions import NotConfigured
from scrapy.utils.project import project_data_dir

from scrapy_rep.protocol.freshness import LONG_UNREACHABLE
from scrapy_rep.settings import RepSettings

from .lease import LeaseHolder, has_died
from .sqlite_link import SqliteLink, StoreAwayError

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self

    from scrapy_rep.protocol import Origin
    from scrapy_rep.protocol.freshness import Entry

    from .sqlite_file import SqliteFile

logger = logging.getLogger(__name__)

DEFAULT_PATH: Final = "robots.sqlite"

_links: WeakKeyDictionary[Crawler, SqliteLink | None] = WeakKeyDictionary()


def path_of_store(settings: RepSettings) -> Path | None:
    """The file that ``REP_STORE_PATH`` names; a relative one is in the project's data folder, ``.scrapy``.

    Without a project (scripts, eggs: there is no ``scrapy.cfg``) a relative path counts from the working
    directory, and without a path there is no file.
    """
    try:
        return Path(project_data_dir(), settings.store_path or DEFAULT_PATH)
    except NotConfigured:
        return Path(settings.store_path).absolute() if settings.store_path else None


def link_of(crawler: Crawler) -> SqliteLink | None:
    """The way of *crawler* to its file, one for all who use it; None where there is none."""
    if crawler not in _links:
        path = path_of_store(RepSettings.from_crawler(crawler))
        _links[crawler] = SqliteLink(path) if path else None
    return _links[crawler]


class SqliteStore:
    """Entries in a `SqliteFile`; goes on without when there can be none."""

    def __init__(self, link: SqliteLink | None, stale_max: float = LONG_UNREACHABLE) -> None:
        """*stale_max* seconds an entry may stand in when it has expired; later it is forgotten."""
        self._link = link
        self._stale_max = stale_max
        self._has_tidied = self._has_warned = self._has_leased = False
        self._holder = LeaseHolder.new()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(link_of(crawler), RepSettings.from_crawler(crawler).stale_max)

    async def get(self, origin: Origin) -> Entry | None:
        """The entry of *origin*, fresh or not; None when there is none."""
        if self._link is None:
            self._warn()
            return None
        try:
            return await self._link.read(lambda file: file.get(origin))
        except StoreAwayError:
            return None

    async def put(self, entry: Entry) -> None:
        """Keep *entry* and release the lease on its origin."""
        with suppress(StoreAwayError):
            if self._link:
                await self._link.write(lambda file: self._put(file, entry))

    async def acquire_lease(self, origin: Origin, seconds: float) -> bool:
        """Whether this crawl may fetch *origin* now; a store that cannot tell lets it."""
        try:
            return self._link is None or await self._link.write(lambda file: self._lease(file, origin, seconds))
        except StoreAwayError:
            return True

    async def release_lease(self, origin: Origin) -> None:
        """Release the lease on *origin*."""
        with suppress(StoreAwayError):
            if self._link:
                await self._link.write(lambda file: file.release_lease(origin, str(self._holder)))

    def close(self) -> None:
        """Close the file; fetches that were cut off are others' to make now."""
        self._holder.retire()
        if self._link:
            self._link.close(self._release_all)

    def _put(self, file: SqliteFile, entry: Entry) -> None:
        file.put(entry, str(self._holder), time())
        if not self._has_tidied:  # once in a crawl
            self._has_tidied = True
            file.forget(time(), self._stale_max)

    def _lease(self, file: SqliteFile, origin: Origin, seconds: float) -> bool:
        self._has_leased = True
        holder = str(self._holder)
        other = file.lease(origin, holder, time(), seconds)
        if other and has_died(other):
            file.release_lease(origin, other)
            other = file.lease(origin, holder, time(), seconds)
        return other is None

    def _release_all(self, file: SqliteFile) -> None:
        if self._has_leased:
            file.release_all(str(self._holder))

    def _warn(self) -> None:
        """A crawl that needs no store is told nothing."""
        if not self._has_warned:
            self._has_warned = True
            logger.warning(
                "Without a project (there is no scrapy.cfg) robots.txt files are remembered for this crawl alone."
                " Set REP_STORE_PATH to a file for the next one, or REP_STORE to memory."
            )

    def __repr__(self) -> str:
        return f"<SqliteStore {self._link!r}>"
