"""The requests of an origin that wait for a download slot: one queue per priority, in memory or on disk.

Scrapy's settings name the classes of these queues, which store requests and know nothing of origins. `OriginQueue`
keeps a queue per rank and hands out the best rank first, as Scrapy's own ``ScrapyPriorityQueue`` does for a crawl.
A crawl may meet a hundred thousand origins, but a process may open only a thousand files. Queues on disk open when
they are used, and `OpenQueues` closes the least recently used.

The first request may be held in memory: robots.txt is fetched with its headers and its proxy, and it has then left
its queue. It goes first, even if a request of a better rank is pushed, and is stored again at the end.
"""

from __future__ import annotations

import errno
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import suppress
from heapq import heapify, heappop, heappush
from itertools import count
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

if TYPE_CHECKING:
    from scrapy import Request

    from scrapy_rep.crawl.robots.origins import OriginState

T = TypeVar("T")

MAX_OPEN: Final = 128
"""Maximum number of open queues on disk; each takes one or two files."""

NO_FILE_LEFT: Final = {errno.EMFILE, errno.ENFILE}
"""Error numbers of an ``OSError``: this process, or the machine, has too many files open."""

_MAX_EMPTY: Final = 4
"""Empty queues in memory to keep per origin: the next request mostly has the same rank."""

_MANY_OUTDATED: Final = 8  # heap entries per item that counts; a larger heap is rebuilt

_numbers = count()


class UnreadableError(Exception):
    """Requests cannot be read back from a queue, or cannot be stored again; ``lost`` is their number."""

    def __init__(self, lost: int, cause: Exception) -> None:
        super().__init__(f"{lost} of its requests cannot be read")
        self.lost = lost
        self.__cause__ = cause


class Rank(NamedTuple):
    """Orders the requests of a download slot: the lowest rank goes first.

    ``priority`` is the negated Scrapy priority; at the same priority, start requests go last and `HEAD` first.
    """

    priority: int
    is_start: int


HEAD: Final = -1
"""Replaces ``is_start`` for a request that had already been read when the queue was closed."""

_SUFFIXES: Final = {HEAD: "h", False: "", True: "s"}


class Turns(dict[T, tuple[Any, int, T]]):
    """Items by rank, the lowest first; items of equal rank take turns. Remove an item by ``pop(item, None)``."""

    def __init__(self) -> None:
        super().__init__()
        self._heap: list[tuple[Any, int, T]] = []  # outdated entries stay, and are skipped

    def add(self, item: T, rank: Any) -> bool:
        """Add *item* behind others of *rank*; return whether it is new. At the same rank it keeps its turn."""
        before = self.get(item)
        if before is None or before[0] != rank:
            entry = self[item] = rank, next(_numbers), item
            if len(self._heap) > _MANY_OUTDATED * (len(self) + 1):
                self._heap = sorted(self.values())
            else:
                heappush(self._heap, entry)
        return before is None

    def first(self) -> T | None:
        """Return the item whose turn it is, or None."""
        heap = self._heap
        while heap:
            entry = heap[0]
            if self.get(entry[2]) is entry:
                return entry[2]
            heappop(heap)
        return None

    def __repr__(self) -> str:
        return f"<Turns {len(self)}>"


class OpenQueues:
    """The open queues on disk; at the limit, opening a queue closes the least recently used queue."""

    def __init__(self, most: int = MAX_OPEN) -> None:
        self._most = most
        self._open: OrderedDict[_DiskQueue, None] = OrderedDict()

    def open(self, make: Callable[[], Any]) -> Any:
        """Return the result of *make*; if the process has no file left, first close the other queues."""
        try:
            return make()
        except OSError as error:
            if error.errno not in NO_FILE_LEFT:
                raise
        while self._open:
            self._open.popitem()[0].close()
        return make()

    def use(self, queue: _DiskQueue) -> None:
        self._open[queue] = None
        self._open.move_to_end(queue)
        if len(self._open) > self._most:
            self._open.popitem(last=False)[0].close()

    def forget(self, queue: _DiskQueue) -> None:
        self._open.pop(queue, None)


class _DiskQueue:
    """A Scrapy queue on disk that opens on use: the same methods, for any number of queues."""

    __slots__ = ("_make", "_open_queues", "_queue", "_size")

    def __init__(self, make: Callable[[], Any], open_queues: OpenQueues) -> None:
        self._make = make
        self._open_queues = open_queues
        self._queue: Any = None
        self._size = 0  # while it is closed

    def open(self) -> Any:
        if self._queue is None:
            self._queue = self._open_queues.open(self._make)
        self._open_queues.use(self)
        return self._queue

    def push(self, request: Request) -> None:
        self.open().push(request)

    def pop(self) -> Request | None:
        request: Request | None = self.open().pop()
        return request

    def close(self) -> None:
        """Close its files; an empty queue removes them."""
        self._open_queues.forget(self)
        if self._queue is not None:
            self._size = len(self._queue)
            self._queue.close()
            self._queue = None

    def __len__(self) -> int:
        return self._size if self._queue is None else len(self._queue)


