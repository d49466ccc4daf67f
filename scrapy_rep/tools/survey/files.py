"""A folder of robots.txt files to records, over several processes where there are many."""

from __future__ import annotations

import multiprocessing
import os
import signal
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

from scrapy_rep.protocol import Dialect

from .measure import measure
from .record import SiteRecord

_MANY: Final = 200  # files; with fewer a second process does not pay
_MOST: Final = 33_554_432  # octets of a file
_AT_ONCE: Final = 16  # files handed to a process


def files_in(folder: Path) -> list[Path]:
    """The files in *folder* and below, hidden ones left out. Raises ``OSError``."""
    found = []
    for place, folders, names in os.walk(folder, onerror=_raise):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [Path(place, name) for name in sorted(names) if not name.startswith(".")]
    return found


def site_of(folder: Path, path: Path) -> str:
    """What the record of the file at *path* in *folder* calls its site."""
    name = path.relative_to(folder).as_posix()
    return os.fsencode(name.removesuffix(".txt")).decode("utf-8", "backslashreplace")


def measured(folder: Path, paths: list[Path], dialect: Dialect, limit: int) -> Iterator[SiteRecord]:
    """The records of the files at *paths* in *folder*, in their order, as they come.

    A file that cannot be read gives a record that says so.
    """
    work = partial(_measured, folder, dialect, limit)
    processes = min(os.cpu_count() or 1, 8)
    if len(paths) < _MANY or processes == 1:
        yield from map(work, paths)
        return
    with _pool(processes) as pool:
        yield from pool.imap(work, paths, chunksize=_AT_ONCE)


@contextmanager
def _pool(processes: int) -> Iterator[multiprocessing.pool.Pool]:
    # Ctrl-C is for the process that writes the report.
    with multiprocessing.Pool(processes, signal.signal, (signal.SIGINT, signal.SIG_IGN)) as pool:
        yield pool


def _measured(folder: Path, dialect: Dialect, limit: int, path: Path) -> SiteRecord:
    site = site_of(folder, path)
    try:
        body = _read(path)
    except OSError as error:
        return SiteRecord(site=site, access="unreachable", problem=error.strerror or str(error))
    return measure(site, body, dialect=dialect, limit=limit)


def _read(path: Path) -> bytes:
    """The octets of a file, of a very large one the first; a pipe or a device would never end."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError("not a regular file")
    with path.open("rb") as file:
        return file.read(_MOST)


def _raise(error: OSError) -> None:
    raise error
