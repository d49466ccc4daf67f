"""The only file that touches Scrapy's engine and downloader.

Scrapy plans to replace download slots; whatever of ours depends on how the engine works inside is
here, behind methods that say what they are for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from scrapy import Request
from scrapy.utils.asyncio import call_later
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from scrapy.utils.httpobj import urlparse_cached
from twisted.internet.defer import Deferred

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

_CLOSING_CHECK: Final = 0.25  # seconds: how soon a pause notices that the crawl closes
_PLACE_CHECK: Final = 0.005  # seconds: how soon those at the door notice a free place


class WaitingRoom:
    """Requests that wait for a robots.txt, and the requests for the robots.txt files themselves.

    Both stay among the active requests of Scrapy's downloader and would fill ``CONCURRENT_REQUESTS``:
    each is lent a place while it is here. Those that waited go on one after another and only as
    places are free, so that the loan never becomes a burst; meanwhile they take places again, and so
    come before requests that the scheduler still holds.
    """

    def __init__(self, crawler: Crawler, seats: int) -> None:
        """*seats* requests at most are lent a place; those beyond wait at the cost of others."""
        self._crawler = crawler
        self._seats = seats
        self._lent = 0
        self._fetching = 0
        self._at_the_door: deque[Deferred[None]] = deque()
        self._opening: Deferred[None] | None = None

    @contextmanager
    def seat(self) -> Iterator[None]:
        """While entered, the waiting request takes no place."""
        with self._place_lent(self._seats > 0):
            self._seats -= 1
            try:
                self._ask_for_requests()
                yield
            finally:
                self._seats += 1

    async def leave(self) -> None:
        """Wait for a free place, behind those who left their seats before."""
        turn: Deferred[None] = Deferred()
        self._at_the_door.append(turn)
        if self._opening is None:
            self._opening = deferred_from_coro(self._open_the_door())
        await maybe_deferred_to_future(turn)

    async def fetch(self, request: Request) -> Response:
        """The response to *request* for a robots.txt, past the scheduler, through all downloader middlewares."""
        self._fetching += 1
        try:
            with self._place_lent(), _wider_pool(self._crawler, request):
                return await self._crawler.engine.download_async(request)
        finally:
            self._fetching -= 1

    @contextmanager
    def _place_lent(self, wanted: bool = True) -> Iterator[None]:
        downloader = self._crawler.engine.downloader
        # 0 means "no limit", and a downloader of the user's own may count in another way.
        if not wanted or not getattr(downloader, "total_concurrency", 0):
            yield
            return
        downloader.total_concurrency += 1
        self._lent += 1
        try:
            yield
        finally:
            downloader.total_concurrency -= 1
            self._lent -= 1

    def _ask_for_requests(self) -> None:
        """The engine asks its scheduler again only when something ends, else every five seconds."""
        slot = getattr(self._crawler.engine, "_slot", None)
        next_call = getattr(slot, "nextcall", None)
        if next_call is not None:
            next_call.schedule()

    async def _open_the_door(self) -> None:
        """Let those at the door go one by one.

        On asyncio a download slot counts a request only when its task has started, a turn of the
        loop after it was taken from the queue: who leaves together passes every limit together.
        """
        try:
            while self._at_the_door:
                if self._free_places() <= 0:
                    await _sleep(_PLACE_CHECK)
                    continue
                self._at_the_door.popleft().callback(None)
                await _sleep(0)
                await _sleep(0)
        finally:
            self._opening = None
            while self._at_the_door:
                self._at_the_door.popleft().callback(None)

    def _free_places(self) -> int:
        """Places for requests that wait for no robots.txt; 1 or more when there is no limit."""
        downloader = self._crawler.engine.downloader
        places = getattr(downloader, "total_concurrency", 0) - self._lent
        slots = getattr(downloader, "slots", {})
        taken = sum(len(slot.active) for slot in slots.values()) - self._fetching
        return places - taken if places > 0 else 1


@contextmanager
def _wider_pool(crawler: Crawler, request: Request) -> Iterator[None]:
    """Room for *request* in the connection pool of Scrapy's aiohttp handler, its choice without a reactor.

    That pool holds ``CONCURRENT_REQUESTS`` connections: as many robots.txt that hang would lock out
    every page. Twisted's handlers have no such bound, nor has a handler of the user's own a known one.
    """
    handlers = getattr(crawler.engine.downloader, "handlers", None)
    handler_of = getattr(handlers, "_get_handler", lambda _: None)
    session = getattr(handler_of(urlparse_cached(request).scheme), "_session", None)
    connector: Any = getattr(session, "connector", None)
    if not getattr(connector, "_limit", 0):  # 0 means "no limit"
        yield
        return
    connector._limit += 1
    try:
        yield
    finally:
        connector._limit -= 1


@dataclass(slots=True)
class _Own:
    """Delay and jitter that a download slot has from others, and the delay that we gave it."""

    slot: Any
    delay: float
    jitter: float
    given: float


class DownloadSlots:
    """Floors under the delays of download slots, by their keys."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._own: dict[str, _Own] = {}

    def key(self, request: Request) -> str:
        """The download slot that *request* is in, or would be put into now."""
        key: str = self._crawler.engine.downloader.get_slot_key(request)
        return key

    def is_open(self, key: str) -> bool:
        """Whether the download slot exists; Scrapy drops those that are idle for a minute."""
        return key in self._crawler.engine.downloader.slots

    def hold(self, key: str, floor: float) -> None:
        """Let *floor* seconds or more pass between two requests from now on; 0 leaves it to the others.

        To be called again whenever somebody may have changed the delay, or built the slot anew. Jitter
        goes where it could shorten the floor.
        """
        slot = self._crawler.engine.downloader.slots.get(key)
        if slot is None:
            return
        own = self._own.get(key)
        if own is None or own.slot is not slot:
            own = self._own[key] = _Own(slot, slot.delay, _jitter(slot), slot.delay)
        elif slot.delay != own.given:
            own.delay = slot.delay
        above = own.delay * (1 - own.jitter) >= floor
        slot.delay = own.given = own.delay if above else max(own.delay, floor)
        _set_jitter(slot, own.jitter if above else 0.0)

    def count_from_answer(self, key: str, latency: float) -> None:
        """Let the next request wait from the answer to the last one on, *latency* seconds after its start.

        Scrapy counts from the start. The first request of a host opens the connection and reaches the
        server late, so that the second, which does not, would come too early.
        """
        slot = self._crawler.engine.downloader.slots.get(key)
        if slot is not None:
            slot.lastseen += latency

    def forget(self, key: str) -> None:
        """Keep nothing about a download slot that needs no floor any more, or is gone."""
        self._own.pop(key, None)

    def leave_old_host(self, request: Request) -> None:
        """Scrapy's redirects carry the download slot of the old host along: let it be chosen anew.

        One that the project chose stays.
        """
        urls = request.meta.get("redirect_urls")
        if urls and request.meta.get("download_slot") == self.key(Request(urls[-1])):
            del request.meta["download_slot"]


# Scrapy 2.19 has the magnitude; before, a flag stood for half of the delay. There the flag warns.
def _jitter(slot: Any) -> float:
    return float(slot.jitter if hasattr(slot, "jitter") else 0.5 * slot.randomize_delay)


def _set_jitter(slot: Any, jitter: float) -> None:
    if hasattr(slot, "jitter"):
        slot.jitter = jitter
    else:
        slot.randomize_delay = bool(jitter)


def is_closing(crawler: Crawler) -> bool:
    """Whether the crawl has begun to close, be it for a signal, an exception or its end."""
    engine = crawler.engine
    slot = getattr(engine, "_slot", None)
    return not engine.running or getattr(slot, "closing", None) is not None


async def pause(crawler: Crawler, seconds: float) -> bool:
    """Wait *seconds*; False, and at once, when the crawl begins to close meanwhile."""
    until = monotonic() + seconds
    while not is_closing(crawler):
        left = until - monotonic()
        if left <= 0:
            return True
        await _sleep(min(left, _CLOSING_CHECK))
    return False


async def _sleep(seconds: float) -> None:
    over: Deferred[None] = Deferred()
    call_later(seconds, over.callback, None)
    await maybe_deferred_to_future(over)
