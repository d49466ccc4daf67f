"""The parts of Scrapy that this package uses although they are not public.

`TOUCHES` lists them; no other module uses them. Scrapy plans to replace download slots by a throttler: all code
that depends on slots is in `DownloadSlots`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property, partial
from time import monotonic, time
from types import MethodType
from typing import TYPE_CHECKING, Any, Final, cast

from pydispatch.dispatcher import Any as Any_  # type: ignore[import-untyped]
from pydispatch.dispatcher import connections, getAllReceivers, liveReceivers
from scrapy import Request, pqueues, signals
from scrapy.core import downloader
from scrapy.core.scheduler import Scheduler
from scrapy.exceptions import CloseSpider, IgnoreRequest
from scrapy.spiders import SitemapSpider
from scrapy.utils.asyncio import call_later
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.httpobj import urlparse_cached

from scrapy_rep.clock import clock
from scrapy_rep.crawl.runtime.event_loop import Closing

if TYPE_CHECKING:
    import re

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_rep.crawl.runtime.events import Event, Events

TOUCHES: Final = {
    "engine._slot.nextcall": "wakes the engine when a request can start; without it that takes up to 5 s",
    "engine._slot.closing": "shows that the crawl is closing; without it running fetches delay the end",
    "engine.running": "shows that the spider is open: before that, nothing is fetched and the engine is not woken",
    "engine._slot.inprogress": "shows when a page has been handled; without it a killed crawl repeats more",
    "engine._slot.scheduler": "tells what an earlier run left; without it what this run leaves is not known",
    "engine._slot.scheduler.df.file": "writes at once what it has seen; without it a killed crawl repeats more",
    "downloader.active": "shows when a request ends; without it every download slot seems to have room",
    "downloader.needs_backout": "stops a lazy start(); without it start() is read ahead without bound",
    "downloader.middleware.methods": "lists who sees a request; without it a middleware without work costs a page,"
    " and a robots.txt that is cut inside its compression is read as if it were whole",
    "downloader.total_concurrency": "is raised for robots.txt and for what only waits: else these displace pages",
    "downloader.get_slot_key": "gives the download slot of a request; without it that is taken from meta or URL",
    "downloader.slots": "holds room and delay of download slots; without it requests wait inside the downloader",
    "downloader._get_slot": "creates a download slot before its first request; without it the first has no delay",
    "slot.active": "counts the requests in a download slot",
    "slot.latercall": "shows whether the next request of a download slot starts at once",
    "slot.concurrency": "limits the requests that a download slot transfers at once",
    "slot.queue": "shows whether a request waits inside the download slot; without it a back-off delays the end",
    "slot.transferring": "shows whether a request has started",
    "slot.lastseen": "is the time of the last start; set when robots.txt has arrived, or ahead to hold a start",
    "downloader.monotonic": "is there if that clock is the monotonic one, else it is the time of day",
    "slot.delay": "takes the Crawl-delay",
    "slot.jitter": "is set to 0 where it would shorten the Crawl-delay (Scrapy >= 2.19)",
    "slot.randomize_delay": "does the same before Scrapy 2.19",
    "downloader.handlers._get_handler": "finds the download handler of Twisted, or of aiohttp",
    "downloader.handlers.download_request_async": "is where the door stands; without it nothing is requested",
    "handler._session._retry_connection": "repeats a request at once, whatever its delay; Scrapy's retries wait",
    "handler._pool.persistent": "has Twisted keep connections, on which it does the same",
    "handler._pool._connections": "are those connections, of which a delayed request takes none",
    "spider._errback": "is the errback of every link of a CrawlSpider; it does nothing unless the rule names one",
    "spider._parse_sitemap": "is the callback of a SitemapSpider for robots.txt and sitemaps, which we replace",
    "spider._get_sitemap_body": "unpacks a sitemap; a spider that has its own keeps it",
    "spider._cbs": "holds the sitemap_rules of a SitemapSpider, with their callbacks",
    "spider._follow": "holds its sitemap_follow, compiled",
    "pqueues._path_safe": "finds the files of a JOBDIR that a crawl with Scrapy's own queue began",
    "handler._session.connector._limit": "caps the aiohttp pool at CONCURRENT_REQUESTS: raised for robots.txt",
    "handler._default_client._transport._pool._max_connections": "does the same in httpx (Scrapy 2.16 to 2.18)",
}
"""The parts in use, each with its purpose."""

_START_CHECK: Final = 0.01  # seconds between two checks whether the engine has started
_START_POLL: Final = 0.05  # seconds between two checks whether a request has started
_IS_MONOTONIC: Final = hasattr(downloader, "monotonic")
_MAX_RECENT: Final = 1_000  # answers of all download slots


class Engine:
    """The parts of Scrapy's engine that this package needs."""

    def __init__(self, crawler: Crawler, events: Events) -> None:
        self._crawler = crawler
        self._events = events
        self.closing = Closing(lambda: self.is_closing)

    def wake(self) -> None:
        """Make the engine ask its scheduler now, not only when a request ends or after 5 seconds.

        Does nothing before the spider is open: the engine still lacks some of its parts, and asks when complete.
        """
        engine = self._crawler.engine
        next_call = getattr(getattr(engine, "_slot", None), "nextcall", None)
        if next_call is not None and engine.running:
            next_call.schedule()

    @property
    def is_running(self) -> bool:
        """Whether the spider is open: middlewares know it, and requests can be sent."""
        running: bool = self._crawler.engine.running
        return running

    @property
    def is_closing(self) -> bool:
        """Whether the crawl has begun to close: after a signal, an exception or its last request.

        While the spider is being opened, the engine is neither running nor closing.
        """
        slot = getattr(self._crawler.engine, "_slot", None)
        if slot is None:
            return not self.is_running
        return getattr(slot, "closing", None) is not None

    async def pause(self, seconds: float) -> bool:
        """Wait *seconds*; return False early if the crawl begins to close."""
        if self.is_closing:
            return False
        return seconds <= 0 or await self.closing.pause(seconds)

    @property
    def scheduled(self) -> int:
        """Number of requests in Scrapy's scheduler; 0 for other schedulers, which crawls may share."""
        scheduler = getattr(getattr(self._crawler.engine, "_slot", None), "scheduler", None)
        return len(scheduler) if isinstance(scheduler, Scheduler) else 0

    def flush_seen(self) -> None:
        """Flush the file of the duplicate filter, if it has a file and the disk has room.

        From then on it writes only when it is flushed; older versions of Scrapy write at once.
        """
        scheduler = getattr(getattr(self._crawler.engine, "_slot", None), "scheduler", None)
        file = getattr(getattr(scheduler, "df", None), "file", None)
        if file is not None:
            with suppress(OSError):
                file.flush()
            if getattr(file, "line_buffering", False):
                file.reconfigure(line_buffering=False)

    def tell_handled(self) -> None:
        """Start sending `Events.handled`."""
        slot: Any = getattr(self._crawler.engine, "_slot", None)
        if type(getattr(slot, "inprogress", None)) is set:
            slot.inprogress = _InProgress(slot.inprogress, self._events.handled)

    def close_spider(self, reason: str) -> None:
        """Close the spider soon, or as soon as it is open, unless it is already closing."""

        def idle() -> None:
            raise CloseSpider(reason)

        def close() -> None:
            if not self.is_running and getattr(self._crawler.engine, "_slot", None) is not None:
                call_later(_START_CHECK, close)
            elif not self.is_closing:
                deferred_from_coro(self._crawler.engine.close_spider_async(reason=reason))

        self._crawler.signals.connect(idle, signal=signals.spider_idle, weak=False)
        call_later(0, close)


