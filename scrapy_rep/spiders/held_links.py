"""The links of one response that wait until the robots.txt of their origin is known."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Final

from scrapy.utils.asyncio import call_later
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred

from scrapy_rep.clock import clock
from scrapy_rep.runtime.crawl import Crawl
from scrapy_rep.runtime.event_loop import CLOSING_CHECK

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from scrapy_rep.protocol import Origin

MAX_ORIGINS: Final = 64
"""Origins that the links of one response await at the same time."""

MAX_LINKS: Final = 1_000
"""Links of one response that wait at the same time."""

LookUp = Callable[["Origin", "Request", Callable[[], None], Callable[[], int]], "float | None"]
"""Loads the robots.txt of an origin, and calls back when that has ended, perhaps before it returns.

The other callable counts the links that wait. Returns the seconds after which they stop waiting, or None.
"""


class HeldLinks:
    """Holds links by origin, with one look-up per origin; a crawl that closes releases all of them."""

    def __init__(self, crawler: Crawler, look_up: LookUp, cancel: Callable[[], None]) -> None:
        """*cancel* is called when the crawl closes before all look-ups have ended."""
        self._engine = Crawl.of(crawler).engine
        self._look_up = look_up
        self._cancel = cancel
        self._waiting: dict[Origin, list[Request]] = {}
        self._until: dict[Origin, float] = {}
        self._released: list[Request] = []
        self._wake: Deferred[None] | None = None

    def add(self, origin: Origin, link: Request) -> None:
        """Hold *link* until the robots.txt of *origin* has been looked up."""
        if origin in self._waiting:
            self._waiting[origin].append(link)
            return
        self._waiting[origin] = [link]
        timeout = self._look_up(origin, link, partial(self._release, origin), partial(self._count, origin))
        if timeout is not None and origin in self._waiting:
            self._until[origin] = clock.monotonic() + timeout

    def released(self) -> list[Request]:
        """The links that wait no longer, each once, in the order in which their look-ups ended."""
        if not self._released:
            return self._released
        released, self._released = self._released, []
        return released

    async def wait_for_capacity(self) -> None:
        """Wait while as many links as allowed are held."""
        while len(self._waiting) >= MAX_ORIGINS or len(self) >= MAX_LINKS:
            if self._released:
                return
            await self.wait()

    async def wait(self) -> None:
        """Wait until a link is released, if any is held."""
        while self._waiting and not self._released:
            self._wake = Deferred()
            timer = call_later(CLOSING_CHECK, self._resume)
            await maybe_deferred_to_future(self._wake)
            timer.cancel()
            self._release_late()

    def _release(self, origin: Origin) -> None:
        self._until.pop(origin, None)
        self._released += self._waiting.pop(origin, ())
        self._resume()

    def _release_late(self) -> None:
        """Release the links that have waited for too long, and all of them if the crawl is closing."""
        is_closing, now = self._engine.is_closing, clock.monotonic()
        for origin in [origin for origin in self._waiting if is_closing or self._until.get(origin, inf) <= now]:
            self._release(origin)
        if is_closing:
            self._cancel()

    def _count(self, origin: Origin) -> int:
        return len(self._waiting.get(origin, ()))

    def _resume(self) -> None:
        if self._wake is not None:
            wake, self._wake = self._wake, None
            wake.callback(None)

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values())) + len(self._released)
