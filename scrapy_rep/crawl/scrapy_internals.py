"""Every touch of what Scrapy does not promise to keep; no other module of this package makes one.

`TOUCHES` lists them. Scrapy plans to replace download slots by a throttler: what depends on them is here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from time import monotonic, time
from typing import TYPE_CHECKING, Any, Final

from scrapy import Request, pqueues, signals
from scrapy.exceptions import CloseSpider
from scrapy.utils.asyncio import call_later
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.httpobj import urlparse_cached

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

TOUCHES: Final = {
    "engine._slot.nextcall": "wakes the engine when a request can start; without it that takes up to 5 s",
    "engine._slot.closing": "tells that the crawl is closing; without it running fetches hold up the end",
    "engine.running": "tells that the spider is open: before, nothing is fetched, and the engine is not woken",
    "downloader.active": "tells when a request ends; without it a download slot counts as having room",
    "downloader.needs_backout": "stops a lazy start(); without it start() is read ahead without bound",
    "downloader.total_concurrency": "gives a fetch of robots.txt a place of its own; without it that takes one",
    "downloader.get_slot_key": "names the download slot of a request; needed",
    "downloader.slots": "room and delay of download slots; without it requests wait inside the downloader",
    "downloader._get_slot": "makes a download slot before its first request; without it the first is not paced",
    "slot.active": "counts the requests in a download slot",
    "slot.concurrency": "tells how many may be transferred at once",
    "slot.latercall": "ends a pause that is over, so that a turn is used when it says",
    "slot.queue": "tells whether a request waits inside",
    "slot.transferring": "tells whether a request has started",
    "slot.lastseen": "tells when the last request started, and is set when robots.txt has come",
    "slot.delay": "takes the Crawl-delay",
    "slot.jitter": "goes where it would shorten the Crawl-delay (Scrapy >= 2.19)",
    "slot.randomize_delay": "the same before Scrapy 2.19",
    "downloader.handlers._get_handler": "finds the aiohttp handler",
    "pqueues._path_safe": "finds the files of a JOBDIR that was begun with Scrapy's queue",
    "handler._session.connector._limit": "its pool holds CONCURRENT_REQUESTS connections: room for robots.txt",
}
"""What is touched, and why."""

_START_CHECK: Final = 0.01  # seconds: how soon a start of the engine is noticed
_LOOK_AGAIN: Final = 0.05  # seconds: how soon it is noticed that a request has started


class Engine:
    """What we ask of Scrapy's engine."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    def wake(self) -> None:
        """Let the engine ask its scheduler now: by itself it does so when something ends, and every 5 s.

        At its start it asks anyway; while the spider is being opened it would find parts of itself missing.
        """
        next_call = getattr(getattr(self._crawler.engine, "_slot", None), "nextcall", None)
        if next_call is not None and self.is_running:
            next_call.schedule()

    @property
    def is_running(self) -> bool:
        """Whether the spider is open: the middlewares have been told, and requests can be made."""
        running: bool = self._crawler.engine.running
        return running

    @property
    def is_closing(self) -> bool:
        """Whether the crawl has begun to close, be it for a signal, an exception or its end.

        While the spider is being opened the engine does not run yet, and closes nothing.
        """
        slot = getattr(self._crawler.engine, "_slot", None)
        if slot is None:
            return not self.is_running
        return getattr(slot, "closing", None) is not None

    def close_spider(self, reason: str) -> None:
        """Close the spider soon, also one that is being opened; nothing happens when it is closing."""

        def idle() -> None:
            raise CloseSpider(reason)

        def close() -> None:
            if not self.is_running and getattr(self._crawler.engine, "_slot", None) is not None:
                call_later(_START_CHECK, close)
            elif not self.is_closing:
                deferred_from_coro(self._crawler.engine.close_spider_async(reason=reason))

        self._crawler.signals.connect(idle, signal=signals.spider_idle, weak=False)
        call_later(0, close)