@dataclass(eq=False, slots=True)
class Answers:
    """Answers from the network, not from middlewares such as Scrapy's HTTP cache.

    `Events.outcome` is sent for an exception, for a response with one of ``statuses``, and for any response while
    ``eager`` is not empty. ``recent`` holds the last responses with another status: their time (monotonic seconds)
    and the key of their download slot.
    """

    statuses: frozenset[int] = frozenset()
    eager: set[object] = field(default_factory=set)
    recent: deque[tuple[float, str]] = field(default_factory=lambda: deque(maxlen=_MAX_RECENT))


class Downloader:
    """The parts of Scrapy's downloader that this package needs, except its download slots."""

    def __init__(self, crawler: Crawler, events: Events) -> None:
        self._crawler = crawler
        self._events = events
        # Sends a request to the network; only the door may call it.
        self.send: Callable[[Request], Coroutine[Any, Any, Response]] = _no_door
        self._answers = Answers()

    @cached_property
    def _downloader(self) -> Any:
        return self._crawler.engine.downloader

    def set_door(self, door: Callable[[Request], Coroutine[Any, Any, Response]]) -> bool:
        """Make every request pass *door*, which sends it by `send`; return False if Scrapy has no place for it.

        Every path ends here: the scheduler, ``download_async``, pipelines, redirects. `tell` and `end_repeats`
        wrap `send` behind the door, where they see a request when it starts.
        """
        handlers: Any = getattr(self._downloader, "handlers", None)
        send = getattr(handlers, "download_request_async", None)
        if send is None:
            return False
        try:
            handlers.download_request_async = door
        except AttributeError:  # an object of a project that takes no attributes
            return False
        self.send = send
        return True

    def wrap_send(self, way: Callable[..., Coroutine[Any, Any, Response]]) -> None:
        """Send every request through *way*, which is called with the previous `send` and the request."""
        self.send = partial(way, self.send)

    def end_repeats(self) -> None:
        """Stop download handlers from repeating a delayed request at once when its connection ends.

        With Twisted such a request gets a new connection. On a kept connection it would often fail: with equal
        distances between requests, servers close connections just when they are needed again. Call this once.
        Handlers read the flag and the pool when a request starts, before other code can run.
        """
        send, is_delayed = self.send, self._events.delays.ask
        pools: dict[Any, Any] = {}

        async def send_once(request: Request) -> Response:
            handler, repeats = self.handler(request), not is_delayed(request)
            if hasattr(handler, "_session"):
                handler._session._retry_connection = repeats
            if not hasattr(handler, "_pool"):
                return await send(request)
            pool = pools.setdefault(handler, handler._pool)
            handler._pool = pool if repeats else _keeping_nothing(pool)
            try:
                return await send(request)
            finally:
                handler._pool = pool

        self.send = send_once

    def tell(self, statuses: frozenset[int]) -> Answers:
        """Start sending `Events.outcome`, also for responses with *statuses*; return the shared `Answers`.

        The event's arguments are a request, its start (monotonic seconds), and the response or exception.
        """
        send, told, answers = self.send, self._events.outcome.send, self._answers
        is_first, answers.statuses = not answers.statuses, answers.statuses | statuses

        async def send_and_tell(request: Request) -> Response:
            began = clock.monotonic()
            try:
                response = await send(request)
            except Exception as error:
                told(request, began, error)
                raise
            is_asking = response.status in answers.statuses
            if not is_asking and "is_robotstxt_request" not in request.meta:
                answers.recent.append((clock.monotonic(), request.meta.get("download_slot", "")))
            if is_asking or answers.eager:
                told(request, began, response)
            return response

        if is_first:
            self.send = send_and_tell
        return answers

    def set_backout(self, needs_backout: Callable[[], bool]) -> Callable[[], bool]:
        """Let *needs_backout* pause the engine and a lazy ``start()``.

        Returns the previous function.
        """
        downloader: Any = self._downloader
        before: Callable[[], bool] = getattr(downloader, "needs_backout", lambda: False)
        downloader.needs_backout = needs_backout
        return before

    def lend_places(self, count: int) -> None:
        """Raise the downloader's limit by *count*, the change in requests that only wait; may be negative."""
        downloader: Any = self._downloader
        if getattr(downloader, "total_concurrency", 0) > 0:  # else there is no limit
            downloader.total_concurrency += count

    @property
    def is_full(self) -> bool:
        """Whether the downloader has ``CONCURRENT_REQUESTS`` requests: the scheduler is then not asked."""
        downloader = self._downloader
        limit: int = getattr(downloader, "total_concurrency", 0)
        return 0 < limit <= len(getattr(downloader, "active", ()))

    def set_method(
        self, method: Any, *, is_on: bool, is_first: bool = False, before: type[object] | None = None
    ) -> None:
        """Add *method*, named like a method of downloader middlewares, after all others; remove it if not *is_on*.

        With *is_first* it comes before all others. With *before*, a middleware class, it comes just before that
        class, and is not added if the class is missing.
        """
        methods = getattr(getattr(self._downloader, "middleware", None), "methods", None)
        if methods is None:
            return
        others: list[Any] = [each for each in methods[method.__name__] if each != method]
        at = 0 if is_first else len(others)
        if before is not None:
            is_there = [isinstance(getattr(each, "__self__", None), before) for each in others]
            is_on, at = is_on and True in is_there, is_there.index(True) if True in is_there else 0
        # A new deque: requests may be on their way through the old one.
        methods[method.__name__] = deque([*others[:at], *([method] if is_on else []), *others[at:]])

    def download_robots_txt(self, request: Request) -> Coroutine[Any, Any, Response]:
        """Send *request* through all downloader middlewares, on top of ``CONCURRENT_REQUESTS``."""
        self.tell_ends()
        sending: Coroutine[Any, Any, Response] = self._crawler.engine.download_async(request)
        pool, limit = _limited_pool(self.handler(request))
        return sending if pool is None else _with_one_more(pool, limit, sending)

    def tell_ends(self) -> None:
        """Start sending `Events.ended`. Scrapy sends no signal for a request that a middleware drops."""
        downloader: Any = self._downloader
        if type(getattr(downloader, "active", None)) is set:
            downloader.active = _Active(downloader, self._events.ended)

    def handler(self, request: Request) -> Any:
        """Return the download handler for *request*; None if there is none, or if Scrapy hides it."""
        return self.handler_of(urlparse_cached(request).scheme)

    def handler_of(self, scheme: str) -> Any:
        """As `handler`, for URLs with *scheme*."""
        handlers = getattr(self._downloader, "handlers", None)
        return getattr(handlers, "_get_handler", lambda _: None)(scheme)


