"""From lines of URLs to lines of verdicts, as octets: what a process does with each piece of the input."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import zlib
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from io import BufferedReader
from itertools import chain
from json.encoder import encode_basestring_ascii as _quoted
from typing import IO, Final, cast

from scrapy_rep.protocol import path_of
from scrapy_rep.protocol.display import shown
from scrapy_rep.tools.answers import WORDS
from scrapy_rep.tools.files import require_text

from .sources import Source
from .verdicts import BulkOptions, BulkVerdict, Decider, Held

CHUNK: Final = 524_288
"""Octets of a piece of the input, more or less: handing it to a process costs nothing, for a little memory."""

Damaged: Final = (EOFError, zlib.error, lzma.LZMAError)
"""What reading raises, beside ``OSError``, when a compressed file is cut off or damaged."""

FIELDS: Final = ("url", "origin", "agent", "allowed", "line", "rule", "reason")
"""The fields of a line of output, in their order."""

# A line with a URL that every format writes as it is: its start, as `split_url` answers it, its path as far as it
# has one spelling, and the rest. Any other line is the fourth group. Nearly no URL is longer; for one that is,
# each length of the path is tried with each of the rest, so their limits are low.
_lines_in = re.compile(
    rb"[ \t\r\f\v]*(?:(https?://[a-z0-9.-]{1,255}(?::[0-9]{1,4})?)(/[-/_.~?=&+,:;@!()0-9A-Za-z]{0,1000})"
    rb"([!$-[\]-~]{0,1000})[ \t\r\f\v]*\n|([^\n]*)\n)"
).finditer


_groups = re.Match.groups
_LONGEST_LINE: Final = 262_148  # octets of a line that are kept: more than a URL of 65,536 characters
_OPENERS: Final[Mapping[bytes, Callable[[BufferedReader], object]]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\0": lzma.open,
}  # by the first octets
_LITERALS: Final = {True: "true", False: "false", None: "null"}


def _as_json(verdict: BulkVerdict) -> str:
    """What follows the URL in a line of JSON, written by hand: an encoder per verdict would take longer."""
    origin = _quoted(verdict.origin) if verdict.origin else "null"
    rule = "null" if verdict.rule is None else _quoted(verdict.rule)
    return (
        f'", "origin": {origin}, "agent": {_quoted(verdict.agent)}, "allowed": {_LITERALS[verdict.allowed]},'
        f' "line": {verdict.line or "null"}, "rule": {rule}, "reason": {_quoted(verdict.reason)}}}\n'
    )


def _as_tsv(verdict: BulkVerdict) -> str:
    cells = (verdict.origin, verdict.agent, WORDS[verdict.allowed], verdict.line, verdict.rule, verdict.reason)
    return "\t" + "\t".join("" if cell is None else shown(str(cell)) for cell in cells) + "\n"


@dataclass(frozen=True, slots=True)
class Format:
    """How verdicts are written: ``head`` once; for each URL ``before``, the URL as ``spell`` does, ``after``."""

    before: bytes
    spell: Callable[[str], str]
    after: Callable[[BulkVerdict], str]
    head: str = ""


FORMATS: Final = {
    "jsonl": Format(b'{"url": "', lambda url: _quoted(url)[1:-1], _as_json),
    "tsv": Format(b"", shown, _as_tsv, "\t".join(FIELDS) + "\n"),
    "urls": Format(b"", str, lambda _: "\n"),
}
"""The formats of output: JSON Lines, values separated by tabs, or the URLs alone, as they came."""


Key = tuple[str, bool | None, str]
"""What is counted: the agent, whether it may, the reason."""


@dataclass(frozen=True, slots=True, eq=False)  # the same one for all URLs of a verdict, which counts them fast
class _Ending:
    """What follows the URL in a line, empty where none is written, and how that line counts."""

    text: bytes
    key: Key


class LineDecider:
    """Decides pieces of the input, one after the other."""

    def __init__(
        self,
        source: Callable[[], Source],
        rules: BulkOptions,
        held: Held | None = None,
        form: str = "jsonl",
        only: Collection[str] = (),
    ) -> None:
        """*source* opens what is asked, *form* is one of `FORMATS`.

        *only* are those `WORDS` of a verdict that are written, all if it is empty. Raises `SourceError`.
        """
        self._format, self._only = FORMATS[form], only or WORDS.values()
        self._canonical_octets = rules.dialect.canonical_octets
        self._decider = Decider(source(), rules, self._ending, held)

    def _ending(self, verdict: BulkVerdict) -> _Ending:
        text = self._format.after(verdict) if WORDS[verdict.allowed] in self._only else ""
        return _Ending(text.encode(), (verdict.agent, verdict.allowed, verdict.reason))

    def __call__(self, chunk: bytes) -> tuple[bytes, Counter[Key]]:
        """The output for the URLs in the lines of *chunk*, and how many verdicts there are of each kind.

        Each line ends with LF. Raises `SourceError`.
        """
        before = self._format.before
        found: list[_Ending] = []
        written: list[bytes] = []
        for url, endings in self._decided(chunk):
            found += endings
            for ending in endings:
                if ending.text:
                    written += (before, url, ending.text)
        counts: Counter[Key] = Counter()
        for ending, number in Counter(found).items():
            counts[ending.key] += number
        return b"".join(written), counts

    def _decided(self, chunk: bytes) -> Iterator[tuple[bytes, list[_Ending]]]:
        """The URLs in the lines of *chunk*, as they are written, each with what follows it for each crawler."""
        at, spell, canonical = self._decider.at, self._format.spell, self._canonical_octets
        last, answers = b"", []  # of many lines of one origin it is looked up once
        for start, path, rest, other in map(_groups, _lines_in(chunk)):
            if start:
                if start != last:
                    last, answers = start, at(start)
                url = start + path + rest
                spelt = path_of(url, canonical_octets=canonical) if rest else path
                yield url, [on(spelt) for on in answers]
            elif line := other.strip():
                url = line.decode("utf-8", "surrogateescape")
                yield spell(url).encode("utf-8", "surrogateescape"), self._decider.on(url)


# The input: a list of any size, with lines of any length.


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