class OriginQueue:
    """The requests of the origin *state* that wait for *slot*, in a queue of the scheduler.

    ``state`` is None for requests that need no robots.txt. ``size`` is the number of requests.
    """

    __slots__ = (
        "_head", "_make", "_open_queues", "_order", "_path", "_queues", "admitted_at", "is_admitted", "owner",
        "size", "slot", "state",
    )  # fmt: skip

    def __init__(
        self, make: Callable[[Rank, str], Any], path: str = "", open_queues: OpenQueues | None = None,
        *, owner: Any = None, slot: Any = None, state: OriginState | None = None,
    ) -> None:  # fmt: skip
        """*make* builds the queue of a rank at a path below *path*, which is empty for queues in memory.

        *owner* is the queue of the scheduler.
        """
        self._make = make
        self._path = path
        self._open_queues = open_queues
        self._queues: dict[Rank, Any] = {}
        self._order: list[Rank] = []  # a heap: the ranks of queues that hold requests
        # The first request, once it has been read.
        self._head: tuple[Rank, Request] | None = None
        self.owner = owner
        self.slot = slot
        self.state = state
        self.size = 0
        # Whether the wait for robots.txt has ended and no request has left since.
        #
        # At least one request may leave after a fetch, even if its delay outlasts the robots.txt.
        self.is_admitted = False
        # When the last wait ended (monotonic seconds).
        self.admitted_at = -inf

    @property
    def rank(self) -> Rank:
        """The rank of the first request; the queue must not be empty."""
        return self._head[0] if self._head is not None else self._order[0]

    def resume(self, ranks: Iterable[Rank]) -> None:
        """Resume the requests that an earlier crawl left at *ranks*."""
        for rank in ranks:
            queue = self._queues[rank] = self._new(rank)
            queue.open()
            if len(queue):
                heappush(self._order, rank)
                self.size += len(queue)
            else:
                self._close(rank)

    def push(self, rank: Rank, request: Request) -> None:
        """Store *request*. Raises ``ValueError``, as Scrapy's queue does, if the disk cannot store it."""
        queue = self._queues.get(rank)
        if queue is None:
            queue = self._queues[rank] = self._new(rank)
        is_first = not len(queue)
        try:
            queue.push(request)
        except BaseException:
            if not len(queue):
                self._close(rank)
            raise
        self.size += 1
        if is_first:
            heappush(self._order, rank)

    def _new(self, rank: Rank) -> Any:
        path = f"{self._path}/{rank.priority}{_SUFFIXES[rank.is_start]}"
        if self._open_queues is None:
            return self._make(rank, path)
        return _DiskQueue(lambda: self._make(rank, path), self._open_queues)

    def pop(self) -> Request:
        """Remove and return the first request; the queue must not be empty. Raises `UnreadableError`."""
        if self._head is not None:
            (_, request), self._head = self._head, None
            self.size -= 1
            return request
        rank = self._order[0]
        queue = self._queues[rank]
        before = len(queue)
        try:
            found: Request | None = queue.pop()
            if found is None:
                raise EOFError("the queue holds fewer requests than it counts")
        except Exception as error:
            if isinstance(error, OSError) and error.errno in NO_FILE_LEFT:  # that says nothing about the queue
                raise
            left = len(queue)
            if left == before or isinstance(error, EOFError):  # the queue gives nothing more
                left = 0
            if not left:
                self._drop(rank, is_broken=True)
            self.size -= before - left
            raise UnreadableError(before - left, error) from error
        self.size -= 1
        if before == 1:
            self._drop(rank)
        return found

    def peek(self, lose: Callable[[UnreadableError], None]) -> Request | None:
        """Return the first readable request, held until `pop`, or None. *lose* gets errors of other requests."""
        while self._head is None and self._order:
            rank = self._order[0]
            try:
                request = self.pop()
            except UnreadableError as error:
                lose(error)
            else:
                self._head = rank, request
                self.size += 1
        return self._head[1] if self._head is not None else None

    def _drop(self, rank: Rank, *, is_broken: bool = False) -> None:
        """Take *rank* out of the order: its queue is empty."""
        if self._order[0] == rank:
            heappop(self._order)
        else:
            self._order.remove(rank)
            heapify(self._order)
        if is_broken or self._open_queues is not None or len(self._queues) > _MAX_EMPTY:
            self._close(rank)

    def _close(self, rank: Rank) -> None:
        """Forget the queue of *rank*, which is empty."""
        with suppress(OSError):  # on a full disk, even an empty queue fails to close
            self._queues.pop(rank).close()
        if not self._queues and self._path:
            with suppress(OSError):  # the folder stays if it contains files that are not ours
                Path(self._path).rmdir()

    def close(self, lose: Callable[[UnreadableError], None] = lambda _: None) -> list[int]:
        """Close all files; return the priorities for `resume`. *lose* gets errors of requests not stored."""
        if self._head is not None:
            (rank, request), self._head = self._head, None
            self.size -= 1
            try:
                self.push(Rank(rank.priority, HEAD), request)  # before the others, in files of any order
            except Exception as error:  # noqa: BLE001  # project code changed it; the other requests must survive
                lose(UnreadableError(1, error))
        for queue in self._queues.values():
            try:
                queue.close()
            except OSError as error:  # noqa: PERF203  # every queue must close
                lose(UnreadableError(len(queue), error))
        priorities = sorted({rank.priority for rank in self._order})
        self._queues.clear()
        self._order.clear()
        self.size = 0
        return priorities

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        return f"<OriginQueue {self.state.origin if self.state is not None else 'of no origin'} size={self.size}>"
