"""How long the requests that wait for delayed hosts will take: an INFO line now and then, and two stats.

Multiplies the requests in the queue of hosts by the delay of their download slot. Reads no request, and looks
at delayed download slots only.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from heapq import nlargest
from typing import TYPE_CHECKING, Final

from scrapy import signals

from scrapy_rep.clock import clock
from scrapy_rep.protocol.display import duration, number_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from scrapy_rep.pacing.download_slots import SlotDelays
    from scrapy_rep.runtime.event_loop import Timer
    from scrapy_rep.runtime.scrapy_internals import DownloadSlots

logger = logging.getLogger(__name__)

_SLOWEST: Final = 5
"""Hosts that a line names, and hosts whose first sitemap causes a line of its own."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """The ``requests`` that wait for download slot ``key``, which starts one every ``delay`` seconds."""

    key: str
    requests: int
    delay: float

    @property
    def seconds(self) -> float:
        return self.requests * self.delay

    def fitting(self, within: float) -> float:
        return min(float(self.requests), within / self.delay)

    def __str__(self) -> str:
        return f"{self.key} {self.requests:,} x {_short(self.delay)} s = {duration(self.seconds)}"


class CrawlForecast:
    """Forecasts the end of a crawl every ``LOGSTATS_INTERVAL``, while download slots have delays.

    Says nothing unless the crawl uses `RepPriorityQueue`: other queues do not count by download slot.
    """

    def __init__(self, crawler: Crawler, delays: SlotDelays, slots: DownloadSlots) -> None:
        self._crawler = crawler
        self._delays = delays
        self._slots = slots
        self._interval = crawler.settings.getfloat("LOGSTATS_INTERVAL")
        self._timeout = crawler.settings.getfloat("CLOSESPIDER_TIMEOUT")
        self._timer: Timer | None = None
        self._waiting: Callable[[str], int] = lambda _: 0
        self._began = 0.0
        self._is_running = False
        self._announced: set[str] = set()
        crawler.signals.connect(self._spider_closed, signal=signals.spider_closed)

    def watch(self, timer: Timer, waiting: Callable[[str], int]) -> None:
        """Use the *timer* of the queue; *waiting* returns the number of requests that wait for a download slot."""
        self._timer, self._waiting, self._began = timer, waiting, clock.monotonic()
        self.start()

    def start(self) -> None:
        """Start, if there are delays; it ends by itself when there are none any more."""
        if self._timer is not None and self._delays and self._interval > 0 and not self._is_running:
            self._is_running = True
            self._timer.call_after(self._interval, self._interval_over)

    def _interval_over(self) -> None:
        self._is_running = False
        if self._delays:
            self._forecast()
            self.start()

    def sitemap_read(self, page: Request) -> None:
        """Forecast at once if the host of *page*, the last one in a sitemap, has a delay and this is its first."""
        key = self._slots.key(page)
        if self._timer is None or key not in self._delays or key in self._announced:
            return
        if self._interval > 0 and len(self._announced) < _SLOWEST:
            self._announced.add(key)
            self._timer.call_after(0.0, self._forecast)  # by then the last pages are in the queue

    def _forecast(self) -> None:
        slots = [
            _Waiting(key, requests, delay)
            for key, delay in self._delays.in_force()
            if (requests := self._waiting(key))
        ]
        requests = sum(slot.requests for slot in slots)
        seconds = max((slot.seconds for slot in slots), default=0.0)
        self._set_stats(seconds, requests)
        if slots:
            logger.info(
                "So far, %s for the delays that robots.txt files ask for, %s in all: %s.%s",
                number_of(requests, "request waits", "requests wait"), duration(seconds), _named(slots),
                self._cut_short(slots, requests, seconds),
                extra={"spider": self._crawler.spider},
            )  # fmt: skip

    def _cut_short(self, slots: list[_Waiting], requests: int, seconds: float) -> str:
        """How much fits in the time that ``CLOSESPIDER_TIMEOUT`` leaves, if that is not everything."""
        left = max(self._began + self._timeout - clock.monotonic(), 0.0)
        if not self._timeout or left >= seconds:
            return ""
        percent = 100 * sum(slot.fitting(left) for slot in slots) / requests
        share = f"about {percent:.0f}%" if percent >= 1 else "less than 1%"
        return f" CLOSESPIDER_TIMEOUT ends the crawl in {duration(left)}: {share} of these requests fit."

    def _set_stats(self, seconds: float, requests: int) -> None:
        self._crawler.stats.set_value("rep/forecast/seconds", round(seconds, 3))
        self._crawler.stats.set_value("rep/forecast/request_count", requests)

    def _spider_closed(self, reason: str) -> None:
        if reason == "finished" and self._crawler.stats.get_value("rep/forecast/request_count"):
            self._set_stats(0.0, 0)

    def __repr__(self) -> str:
        return f"<CrawlForecast interval={self._interval:g} is_running={self._is_running}>"


def _named(slots: list[_Waiting]) -> str:
    """The slowest of *slots*, and how many others there are."""
    slowest = ", ".join(map(str, nlargest(_SLOWEST, slots, key=lambda slot: slot.seconds)))
    others = len(slots) - _SLOWEST
    return f"{slowest}, and {number_of(others, 'faster host', 'faster hosts')}" if others > 0 else slowest


def _short(delay: float) -> str:
    """*delay* without the margin that is kept on top of what robots.txt asks for."""
    return f"{round(delay, 1):g}" if delay >= 0.5 else f"{delay:.2g}"