async def _no_door(request: Request) -> Response:
    raise IgnoreRequest(f"{request} is not sent: scrapy_rep cannot see requests leave")


def _keeping_nothing(pool: Any) -> Any:
    """Copy *pool* with connections that serve one request each; return an HTTP/2 *pool*, which repeats nothing."""
    if hasattr(pool, "persistent"):
        pool = copy(pool)
        pool.persistent, pool._connections = False, {}
    return pool


def _limited_pool(handler: Any) -> tuple[Any, str]:
    """Return the connection pool of *handler* and the name of its limit; None for Twisted, which has no limit."""
    connector: Any = getattr(getattr(handler, "_session", None), "connector", None)
    if getattr(connector, "_limit", 0):  # 0 means no limit
        return connector, "_limit"
    transport: Any = getattr(getattr(handler, "_default_client", None), "_transport", None)
    pool: Any = getattr(transport, "_pool", None)
    return (pool, "_max_connections") if getattr(pool, "_max_connections", 0) else (None, "")


async def _with_one_more(pool: Any, limit: str, sending: Coroutine[Any, Any, Response]) -> Response:
    setattr(pool, limit, getattr(pool, limit) + 1)
    try:
        return await sending
    finally:
        setattr(pool, limit, getattr(pool, limit) - 1)


