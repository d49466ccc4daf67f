"""Lists of URLs in pieces of whole lines: files of any size, compressed or not, with lines of any length."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from io import BufferedReader
from itertools import chain
from typing import IO, Final, cast

from scrapy_rep.tools.files import require_text

from .verdicts import LONGEST_URL

CHUNK: Final = 524_288
"""Octets of a piece, more or less: enough that handing it to a process costs nothing, for a little memory."""

_LONGEST_LINE: Final = 4 * LONGEST_URL  # octets, of which a character has four at most
_OPENERS: Final[Mapping[bytes, Callable[[BufferedReader], object]]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\0": lzma.open,
}  # by the first octets
_LONGEST_MAGIC: Final = max(map(len, _OPENERS))

Damaged: Final = (EOFError, zlib.error, lzma.LZMAError)
"""What reading raises, beside ``OSError``, when a compressed file is cut off or damaged."""


def decompressed(file: BufferedReader) -> IO[bytes]:
    """*file*, or what it holds if it is compressed with gzip, bzip2 or xz."""
    start = file.peek(_LONGEST_MAGIC)
    for magic, opener in _OPENERS.items():
        if start.startswith(magic):
            return cast("IO[bytes]", opener(file))
    return file


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
