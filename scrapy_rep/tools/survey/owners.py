"""One owner, one count: the different files of a survey, and its registrable domains, with what they block.

Kept in a temporary database, so that memory does not grow with the number of sites.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import tldextract

from scrapy_rep.census.row import Row

from .site_list import temporary_database

_CACHE: Final = 32_768  # KiB of the database in memory
_FILES: Final = "files (id INTEGER PRIMARY KEY, octets INT, count INT, figures INT)"
_DOMAINS: Final = "CREATE TABLE domains (name TEXT PRIMARY KEY, count INT, figures INT) WITHOUT ROWID"
_ADD_FILE: Final = """
    INSERT INTO files VALUES (?, ?, 1, ?)
    ON CONFLICT (id) DO UPDATE SET count = count + 1, figures = figures | excluded.figures
"""
_ADD_DOMAIN: Final = """
    INSERT INTO domains VALUES (?, 1, ?)
    ON CONFLICT (name) DO UPDATE SET count = count + 1, figures = figures | excluded.figures
"""
_SHARED: Final = "SELECT coalesce(sum(count), 0) FROM files WHERE count > 1 AND octets"
_LARGEST: Final = "SELECT name, count FROM domains WHERE count > 1 ORDER BY count DESC, name LIMIT 10"

_BITS: Final = {"by name": 1, "completely": 2, "only through *": 4, "known": 8}  # in the column of figures
_COUNTS: Final = """
    SELECT count(*) FILTER (WHERE figures & 1), count(*) FILTER (WHERE figures & 2),
        count(*) FILTER (WHERE figures & 4), count(*) FILTER (WHERE figures & 8) FROM
"""


class Owners:
    """The different files and the registrable domains of a survey."""

    def __init__(self) -> None:
        self._database = temporary_database(_FILES, _CACHE)
        self._database.execute(_DOMAINS)

    def add(self, row: Row, figures: Iterable[str]) -> None:
        """Count the domain and the file of *row*, with the *figures* about AI crawlers in which it counts."""
        bits = sum(_BITS[figure] for figure in figures)
        site = row.site.encode("utf-8", "backslashreplace").decode()  # SQLite takes no lone surrogate
        self._database.execute(_ADD_DOMAIN, (registrable_domain(site), bits))
        if row.has_file:
            key = int((row.sha256 or "0")[:15], 16)  # 60 bits: a mistake in 10^9 files at odds of 1:2
            self._database.execute(_ADD_FILE, (key, row.bytes, bits))

    def files(self) -> dict[str, int]:
        """The number of different files by each figure about AI crawlers, and of all that are known."""
        return dict(zip(_BITS, self._database.execute(f"{_COUNTS} files").fetchone(), strict=True))

    def domains(self) -> dict[str, int]:
        """The number of domains with a site in each figure about AI crawlers, and of all that are known."""
        return dict(zip(_BITS, self._database.execute(f"{_COUNTS} domains").fetchone(), strict=True))

    def __len__(self) -> int:
        (number,) = self._database.execute("SELECT count(*) FROM domains").fetchone()
        return int(number)

    def largest(self) -> list[tuple[str, int]]:
        """The ten domains with most sites, those with several."""
        return self._database.execute(_LARGEST).fetchall()

    def shared_sites(self) -> int:
        """The number of sites that serve the same file as another site, without the empty file."""
        (number,) = self._database.execute(_SHARED).fetchone()
        return int(number)


_suffixes = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)  # its own snapshot: it asks no network


def registrable_domain(site: str) -> str:
    """The name that its owner registered, such as ``example.co.uk``; *site* itself where it has none."""
    found = _suffixes(site)
    return f"{found.domain}.{found.suffix}" if found.domain and found.suffix else site
