"""Reads files that anyone may have made, within a bound and without waiting for what may never come.

Tells binary files from text, and writes CSV that a spreadsheet computes nothing from.
"""

from __future__ import annotations

import csv
import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from io import BufferedReader
from pathlib import Path
from typing import IO, Final

from scrapy_rep.protocol import GOOGLE, Dialect, parse

MOST_OCTETS: Final = 33_554_432
"""Octets of a file, or of one of its lines, that are read: no robots.txt is as large."""

_USUAL: Final = 65_536  # octets of a file; a buffer for the most takes longer to make than such a file to read
_START: Final = 1_024  # octets, more than tell what kind of file it is
_OF_THE_SHELL: Final = frozenset(map(Path, ("/dev", "/dev/fd", "/proc/self/fd")))  # as in diff <(…) FILE
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
_SAMPLE: Final = 256  # octets, enough to detect UTF-16
_ARCHIVE: Final = "a WARC file"  # the groups in it are those of many files
_SIGNATURES: Final = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"\0\0\1\0", "an icon"),
    (b"RIFF", "a WebP image, a sound or a film"),
    (b"%PDF-", "a PDF document"),
    (b"PK\3\4", "a ZIP archive"),
    (b"\x1f\x8b", "a gzip file"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file"),
    (b"BZh", "a bzip2 file"),
    (b"\xfd7zXZ\0", "an xz file"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\7", "a RAR archive"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90\0", "a program"),
    (b"\xd0\xcf\x11\xe0", "an Office document"),
    (b"wOF", "a font"),
    (b"WARC/", _ARCHIVE),
)
_CONTROLS: Final = bytes(set(range(0x20)) - set(b"\t\n\v\f\r"))
_MOST_CONTROLS: Final = 0.1  # of the octets of a text
_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")


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
    if kind := binary_kind(body[:_START]):
        raise OSError(errno.EINVAL, f"{kind}, not plain text")
    return body


def binary_kind_at(path: Path) -> str:
    """What kind of binary file is at *path*; empty for text, and for what cannot be read."""
    try:
        with open_file(path) as file:
            return binary_kind(file.read(_START))
    except OSError:
        return ""


def binary_kind(body: bytes, dialect: Dialect = GOOGLE) -> str:
    """What kind of binary file *body* is, by its first octets; empty for text, and where it has groups."""
    sample = body[:_SAMPLE]
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    kind = "a binary file" if controls > _MOST_CONTROLS * len(sample) else ""
    kind = next((name for signature, name in _SIGNATURES if sample.startswith(signature)), kind)
    if not kind or is_utf_16(body):
        return ""
    return "" if kind != _ARCHIVE and parse(body, dialect, limit=None).groups else kind


def is_utf_16(body: bytes) -> bool:
    """Whether *body* starts with a UTF-16 mark, or has a NUL next to nearly every letter."""
    sample = body[:_SAMPLE]
    if sample.startswith(_UTF_16):
        return True
    halves = sample[::2], sample[1::2]
    return (
        len(sample) > 8
        and any(half.count(0) > 0.9 * len(half) for half in halves)
        and any(half.count(0) < 0.1 * len(half) for half in halves)
    )


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


def write_csv(rows: Iterable[Iterable[object]], file: IO[str]) -> None:
    """Write *rows* to *file*, with an apostrophe before a text that a spreadsheet would take for a formula."""
    csv.writer(file).writerows(map(_without_formula, row) for row in rows)


def _without_formula(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA_STARTS) else value
