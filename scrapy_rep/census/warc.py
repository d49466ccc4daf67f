"""Reads the robots.txt files in web archives: WARC files, plain or compressed with gzip or Zstandard, by FastWARC.

A ``response`` record counts when its target is the /robots.txt of an http or https origin. A redirect is a capture
with a location. A ``revisit`` record has the body of an earlier record: of one with the same payload digest or,
where the server said "not modified", of the same URL.
Needs FastWARC: ``pip install 'scrapy_rep[warc]'``.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, BinaryIO, Final, cast
from urllib.parse import urljoin

from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from scrapy_rep.protocol.access import TRUNCATED
from scrapy_rep.tools.files import (
    MOST_OCTETS,
    WARC,
    WARC_IN_GZIP,
    ZSTANDARD,
    binary_kind,
    open_file,
    wrong_place,
    wrong_start,
)

from .capture import Capture, has_host, is_robots_url
from .http_message import HttpMessage, http_message

__all__ = ["WarcReader", "captures"]

_MOST_REMEMBERED: Final = 2 * 64 * 2**20  # octets of bodies that revisits may refer to, by digest and by URL
_OVERHEAD: Final = 512  # octets of memory per response, roughly, besides its body
_START: Final = 1_024  # octets, more than tell what kind of file it is
_NOT_MODIFIED: Final = 304
_NOT_IN_FILES: Final = "revisit of a capture that is not in these files"


def captures(source: Path | str | IO[bytes]) -> Iterator[Capture]:
    """Yield the captures in *source*, as `WarcReader.captures` does."""
    return WarcReader().captures(source)


class WarcReader:
    """Reads WARC files that belong together: a revisit in one may refer to a capture in an earlier one.

    ``skipped`` counts the records of a robots.txt that could not be read: without a date, a usable host or an HTTP
    head.
    """

    def __init__(self) -> None:
        self.skipped = 0
        self._bodies = _Bodies()

    def captures(self, source: Path | str | IO[bytes]) -> Iterator[Capture]:
        """Yield the captures in *source*, a path or an open binary file such as standard input, in order.

        Raises ``OSError`` when it cannot be read, and ``ValueError`` when it is no WARC file; and, once all before
        that was yielded, when it is damaged or cut off. A file that is cut off between two records looks whole.
        """
        if not isinstance(source, str | Path):
            yield from self._captures(_Stream(source), _name(source))
            return
        if Path(source).is_dir():
            raise ValueError(f"{source}: {wrong_place(Path(source), WARC)}")
        with open_file(source) as file:
            yield from self._captures(_Stream(file), str(source))

    def _captures(self, stream: _Stream, name: str) -> Iterator[Capture]:
        if binary_kind(stream.start) not in (WARC, WARC_IN_GZIP, ZSTANDARD):
            raise ValueError(f"{name}: {wrong_start(stream.start, WARC)}")
        for record, url, block in _blocks(stream, name):
            if capture := self._capture(record, url, block):
                yield capture
            else:
                self.skipped += 1

    def _capture(self, record: WarcRecord, url: str, block: bytes) -> Capture | None:
        truncated = (record.headers.get("WARC-Truncated") or "").lower()
        message, date = http_message(block, MOST_OCTETS, truncated), _date(record)
        if date is None or not has_host(url):
            return None
        status = message.status if message else None
        if message and message.location and 300 <= message.status < 400:
            return _redirect(url, message.status, date, message.location)
        if record.record_type == WarcRecordType.revisit:
            return self._revisit(record, url, status, date)
        if not message:
            problem = f"{TRUNCATED} ({truncated})"
            return Capture(url, None, None, date, problem=problem) if truncated not in {"", "length"} else None
        if message.problem:
            return Capture(url, status, None, date, problem=message.problem, refused=message.refused)
        self._bodies.add(_digest(record), message)
        self._bodies.add(url, message)
        return Capture(url, status, message.body, date, refused=message.refused)

    def _revisit(self, record: WarcRecord, url: str, status: int | None, date: datetime) -> Capture:
        profile = record.headers.get("WARC-Profile") or ""
        names = {"identical-payload-digest": _digest(record), "server-not-modified": url}
        name = next((name for kind, name in names.items() if kind in profile), "")
        earlier = self._bodies.get(name)
        if not earlier:
            return Capture(url, status, None, date, problem=_NOT_IN_FILES)
        is_own = status is not None and status != _NOT_MODIFIED
        return Capture(url, status if is_own else earlier.status, earlier.body, date)


def _blocks(stream: _Stream, name: str) -> Iterator[tuple[WarcRecord, str, bytes]]:
    """Yield the records of a robots.txt, each with its URL and the start of its block."""
    position = 0
    try:
        for record in ArchiveIterator(cast("BinaryIO", stream), parse_http=False):
            position = record.stream_pos
            url, reader = _robots_url(record), record.reader
            block = reader.read(MOST_OCTETS) if url else b""
            if len(block) + reader.consume() != _declared(record):
                raise ValueError(f"{name}: cut off or damaged in the record at byte {position:,}")
            if url:
                yield record, url, block
    except OSError as error:
        if error.errno is not None:  # of the operating system
            raise
        raise ValueError(f"{name}: damaged in or behind the record at byte {position:,}: {error}") from None


def _robots_url(record: WarcRecord) -> str:
    """The target of a capture of a robots.txt; else empty. Old crawlers write it in angle brackets."""
    if record.record_type not in (WarcRecordType.response, WarcRecordType.revisit):
        return ""
    url = (record.headers.get("WARC-Target-URI") or "").strip(" \t<>")
    return url if is_robots_url(url) else ""


def _declared(record: WarcRecord) -> int:
    try:
        return int(record.headers.get("Content-Length") or -1)
    except ValueError:
        return -1


def _date(record: WarcRecord) -> datetime | None:
    try:
        date = record.record_date
        return date and date.astimezone(timezone.utc)
    except (OverflowError, ValueError):
        return None


def _digest(record: WarcRecord) -> str:
    return record.headers.get("WARC-Payload-Digest") or ""


def _redirect(url: str, status: int, date: datetime, location: str) -> Capture:
    try:
        return Capture(url, status, None, date, urljoin(url, location))
    except ValueError:
        return Capture(url, status, None, date, problem="redirect to an invalid URL")


class _Bodies:
    """The last responses by payload digest, and the newest of each URL, within `_MOST_REMEMBERED`."""

    def __init__(self) -> None:
        self._by_name: OrderedDict[str, HttpMessage] = OrderedDict()
        self._octets = 0

    def add(self, name: str, message: HttpMessage) -> None:
        if not name:
            return
        if name in self._by_name:
            self._octets -= _octets(self._by_name.pop(name))
        self._by_name[name] = message
        self._octets += _octets(message)
        while self._octets > _MOST_REMEMBERED:
            _, oldest = self._by_name.popitem(last=False)
            self._octets -= _octets(oldest)

    def get(self, name: str) -> HttpMessage | None:
        if name in self._by_name:
            self._by_name.move_to_end(name)
        return self._by_name.get(name)


def _octets(message: HttpMessage) -> int:
    return len(message.body) + _OVERHEAD


class _Stream:
    """A binary file that is read from its start to its end, such as a pipe, and what it starts with."""

    def __init__(self, file: IO[bytes]) -> None:
        start = file.read(_START)
        while len(start) < _START and (piece := file.read(_START)):  # a stream may give fewer octets at a time
            start += piece
        self.start = self._left = start
        self._file, self._position = file, 0

    def read(self, size: int = -1) -> bytes:
        octets, self._left = self._left or self._file.read(size), b""
        self._position += len(octets)
        return octets

    def tell(self) -> int:
        return self._position


def _name(file: IO[bytes]) -> str:
    name = getattr(file, "name", "a stream")  # the number of its descriptor where a copy has no name
    return "standard input" if name == "<stdin>" or isinstance(name, int) else str(name)
