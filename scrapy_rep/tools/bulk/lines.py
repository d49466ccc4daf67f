"""From lines of URLs to lines of verdicts, as octets: what a process does with each batch of the input."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import zlib
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from io import BufferedReader
from json.encoder import encode_basestring_ascii as _quoted
from typing import Final, cast

from scrapy_rep.tools.answers import WORDS
from scrapy_rep.tools.files import require_text

from .sources import Source
from .verdicts import VERDICTS_KEPT, BulkOptions, BulkVerdict, Decider

Damaged: Final = (EOFError, zlib.error, lzma.LZMAError)
"""What reading raises, beside ``OSError``, when a compressed file is cut off or damaged."""

_LONGEST_LINE: Final = 262_148  # octets of a line that are kept: more than a URL of 65,536 characters
_START: Final = 1_024  # octets that tell a text from a binary file
_OPENERS: Final[Mapping[bytes, Callable[[BufferedReader], object]]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\0": lzma.open,
}  # by the first octets


@dataclass(frozen=True)
class LineDecider:
    """Decides batches of the input, one after the other. Each process has its own, and opens the source itself.

    ``only`` are those `WORDS` of a verdict that are written. With ``as_urls`` the URLs alone are, as they came.
    """

    source: Callable[[], Source]
    options: BulkOptions
    only: Collection[str] = tuple(WORDS.values())
    as_urls: bool = False

    @cached_property
    def _decider(self) -> Decider:
        return Decider(self.source(), self.options)

    def open(self) -> None:
        """Open the source, only to see that it can be used. Raises `SourceError`."""
        self.source()

    def __call__(self, lines: Sequence[bytes]) -> tuple[bytes, int, Counter[str]]:
        """The output for the URLs in *lines*, the number of verdicts, and why some are unknown.

        Raises `SourceError`.
        """
        written: list[bytes] = []
        number, unknown = 0, Counter[str]()
        for line in lines:
            url = line.decode("utf-8", "surrogateescape")
            for verdict in self._decider.on(url):
                number += 1
                if verdict.allowed is None:
                    unknown[verdict.reason] += 1
                if WORDS[verdict.allowed] in self.only:
                    written.append(line if self.as_urls else f'{{"url": {_quoted(url)}, {_rest(verdict)}'.encode())
        return b"".join(each + b"\n" for each in written), number, unknown


@lru_cache(maxsize=VERDICTS_KEPT)
def _rest(verdict: BulkVerdict) -> str:
    """What follows the URL in a line of JSON."""
    return json.dumps(verdict.as_facts())[1:]


# The input: a list of any size, with lines of any length.


def decompressed(file: BufferedReader) -> BufferedReader:
    """*file*, or what it holds if it is compressed with gzip, bzip2 or xz."""
    start = file.peek(max(map(len, _OPENERS)))
    opener = next((opener for magic, opener in _OPENERS.items() if start.startswith(magic)), None)
    return cast("BufferedReader", opener(file)) if opener else file  # all have a `peek`


def lines_in(file: BufferedReader) -> Iterator[bytes]:
    """Yield the lines of *file* that are not blank, without white space around them and a byte order mark.

    Of a line that is longer than any URL the start is kept, which is too long for one as well. Raises what reading
    raises, and ``OSError`` for a binary file.
    """
    require_text(file.peek(_START)[:_START])
    is_rest = False  # of a line that is too long
    for number, line in enumerate(iter(partial(file.readline, _LONGEST_LINE), b"")):
        was_rest, is_rest = is_rest, not line.endswith(b"\n")
        if not number:
            line = line.removeprefix(BOM_UTF8)  # noqa: PLW2901  # Notepad writes one
        if not was_rest and (line := line.strip()):
            yield line