class Downloader:
    """What we ask of Scrapy's downloader, and the delays that we set there."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @property
    def _slots(self) -> dict[str, Any]:
        return getattr(self._crawler.engine.downloader, "slots", {})

    def slot_key(self, request: Request) -> str:
        """The download slot that *request* is in, or would be put into now."""
        key: str = self._crawler.engine.downloader.get_slot_key(request)
        return key

    def is_open(self, key: str) -> bool:
        """Whether the download slot exists; Scrapy drops those that are idle for a minute."""
        return key in self._slots

    def open(self, key: str, request: Request | None = None) -> None:
        """Make the download slot, if there is none, as the downloader does when a *request* for it arrives."""
        if key not in self._slots:
            make: Any = getattr(self._crawler.engine.downloader, "_get_slot", lambda _: None)
            make(request or Request("data:,", meta={"download_slot": key}))

    def is_active(self, request: Request) -> bool:
        """Whether *request* is with the downloader, its middlewares included."""
        return request in getattr(self._crawler.engine.downloader, "active", ())

    @property
    def is_full(self) -> bool:
        """Whether ``CONCURRENT_REQUESTS`` requests are under way."""
        downloader = self._crawler.engine.downloader
        limit: int = getattr(downloader, "total_concurrency", 0)
        return 0 < limit <= len(getattr(downloader, "active", ()))

    def seconds_to_start(self, key: str, handed_out: Collection[Request]) -> float | None:
        """In how many seconds download slot *key* could start one more request; None for when one has ended.

        *handed_out* are the requests of the scheduler that have not ended; one that a middleware has put into
        another download slot does not count. While one of them has not started these are the seconds until it is
        worth another look.
        """
        slot = self._slots.get(key)
        if slot is None:
            return 0.0
        if max(len(handed_out), len(slot.active)) >= slot.concurrency or slot.delay:
            handed_out = [one for one in handed_out if one.meta.get("download_slot", key) == key]
        if max(len(handed_out), len(slot.active)) >= slot.concurrency:
            return None if all(request in slot.active for request in handed_out) else _LOOK_AGAIN
        if not slot.delay:
            return 0.0
        since: float = _now(slot) - slot.lastseen
        jitter, longest_look = _jitter(slot), min(float(slot.delay), _LOOK_AGAIN)
        if slot.queue or any(request not in slot.transferring for request in handed_out):
            return max(float(slot.delay) * (1 + jitter) - since, longest_look)
        return max(float(slot.delay) * (1 - jitter) - since, 0.0)

    def pacing(self, key: str) -> tuple[float, float]:
        """Delay of the download slot in seconds, and its jitter as a share of that."""
        slot = self._slots[key]
        return slot.delay, _jitter(slot)

    def set_pacing(self, key: str, delay: float, jitter: float) -> None:
        """Set what `pacing` returns."""
        slot = self._slots[key]
        slot.delay = delay
        if hasattr(slot, "jitter"):
            slot.jitter = jitter
        else:
            slot.randomize_delay = bool(jitter)

    def count_from_now(self, key: str) -> None:
        """Let the delay of the download slot run from now.

        Scrapy counts from the start of a request. The first request of a host opens the connection and
        arrives late, so that the second, which does not, would come too early.
        """
        slot = self._slots.get(key)
        if slot is not None:
            slot.lastseen = _now(slot)

    def end_pause(self, key: str) -> None:
        """Let the download slot, whose delay has passed, start a request at once.

        It may have a timer of its own for that, which rings a little later.
        """
        slot = self._slots.get(key)
        if slot is not None and slot.latercall and not slot.queue and _now(slot) - slot.lastseen >= slot.delay:
            slot.latercall.cancel()
            slot.latercall = None

    def call_when_ended(self, ended: Callable[[Request], None]) -> None:
        """Call *ended* whenever a request has left the downloader, however it ended.

        No signal tells of a request that a middleware drops.
        """
        active = self._active()
        if active is not None:
            active.listeners.append(ended)

    def _active(self) -> _Active | None:
        downloader: Any = self._crawler.engine.downloader
        active = getattr(downloader, "active", None)
        if type(active) is set:
            active = downloader.active = _Active(downloader)
        return active if isinstance(active, _Active) else None

    def hold_back_when(self, holds: Callable[[], bool]) -> None:
        """Let the engine take no request, and a lazy ``start()`` wait, while *holds* is true."""
        downloader: Any = self._crawler.engine.downloader
        needs_backout = getattr(downloader, "needs_backout", None)
        if needs_backout is not None:
            downloader.needs_backout = lambda: needs_backout() or holds()

    async def fetch_beside(self, request: Request) -> Response:
        """The response to *request* for a robots.txt, through all downloader middlewares, in its own place."""
        self._active()
        with _one_more_connection(self._connector(request)):
            return await self._crawler.engine.download_async(request)

    def _connector(self, request: Request) -> Any:
        """The connection pool of Scrapy's aiohttp handler; Twisted's handlers have no such bound."""
        handlers = getattr(self._crawler.engine.downloader, "handlers", None)
        handler_of = getattr(handlers, "_get_handler", lambda _: None)
        session = getattr(handler_of(urlparse_cached(request).scheme), "_session", None)
        return getattr(session, "connector", None)


class _Active(set[Request]):
    """The active requests of *downloader*: tells who leaves, and gives each request for a robots.txt a place.

    The place comes and goes with the request, not a moment later: else a page more would be started.
    """

    def __init__(self, downloader: Any) -> None:
        super().__init__(downloader.active)
        self.listeners: list[Callable[[Request], None]] = []
        self._downloader = downloader
        self._beside: set[Request] = set()

    def add(self, request: Request) -> None:
        super().add(request)
        if "is_robotstxt_request" in request.meta and getattr(self._downloader, "total_concurrency", None):
            self._beside.add(request)
            self._downloader.total_concurrency += 1

    def remove(self, request: Request) -> None:
        super().remove(request)
        if request in self._beside:
            self._beside.remove(request)
            self._downloader.total_concurrency -= 1
        for ended in self.listeners:
            ended(request)

    def discard(self, request: object) -> None:
        if isinstance(request, Request) and request in self:
            self.remove(request)


@contextmanager
def _one_more_connection(connector: Any) -> Iterator[None]:
    """While entered, the pool has room for one more; 0 means "no limit"."""
    if not getattr(connector, "_limit", 0):
        yield
        return
    connector._limit += 1
    try:
        yield
    finally:
        connector._limit -= 1


def _now(slot: Any) -> float:
    """By the clock that *slot* started a request by; which one that is depends on the version of Scrapy."""
    return min(time(), monotonic(), key=lambda now: abs(now - slot.lastseen))


# Scrapy 2.19 has the magnitude; before, a flag stood for half of the delay. There the flag warns.
def _jitter(slot: Any) -> float:
    return float(slot.jitter if hasattr(slot, "jitter") else 0.5 * slot.randomize_delay)


def folder_of_download_slot(key: str) -> str:
    """The folder below a ``JOBDIR`` in which Scrapy's default queue keeps the requests of a download slot."""
    return str(pqueues._path_safe(key))
