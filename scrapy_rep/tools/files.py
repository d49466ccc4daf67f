"""Reads files that anyone may have made: within a bound, and without waiting for what may never come."""

from __future__ import annotations

import errno
import stat
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import IO, Final

from scrapy_rep.protocol import GOOGLE
from scrapy_rep.tools.lint.subject import Subject

MOST_OCTETS: Final = 33_554_432
"""Octets of a file, or of one of its lines, that are read: no robots.txt is as large."""

_START: Final = 1_024  # octets, more than tell what kind of file it is
_subject = partial(Subject, dialect=GOOGLE, limit=None)
_OF_THE_SHELL: Final = frozenset(map(Path, ("/dev", "/dev/fd", "/proc/self/fd")))  # as in diff <(…) FILE


def open_file(path: Path) -> BufferedReader:
    """Open the file at *path*. Raises ``OSError``, for a named pipe too: its writer may never come."""
    if stat.S_ISFIFO(path.stat().st_mode) and path.parent not in _OF_THE_SHELL:
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return path.open("rb")


def read_file(path: Path) -> bytes:
    """Return what the file at *path* holds. Raises ``OSError``, as `read_rest` does too."""
    with open_file(path) as file:
        return read_rest(file)


def read_rest(file: IO[bytes]) -> bytes:
    """Return what is left of *file*. Raises ``OSError`` when that is more than `MOST_OCTETS`."""
    body = file.read(MOST_OCTETS + 1)
    if len(body) > MOST_OCTETS:
        raise OSError(errno.EFBIG, f"larger than {MOST_OCTETS:,} octets")
    return body


def require_text(body: bytes) -> bytes:
    """Return *body*. Raises ``OSError`` if it is clearly no text, such as a gzip file."""
    if kind := _subject(body[:_START]).binary_kind:
        raise OSError(errno.EINVAL, f"{kind}, not plain text")
    return body


def binary_kind_at(path: Path) -> str:
    """What kind of binary file is at *path*; empty for text, and for what cannot be read."""
    try:
        with open_file(path) as file:
            return _subject(file.read(_START)).binary_kind
    except OSError:
        return ""
