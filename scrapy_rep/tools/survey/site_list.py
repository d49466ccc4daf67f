"""Sites by name, on disk: however many there are, memory stays the same.

A list has what is known of each; its columns become the strata of a row.
"""

from __future__ import annotations

import csv
import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from math import inf
from typing import Final

from scrapy_rep.protocol import Origin

_CACHE: Final = 16_384  # KiB of a database in memory
_SITE_COLUMNS: Final = ("site", "origin", "host", "hostname", "domain", "url")
"""The names of the column that holds the sites, in a list whose first line has names."""

_LIKE_A_SITE: Final = re.compile(r"[.:\[]|^localhost$")
_RANK: Final = "rank"
"""The name of the first of two columns without names, as in lists of popular sites."""


class _Temporary(sqlite3.Connection):
    def __del__(self) -> None:
        self.close()  # in whichever thread; since 3.13 Python warns of a connection that nobody closes


def temporary_database(table: str, cache: int = _CACHE) -> sqlite3.Connection:
    """A database with *table* in a temporary file, which goes with the connection; *cache* is in KiB."""
    database = sqlite3.connect("", isolation_level=None, check_same_thread=False, factory=_Temporary)
    database.execute(f"PRAGMA cache_size = -{cache}")
    database.execute("PRAGMA journal_mode = OFF")  # nobody reads it after a failure
    database.execute("BEGIN")  # and never commit: without this each row would be written by itself
    database.execute(f"CREATE TABLE {table}")
    return database


class SiteList:
    """The sites of a list, in its order, each once, with the other columns of its line; kept on disk.

    A line is a site, or comma-separated values. The first line may have the names of the columns, one of them
    `_SITE_COLUMNS`; without names the site is the last value, and the first of several is its rank.
    """

    def __init__(self) -> None:
        self._database = temporary_database("sites (place INTEGER PRIMARY KEY, site TEXT UNIQUE, strata TEXT)")
        self._names: list[str] = []

    def add(self, origin: Origin, strata: dict[str, str] | None = None) -> None:
        """Add *origin* with its *strata*, unless it is there."""
        values = str(origin), json.dumps(strata) if strata else "{}"
        self._database.execute("INSERT OR IGNORE INTO sites (site, strata) VALUES (?, ?)", values)

    def read(
        self, lines: Iterable[tuple[int, str]], origin_of: Callable[[str], Origin]
    ) -> Iterator[tuple[int, Exception]]:
        """Add the sites of *lines*, each with its number; yield the number of an invalid one and what is wrong.

        *origin_of* raises an exception for what is no site. Raises ``ValueError`` for a first line with names of
        which none is that of the sites.
        """
        listed = ((number, line) for number, line in lines if not line.startswith("#"))
        for place, (number, line) in enumerate(listed):
            cells = [cell.strip() for cell in next(csv.reader([line]))]
            if place == 0 and any(cell.lower() in _SITE_COLUMNS for cell in cells):
                self._names = [cell.lower() for cell in cells]
                continue
            if place == 0 and len(cells) > 1 and not any(_LIKE_A_SITE.search(cell) for cell in cells):
                raise ValueError(
                    f"the first line names no column of sites: one must be {', '.join(_SITE_COLUMNS)}"
                )
            strata = dict(
                zip(self._names or [_RANK], cells if self._names or len(cells) > 1 else (), strict=False)
            )
            column = next((name for name in _SITE_COLUMNS if name in strata), None)
            try:
                self.add(origin_of(strata.pop(column) if column else cells[-1]), strata)
            except Exception as error:  # noqa: BLE001  # that of the caller
                yield number, error

    def strata(self, site: str) -> dict[str, str] | None:
        """The strata of *site*; None when it is not in the list."""
        found = self._database.execute("SELECT strata FROM sites WHERE site = ?", (site,)).fetchone()
        return json.loads(found[0]) if found else None

    def __len__(self) -> int:
        (number,) = self._database.execute("SELECT count(*) FROM sites").fetchone()
        return int(number)

    def __iter__(self) -> Iterator[str]:
        return (site for (site,) in self._database.execute("SELECT site FROM sites ORDER BY place"))


class Sites:
    """The sites that have come."""

    def __init__(self) -> None:
        self._database = temporary_database("sites (site TEXT PRIMARY KEY) WITHOUT ROWID")

    def is_new(self, site: str) -> bool:
        """Note *site*; return whether it has not come before."""
        return self._database.execute("INSERT OR IGNORE INTO sites VALUES (?)", (site,)).rowcount > 0


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
