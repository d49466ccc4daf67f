"""Queues on disk from which ``kill -9`` takes nothing: for ``SCHEDULER_DISK_QUEUE``.

Scrapy's own write how many requests they hold when they are closed, and forget what they hand out. These share the
journal of their crawl, a file to which each request is appended, and later that it has ended: that the engine has
handled it, with its callback and its items. What has not ended is there for the next crawl, which starts a new
file. Nothing is synced: a machine that fails may forget what came last.
"""

from __future__ import annotations

import os
import pickle
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from errno import ENOSPC
from mmap import ACCESS_READ, mmap
from pathlib import Path
from struct import Struct
from typing import Final

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.utils.request import request_from_dict

from scrapy_rep.crawl.runtime.crawl import Crawl

_FORM: Final = b"REP1"  # how the file begins, with its version
_LENGTH: Final = Struct(">L")  # of the request that follows, in octets
_END: Final = Struct(">LQ")  # no request, but where one begins that has ended


class Journal:
    """The requests of a crawl that have not ended: those that wait, by queue, and those that were handed out."""

    def __init__(self, crawler: Crawler, path: Path) -> None:
        Crawl.of(crawler).add(self)
        self._engine = Crawl.of(crawler).engine
        self._engine.tell_handled()
        Crawl.of(crawler).events.handled.subscribe(self.end)
        self._engine.flush_seen()  # so that from the first request on it writes when it is told
        self._spider, self._path, self._before = crawler.spider, path, _before(path)
        if path.exists() and not self._before.exists():  # else that crawl was killed while it read the other
            path.replace(self._before)
        self._file = path.open("w+b", buffering=0)
        self._size = self._file.write(_FORM)
        self.waiting: dict[str, deque[int]] = {}  # where they begin
        self._handed_out: dict[Request, int] = {}  # a request is equal to itself alone

    @staticmethod
    def is_at(path: Path) -> bool:
        """Whether there is one, or what a start that was killed, or failed, has left of it."""
        return path.exists() or _before(path).exists()

    def left(self) -> Iterator[bytes]:
        """What the crawl before has left, in its order; the file stays until the last is taken."""
        if self._before.exists() and self._before.stat().st_size:  # an empty file cannot be mapped
            with self._before.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as octets:
                if not _FORM.startswith(octets[: len(_FORM)]):  # a start that was killed may have written less
                    raise ValueError(f"{self._before} was written by another version of scrapy_rep: use that one")
                yield from (octets[begin + _LENGTH.size : end] for begin, end in _not_ended(octets).items())
        self._before.unlink(missing_ok=True)

    def add(self, request: Request) -> int:
        """Where *request* begins now."""
        try:
            record = pickle.dumps(request.to_dict(spider=self._spider), protocol=4)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise ValueError(str(error)) from error
        begin = self._append(_LENGTH.pack(len(record)) + record)
        self._engine.flush_seen()  # after it is stored: a kill in between repeats a request, and loses none
        return begin

    def _append(self, octets: bytes) -> int:
        if os.pwrite(self._file.fileno(), octets, self._size) < len(octets):
            os.ftruncate(self._file.fileno(), self._size)
            raise OSError(ENOSPC, os.strerror(ENOSPC))
        self._size += len(octets)
        return self._size - len(octets)

    def unpickle(self, record: bytes) -> Request:
        return request_from_dict(pickle.loads(record), spider=self._spider)  # noqa: S301  # the owner's own folder

    def hand_out(self, begin: int) -> Request:
        """The request that begins there, once; raises whatever reading it back raises."""
        (length,) = _LENGTH.unpack(os.pread(self._file.fileno(), _LENGTH.size, begin))
        request = self.unpickle(os.pread(self._file.fileno(), length, begin + _LENGTH.size))
        self._handed_out[request] = begin
        return request

    def end(self, *requests: Request) -> None:
        """Note that *requests* have ended, of which some may be of no queue on disk."""
        begins = [self._handed_out.pop(request) for request in requests if request in self._handed_out]
        with suppress(OSError):  # of a full disk: what has ended is made again
            self._append(b"".join(_END.pack(0, begin) for begin in begins))

    def close(self) -> None:
        """End what was handed out; remove the file if nothing waits."""
        self.end(*self._handed_out)
        self._file.close()
        if not any(self.waiting.values()):
            self._path.unlink()


def _before(path: Path) -> Path:
    """Where the file of the crawl before is while it is read; its name was *path* until then."""
    return path.with_suffix(".before")


def _not_ended(octets: mmap) -> dict[int, int]:
    """Where requests begin and end that have not ended, without one that is torn at the end of the file."""
    ends, end = dict[int, int](), len(_FORM)
    while (at := end) + _END.size <= len(octets):  # no pickle is shorter
        (length,) = _LENGTH.unpack_from(octets, at)
        end += _LENGTH.size + length if length else _END.size
        if not length:
            ends.pop(_END.unpack_from(octets, at)[1], None)
        elif end <= len(octets):
            ends[at] = end
    return ends


class RecoverableLifoDiskQueue:
    """A ``SCHEDULER_DISK_QUEUE`` for `RepPriorityQueue`: the last request first."""

    _take = staticmethod(deque.pop)

    def __init__(self, crawler: Crawler, key: str) -> None:
        journal = Crawl.of(crawler).find(Journal)
        if journal is None:  # for a ValueError, Scrapy would keep all requests in memory without a word
            raise RuntimeError('recoverable queues need SCHEDULER_PRIORITY_QUEUE = "scrapy_rep.RepPriorityQueue"')
        self._journal, self._key = journal, key
        self._waiting = self._journal.waiting.setdefault(key, deque())

    @classmethod
    def from_crawler(cls, crawler: Crawler, key: str) -> RecoverableLifoDiskQueue:
        return cls(crawler, key)

    def push(self, request: Request) -> None:
        """Raises ``ValueError`` for a request that cannot be stored, and ``OSError``."""
        self._waiting.append(self._journal.add(request))

    def pop(self) -> Request | None:
        """The next request, or None."""
        return self._journal.hand_out(self._take(self._waiting)) if self._waiting else None

    def close(self) -> None:
        """Forget a queue that is empty."""
        if not self._waiting:
            self._journal.waiting.pop(self._key, None)

    def __len__(self) -> int:
        return len(self._waiting)


class RecoverableFifoDiskQueue(RecoverableLifoDiskQueue):
    """The same for ``SCHEDULER_START_DISK_QUEUE``: the first request first."""

    _take = staticmethod(deque.popleft)
