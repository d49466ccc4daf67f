"""The file of ``scrapy robots watch``: the robots.txt of each site as it was last read.

A SQLite file of its own rather than the store of a project, whose entries expire and are replaced by every crawl.
It holds bodies, not verdicts, so that agents and paths may differ from run to run.
"""

from __future__ import annotations

import sqlite3
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any, Final

_APPLICATION: Final = 0x52455057  # SQLite's application_id, in the header of the file: "REPW"
FORMAT: Final = 1
_TABLE: Final = """CREATE TABLE sites (
    site TEXT PRIMARY KEY, status INTEGER, read_at REAL NOT NULL, problem TEXT NOT NULL, body BLOB
) WITHOUT ROWID"""
_VALUES: Final = "status, read_at, problem, body"  # in the order of the fields of `Copy`
_PUT: Final = f"INSERT OR REPLACE INTO sites (site, {_VALUES}) VALUES (?, ?, ?, ?, ?)"  # noqa: S608


class UnusableFileError(Exception):
    """The file cannot be used; the message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Copy:
    """The robots.txt of a site as it was last read.

    ``status`` is the HTTP status of the last response, None without one. ``read_at`` is the time in POSIX seconds.
    ``problem`` says why the site has been unreachable since then; it is empty while the site can be reached.
    ``body`` is None where there is no robots.txt.
    """

    status: int | None
    read_at: float
    problem: str
    body: bytes | None


class Copies:
    """The copies in the file at *path*, which is created if it does not exist.

    Keeps other runs from using the file until it is closed. What was stored since it was opened is lost
    without `commit`, however the run ends. Every method raises `UnusableFileError`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._database = sqlite3.connect(path.absolute(), timeout=0, isolation_level=None)
        except sqlite3.Error as error:
            raise self._unusable(error) from None
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    def _prepare(self) -> None:
        self._execute("BEGIN IMMEDIATE")
        (tables,) = self._execute("SELECT count(*) FROM sqlite_master")
        (application,), (version,) = map(self._execute, ("PRAGMA application_id", "PRAGMA user_version"))
        if tables and application != _APPLICATION:
            raise UnusableFileError(f"{self._path} belongs to another program: name another file")
        if tables and version != FORMAT:
            raise UnusableFileError(
                f"{self._path} has format {version}, which this version of scrapy_rep cannot read:"
                " name another file"
            )
        if not tables:
            self._execute(_TABLE)
            self._execute(f"PRAGMA application_id = {_APPLICATION}")
            self._execute(f"PRAGMA user_version = {FORMAT}")
        elif self._path.stat().st_size % self._execute("PRAGMA page_size")[0]:
            # SQLite takes what is missing of the last page for zeros.
            raise UnusableFileError(self._damaged("its end is missing"))

    def get(self, site: str) -> Copy | None:
        """The copy of *site*, if there is one."""
        found = self._execute(f"SELECT {_VALUES} FROM sites WHERE site = ?", site)  # noqa: S608
        if found is None:
            return None
        status, read_at, problem, body = found
        if not isinstance(read_at, float) or not isinstance(problem, str) or not isinstance(body, bytes | None):
            raise UnusableFileError(self._damaged(f"the row of {site} cannot be read"))
        return Copy(status, read_at, problem, body)

    def store(self, site: str, copy: Copy) -> None:
        """Replace the copy of *site*."""
        self._execute(_PUT, site, *astuple(copy))

    def commit(self) -> None:
        """Write what was stored to the file, all of it or nothing."""
        self._execute("COMMIT")

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def _execute(self, statement: str, *values: Any) -> Any:
        """The first row of the answer to *statement*, if there is one."""
        try:
            return self._database.execute(statement, values).fetchone()
        except sqlite3.Error as error:
            raise self._unusable(error) from None

    def _unusable(self, error: sqlite3.Error) -> UnusableFileError:
        if "locked" in str(error):
            return UnusableFileError(f"another run uses {self._path}: wait until it has ended")
        if isinstance(error, sqlite3.OperationalError):  # no such folder, not writable, disk full
            return UnusableFileError(f"{self._path} cannot be used: {error}")
        if "not a database" in str(error):
            return UnusableFileError(f"{self._path} is not a file of this command: name another file")
        return UnusableFileError(self._damaged(str(error)))

    def _damaged(self, how: str) -> str:
        return f"{self._path} is damaged: {how}. Remove it to begin again: the next run then only stores"
