"""A store as a source: what its entries mean to a crawl now. Loads Scrapy, as its room does."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrapy_rep.clock import clock
from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.freshness import Backoff, Entry, Freshness
from scrapy_rep.robots.stores import store_of
from scrapy_rep.robots.stores.sqlite import SqliteStore
from scrapy_rep.robots.stores.sqlite_connection import SqliteConnection

from .sources import Known, Missing, Reading, SourceError

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

_ANY: Final = Origin("http", "localhost", 80)


class StoreSource:
    """A store of entries. What an entry means is what it means to a crawl now; none is fetched again."""

    def __init__(self, place: Path | BaseSettings, reading: Reading) -> None:
        """*place* is a SQLite file, or the settings of the crawls that share the store. Raises `SourceError`."""
        self._status_access = reading.status_access
        self._freshness = Freshness(0.0, inf, reading.stale_max, Backoff(0.0, 0.0))
        self._store = SqliteStore(SqliteConnection(place)) if isinstance(place, Path) else store_of(place)
        self.get(_ANY)  # what cannot be used is said at once

    def get(self, origin: Origin) -> Known | Missing:
        """As `Source.get`."""
        try:
            entry = next(self._store.entries(origin), None)
        except OSError as error:
            raise SourceError(str(error)) from None
        if entry is None:
            return Missing.NO_FILE
        access = self._access(entry)
        return Known(access, entry.body if access is Access.SUCCESSFUL else b"")

    def _access(self, entry: Entry) -> Access:
        meaning = self._freshness.access(entry, clock.time())
        is_answer = meaning is entry.access and entry.status is not None
        return self._status_access.get(entry.status or 0, meaning) if is_answer else meaning
