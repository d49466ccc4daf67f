"""Disk queues that lose nothing to ``kill -9``: for ``SCHEDULER_DISK_QUEUE``.

Scrapy's own disk queues write their length when they close, and forget each request that they hand out. These
queues share a file per crawl, the journal. It gets a record when a request is pushed, and another record when the
request has ended: when the engine has handled it, with its callback and its items. The next crawl finds every
request that has not ended.

Each record names its queue, and a crawl resumes without unpickling a request: it notes where waiting requests
begin, and appends to the same file. If more requests have ended than wait, it first copies the waiting requests to
a new file, which replaces the old once it is complete. Nothing is synced: a machine that fails may lose the end.
"""

from __future__ import annotations

import os
import pickle
from collections import defaultdict, deque
from contextlib import suppress
from errno import ENOSPC
from itertools import filterfalse
from mmap import ACCESS_READ, mmap
from pathlib import Path
from struct import Struct
from typing import Final

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.utils.request import request_from_dict

from scrapy_rep.crawl.runtime.crawl import Crawl

_FORM: Final = b"REP2"  # the start of the file, with its version
_HEAD: Final = Struct(">LL")  # of a request: the lengths of its record and of a name; then the name, the pickle
_END: Final = Struct(">LQ")  # 0, and where the record of a request begins that has ended
_FORM_1: Final = b"REP1"  # of files without names: a request is the length of its pickle, and the pickle
_HEAD_1: Final = 4  # bytes


class Journal:
    """The requests of a crawl that have not ended: waiting requests by queue, and requests handed out."""

    def __init__(self, crawler: Crawler, path: Path) -> None:
        """Resume the file at *path*. A start that is killed or fails changes nothing."""
        Crawl.of(crawler).add(self)
        self._engine = Crawl.of(crawler).engine
        self._engine.tell_handled()
        Crawl.of(crawler).events.handled.subscribe(self.end)
        self._engine.flush_seen()  # from the first request on, it writes only when told
        self._spider, self._path = crawler.spider, path
        # The prefix of queue keys that their names leave out, because a ``JOBDIR`` may be moved.
        self.prefix = f"{path.with_suffix('.queue')}/"
        self._handed_out: dict[Request, int] = {}  # a request equals only itself
        before = _before(path)
        left = before if before.exists() else path
        if not left.exists() or not left.stat().st_size:  # an empty file cannot be mapped
            left.write_bytes(_FORM)
        with left.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
            is_named = data[: len(_FORM)] == _FORM
            if not is_named and not _FORM_1.startswith(data[: len(_FORM)]):  # a kill may have cut it
                raise ValueError(f"{left} was written by another version of scrapy_rep: use that one")
            self.waiting, ended, self._size = _read(data, is_named=is_named)
            """Where waiting requests begin, by name of their queue: b"" for requests of form 1."""
            if left != path or not is_named or ended > sum(map(len, self.waiting.values())):
                self._copy(data, is_named=is_named)
        self._file = path.open("r+b", buffering=0)
        self._file.truncate(self._size)
        before.unlink(missing_ok=True)

    def _copy(self, data: mmap, *, is_named: bool) -> None:
        """Replace the file by a new file with the waiting requests."""
        new, self._size = self._path.with_suffix(".new"), len(_FORM)
        with new.open("wb", buffering=1 << 20) as file:
            file.write(_FORM)
            for name, begins in self.waiting.items():
                self.waiting[name] = deque()
                for begin in begins:
                    length, _ = _HEAD.unpack_from(data, begin)
                    if is_named:
                        record = data[begin : begin + length]
                    else:
                        record = _record(b"", data[begin + _HEAD_1 : begin + _HEAD_1 + length])
                    self.waiting[name].append(self._size)
                    self._size += file.write(record)
        new.replace(self._path)

    @staticmethod
    def is_at(path: Path) -> bool:
        """Whether there is a journal at *path*."""
        return path.exists() or _before(path).exists()

    def add(self, name: bytes, request: Request) -> int:
        """Store *request* in the queue *name*; return the start of its record."""
        try:
            pickled = pickle.dumps(request.to_dict(spider=self._spider), protocol=4)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise ValueError(str(error)) from error
        begin = self._append(_record(name, pickled))
        self._engine.flush_seen()  # after it is stored: a kill in between repeats a request, and loses none
        return begin

    def _append(self, record: bytes) -> int:
        if os.pwrite(self._file.fileno(), record, self._size) < len(record):
            os.ftruncate(self._file.fileno(), self._size)
            raise OSError(ENOSPC, os.strerror(ENOSPC))
        self._size += len(record)
        return self._size - len(record)

    def hand_out(self, begin: int) -> Request:
        """Read the request at *begin*, once. A request that cannot be read has ended."""
        length, name_length = _HEAD.unpack(os.pread(self._file.fileno(), _HEAD.size, begin))
        record = os.pread(self._file.fileno(), length, begin)
        try:
            pickled = pickle.loads(record[_HEAD.size + name_length :])  # noqa: S301  # the owner's own folder
            request = request_from_dict(pickled, spider=self._spider)
        except Exception:
            self._note_ends([begin])
            raise
        self._handed_out[request] = begin
        return request

    def end(self, *requests: Request) -> None:
        """Note that *requests* have ended; some may come from no queue on disk."""
        self._note_ends([self._handed_out.pop(request) for request in requests if request in self._handed_out])

    def _note_ends(self, begins: list[int]) -> None:
        with suppress(OSError):  # on a full disk, requests that have ended are repeated
            self._append(b"".join(_END.pack(0, begin) for begin in begins))

    def close(self) -> None:
        """End the requests handed out; remove the file if no request waits."""
        self.end(*self._handed_out)
        self._file.close()
        if not any(self.waiting.values()):
            self._path.unlink()