class DownloadSlots:
    """Scrapy's download slots: the slot of a request, the time of its next start, and its delay.

    Every download slot has a key. Scrapy drops a slot that is idle for a minute, with its delay.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @cached_property
    def _downloader(self) -> Any:
        return self._crawler.engine.downloader

    @cached_property
    def _slots(self) -> dict[str, Any]:
        return getattr(self._downloader, "slots", {})

    @cached_property
    def key(self) -> Callable[[Request], str]:
        """A function that returns the key of a request's current or future download slot."""
        return cast("Callable[[Request], str]", getattr(self._downloader, "get_slot_key", _key_of_host))

    def seconds_to_start(self, key: str, handed_out: Collection[Request]) -> float | None:
        """Seconds until download slot *key* could start a request; 0 for now, None until a request ends.

        *handed_out* are the requests that the scheduler has handed out and that have not ended. Requests that a
        middleware moved to another slot do not count. While any of them has not started, this is the time until
        the next check, because nothing signals a start.
        """
        if handed_out and key not in self._slots:
            self.create(key)
        slot = self._slots.get(key)
        if slot is None:
            return 0.0
        if max(len(handed_out), len(slot.active)) >= slot.concurrency or slot.delay:
            keys = [one.meta.get("download_slot", key) for one in handed_out]
            handed_out = [one for one, its in zip(handed_out, keys, strict=True) if self._slots.get(its) is slot]
        if max(len(handed_out), len(slot.active)) >= slot.concurrency:
            return None if all(request in slot.active for request in handed_out) else _START_POLL
        if not slot.delay:
            return 0.0
        since: float = _now() - slot.lastseen
        jitter, poll = _jitter(slot), min(float(slot.delay), _START_POLL)
        if slot.queue or any(request not in slot.transferring for request in handed_out):
            return max(float(slot.delay) * (1 + jitter) - since, poll)
        return max(float(slot.delay) * (1 - jitter) - since, 0.0)

    def starts_next(self, key: str) -> bool:
        """Whether the next request that reaches the download slot starts at once."""
        slot = self._slots.get(key)
        if slot is None or slot.queue or slot.latercall or len(slot.transferring) >= slot.concurrency:
            return slot is None
        return bool(_now() - slot.lastseen >= slot.delay * (1 + _jitter(slot)))

    def restart_delay(self, key: str) -> None:
        """Count the delay of the download slot from now.

        Scrapy counts from the start of a request. The first request to a host opens the connection and arrives
        late; the second request, which reuses the connection, would arrive too soon after it.
        """
        slot = self._slots.get(key)
        if slot is not None:
            slot.lastseen = max(slot.lastseen, _now())

    def hold(self, key: str, seconds: float) -> None:
        """Stop the download slot, which has a delay, from starting requests for *seconds*."""
        slot = self._slots.get(key)
        if slot is not None:
            slot.lastseen = max(slot.lastseen, _now() + seconds - slot.delay * (1 - _jitter(slot)))

    def queued(self, key: str) -> Any:
        """Return the queue inside the download slot: requests that have not started, with their Deferreds."""
        return getattr(self._slots.get(key), "queue", ())

    def give_back(self, key: str, result: Callable[[Request], Request]) -> None:
        """End the requests in the queue of the download slot with *result* of each, or with its exception."""
        queued = self.queued(key)
        while queued:
            request, over = queued.popleft()
            try:
                outcome = result(request)
            except Exception as error:  # noqa: BLE001  # e.g. a project's request that cannot be copied
                over.errback(error)
            else:
                over.callback(outcome)

    def has(self, request: Request) -> bool:
        """Whether *request* is in the downloader or its middlewares."""
        return request in getattr(self._downloader, "active", ())

    def has_left(self, request: Request) -> bool:
        """Whether *request*, which was handed out, has left its download slot with a response."""
        slot = self._slots.get(self.key(request))
        return slot is not None and request not in slot.active and "download_latency" in request.meta

    def delay(self, key: str) -> tuple[float, float] | None:
        """Return the slot's delay in seconds, and its jitter as a share of the delay; None without a slot."""
        if (slot := self._slots.get(key)) is None:
            return None
        return slot.delay, slot.jitter if hasattr(slot, "jitter") else 0.5 * slot.randomize_delay  # as `_jitter`

    def set_delay(self, key: str, delay: float, jitter: float) -> None:
        """Set the delay and the jitter of the download slot, as in `delay`."""
        slot = self._slots[key]
        slot.delay = delay
        if hasattr(slot, "jitter"):
            slot.jitter = jitter
        else:
            slot.randomize_delay = bool(jitter)

    def create(self, key: str) -> None:
        """Create the download slot."""
        create: Any = getattr(self._downloader, "_get_slot", lambda _: None)
        create(Request("data:,", meta={"download_slot": key}))


