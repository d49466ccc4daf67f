"""Which sites serve the same file, and which files are nearly identical, however many there are.

Kept in a temporary database, so that memory does not grow with the number of sites.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from sqlite3 import Connection
from typing import Final

from scrapy_rep.census import sketch
from scrapy_rep.census.row import Row

from .site_index import temporary_database

_FILES_COMPARED: Final = 20_000  # with each other: memory, 5 kB each
_AT_ONCE: Final = 1_000  # rows that wait for the database
_CACHE: Final = 32_768  # KiB of the database in memory

_TABLE: Final = "files (id INTEGER PRIMARY KEY, sha TEXT, octets INT, sketch TEXT, count INT, sites TEXT)"
_ADD: Final = """
    INSERT INTO files VALUES (?, ?, ?, ?, 1, ?)
    ON CONFLICT (id) DO UPDATE SET count = count + 1,
        sites = CASE WHEN count < 50 THEN sites || char(10) || excluded.sites ELSE sites END
"""
_SHARED: Final = """
    SELECT sha, octets, sketch, count, sites FROM files WHERE count > 1 AND octets
    ORDER BY count DESC, sites LIMIT ?
"""
_ALL: Final = "SELECT sha, octets, sketch, count, sites FROM files ORDER BY count DESC, sites LIMIT ?"


@dataclass(slots=True)
class SharedFile:
    """A robots.txt that several sites may serve: its SHA-256, its sketch, and the names of the first sites."""

    sha256: str
    octets: int
    sketch: str
    count: int
    sites: list[str]


@dataclass(frozen=True, slots=True)
class SimilarFiles:
    """Files that are nearly identical, and the least similarity, from 0 to 1."""

    files: list[SharedFile]
    similarity: float

    @property
    def count(self) -> int:
        """The number of sites."""
        return sum(file.count for file in self.files)

    @property
    def sites(self) -> list[str]:
        """One site for each file, then others."""
        first = [file.sites[0] for file in self.files]
        return first + [site for file in self.files for site in file.sites[1:]]


class Contents:
    """The different files of a survey, with the sites that serve them."""

    def __init__(self) -> None:
        self._waiting: list[tuple[int, str, int, str, str]] = []

    @cached_property
    def _database(self) -> Connection:
        return temporary_database(_TABLE, _CACHE, owner=self)

    def add(self, row: Row) -> None:
        """Count the file of *row*."""
        sha = row.sha256 or ""
        key = int(sha[:15] or "0", 16)  # 60 bits: two of a thousand million files are mistaken at odds of 1 to 2
        self._waiting.append((key, sha, row.bytes, row.sketch or "", row.site))
        if len(self._waiting) >= _AT_ONCE:
            self._write()

    def shared_files(self, most: int) -> list[SharedFile]:
        """The *most* files that most sites serve, those of several sites, without the empty file."""
        return self._files(_SHARED, most)

    def shared(self) -> tuple[int, int]:
        """The number of files that several sites serve, and that of these sites, without the empty file."""
        self._write()
        asked = "SELECT count(*), coalesce(sum(count), 0) FROM files WHERE count > 1 AND octets"
        files, sites = self._database.execute(asked).fetchone()
        return files, sites

    def similar_files(self) -> list[SimilarFiles]:
        """Groups of files that are nearly, but not all, identical: those of most sites first.

        Compared are the files that most sites serve, `_FILES_COMPARED` of them.
        """
        found = {file.sha256: file for file in self._files(_ALL, _FILES_COMPARED)}
        groups = sketch.groups({sha: file.sketch for sha, file in found.items()})
        similar = (
            SimilarFiles([found[sha] for sha, _ in group], min(alike for _, alike in group)) for group in groups
        )
        return sorted(similar, key=lambda each: (-each.count, each.sites[0]))

    def _files(self, asked: str, most: int) -> list[SharedFile]:
        self._write()
        with closing(self._database.execute(asked, (most,))) as files:
            return [
                SharedFile(sha, octets, text, count, sites.split("\n"))
                for sha, octets, text, count, sites in files
            ]

    def _write(self) -> None:
        self._database.executemany(_ADD, self._waiting)
        self._waiting.clear()
