"""The requests of one origin, by priority, in the queues that Scrapy's settings name for memory or disk.

Does what Scrapy's own ``ScrapyPriorityQueue`` does, with a bounded number of open files.
"""

from __future__ import annotations

import errno
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import suppress
from heapq import heapify, heappop, heappush
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from scrapy import Request

MAX_OPEN: Final = 128
"""Queues on disk that are open at the same time; each takes one file, or two."""

NO_FILE_LEFT: Final = {errno.EMFILE, errno.ENFILE}
"""Of an ``OSError``: this process, or the machine, has too many files open."""

_MAX_EMPTY: Final = 4
"""Queues in memory of one origin that stay when they are empty: the next request mostly has the same rank."""


class UnreadableError(Exception):
    """Requests cannot be read back from a queue, or not be stored again; ``lost`` is their number."""

    def __init__(self, lost: int, cause: Exception) -> None:
        super().__init__(f"{lost} of its requests cannot be read")
        self.lost = lost
        self.__cause__ = cause


class Rank(NamedTuple):
    """Orders the requests of a download slot: the lowest rank goes first.

    ``priority`` is the negated priority of Scrapy; at the same priority, start requests go last, and `HEAD` first.
    """

    priority: int
    is_start: int


HEAD: Final = -1
"""In place of ``is_start``: of a request that was read already when the queue was closed."""

_SUFFIXES: Final = {HEAD: "h", False: "", True: "s"}


class OpenQueues:
    """The queues on disk that are open; opening one too many closes the least recently used one."""

    def __init__(self, most: int = MAX_OPEN) -> None:
        self._most = most
        self._open: OrderedDict[_RankQueue, None] = OrderedDict()

    def open(self, make: Callable[[], Any]) -> Any:
        """What *make* opens; if the process has no file left for it, the other queues close theirs."""
        try:
            return make()
        except OSError as error:
            if error.errno not in NO_FILE_LEFT:
                raise
        while self._open:
            self._open.popitem()[0].close()
        return make()

    def use(self, queue: _RankQueue) -> None:
        self._open[queue] = None
        self._open.move_to_end(queue)
        if len(self._open) > self._most:
            self._open.popitem(last=False)[0].close()

    def forget(self, queue: _RankQueue) -> None:
        self._open.pop(queue, None)


class _RankQueue:
    """One queue of Scrapy's, opened on use."""

    __slots__ = ("_make", "_open_queues", "_queue", "_size")

    def __init__(self, make: Callable[[], Any], open_queues: OpenQueues | None) -> None:
        self._make = make
        self._open_queues = open_queues
        self._queue: Any = None
        self._size = 0  # while it is closed

    def open(self) -> Any:
        if self._queue is None:
            make = self._make
            self._queue = make() if self._open_queues is None else self._open_queues.open(make)
        if self._open_queues is not None:
            self._open_queues.use(self)
        return self._queue

    @property
    def size(self) -> int:
        """The number of its requests, also while it is closed."""
        return self._size if self._queue is None else len(self._queue)

    def close(self) -> None:
        """Close its files; an empty queue removes them."""
        if self._open_queues is not None:
            self._open_queues.forget(self)
        if self._queue is not None:
            self._size = len(self._queue)
            self._queue.close()
            self._queue = None


class StoredQueue:
    """Requests in one queue per rank, made by *make* below the folder *path*, which is empty in memory."""

    __slots__ = ("_make", "_open_queues", "_order", "_path", "_queues")

    def __init__(self, make: Callable[[Rank, str], Any], path: str, open_queues: OpenQueues | None = None) -> None:
        self._make = make
        self._path = path
        self._open_queues = open_queues
        self._queues: dict[Rank, _RankQueue] = {}
        self._order: list[Rank] = []  # of the queues that hold requests, a heap

    def resume(self, ranks: Iterable[Rank]) -> None:
        """Find the requests that an earlier crawl left at *ranks*."""
        for rank in ranks:
            self._queue(rank).open()
            if not self._queues[rank].size:
                self._drop(rank)

    def push(self, rank: Rank, request: Request) -> None:
        """Raises what Scrapy's queue raises: ``ValueError`` for a request that cannot be stored on disk."""
        queue = self._queue(rank)
        try:
            queue.open().push(request)
        except BaseException:
            if not queue.size:
                self._drop(rank)
            raise

    def pop(self) -> Request:
        """Remove and return the first request; there must be one. Raises `UnreadableError`."""
        rank = self._order[0]
        queue = self._queues[rank]
        size = queue.size
        try:
            request: Request | None = queue.open().pop()
            if request is None:
                raise EOFError("the queue is shorter than it says")
        except Exception as error:
            if isinstance(error, OSError) and error.errno in NO_FILE_LEFT:  # that says nothing about the queue
                raise
            left = queue.size
            if left == size or isinstance(error, EOFError):  # the queue gives nothing more
                left = 0
            if not left:
                self._drop(rank)
                self._queues.pop(rank, None)
            raise UnreadableError(size - left, error) from error
        if not queue.size:
            self._drop(rank)
        return request

    @property
    def first(self) -> Rank:
        """The rank of the request that `pop` will return; there must be one."""
        return self._order[0]

    def close(self, report: Callable[[UnreadableError], None] = lambda _: None) -> list[int]:
        """Close all files; return the priorities that `resume` can find again, *report* what the disk refuses."""
        for queue in self._queues.values():
            try:
                queue.close()
            except OSError as error:  # noqa: PERF203  # each of them must close
                report(UnreadableError(queue.size, error))
        priorities = sorted({rank.priority for rank in self._order})
        self._queues.clear()
        self._order.clear()
        return priorities

    def _queue(self, rank: Rank) -> _RankQueue:
        queue = self._queues.get(rank)
        if queue is None:
            path = f"{self._path}/{rank.priority}{_SUFFIXES[rank.is_start]}"
            queue = self._queues[rank] = _RankQueue(lambda: self._make(rank, path), self._open_queues)
        if not queue.size:
            heappush(self._order, rank)
        return queue

    def _drop(self, rank: Rank) -> None:
        if self._order[0] == rank:
            heappop(self._order)
        else:
            self._order.remove(rank)
            heapify(self._order)
        if self._open_queues is None and len(self._queues) <= _MAX_EMPTY:
            return
        with suppress(OSError):  # of a full disk, on which even an empty queue cannot end
            self._queues.pop(rank).close()
        if not self._queues and self._path:
            with suppress(OSError):  # the folder stays if it contains files that are not ours
                Path(self._path).rmdir()

    def __bool__(self) -> bool:
        return bool(self._order)

    def __len__(self) -> int:
        return sum(queue.size for queue in self._queues.values())
