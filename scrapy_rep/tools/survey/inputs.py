"""What a survey reads instead of fetching: files of a folder, captures in WARC files, rows in Parquet."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import partial
from itertools import compress
from pathlib import Path
from typing import Final, NamedTuple

from scrapy_rep.census import Capture, Row, precedence, site_of
from scrapy_rep.protocol import Origin
from scrapy_rep.tools.files import ARCHIVES, binary_kind_at, files_in, not_plain_text, read_file, wrong_place

from .folder import SurveyFolder, named_origin
from .site_list import newest

WITHOUT: Final = {
    "fastwarc": "FastWARC, which reads WARC files, is not installed: pip install 'scrapy_rep[warc]'",
    "pyarrow": "pyarrow, for Parquet, is not installed: pip install 'scrapy_rep[parquet]'",
}
"""What to say of a library that is missing."""

WORTH_PROCESSES: Final = 200
"""Files or captures from which on several processes measure them."""

PATHS_AT_ONCE: Final = 64
"""Files that a process is told of at once: a path is sent, no body."""


class Captured(NamedTuple):
    """A capture, the name of the file that has its body, if any, and the date of its survey, one of several."""

    capture: Capture
    file: str | None = None
    date: str | None = None

    def read(self) -> Captured:
        """Itself."""
        return self


class FileToRead(NamedTuple):
    """A file at *path*, one of *files*, that another process reads; its name in the row is relative to *out*."""

    files: Files
    path: Path
    out: Path

    def read(self) -> Captured:
        """Return what is there."""
        try:
            name = os.path.relpath(self.path, self.out)
        except ValueError:  # another drive
            name = os.path.abspath(self.path)
        return Captured(self.files.capture(self.path), name, self.files.date)


Run = Callable[[Iterable[Captured | FileToRead]], Iterator[Row]]
"""Yields the row of each, in order; other processes read and measure them."""


class Survey(NamedTuple):
    """A survey to compare with others."""

    name: str
    rows: Callable[[], Iterator[Row]]


_DATE: Final = re.compile(r"(?<!\d)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?!\d)")
_URL: Final = re.compile(r"[a-z0-9]{2,}:/")
_HTTP, _HTTPS = 80, 443


@dataclass(frozen=True, slots=True)
class Files:
    """The robots.txt files in a folder and below, in the survey of *date* if there are several.

    They were captured on the date that the folder is called by, such as ``2026-11-24``, if it is.
    """

    folder: Path
    date: str | None = None

    @property
    def name(self) -> str:
        """The name of the folder."""
        return self.folder.resolve().name

    def paths(self) -> Iterator[Path]:
        """The files that are not hidden. Raises ``OSError``, and ``ValueError`` for a file instead of a folder."""
        if self.folder.is_file():
            raise ValueError(f"{self.folder}: {wrong_place(self.folder, 'a folder')}")
        return (path for path in files_in(self.folder) if not path.name.startswith("."))

    def problem(self, path: Path) -> str:
        """What is wrong with the file at *path*, an archive; empty for what a server may send as robots.txt."""
        kind = binary_kind_at(path)
        return f"{path}: {not_plain_text(kind)}" if kind in ARCHIVES else ""

    def site(self, path: Path) -> str:
        """The site of the file at *path*: the origin that its name stands for, else its name.

        See `named_origin`; without a scheme, port 80 stands for http, and any other for https.
        """
        found = named_origin(path.name)
        if not found:
            name = path.relative_to(self.folder).as_posix().removesuffix(".txt")
            return os.fsencode(name).decode("utf-8", "backslashreplace")
        scheme = found.scheme or ("http" if found.port == _HTTP else "https")
        return str(Origin(scheme, found.host, found.port or _HTTPS))

    def capture(self, path: Path) -> Capture:
        """Return what is at *path*; a file that cannot be read has a problem."""
        site, body, problem = self.site(path), None, None
        try:
            body = read_file(path)
        except OSError as error:
            problem = error.strerror or str(error)
        url = f"{site}/robots.txt" if site.startswith(("http://", "https://")) else site
        return Capture(url, body=body, fetched_at=self._date, problem=problem)

    @property
    def _date(self) -> datetime | None:
        try:
            return datetime.strptime(self.name, "%Y-%m-%d").replace(tzinfo=timezone.utc)
        except ValueError:
            return None

    def rows(self, run: Run, out: Path) -> Iterator[Row]:
        """The rows of all files; names in them are relative to *out*."""
        return run(FileToRead(self, path, out) for path in self.paths() if not self.problem(path))


class WarcCaptures:
    """The newest capture of each site in the WARC files at *paths*, which are read twice: to choose, to measure.

    Of a file that turns out to be damaged, what comes before the damage counts; *damaged* is told of it, and the
    next file follows. ``skipped`` is the number of records that cannot be read.
    """

    def __init__(self, paths: Iterable[str], damaged: Callable[[ValueError], object]) -> None:
        """Raises ``OSError`` for a path at which nothing is, and ``ModuleNotFoundError`` without FastWARC."""
        from scrapy_rep.census.warc import WarcReader  # noqa: PLC0415  # an extra

        self.skipped = 0
        self._reader = WarcReader
        self._files = [*map(_there, paths)]  # of thousands the last may be missing
        self._damaged = damaged
        self._chosen = bytearray()

    def choose(self, is_wanted: Callable[[str], bool]) -> int:
        """Choose the newest capture of each site that *is_wanted*, and return their number. Raises ``OSError``."""
        captures = self._all(self._damaged)
        sites = ((site_of(each.url), each.fetched_at, precedence(each)) for each in captures)
        self._chosen = newest(sites, is_wanted)
        return sum(self._chosen)

    def __iter__(self) -> Iterator[Capture]:
        """The captures that were chosen, in order."""
        return compress(self._all(bool), self._chosen)

    def _all(self, damaged: Callable[[ValueError], object]) -> Iterator[Capture]:
        reader = self._reader()
        for file in self._files:
            try:
                yield from reader.captures(file)
            except ValueError as error:  # noqa: PERF203
                damaged(error)
        self.skipped = reader.skipped


class ParquetRows:
    """The rows in Parquet, a file or a folder of parts, that another program such as Spark wrote."""

    def __init__(self, path: Path) -> None:
        """Raises ``ModuleNotFoundError`` without pyarrow."""
        from scrapy_rep.census import arrow  # noqa: PLC0415  # takes as long to load as all the rest

        self.name = path.name.removesuffix(".parquet").removeprefix("crawl=")
        self.rows = partial(arrow.rows_in, path)
        self.sites = partial(arrow.sites_in, path)


def surveys_in(path: Path) -> list[SurveyFolder | ParquetRows]:
    """The surveys at *path*: a folder with ``survey.jsonl``, Parquet, or a folder ``crawl=…`` for each."""
    folder = SurveyFolder(path)
    if folder.is_used or not path.exists():
        return [folder]
    return [*map(ParquetRows, sorted(path.glob("crawl=*")) or [path])]


def dates_in(folder: Path) -> dict[str, list[Path]]:
    """What is in *folder* for each date in a name, such as ``2026-11-24`` or ``robots-2026-11-24.warc.gz``.

    Raises ``OSError``, and ``ValueError`` for fewer than two dates.
    """
    found: dict[str, list[Path]] = {}
    for path in sorted(folder.iterdir()):
        for date in _DATE.findall(path.name)[:1]:
            found.setdefault(date, []).append(path)
    if len(found) < 2:
        raise ValueError(
            f"{folder}: two or more folders or WARC files must have a date in their names, such as 2026-11-24"
        )
    return dict(sorted(found.items()))


def rows_of_date(
    date: str, paths: Iterable[Path], run: Run, out: Path, damaged: Callable[[ValueError], object]
) -> Iterator[Row]:
    """The rows of the robots.txt files and the WARC files at *paths*, some of them perhaps *damaged*."""
    archives: list[str] = []
    for path in paths:
        files = [*files_in(path)] if path.is_dir() else [path]
        if files and binary_kind_at(files[0]) in ARCHIVES:
            archives += map(str, files)
        else:
            yield from Files(path, date).rows(run, out)
    if archives:
        captures = WarcCaptures(archives, damaged)
        captures.choose(bool)
        yield from run(Captured(capture, None, date) for capture in captures)


def _there(path: str) -> Path:
    if _URL.match(path):
        raise OSError(errno.ENOENT, "a URL; download it first", path)
    os.stat(path)
    return Path(path)
