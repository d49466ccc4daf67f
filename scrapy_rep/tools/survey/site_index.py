"""Sites by name, each with a text, a number or nothing, on disk: however many there are, memory stays the same."""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from math import inf
from typing import Final

_CACHE: Final = 16_384  # KiB of the database in memory


def temporary_database(table: str, cache: int = _CACHE, *, owner: object = None) -> sqlite3.Connection:
    """A database with *table* in a temporary file, closed with *owner*, if there is one; *cache* is in KiB."""
    database = sqlite3.connect("", isolation_level=None)
    if owner is not None:
        weakref.finalize(owner, database.close)  # since 3.13 Python warns of a connection that nobody closes
    database.execute(f"PRAGMA cache_size = -{cache}")
    database.execute("PRAGMA journal_mode = OFF")  # nobody reads it after a failure
    database.execute("BEGIN")  # and never commit: without this each row would be written by itself
    database.execute(f"CREATE TABLE {table}")
    return database


class SiteIndex:
    """Sites in the order in which they came, each once, with a value."""

    def __init__(self) -> None:
        table = "sites (place INTEGER PRIMARY KEY, site TEXT UNIQUE, value)"
        self._database = temporary_database(table, owner=self)

    def add(self, site: str, value: str = "") -> None:
        """Add *site* with *value*; the first value of a site stays."""
        self._database.execute("INSERT OR IGNORE INTO sites (site, value) VALUES (?, ?)", (site, value))

    def count(self, site: str) -> None:
        """Add 1 to the number that is the value of *site*."""
        self._database.execute(
            "INSERT INTO sites (site, value) VALUES (?, 1) ON CONFLICT (site) DO UPDATE SET value = value + 1",
            (site,),
        )

    def take(self, site: str) -> bool:
        """Take 1 from the number of *site*; return False when there is none left."""
        asked = "UPDATE sites SET value = value - 1 WHERE site = ? AND value > 0"
        return self._database.execute(asked, (site,)).rowcount > 0

    def get(self, site: str) -> str | None:
        """The value of *site*; None for one that is not there."""
        found = self._database.execute("SELECT value FROM sites WHERE site = ?", (site,)).fetchone()
        return found[0] if found else None

    def __len__(self) -> int:
        (number,) = self._database.execute("SELECT count(*) FROM sites").fetchone()
        return int(number)

    def __iter__(self) -> Iterator[str]:
        """The sites in the order in which they came."""
        return (site for (site,) in self._database.execute("SELECT site FROM sites ORDER BY place"))


def newest(captures: Iterable[tuple[str, datetime | None, str]], is_wanted: Callable[[str], bool]) -> bytearray:
    """For each of *captures* an octet: 1 for the newest of a site that *is_wanted*, else 0.

    A capture is a site, a time, and the text of which the greatest counts at the same time. One without a time is
    older than all others.
    """
    database = temporary_database("newest (site TEXT PRIMARY KEY, at REAL, rank, place INTEGER) WITHOUT ROWID")
    number = 0

    def numbered() -> Iterator[tuple[str, float, str, int]]:
        nonlocal number
        for site, time, rank in captures:
            yield site, time.timestamp() if time else -inf, rank, number
            number += 1

    database.executemany(
        "INSERT INTO newest VALUES (?, ?, ?, ?) ON CONFLICT (site) DO UPDATE SET at = excluded.at,"
        " rank = excluded.rank, place = excluded.place WHERE (excluded.at, excluded.rank) > (at, rank)",
        numbered(),
    )
    found = bytearray(number)
    for site, place in database.execute("SELECT site, place FROM newest"):
        found[place] = is_wanted(site)
    database.close()
    return found
