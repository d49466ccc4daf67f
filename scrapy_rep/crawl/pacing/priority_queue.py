"""The host queue: a scheduler queue that hands out a request only if it could start at once.

It replaces Scrapy's ``DownloaderAwarePriorityQueue``. `push` groups requests by download slot and origin. No
request waits inside the downloader, where it would count towards ``CONCURRENT_REQUESTS``.

A download slot with queued requests is in one of three states, and `SlotTracker.update` moves it between them:

* ready: it could start a request now, and the queue may hand one out;
* waiting for a time: its delay has not passed, and a timer updates it when it has;
* waiting for an event: it is full, or none of its requests has its robots.txt in memory. The end of a request or
  a fetch updates it.

The obvious alternative, to check every download slot for each `pop`, takes 8 ms with ten thousand hosts. Here
`push`, `pop` and ``len`` cost the same with ten hosts and with a hundred thousand, because only slots that change
are checked. One tracker serves all queues of a crawl, in memory and on disk.
"""

from __future__ import annotations

import logging
import re
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from scrapy import signals
from scrapy.utils.misc import build_from_crawler

from scrapy_rep.clock import clock
from scrapy_rep.crawl.pacing.crawl_delay import CrawlDelay
from scrapy_rep.crawl.pacing.disk_queue import Journal, RecoverableLifoDiskQueue
from scrapy_rep.crawl.pacing.origin_queue import HEAD, OpenQueues, OriginQueue, Rank, Turns, UnreadableError
from scrapy_rep.crawl.pacing.prefetch import Prefetcher
from scrapy_rep.crawl.pacing.slots import Slots
from scrapy_rep.crawl.policy.meta import META_KEY, SLOT, choose_slot, is_stamp
from scrapy_rep.crawl.policy.policy import Judge
from scrapy_rep.crawl.robots.origins import OriginState
from scrapy_rep.crawl.runtime.crawl import Crawl
from scrapy_rep.crawl.runtime.event_loop import Timer
from scrapy_rep.crawl.runtime.scrapy_internals import folder_of_download_slot
from scrapy_rep.exceptions import InvalidSettingError
from scrapy_rep.protocol import Origin

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from typing_extensions import Self

    from scrapy_rep.crawl.pacing.slots import Slot

logger = logging.getLogger(__name__)

_NOT_IN_NAMES: Final = re.compile(r"[^\w.-]+", re.ASCII)
_LONGEST_NAME: Final = 80


