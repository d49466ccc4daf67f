"""The delays of Scrapy's download slots. Figures of ours are kept beside a slot, which takes no attributes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from random import uniform
from time import monotonic, time
from typing import TYPE_CHECKING, Any

from scrapy import Request

from .engine import open_download_slot, widen
from .places import at_the_door, counted_in

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


@dataclass(slots=True)
class _Own:
    """Delay and jitter that a download slot has from others, and the delay that we gave it."""

    delay: float
    jitter: float
    given: float


class DownloadSlots:
    """Floors under the delays of download slots, by their keys, and room for those who wait there."""

    def __init__(self, crawler: Crawler, loans: int) -> None:
        """*loans* places at the most are lent to requests that wait for their turn."""
        self._crawler = crawler
        self._own: dict[str, _Own] = {}
        self._loans = loans
        self._lent: dict[str, int] = {}
        self._outside: Counter[str] = Counter()

    def key(self, request: Request) -> str:
        """The download slot that *request* is in, or would be put into now."""
        key: str = self._crawler.engine.downloader.get_slot_key(request)
        return key

    def is_open(self, key: str) -> bool:
        """Whether the download slot exists; Scrapy drops those that are idle for a minute."""
        return key in self._crawler.engine.downloader.slots

    def open(self, request: Request) -> None:
        """Make the download slot of *request*, as the downloader does when the request reaches it."""
        open_download_slot(self._crawler, request)

    def hold(self, key: str, floor: float, *, elsewhere: bool = False) -> None:
        """Let *floor* seconds or more pass between two requests from now on; 0 leaves it to the others.

        To be called again whenever somebody may have changed the delay, or built the slot anew. Jitter
        goes where it could shorten the floor. Where requests wait *elsewhere* for their turns the slot
        lets them through: a turn must not wait again.
        """
        slot = self._slot(key)
        if slot is None:
            return
        own = self._own.get(key)
        if own is None:
            own = self._own[key] = _Own(slot.delay, _jitter(slot), slot.delay)
        elif slot.delay != own.given:
            own.delay = slot.delay
        above = own.delay * (1 - own.jitter) >= floor
        slot.delay = own.given = own.delay if above else max(own.delay, floor)
        _set_jitter(slot, own.jitter if above else 0.0)
        if elsewhere and floor:
            slot.delay = own.given = 0.0
            _end_pause(slot)

    def own_delay(self, key: str) -> float:
        """What others want between two requests of a download slot that lets them through, jitter included."""
        own = self._own.get(key)
        return own.delay * (1 + uniform(-own.jitter, own.jitter)) if own else 0.0  # noqa: S311

    def is_full(self, key: str) -> bool:
        """Whether a request more would wait in the download slot for one that is under way."""
        slot = self._slot(key)
        outside = self._outside[key] + at_the_door(self._crawler)[key]
        return slot is not None and len(slot.active) - outside >= slot.concurrency

    @contextmanager
    def waiting_outside(self, key: str, request: Request) -> Iterator[None]:
        """While entered, *request* counts as one that waits in the download slot: nobody sends more after it."""
        try:
            with counted_in(self._slot(key), key, request, self._outside):
                self.lend(key)
                yield
        finally:
            self.lend(key)

    def count_from_answer(self, key: str) -> None:
        """Let the next request wait from now on, when the last one is answered.

        Scrapy counts from the start. The first request of a host opens the connection and reaches the
        server late, so that the second, which does not, would come too early.
        """
        slot = self._slot(key)
        if slot is not None:
            slot.lastseen = _now(slot)

    def lend(self, key: str, arriving: int = 0) -> None:
        """Lend places to those who wait in a download slot: to as many as it may transfer at once.

        Queued requests count in ``CONCURRENT_REQUESTS``, and a few slow hosts would fill it. Scrapy's
        scheduler takes next from the download slot that has the fewest, so that a fast one is kept
        busy once the slow ones may hold as many. *arriving* requests are not yet in the queue.
        """
        slot, lent = self._slot(key), self._lent.pop(key, 0)
        waiting = len(slot.queue) + arriving + self._outside[key] if slot is not None else 0
        wanted = min(waiting, slot.concurrency, self._loans + lent) if waiting else 0
        if wanted:
            self._lent[key] = wanted
        self._loans -= widen(self._crawler, wanted - lent)

    def forget(self, key: str) -> None:
        """Keep nothing about a download slot that needs no floor any more, or is gone."""
        self._own.pop(key, None)
        self._loans -= widen(self._crawler, -self._lent.pop(key, 0))

    def _slot(self, key: str) -> Any:
        return self._crawler.engine.downloader.slots.get(key)

    def leave_old_host(self, request: Request) -> None:
        """Scrapy's redirects carry the download slot of the old host along: let it be chosen anew.

        One that the project chose stays.
        """
        urls = request.meta.get("redirect_urls")
        if urls and request.meta.get("download_slot") == self.key(Request(urls[-1])):
            del request.meta["download_slot"]


def _end_pause(slot: Any) -> None:
    """A delay that *slot* began before would make the next request wait again, until the turn behind it."""
    if slot.latercall and not slot.queue:
        slot.latercall.cancel()
        slot.latercall = None


def _now(slot: Any) -> float:
    """By the clock that *slot* started a request by; which one that is depends on the version of Scrapy."""
    return min(time(), monotonic(), key=lambda now: abs(now - slot.lastseen))


# Scrapy 2.19 has the magnitude; before, a flag stood for half of the delay. There the flag warns.
def _jitter(slot: Any) -> float:
    return float(slot.jitter if hasattr(slot, "jitter") else 0.5 * slot.randomize_delay)


def _set_jitter(slot: Any, jitter: float) -> None:
    if hasattr(slot, "jitter"):
        slot.jitter = jitter
    else:
        slot.randomize_delay = bool(jitter)