class _Active(set[Request]):
    """``downloader.active`` with two additions: an event, and more concurrency while a robots.txt is fetched.

    The concurrency changes together with the set: a moment later, an extra page would start.
    """

    def __init__(self, downloader: Any, ended: Event) -> None:
        super().__init__(downloader.active)
        self._ended = ended
        self._downloader = downloader
        self._robots_requests: set[Request] = set()

    def add(self, request: Request) -> None:
        super().add(request)
        if "is_robotstxt_request" in request.meta and getattr(self._downloader, "total_concurrency", None):
            self._robots_requests.add(request)
            self._downloader.total_concurrency += 1

    def remove(self, request: Request) -> None:
        super().remove(request)
        if request in self._robots_requests:
            self._robots_requests.remove(request)
            self._downloader.total_concurrency -= 1
        self._ended.send(request)


class _InProgress(set[Request]):
    """``engine._slot.inprogress``, with an event."""

    def __init__(self, requests: set[Request], handled: Event) -> None:
        super().__init__(requests)
        self._handled = handled

    def remove(self, request: Request) -> None:
        super().remove(request)
        self._handled.send(request)


def _key_of_host(request: Request) -> str:
    return str(request.meta.get("download_slot") or urlparse_cached(request).hostname or "")


def _now() -> float:
    """Return the time on Scrapy's clock, which ``slot.lastseen`` uses."""
    return monotonic() if _IS_MONOTONIC else time()