class RepPriorityQueue:
    """A ``SCHEDULER_PRIORITY_QUEUE``; the queues of a crawl, in memory and on disk, share one `SlotTracker`."""

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
        """Take Scrapy's arguments; *startprios* is the return value of this `close`, or of Scrapy's default queue.

        Raises `InvalidSettingError` if ``CONCURRENT_REQUESTS_PER_IP`` is set or if only one of two disk queues is
        recoverable, and ``ValueError`` for the *startprios* or files of any other queue.
        """
        if crawler.settings.getint("CONCURRENT_REQUESTS_PER_IP"):
            raise InvalidSettingError(
                "CONCURRENT_REQUESTS_PER_IP does not work with scrapy_rep.RepPriorityQueue: remove the setting,"
                ' or set SCHEDULER_PRIORITY_QUEUE = "scrapy.pqueues.ScrapyPriorityQueue"'
            )
        self._crawler = crawler
        self._queue_class, self._start_queue_class = downstream_queue_cls, start_queue_cls
        self._path = key
        self._open_queues = OpenQueues() if key else None
        self._refused = self._lost_on_disk = 0
        self._disk_error: OSError | None = None
        self.size = 0
        # Download slots that could start one of its requests now.
        self.ready: Turns[Slot] = Turns()
        self._tracker = Crawl.of(crawler).part(SlotTracker)
        self._tracker.queues.append(self)
        self._tracker.records.has_queue = True
        self._slots = self._tracker.records
        self._met = Crawl.of(crawler).events.met
        self._journal = self._find_journal(startprios) if key else None
        if self._journal is None:
            self._resume(startprios)
        else:
            self._recover(self._journal)

    def push(self, request: Request) -> None:
        """Store *request*; raises ``ValueError`` if it cannot be stored on disk or if the disk fails."""
        tracker, meta = self._tracker, request.meta
        if SLOT in meta or not tracker.targets.is_plain:
            choose_slot(request, tracker.download_slots, tracker.targets)
        if META_KEY in meta and is_stamp(meta[META_KEY]):
            del meta[META_KEY]  # copied by a spider from a response; the gate writes a new stamp
        try:
            key = tracker.download_slots.key(request)
        except ValueError:  # the URL has an impossible host; the gate will reject it
            key = ""
        slot = self._slots.by_key.get(key) or self._slots.of(key)
        self._count(slot, 1)  # first, because storing may wake the engine, which asks for the length
        try:
            self._put(slot, request)
        except Exception as error:
            self._count(slot, -1)
            if isinstance(error, OSError):
                self._disk_error = error
            if self._disk_error is None:
                raise
            self._refused += 1
            raise ValueError(str(error)) from error  # then the scheduler keeps it in memory

    def _put(self, slot: Slot, request: Request) -> None:
        """Store *request*, which *slot* has counted. Raises the exceptions of `OriginQueue.push`."""
        judge = self._tracker.judge
        state = judge.state_to_ask(request) if judge is not None else None
        requests = slot.origins.get((self, state))
        if requests is None:
            requests = self._add(slot, state, self._folder(slot.key, state.origin if state is not None else None))
        is_first = not requests.size
        if is_first and state is not None and self._met.subscribers:
            self._met.send(state.origin.host)
        is_start = self._start_queue_class is not None and request.meta.get("is_start_request", False)
        rank = Rank(-request.priority, bool(is_start))
        try:
            requests.push(rank, request)
        except BaseException:
            if not requests.size:
                self.remove(requests)
            raise
        if is_first:
            self._tracker.settle(requests, request)
        elif requests in slot.turns[self]:
            slot.turns[self].add(requests, requests.rank)  # the rank may have improved

    def _add(self, slot: Slot, state: OriginState | None, path: str) -> OriginQueue:
        requests = OriginQueue(self._make_queue, path, self._open_queues, owner=self, slot=slot, state=state)
        slot.turns.setdefault(self, Turns())
        slot.origins[self, state] = requests
        return requests

    def remove(self, requests: OriginQueue) -> None:
        """Remove an origin without requests; the last origin stays until the download slot is forgotten."""
        slot = requests.slot
        slot.turns[self].pop(requests, None)
        if self in slot.unsorted or len(slot.origins) > 1:
            if slot.origins.get((self, requests.state)) is requests:
                del slot.origins[self, requests.state]
            self._sort(slot)

    def peek_in(self, requests: OriginQueue) -> Request | None:
        """Return the first request of *requests*, which stays in memory until `pop` takes it."""
        return requests.peek(lambda error: self._lose(requests.slot, error))

    def _count(self, slot: Slot, number: int) -> None:
        """Add *number*, which may be negative, to the counts of *slot*, this queue and the crawl."""
        self.size += number
        self._tracker.waiting += number
        slot.size += number

    def pop(self) -> Request | None:
        """Remove and return a request that could start at once, or None while all requests wait.

        The engine asks again when a request ends, every 5 seconds, and when `SlotTracker.update` wakes it because
        a download slot is ready.
        """
        tracker = self._tracker
        if tracker.last is not None:
            tracker.check_last()
        request = None
        while self.size and request is None and (slot := self.ready.first()) is not None:
            request = self._take(slot)
            if request is None:
                tracker.update(slot)
            else:
                tracker.hand_out(request, slot)
        if tracker.prefetcher is not None and tracker.prefetcher.waiting:  # fewer requests may be ready now
            tracker.prefetcher.start()
        return request

    def _take(self, slot: Slot) -> Request | None:
        """Remove and return the first request of *slot* that may go, or None.

        None may also mean that the request waits again, because its robots.txt has expired, or cannot be read.
        """
        turns, tracker, request = slot.turns[self], self._tracker, None
        requests = turns.first()
        if requests is None:
            return None
        state = requests.state
        if state is not None and not state.is_known and tracker.needs_robots(requests):
            tracker.settle(requests)
            return None
        del turns[requests]
        requests.is_admitted = False
        try:
            request = requests.pop()
        except UnreadableError as error:
            self._lose(slot, error)
        else:
            self.size -= 1
            slot.size -= 1
            tracker.waiting -= 1
        finally:
            if requests.size:
                turns.add(requests, requests.rank)  # behind the others of the same rank
        if not requests.size and (len(slot.origins) > 1 or slot.unsorted):
            self.remove(requests)
        return request

    def peek(self) -> Request | None:
        """Return the request that `pop` would return now, or None."""
        slot = self.ready.first()
        requests = slot.turns[self].first() if slot is not None else None
        return self.peek_in(requests) if requests is not None else None

    def close(self) -> list[tuple[str, str | None, list[int]]]:
        """Close all files; return download slots, origins and priorities, with which a later crawl resumes.

        They are a list because Scrapy's own queue, which cannot read these files, expects a dict and refuses them.
        """
        left: list[tuple[str, str | None, list[int]]] = []
        for slot in self._slots.by_key.values():
            lose = partial(self._lose, slot)
            for (owner, state), requests in slot.origins.items():
                if owner is self and requests.size:
                    left.append((slot.key, str(state.origin) if state is not None else "", requests.close(lose)))
            if self in slot.unsorted:
                left.append((slot.key, None, slot.unsorted.pop(self).close(lose)))
        if self._journal is not None:
            self._journal.close()
        if self._disk_error is not None:
            logger.error(
                "The disk of %s failed (%s): %d requests could not be stored and were kept in memory;"
                " %d requests are lost",
                self._path, self._disk_error, self._refused,
                self._lost_on_disk + self._tracker.waiting - len(self), extra={"spider": self._crawler.spider},
            )  # fmt: skip
        return left

    def _folder(self, key: str, origin: Origin | None) -> str:
        """Return the path for the requests of *origin* in download slot *key*; empty for a queue in memory."""
        if not self._path:
            return ""
        return f"{self._path}/{_folder(key, origin) if self._journal is None else f'{key} {origin or str()}'}"

    def _lose(self, slot: Slot, error: UnreadableError) -> None:
        """Subtract from the counts, and log, requests that could not be read back."""
        self._count(slot, -error.lost)
        self._report(error)

    def _report(self, error: UnreadableError) -> None:
        self._crawler.stats.inc_value("rep/queue/unreadable_count", error.lost)
        if isinstance(error.__cause__, OSError):
            self._lost_on_disk, self._disk_error = self._lost_on_disk + error.lost, error.__cause__
            return
        logger.error(
            "Dropped %d stored requests that cannot be read, or cannot be stored again: %s",
            error.lost, error.__cause__,
            extra={"spider": self._crawler.spider},
        )  # fmt: skip

    def _make_queue(self, rank: Rank, path: str) -> Any:
        queue_class = (self._start_queue_class if rank.is_start > 0 else None) or self._queue_class
        return build_from_crawler(queue_class, self._crawler, path)

    def _find_journal(self, left: Any) -> Journal | None:
        """Return the journal of this crawl, or None if its queues have no journal."""
        kinds = [kind for kind in (self._queue_class, self._start_queue_class) if kind is not None]
        recoverable = [kind for kind in kinds if issubclass(kind, RecoverableLifoDiskQueue)]
        if recoverable and recoverable != kinds:
            raise InvalidSettingError(
                'set both SCHEDULER_DISK_QUEUE = "scrapy_rep.RecoverableLifoDiskQueue" and'
                ' SCHEDULER_START_DISK_QUEUE = "scrapy_rep.RecoverableFifoDiskQueue", or neither'
            )
        path = Path(self._path).with_suffix(".journal")
        if (left and not Journal.is_at(path)) if recoverable else Journal.is_at(path):
            raise ValueError(
                "the requests in this JOBDIR were stored by another SCHEDULER_DISK_QUEUE: set the one that it"
                " began with, or start with an empty JOBDIR"
            )
        return Journal(self._crawler, path) if recoverable else None

    def _recover(self, journal: Journal) -> None:
        """Resume the requests in *journal*, whether or not its crawl closed cleanly."""
        priorities: dict[tuple[str, str], set[int]] = {}
        unnamed = journal.waiting.pop(b"", ())
        for name in map(bytes.decode, journal.waiting):
            queue, _, rank = name.rpartition("/")
            key, _, origin = queue.rpartition(" ")
            priorities.setdefault((key, origin), set()).add(int(rank.rstrip("hs")))
        for (key, origin), found in priorities.items():
            self._resume_slot(key, origin, sorted(found))
        for begin in unnamed:
            try:
                request = journal.hand_out(begin)
            except Exception as error:  # noqa: BLE001, PERF203  # the others must survive
                self._report(UnreadableError(1, error))
            else:
                self.push(request)
                journal.end(request)

    def _resume(self, left: Any) -> None:
        """Resume from the return value of `close`, or of Scrapy's default queue: a dict of download slots."""
        if isinstance(left, dict):
            if left:
                logger.info(
                    "scrapy_rep.RepPriorityQueue continues a crawl that Scrapy's own queue began. From now on,"
                    " only scrapy_rep.RepPriorityQueue can resume %s.", self._path,
                )  # fmt: skip
            left = [(key, None, priorities) for key, priorities in left.items()]
        for line in left:
            self._resume_slot(*_checked(line))

    def _resume_slot(self, key: str, origin_text: str | None, priorities: list[int]) -> None:
        slot = self._slots.of(key)
        has_starts = self._start_queue_class is not None or self._journal is not None
        starts = (HEAD, False, True) if has_starts else (HEAD, False)
        ranks = [Rank(priority, is_start) for priority in priorities for is_start in starts]
        if origin_text is None:
            stored = OriginQueue(
                self._make_queue,
                f"{self._path}/{folder_of_download_slot(key)}",
                self._open_queues,
                owner=self,
                slot=slot,
            )
            stored.resume(ranks)
            if stored.size:
                slot.turns.setdefault(self, Turns())
                slot.unsorted[self] = stored
                self._count(slot, stored.size)
                self._sort(slot)
            return
        origin, judge = Origin.from_url(origin_text) if origin_text else None, self._tracker.judge
        state = None
        if origin is not None:
            state = judge.registry.origins.of(origin) if judge is not None else OriginState(origin)
        requests = self._add(slot, state, self._folder(key, origin))
        requests.resume(ranks)
        if requests.size:
            self._count(slot, requests.size)
            self._tracker.settle(requests)
        else:
            del slot.origins[self, state]

    def _sort(self, slot: Slot) -> None:
        """Move the unsorted requests of *slot* that rank before all others to their origins."""
        unsorted = slot.unsorted.pop(self, None)  # or `remove` would sort again for each failure to store
        while unsorted is not None and unsorted.size:
            ranks = (each.rank for (owner, _), each in slot.origins.items() if owner is self and each.size)
            others = min(ranks, default=None)
            if others is not None and others <= unsorted.rank:
                slot.unsorted[self] = unsorted
                return
            try:
                self._put(slot, unsorted.pop())
            except UnreadableError as error:
                self._lose(slot, error)
            except Exception as error:  # noqa: BLE001  # the request is in no queue now: subtract it
                self._lose(slot, UnreadableError(1, error))

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        counts = f"size={self.size} ready={len(self.ready)}"
        return f"<RepPriorityQueue {self._path or 'in memory'} {counts}>"


