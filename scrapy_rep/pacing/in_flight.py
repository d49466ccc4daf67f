"""The file of what is in flight: requests that left the disk queues of a crawl, and that somebody still holds.

A request has ended when the engine has handled it; whatever it led to is in the queues then. One that the engine
never sees, because a scheduler drops it, has ended when nobody refers to it any more.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from struct import Struct
from typing import TYPE_CHECKING, Final
from weakref import ref

from scrapy import Request

from scrapy_rep.runtime.crawl import Crawl

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

_FILE: Final = "in-flight"
_ENTRY: Final = Struct(">QHL")  # the number of a request, the lengths of queue and record; no queue: it has ended
_ROOM: Final = 1 << 20  # octets by which the file may grow before it is written anew


class _Held(ref[Request]):
    __slots__ = ("key", "number")
    key: int  # its id
    number: int


class InFlight:
    """The requests that left the disk queues of one crawl and that somebody holds, in a file in *folder*."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / _FILE
        self._file, self._room, self._last = -1, -1, 0
        self._held: dict[int, tuple[_Held, bytes]] = {}  # by the id of the request, as long as there is one

    @classmethod
    def of(cls, crawler: Crawler, folder: Path) -> InFlight:
        """The one of *crawler*, made in *folder* if there is none."""
        crawl = Crawl.of(crawler)
        in_flight = crawl.find(cls)
        if in_flight is None:
            in_flight = cls(folder)
            crawl.add(in_flight)
            crawl.engine.on_handled(in_flight.end)
        return in_flight

    def add(self, request: Request, queue: bytes, record: bytes) -> None:
        """Keep *record* of *queue* until *request* has ended; a full disk keeps none, and stops nothing."""
        held = _Held(request, self._forget)
        held.key = id(request)
        number = held.number = self._last = self._last + 1
        entry = _ENTRY.pack(number, len(queue), len(record)) + queue + record
        self._held[held.key] = held, entry
        if self._room >= 0:
            self._write(entry)
        else:
            with suppress(OSError):
                self._begin()

    def end(self, request: Request) -> None:
        """Let *request* have ended."""
        if (entry := self._held.get(id(request))) is not None:
            self._forget(entry[0])

    def _forget(self, held: _Held) -> None:
        if self._held.pop(held.key, None) is not None and self._room >= 0:
            self._write(_ENTRY.pack(held.number, 0, 0))

    def _write(self, octets: bytes) -> None:
        self._room -= len(octets)
        try:
            if os.write(self._file, octets) < len(octets):
                self._room = -1
        except OSError:
            self._room = -1

    def _begin(self) -> None:
        """Write a new file: the one before is too large, or torn."""
        new = self._path.with_suffix(".new")
        before, self._file = self._file, os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        if before >= 0:
            os.close(before)
        entries = b"".join([entry for _, entry in list(self._held.values())])
        self._room = len(entries) + _ROOM
        self._write(entries)
        new.replace(self._path)

    def remove(self) -> None:
        """Remove the file: nothing is in flight."""
        self._held.clear()
        if self._file >= 0:
            os.close(self._file)
            self._file = self._room = -1
        self._path.unlink(missing_ok=True)


def left_in_flight(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Queue and record of what was in flight when the crawl was killed that wrote to *folder*."""
    octets = (folder / _FILE).read_bytes() if (folder / _FILE).exists() else b""
    entries: dict[int, tuple[str, bytes]] = {}
    at = 0
    while len(octets) - at >= _ENTRY.size:
        number, queue, record = _ENTRY.unpack_from(octets, at)
        middle = at + _ENTRY.size + queue
        at = middle + record
        if not queue:
            entries.pop(number, None)
        elif at <= len(octets):
            entries[number] = octets[middle - queue : middle].decode(), octets[middle:at]
    yield from entries.values()
