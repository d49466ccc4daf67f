"""Reads files that anyone may have made: within a bound, and without waiting for what may never come."""

from __future__ import annotations

import bz2
import errno
import gzip
import lzma
import os
import stat
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from io import BufferedReader
from itertools import chain
from pathlib import Path
from typing import IO, Final, cast

from scrapy_rep.protocol import GOOGLE
from scrapy_rep.tools.lint.subject import Subject

MOST_OCTETS: Final = 33_554_432
"""Octets of a file, or of one of its lines, that are read: no robots.txt is as large."""

CHUNK: Final = 524_288
"""Octets of a piece of a list, more or less: handing it to a process costs nothing, for a little memory."""

Damaged: Final = (EOFError, zlib.error, lzma.LZMAError)
"""What reading raises, beside ``OSError``, when a compressed file is cut off or damaged."""

_USUAL: Final = 65_536  # octets of a file; a buffer for the most takes longer to make than such a file to read
_START: Final = 1_024  # octets, more than tell what kind of file it is
_LONGEST_LINE: Final = 262_148  # octets of a line of a list that are kept: more than a URL of 65,536 characters
_subject = partial(Subject, dialect=GOOGLE, limit=None)
_OF_THE_SHELL: Final = frozenset(map(Path, ("/dev", "/dev/fd", "/proc/self/fd")))  # as in diff <(…) FILE
_OPENERS: Final[Mapping[bytes, Callable[[BufferedReader], object]]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\0": lzma.open,
}  # by the first octets


def open_file(path: Path | str) -> BufferedReader:
    """Open the file at *path*. Raises ``OSError``, for a named pipe too: its writer may never come."""
    if stat.S_ISFIFO(os.stat(path).st_mode) and Path(path).parent not in _OF_THE_SHELL:
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return open(path, "rb")


def read_file(path: Path | str) -> bytes:
    """Return what the file at *path* holds. Raises ``OSError``, as `read_rest` does too."""
    with open_file(path) as file:
        return read_rest(file)


def read_rest(file: IO[bytes]) -> bytes:
    """Return what is left of *file*. Raises ``OSError`` when that is more than `MOST_OCTETS`."""
    body = file.read(min(_USUAL, MOST_OCTETS + 1))
    if len(body) == _USUAL:
        body += file.read(MOST_OCTETS + 1 - _USUAL)
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


def files_in(folder: Path, *, is_searched: Callable[[Path], bool] = lambda _: True) -> Iterator[Path]:
    """Yield the files in *folder* and below, in order; folders that are hidden, or not searched, are left out.

    Raises ``OSError``.
    """

    def fail(error: OSError) -> None:
        raise error

    for parent, folders, names in os.walk(folder, onerror=fail):
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and is_searched(Path(parent, name))
        )
        yield from (Path(parent, name) for name in sorted(names))


# Lists of any size, with lines of any length.


def decompressed(file: BufferedReader) -> IO[bytes]:
    """*file*, or what it holds if it is compressed with gzip, bzip2 or xz."""
    start = file.peek(max(map(len, _OPENERS)))
    opener = next((opener for magic, opener in _OPENERS.items() if start.startswith(magic)), None)
    return cast("IO[bytes]", opener(file)) if opener else file


def chunks(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the content of *file* in pieces of whole lines, each with its LF, without a byte order mark.

    Of a line that is longer than any URL the start is kept, which is too long for one, too. Raises what reading
    raises, and ``OSError`` for a binary file.
    """
    rest = b""
    is_skipping = False  # the end of a line that is too long
    first = require_text(file.read(CHUNK)).removeprefix(BOM_UTF8)  # Notepad writes one
    for block in chain([first], iter(partial(file.read, CHUNK), b"")):
        if is_skipping:
            _, end, block = block.partition(b"\n")  # noqa: PLW2901
            is_skipping = not end
        whole, end, rest = (rest + block).rpartition(b"\n")
        if end:
            yield whole + end
        if len(rest) > _LONGEST_LINE:
            yield rest[:_LONGEST_LINE] + b"\n"
            rest, is_skipping = b"", True
    if rest:
        yield rest + b"\n"