_MIN_READY: Final = 32
"""Prefetching goes on below this number of ready download slots; above it, files would come long before use."""

_GRACE: Final = 1.0
"""Seconds after a fetch in which an origin may hand out requests although no robots.txt is cached.

The fetch may have failed in a way that the gate reports per request, or the robots.txt may not be cacheable.
"""


class SlotTracker:
    """The download slots of a crawl, and the requests that wait for them."""

    def __init__(self, crawl: Crawl) -> None:
        self.timer = Timer()
        self._events = crawl.events
        self.judge = crawl.find(Judge)
        self.crawl_delay = crawl.crawler.get_extension(CrawlDelay)
        self.download_slots = crawl.download_slots
        self.targets = crawl.targets
        self._engine = crawl.engine
        self._max_waiting = crawl.settings.max_waiting
        self._enough_ready = max(_MIN_READY, 2 * crawl.crawler.settings.getint("CONCURRENT_REQUESTS"))
        self.prefetcher = None
        if self.judge is not None:
            self.prefetcher = Prefetcher(crawl, self.judge, self.timer, self._has_enough_ready, self.admit)
        self.queues: list[RepPriorityQueue] = []  # in memory, on disk
        # The number of requests in all queues.
        self.waiting = 0
        self._handed_out: dict[Request, Slot] = {}
        # The request that was handed out last; `check_last` clears it.
        self.last: Request | None = None
        self.records = crawl.part(Slots)
        self.records.update = self.update
        self._waits = self.records.waits
        if self.crawl_delay is not None:
            self.crawl_delay.forecast.watch(self.timer)
        crawl.events.ended.subscribe(self._request_ended)
        crawl.downloader.tell_ends()
        self._is_downloader_full = crawl.downloader.set_backout(self._needs_backout)
        self._signals = crawl.crawler.signals
        self._sees_departures = self._serves_another = False
        crawl.crawler.signals.connect(self.timer.stop, signal=signals.spider_closed)

    def can_start(self, request: Request) -> bool:
        """Whether *request* of another scheduler could start at once; if not, wake the engine when it can."""
        self._serves_another = True
        if SLOT in request.meta or not self.targets.is_plain:
            choose_slot(request, self.download_slots, self.targets)
        state = self.judge.state_to_ask(request) if self.judge is not None else None
        if (state is not None and self.judge is not None) and not (
            state.is_known or self.judge.registry.refusal(state, request)
        ):
            if state.flight is None and self.prefetcher is not None:
                self.prefetcher.ask(state, request)
            return False
        if state is not None and self.crawl_delay is not None:
            self.crawl_delay.prepare_known(request)
        seconds = self.records.seconds_to_start(self.records.of(self.download_slots.key(request)))
        if seconds:
            self.timer.call_after(seconds, self._engine.wake)
        return seconds == 0

    # The requests of origins: which may go, and why the others wait.

    def admit(self, requests: OriginQueue) -> None:
        """End the wait of *requests*: their robots.txt has been fetched."""
        requests.admitted_at, requests.is_admitted = clock.monotonic(), True
        self.settle(requests)

    def settle(self, requests: OriginQueue, request: Request | None = None) -> None:
        """Release *requests* or let them wait for robots.txt. A known *request* of theirs saves reading one."""
        state, slot, queue = requests.state, requests.slot, requests.owner
        turns = slot.turns[queue]
        if state is not None:
            if not state.is_known and self.prefetcher is not None and self.needs_robots(requests):
                turns.pop(requests, None)
                self.prefetcher.add(requests)
                return
            robots, delays = state.robots, self.crawl_delay
            if robots is not None and delays is not None and (robots.may_request_delays or self.records.delayed):
                request = request or queue.peek_in(requests)
                if request is None:
                    queue.remove(requests)
                    return
                delays.prepare_known(request)
        turns.add(requests, requests.rank)
        if slot not in queue.ready:
            self.update(slot)

    def needs_robots(self, requests: OriginQueue) -> bool:
        """Whether *requests* have to wait for a fetch of their robots.txt, which is not in memory."""
        is_over = requests.is_admitted or clock.monotonic() < requests.admitted_at + _GRACE
        return self.judge is not None and not is_over

    # Download slots: which of them could start a request.

    def update(self, slot: Slot) -> None:
        """Move *slot* to its current state: ready, or waiting for a time or an event.

        A slot that becomes ready wakes the engine, which otherwise asks its scheduler only when a request ends.
        """
        if not slot.size and self._serves_another:  # a request of another scheduler may wait for the slot
            self._engine.wake()
            return
        seconds = None
        if slot.size and any(slot.turns.values()):
            seconds = self.records.seconds_to_start(slot)
            if seconds != 0 and not self._sees_departures:
                self._see_departures()
                seconds = self.records.seconds_to_start(slot)
        for queue, turns in slot.turns.items():
            if seconds != 0 or not turns:
                queue.ready.pop(slot, None)
            elif queue.ready.add(slot, len(slot.handed_out)):
                self._engine.wake()
        if seconds:
            self._waits.begin(slot, self)
            self._update_after(slot, seconds)
        elif self._waits.now:
            self._waits.end(slot, self)

    def _update_after(self, slot: Slot, seconds: float) -> None:
        now = clock.monotonic()
        if slot.update_at is not None and now < slot.update_at <= now + seconds:
            return
        due = slot.update_at = now + seconds
        self.timer.call_after(seconds, lambda: self._update_at(slot, due))

    def _update_at(self, slot: Slot, due: float) -> None:
        if slot.update_at == due:  # else an earlier update replaced this timer
            slot.update_at = None
            self.update(slot)

    def check_last(self) -> None:
        """Treat the last request that was handed out as ended if it never reached the downloader.

        Call this before taking the next request. The engine passes each request to the downloader before it asks
        for the next, but a scheduler of the project may drop a request without any signal.
        """
        last, self.last = self.last, None
        if last is not None and last in self._handed_out and not self.download_slots.has(last):
            self._request_ended(last)

    def hand_out(self, request: Request, slot: Slot) -> None:
        """Count *request*, which goes to the downloader, until it leaves its download slot."""
        self.last = request
        self._handed_out[request] = slot
        slot.handed_out.add(request)
        self.update(slot)

    def _see_departures(self) -> None:
        """Listen for requests that leave their slots, once a slot has to wait: the signal costs every request."""
        self._sees_departures = True
        self._signals.connect(self._left_slot, signal=signals.request_left_downloader)
        for slot in {*self._handed_out.values()}:
            slot.handed_out -= {each for each in slot.handed_out if self.download_slots.has_left(each)}

    def _left_slot(self, request: Request) -> None:
        """Free the place of *request* in its slot at once: middlewares may hold its response for long."""
        slot = self._handed_out.get(request)
        if slot is not None:
            slot.handed_out.discard(request)
            if slot.size:
                self.update(slot)

    def _request_ended(self, request: Request) -> None:
        """Free the place of *request*, which has left the downloader; it may come from no queue."""
        slot = self._handed_out.pop(request, None) or self.records.by_key.get(self.download_slots.key(request))
        if slot is not None:
            slot.handed_out.discard(request)
            if slot.size or self.records.delayed:
                self.update(slot)

    def _has_enough_ready(self) -> bool:
        return sum(len(queue.ready) for queue in self.queues) >= self._enough_ready

    def _needs_backout(self) -> bool:
        """Whether to pause the engine and a lazy ``start()``: downloader full, or ``REP_MAX_WAITING`` queued."""
        if self._is_downloader_full():
            return True
        return self.waiting >= self._max_waiting and not any(queue.ready for queue in self.queues)

    def __repr__(self) -> str:
        return f"<SlotTracker {self.records!r} handed_out={len(self._handed_out)} {self.prefetcher!r}>"


def _checked(line: Any) -> tuple[str, str | None, list[int]]:
    """Check an item of the list that `RepPriorityQueue.close` returned. Raises ``ValueError`` for other values."""
    try:
        key, origin, priorities = line
        return str(key), origin if origin is None else str(origin), [int(priority) for priority in priorities]
    except (TypeError, ValueError):
        raise ValueError(
            "the requests in this JOBDIR were stored by a SCHEDULER_PRIORITY_QUEUE other than"
            " scrapy_rep.RepPriorityQueue and Scrapy's default, or by a later version of scrapy_rep: set that one,"
            " or start with an empty JOBDIR"
        ) from None


def _folder(key: str, origin: Origin | None) -> str:
    """Return a readable and unique folder name for the requests of *origin* in download slot *key*."""
    name = f"{key} {origin or ''}"
    return f"{_NOT_IN_NAMES.sub('_', name)[:_LONGEST_NAME]}-{sha256(name.encode()).hexdigest()[:16]}"