def _before(path: Path) -> Path:
    """Return the path where an earlier version left its file if its start was killed or failed."""
    return path.with_suffix(".before")


def _read(data: mmap, *, is_named: bool) -> tuple[dict[bytes, deque[int]], int, int]:
    """Return `Journal.waiting`, the number of requests that have ended, and the size without a torn record."""
    begins: defaultdict[bytes, deque[int]] = defaultdict(deque)
    ended, end = set[int](), len(_FORM)
    while (begin := end) + _END.size <= len(data):  # no request is shorter
        length, name_length = _HEAD.unpack_from(data, begin)
        if not length:
            ended.add(_END.unpack_from(data, begin)[1])
            end += _END.size
            continue
        end += length if is_named else _HEAD_1 + length
        if end > len(data):
            break
        name = begin + _HEAD.size
        begins[data[name : name + name_length] if is_named else b""].append(begin)
    left = ((name, deque(filterfalse(ended.__contains__, queue))) for name, queue in begins.items())
    return {name: queue for name, queue in left if queue}, len(ended), begin


def _record(name: bytes, pickled: bytes) -> bytes:
    return _HEAD.pack(_HEAD.size + len(name) + len(pickled), len(name)) + name + pickled


class RecoverableLifoDiskQueue:
    """A ``SCHEDULER_DISK_QUEUE`` for `RepPriorityQueue`: last in, first out."""

    _take = staticmethod(deque.pop)

    def __init__(self, crawler: Crawler, key: str) -> None:
        journal = Crawl.of(crawler).find(Journal)
        if journal is None:  # on a ValueError, Scrapy would silently keep all requests in memory
            raise RuntimeError('recoverable queues need SCHEDULER_PRIORITY_QUEUE = "scrapy_rep.RepPriorityQueue"')
        self._journal, self._name = journal, key.removeprefix(journal.prefix).encode()
        self._waiting = journal.waiting.setdefault(self._name, deque())

    @classmethod
    def from_crawler(cls, crawler: Crawler, key: str) -> RecoverableLifoDiskQueue:
        return cls(crawler, key)

    def push(self, request: Request) -> None:
        """Raises ``ValueError`` for a request that cannot be stored, and ``OSError``."""
        self._waiting.append(self._journal.add(self._name, request))

    def pop(self) -> Request | None:
        """Remove and return the next request, or None."""
        return self._journal.hand_out(self._take(self._waiting)) if self._waiting else None

    def close(self) -> None:
        """Forget the queue if it is empty."""
        if not self._waiting:
            self._journal.waiting.pop(self._name, None)

    def __len__(self) -> int:
        return len(self._waiting)


class RecoverableFifoDiskQueue(RecoverableLifoDiskQueue):
    """The same for ``SCHEDULER_START_DISK_QUEUE``: first in, first out."""

    _take = staticmethod(deque.popleft)
