"""Reads files that anyone may have made, within a bound and without waiting for what may never come.

Tells binary files from text, and writes CSV that a spreadsheet computes nothing from.
"""

from __future__ import annotations

import csv
import errno
import os
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator
from io import BufferedReader
from itertools import islice
from pathlib import Path
from typing import IO, Final

from scrapy_rep.protocol import GOOGLE, Dialect, parse
from scrapy_rep.protocol.body_kind import is_binary, is_utf_16

MOST_OCTETS: Final = 33_554_432
"""Octets of a file, or of one of its lines, that are read: no robots.txt is as large."""

_USUAL: Final = 65_536  # octets of a file; a buffer for the most takes longer to make than such a file to read
_START: Final = 1_024  # octets, more than tell what kind of file it is
_OF_THE_SHELL: Final = frozenset(map(Path, ("/dev", "/dev/fd", "/proc/self/fd")))  # as in diff <(…) FILE
_SAMPLE: Final = 256  # octets of what is packed
_GZIP: Final = "a gzip file"
_ARC: Final = "an ARC file"  # what WARC has replaced: nothing here reads it
WARC: Final = "a WARC file"
"""A kind of file."""
WARC_IN_GZIP: Final = "a gzip-compressed WARC file"
"""A kind of file."""
ZSTANDARD: Final = "a Zstandard file"
"""A kind of file."""
PARQUET: Final = "a Parquet file"
"""A kind of file."""
_PACKED: Final = (_GZIP, "a bzip2 file", "an xz file")
ARCHIVES: Final = frozenset({
    WARC, WARC_IN_GZIP, _ARC, ZSTANDARD, PARQUET, *_PACKED, "a ZIP archive", "a 7z archive", "a RAR archive",
})  # fmt: skip
"""The kinds of files that hold others."""

_OPTIONS: Final = {WARC: "--warc", WARC_IN_GZIP: "--warc", PARQUET: "--rows"}  # of scrapy robots survey
_MOST_ASKED: Final = 10  # files of a folder, for their kind
_SIGNATURES: Final = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"\0\0\1\0", "an icon"),
    (b"RIFF", "a WebP image, a sound or a film"),
    (b"%PDF-", "a PDF document"),
    (b"PK\3\4", "a ZIP archive"),
    (b"\x1f\x8b", _GZIP),
    (b"\x28\xb5\x2f\xfd", ZSTANDARD),
    (b"BZh", "a bzip2 file"),
    (b"\xfd7zXZ\0", "an xz file"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\7", "a RAR archive"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90\0", "a program"),
    (b"\xd0\xcf\x11\xe0", "an Office document"),
    (b"wOF", "a font"),
    (b"WARC/", WARC),
    (b"filedesc://", _ARC),
    (b"PAR1\x15", PARQUET),  # what follows, in Thrift, starts with a number
)
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
        raise OSError(errno.EFBIG, f"larger than {MOST_OCTETS:,} bytes")
    return body


def require_text(body: bytes) -> bytes:
    """Return *body*. Raises ``OSError`` if it is clearly no text, such as a gzip file."""
    if kind := binary_kind(body[:_START]):
        raise OSError(errno.EINVAL, not_plain_text(kind))
    return body


def not_plain_text(kind: str) -> str:
    """What to say of a file of *kind*, of `binary_kind`, where a text is expected."""
    hint = "unpack it first" if kind in _PACKED else reader_of(kind)
    return f"{kind}, not plain text" + (f"; {hint}" if hint else "")


def reader_of(kind: str) -> str:
    """Which command reads a file of *kind*, of `binary_kind`, as a sentence; empty when none does."""
    return f"scrapy robots survey {_OPTIONS[kind]} reads it" if kind in _OPTIONS else ""


def wrong_place(path: Path, wanted: str) -> str:
    """What is at *path* instead of *wanted*, such as "a WARC file", and which option reads it, as far as is known.

    Raises ``OSError`` when nothing is there that can be read.
    """
    if path.is_dir():
        kinds = map(binary_kind_at, islice(files_in(path), _MOST_ASKED))
        option = next((_OPTIONS[kind] for kind in kinds if kind in _OPTIONS), "--files")
        what = "the files in it" if option == "--warc" else "it"
        return f"a folder, not {wanted}; scrapy robots survey {option} reads {what}"
    with open_file(path) as file:
        start = file.read(_START)
    return wrong_start(start, wanted)


def wrong_start(start: bytes, wanted: str) -> str:
    """As `wrong_place`, for a file with this *start*."""
    if not start:
        return f"an empty file, not {wanted}"
    if kind := binary_kind(start):
        hint = reader_of(kind)
        return f"{kind}, not {wanted}" + (f"; {hint}" if hint else "")
    return f"a text file, not {wanted}; scrapy robots survey --files reads the folder that it is in"


def binary_kind_at(path: Path) -> str:
    """What kind of binary file is at *path*; empty for text, and for what cannot be read."""
    try:
        with open_file(path) as file:
            return binary_kind(file.read(_START))
    except OSError:
        return ""


def binary_kind(body: bytes, dialect: Dialect = GOOGLE) -> str:
    """What kind of binary file *body* is, by its first octets; empty for text, and where it has groups."""
    kind = "a binary file" if is_binary(body) else ""
    kind = next((name for signature, name in _SIGNATURES if body.startswith(signature)), kind)
    if kind == _GZIP:
        packed = {b"WARC/": WARC_IN_GZIP, b"filedesc://": _ARC}
        start = _unpacked(body[:_START])
        kind = next((name for signature, name in packed.items() if start.startswith(signature)), kind)
    if kind in _OPTIONS or kind == _ARC:
        return kind  # the groups in it are those of many files
    if not kind or is_utf_16(body):
        return ""
    return "" if parse(body, dialect, limit=None).groups else kind


def _unpacked(start: bytes) -> bytes:
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(start, _SAMPLE)
    except zlib.error:
        return b""


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