# Scrapy 2.19 has a share; before, a flag meant half of the delay. Reading the flag on 2.19 warns.
def _jitter(slot: Any) -> float:
    return float(slot.jitter if hasattr(slot, "jitter") else 0.5 * slot.randomize_delay)


def has_listener(crawler: Crawler, signal: Any) -> bool:
    """Whether *signal* has a listener. Sending a signal without listeners costs a coroutine and more."""
    tables = [connections.get(id(each), {}) for each in (crawler.signals.sender, Any_)]
    if not any(signal in table or Any_ in table for table in tables):  # nearly always, in a tenth of the time
        return False
    return any(True for _ in liveReceivers(getAllReceivers(crawler.signals.sender, signal)))


_OF_PROXY: Final = frozenset({
    "TunnelError", "ClientHttpProxyError", "ProxyError",  # Twisted, aiohttp, httpx
    "ConnectionRefusedError", "DownloadConnectionRefusedError", "DNSLookupError", "CannotResolveHostError",
})  # fmt: skip


def is_of_proxy(request: Request, error: Exception) -> bool:
    """Whether *error* says that the proxy of *request* refused it or cannot be reached.

    Classes are compared by name, because not every download handler is installed.
    """
    kinds = (*type(error).__mro__, *type(error.__cause__).__mro__)
    return bool(request.meta.get("proxy")) and any(kind.__name__ in _OF_PROXY for kind in kinds)


def folder_of_download_slot(key: str) -> str:
    """Return the folder in a ``JOBDIR`` where Scrapy's default queue keeps the requests of download slot *key*."""
    return str(pqueues._path_safe(key))


def sitemap_rules(spider: SitemapSpider) -> tuple[list[tuple[re.Pattern[str], Any]], list[re.Pattern[str]]]:
    """Return the patterns of pages that *spider* crawls, with callbacks, and of sitemaps that it follows."""
    return spider._cbs, spider._follow


def sitemap_callback(spider: SitemapSpider) -> Callable[[Response], Iterable[Request]]:
    """Return the callback of *spider* for a robots.txt or a sitemap."""
    return spider._parse_sitemap


class ReadsSitemaps(SitemapSpider):
    """A `SitemapSpider` that reads sitemaps by `_read_sitemap`."""

    def _read_sitemap(self, response: Response) -> Iterator[Request]:
        """Make the requests for *response*, a robots.txt or a sitemap."""
        raise NotImplementedError

    def _parse_sitemap(self, response: Response) -> Iterator[Request]:
        return self._read_sitemap(response)


def replace_sitemap_callback(spider: SitemapSpider, read: Callable[[Any, Response], Iterator[Request]]) -> bool:
    """Make *read* the sitemap method of *spider*; return False if the spider has a custom method, which it keeps.

    It is bound as a method because disk queues store callbacks by method name.
    """
    method = type(spider)._parse_sitemap
    if method is SitemapSpider._parse_sitemap:
        spider._parse_sitemap = MethodType(read, spider)  # type: ignore[method-assign]
    return method in {SitemapSpider._parse_sitemap, ReadsSitemaps._parse_sitemap}


def sitemap_body(spider: SitemapSpider) -> Callable[[Response], bytes | None] | None:
    """Return the custom method of *spider* that unpacks a sitemap, or None."""
    has_own = type(spider)._get_sitemap_body is not SitemapSpider._get_sitemap_body
    return spider._get_sitemap_body if has_own else None


def is_for_sitemap(request: Request, spider: Spider | None) -> bool:
    """Whether *request* gets a sitemap, or a robots.txt, for *spider*, a `SitemapSpider`."""
    callback = getattr(spider, "_parse_sitemap", None)
    return callback is not None and request.callback == callback


def has_errback(request: Request, spider: Any) -> bool:
    """Whether an errback of the project handles the failure of *request*.

    A CrawlSpider gives every link a built-in errback, which does nothing unless the link's rule names an errback.
    """
    if request.errback is None or request.errback != getattr(spider, "_errback", None):
        return request.errback is not None
    try:
        return spider.rules[request.meta["rule"]].errback is not None
    except (AttributeError, LookupError, TypeError):
        return True
