"""A store as a source: what the entries of a SQLite file mean to a crawl now. Loads Scrapy, as its room does."""

from __future__ import annotations

import sqlite3
from math import inf
from pathlib import Path

from scrapy_rep.clock import clock
from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.freshness import Backoff, Entry, Freshness
from scrapy_rep.robots.stores.sqlite_file import SqliteFile

from .sources import Known, Missing, Reading, SourceError


class StoreSource:
    """A SQLite file of entries. What an entry means is what it means to a crawl now; none is fetched again."""

    def __init__(self, path: Path, reading: Reading) -> None:
        """Raises `SourceError`."""
        self._path, self._status_access = path, reading.status_access
        self._freshness = Freshness(0.0, inf, reading.stale_max, Backoff(0.0, 0.0))
        try:
            self._file = SqliteFile(path)
        except sqlite3.Error as error:
            raise self._error(error) from None

    def get(self, origin: Origin) -> Known | Missing:
        """As `Source.get`."""
        try:
            entry = self._file.get(origin)
        except sqlite3.Error as error:
            raise self._error(error) from None
        if entry is None:
            return Missing.NO_FILE
        access = self._access(entry)
        return Known(access, entry.body if access is Access.SUCCESSFUL else b"")

    def _access(self, entry: Entry) -> Access:
        meaning = self._freshness.access(entry, clock.time())
        is_answer = meaning is entry.access and entry.status is not None
        return self._status_access.get(entry.status or 0, meaning) if is_answer else meaning

    def _error(self, error: sqlite3.Error) -> SourceError:
        return SourceError(f"the store {self._path} cannot be read: {error}")
