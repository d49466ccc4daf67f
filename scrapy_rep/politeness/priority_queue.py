"""The queue of hosts: it hands out a request only when that could start at once.

It takes the place of Scrapy's ``DownloaderAwarePriorityQueue``. Requests are sorted by download slot and
origin when they are pushed. A download slot that has room, whose delay has passed, and one of whose requests
has its robots.txt in hand, stands in a ready queue: `push`, `pop` and `len` cost the same with ten hosts and
with a hundred thousand. Nothing waits in the downloader, where it would take a place.
"""

from __future__ import annotations

import logging
import re
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from scrapy.utils.misc import build_from_crawler

from scrapy_rep.crawl.scrapy_internals import folder_of_download_slot
from scrapy_rep.exceptions import InvalidSettingError
from scrapy_rep.protocol import Origin

from .download_slot import leave_old_host
from .ready_slots import ReadySlots
from .slot_requests import SlotRequests
from .starts import Starts
from .stored_queue import OpenQueues, Rank, StoredQueue, UnreadableError

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from typing_extensions import Self

logger = logging.getLogger(__name__)

_NOT_IN_NAMES: Final = re.compile(r"[^\w.-]+", re.ASCII)
_LONGEST_NAME: Final = 80


class RepPriorityQueue:
    """A ``SCHEDULER_PRIORITY_QUEUE``; two of a crawl, in memory and on disk, share the state of download slots."""

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        return cls(crawler, *args, **kwargs)

    def __init__(
        self,
        crawler: Crawler,
        downstream_queue_cls: Any,
        key: str,
        startprios: Any = (),
        *,
        start_queue_cls: Any = None,
    ) -> None:
        """As Scrapy builds its own; *startprios* is what `close` returned, or that of Scrapy's default queue.

        Raises `InvalidSettingError` with ``CONCURRENT_REQUESTS_PER_IP``, ``ValueError`` for a *startprios*
        that another queue has left.
        """
        if crawler.settings.getint("CONCURRENT_REQUESTS_PER_IP"):
            raise InvalidSettingError(
                "CONCURRENT_REQUESTS_PER_IP and scrapy_rep.RepPriorityQueue exclude each other: remove the one,"
                ' or set SCHEDULER_PRIORITY_QUEUE = "scrapy.pqueues.ScrapyPriorityQueue"'
            )
        self.ready: ReadySlots[Any] = ReadySlots()
        self._crawler = crawler
        self._queue_class, self._start_queue_class = downstream_queue_cls, start_queue_cls
        self._path = key
        self._open_queues = OpenQueues() if key else None
        self._size = 0
        self._slots: dict[str, SlotRequests] = {}
        self._starts = Starts.of(crawler)
        self._starts.add(self)
        self._resume(startprios)

    def push(self, request: Request) -> None:
        """Store *request*; raises ``ValueError`` for one that cannot be stored on disk."""
        downloader = self._starts.downloader
        leave_old_host(request, downloader)
        slot = self._slot(downloader.slot_key(request))
        self._size += 1  # before it is stored: that may wake those who ask
        try:
            slot.push(request)
        except BaseException:
            self._size -= 1
            raise

    def pop(self) -> Request | None:
        """A request that could start at once, or None."""
        self._starts.settle()
        request = None
        while request is None and (slot := self.ready.first()) is not None:
            request = slot.pop()
            if request is None:
                self._starts.look(slot.state)
            else:
                self._size -= 1
                self._starts.hand_out(request, slot.state)
        self._starts.prefetch()
        return request

    def peek(self) -> Request | None:
        """The request that `pop` would return now, or None."""
        slot = self.ready.first()
        return slot.peek() if slot is not None else None

    def close(self) -> list[tuple[str, str | None, list[int]]]:
        """Close all files; what is returned lets a later crawl go on: download slot, origin, priorities.

        A list, which Scrapy's own queue refuses: it could not read what is there.
        """
        left = [(key, *origin) for key, slot in self._slots.items() for origin in slot.close()]
        self._slots.clear()
        return left

    def rank(self, request: Request) -> Rank:
        """Where *request* belongs; start requests come last where Scrapy has a queue of their own for them."""
        is_start = self._start_queue_class is not None and request.meta.get("is_start_request", False)
        return Rank(-request.priority, bool(is_start))

    def store(self, key: str, origin: Origin | None) -> StoredQueue:
        """Where the requests of *origin* in the download slot *key* are kept."""
        return self._stored(f"{self._path}/{_folder(key, origin)}" if self._path else "")

    def lose(self, error: UnreadableError) -> None:
        """Requests could not be read back."""
        self._size -= error.lost
        self._crawler.stats.inc_value("rep/queue/unreadable_count", error.lost)
        logger.error(
            "Dropped %d stored requests that cannot be read, or stored again: %s", error.lost, error.__cause__,
            extra={"spider": self._crawler.spider},
        )  # fmt: skip

    def forget(self, slot: SlotRequests) -> None:
        """No request of that download slot is left here."""
        self.ready.discard(slot)
        if self._slots.get(slot.state.key) is slot:
            del self._slots[slot.state.key]

    def _slot(self, key: str) -> SlotRequests:
        slot = self._slots.get(key)
        if slot is None:
            slot = self._slots[key] = SlotRequests(self._starts.state(key), self, self._starts)
        return slot

    def _stored(self, path: str) -> StoredQueue:
        return StoredQueue(self._make, path, self._open_queues)

    def _make(self, rank: Rank, path: str) -> Any:
        queue_class = self._start_queue_class if rank.is_start else self._queue_class
        return build_from_crawler(queue_class, self._crawler, path)

    def _resume(self, left: Any) -> None:
        """Go on with what `close` has returned, or Scrapy's default queue: a dict of download slots."""
        if isinstance(left, dict):
            if left:
                logger.info(
                    "A crawl begun with Scrapy's queue goes on with scrapy_rep.RepPriorityQueue;"
                    " from now on %s can be resumed with that one alone.", self._path,
                )  # fmt: skip
            left = [(key, None, priorities) for key, priorities in left.items()]
        for line in left:
            self._resume_slot(*_checked(line))

    def _resume_slot(self, key: str, origin: str | None, priorities: list[int]) -> None:
        of_origin = Origin.from_url(origin) if origin else None
        stored = (
            self._stored(f"{self._path}/{folder_of_download_slot(key)}")
            if origin is None
            else self.store(key, of_origin)
        )
        starts = (False, True) if self._start_queue_class is not None else (False,)
        stored.resume(Rank(priority, is_start) for priority in priorities for is_start in starts)
        if not stored:
            return
        self._size += len(stored)
        slot = self._slot(key)
        if origin is None:
            slot.resume_unsorted(stored)
        else:
            slot.resume(of_origin, stored)

    def __len__(self) -> int:
        return self._size

    def __repr__(self) -> str:
        return f"<RepPriorityQueue {self._path or 'in memory'} slots={len(self._slots)} ready={len(self.ready)}>"


def _checked(line: Any) -> tuple[str, str | None, list[int]]:
    """A line of what `RepPriorityQueue.close` returned. Raises ``ValueError`` for anything else."""
    try:
        key, origin, priorities = line
        return str(key), origin if origin is None else str(origin), [int(priority) for priority in priorities]
    except (TypeError, ValueError):
        raise ValueError(
            "the requests in this JOBDIR were stored by another SCHEDULER_PRIORITY_QUEUE than"
            " scrapy_rep.RepPriorityQueue or Scrapy's default: set that one, or begin with an empty JOBDIR"
        ) from None


def _folder(key: str, origin: Origin | None) -> str:
    """A name for the requests of *origin* in the download slot *key*: readable, and its own."""
    name = f"{key} {origin or ''}"
    return f"{_NOT_IN_NAMES.sub('_', name)[:_LONGEST_NAME]}-{sha256(name.encode()).hexdigest()[:16]}"
