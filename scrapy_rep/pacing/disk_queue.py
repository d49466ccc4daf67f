"""Queues on disk from which ``kill -9`` takes nothing: for ``SCHEDULER_DISK_QUEUE``.

Scrapy's own queues write how many requests they hold when they are closed. These count again: a record has its
length on both sides, each call writes at once, and a last record that is torn is dropped. A record moves to
`InFlight` when its request is popped: after a kill a request may be made twice. Nothing is synced: what the
machine itself forgets is lost.
"""

from __future__ import annotations

import os
import pickle
from errno import ENOSPC
from pathlib import Path
from struct import Struct
from typing import TYPE_CHECKING, Final

from scrapy import Request
from scrapy.utils.request import request_from_dict

from .in_flight import InFlight, left_in_flight

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self

_HEADER: Final = Struct(">4sQq")  # `_MAGIC`, where the first record begins, and how many there are, or `_OPEN`
_MAGIC: Final = (
    b"REPQ"  # stands for the version, too: a file of another form, or with another `InFlight`, gets another
)
_OPEN: Final = -1
_LENGTH: Final = Struct(">L")
_NO_MORE: Final = b"\xff\xff\xff\xff"  # in place of a length: here the records end, whatever follows
_FRAME: Final = 2 * _LENGTH.size
_AT_ONCE: Final = 4_096  # octets: most records are shorter
_LARGE: Final = 1 << 20  # octets of a file that are given back when it is empty


class RecoverableDiskQueue:
    """What both queues have in common: records in the file *key*, to the end of which they are added."""

    def __init__(self, crawler: Crawler, key: str) -> None:
        """Raises ``ValueError`` for a file of another queue."""
        self._spider, self._path = crawler.spider, Path(key)
        self._name = "/".join(self._path.parts[-2:]).encode()
        self._in_flight = InFlight.of(crawler, self._path.parents[1])
        self._path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
        except IsADirectoryError:
            raise self._foreign() from None
        try:
            self._read_header()
        except BaseException:
            os.close(self._file)
            raise

    @classmethod
    def from_crawler(cls, crawler: Crawler, key: str) -> Self:
        return cls(crawler, key)

    def _foreign(self) -> ValueError:
        return ValueError(
            f"{self._path} was stored by a queue other than {type(self).__name__}, or by a later version of"
            " scrapy_rep: set the SCHEDULER_DISK_QUEUE and SCHEDULER_START_DISK_QUEUE that this JOBDIR began with,"
            " or start with an empty JOBDIR"
        )

    def _read_header(self) -> None:
        header = os.pread(self._file, _HEADER.size, 0) or _HEADER.pack(_MAGIC, _HEADER.size, 0)
        if len(header) < _HEADER.size or not header.startswith(_MAGIC):
            raise self._foreign()
        self._first: int
        self._size: int
        _, self._first, self._size = _HEADER.unpack(header)
        self._end = max(os.fstat(self._file).st_size, _HEADER.size)
        if self._size == _OPEN:
            self._count()
        os.pwrite(self._file, _HEADER.pack(_MAGIC, self._first, _OPEN), 0)

    def _count(self) -> None:
        """Count the records of a file that was not closed, but for one that is torn."""
        after = self._first = min(self._first, self._end)
        self._size = 0
        while after + _FRAME <= self._end:
            length = os.pread(self._file, _LENGTH.size, after)
            last = after + _LENGTH.size + _LENGTH.unpack(length)[0]
            if os.pread(self._file, _LENGTH.size, last) != length:
                break
            after, self._size = last + _LENGTH.size, self._size + 1
        self._end = after

    def push(self, request: Request) -> None:
        """Raises ``ValueError`` for a request that cannot be stored, and ``OSError``."""
        try:
            record = pickle.dumps(request.to_dict(spider=self._spider), protocol=4)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise ValueError(str(error)) from error
        self.append(record)

    def append(self, record: bytes) -> None:
        """Add a request in its stored form."""
        length = _LENGTH.pack(len(record))
        octets = length + record + length + _NO_MORE
        if os.pwrite(self._file, octets, self._end) < len(octets):
            os.ftruncate(self._file, self._end)
            raise OSError(ENOSPC, os.strerror(ENOSPC))
        self._end += len(record) + _FRAME
        self._size += 1

    def pop(self) -> Request | None:
        """Raises what reading a record back raises; that one is gone then."""
        if not self._size:
            return None
        record = self._record()
        try:
            request = self._request(record)
            self._in_flight.add(request, self._name, record)
            return request
        finally:
            self._size -= 1
            self._remove(len(record) + _FRAME)

    def peek(self) -> Request | None:
        return self._request(self._record()) if self._size else None

    def _request(self, record: bytes) -> Request:
        return request_from_dict(pickle.loads(record), spider=self._spider)  # noqa: S301

    def _record(self) -> bytes:
        """The record that is to be popped."""
        raise NotImplementedError

    def _remove(self, octets: int) -> None:
        """Remove that record, which takes so many *octets*."""
        raise NotImplementedError

    def close(self) -> None:
        if self._size:
            os.ftruncate(self._file, self._end)
            os.pwrite(self._file, _HEADER.pack(_MAGIC, self._first, self._size), 0)
        else:
            self._path.unlink()
        os.close(self._file)

    def __len__(self) -> int:
        return self._size


class RecoverableLifoDiskQueue(RecoverableDiskQueue):
    """A ``SCHEDULER_DISK_QUEUE``: the last request first."""

    def _record(self) -> bytes:
        begin = max(self._end - _AT_ONCE, 0)
        tail = os.pread(self._file, self._end - begin, begin)
        (length,) = _LENGTH.unpack_from(tail, len(tail) - _LENGTH.size)
        first = len(tail) - _LENGTH.size - length
        if first >= 0:
            return tail[first : -_LENGTH.size]
        return os.pread(self._file, length, self._end - _LENGTH.size - length)

    def _remove(self, octets: int) -> None:
        self._end -= octets
        os.pwrite(self._file, _NO_MORE, self._end)


class RecoverableFifoDiskQueue(RecoverableDiskQueue):
    """A ``SCHEDULER_START_DISK_QUEUE``: the first request first. Its file shrinks when it is empty."""

    def _record(self) -> bytes:
        head = os.pread(self._file, _AT_ONCE, self._first)
        (length,) = _LENGTH.unpack_from(head)
        record = head[_LENGTH.size : _LENGTH.size + length]
        return record if len(record) == length else os.pread(self._file, length, self._first + _LENGTH.size)

    def _remove(self, octets: int) -> None:
        self._first += octets
        if not self._size and self._end > _LARGE:
            self._first = self._end = _HEADER.size
            os.ftruncate(self._file, self._end)
        os.pwrite(self._file, _HEADER.pack(_MAGIC, self._first, _OPEN), 0)


def put_back(crawler: Crawler, folder: Path) -> None:
    """Put what was in flight when a crawl was killed back into its queues, which are below *folder*."""
    for name, record in left_in_flight(folder):
        queue = RecoverableDiskQueue(crawler, str(folder / name))
        queue.append(record)
        queue.close()
    InFlight.of(crawler, folder).remove()
