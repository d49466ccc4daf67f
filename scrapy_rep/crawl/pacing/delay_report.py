"""Reports on delays: stats, log lines, a forecast, a summary, and the requests left at the end.

The forecast multiplies the number of requests in the host queue by the delay of their download slot. It reads no
request, and only visits delayed download slots.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import nlargest
from typing import TYPE_CHECKING, Final

from scrapy import signals

from scrapy_rep.clock import clock
from scrapy_rep.crawl.pacing.slots import Slots
from scrapy_rep.crawl.runtime.log import Topic
from scrapy_rep.protocol.display import duration, number_of

if TYPE_CHECKING:
    from scrapy import Request

    from scrapy_rep.crawl.pacing.requested_delays import RequestedDelay
    from scrapy_rep.crawl.pacing.slots import Slot
    from scrapy_rep.crawl.runtime.crawl import Crawl
    from scrapy_rep.crawl.runtime.event_loop import Timer
    from scrapy_rep.protocol import Origin

logger = logging.getLogger(__name__)

_SLOWEST: Final = 5
"""Origins in the summary, hosts in a forecast, and hosts whose first sitemap triggers a separate forecast."""


_OF_HOLDS: Final = "REP_BACKOFF = False does not wait for sites that asked for a pause"
_OF_DELAYS: Final = "REP_CRAWL_DELAY_MAX bounds delays"
_OF_FILES: Final = "REP_TIMEOUT and REP_UNREACHABLE_WAIT bound the wait for robots.txt"


class DelayReport:
    """Logs each origin once."""

    def __init__(self, crawl: Crawl) -> None:
        self._stats = crawl.stats
        self._settings = crawl.settings
        self._log = crawl.log
        # Reported delays; 0 for a delay that the user overrides.
        self._asked: dict[Origin | str, float] = {}
        self._waits = crawl.part(Slots).waits
        crawl.crawler.signals.connect(self.close, signal=signals.spider_closed)

    def obeyed(self, origin: Origin, delay: RequestedDelay) -> None:
        """Report that *delay* of *origin* applies, in full or capped."""
        settings = self._settings
        if not self._is_new(origin, delay.seconds):
            return
        if settings.crawl_delay_over_max == "cap" and delay.seconds > settings.crawl_delay_max:
            self._stats.inc_value("rep/crawl_delay/capped_count")
            self._log_over_max(origin, delay, f"the crawl keeps {settings.crawl_delay_max:g} s")
        else:
            self._log.add(Topic.DELAY, "robots.txt of %s asks for %s", origin, _describe(delay))

    def skipped(self, origin: Origin, delay: RequestedDelay) -> None:
        """Report that a request of *origin* is forbidden because *delay* is too long."""
        self._stats.inc_value("rep/crawl_delay/skipped_count")
        if self._is_new(origin, delay.seconds):
            self._log_over_max(origin, delay, "its pages are forbidden")

    def overridden(self, key: str, chosen: float, origin: Origin, delay: RequestedDelay) -> None:
        """Report that ``DOWNLOAD_SLOTS`` gives download slot *key* a delay of *chosen* seconds, which wins."""
        if chosen < delay.seconds and self._is_new(key, 0.0):
            logger.warning(
                "DOWNLOAD_SLOTS gives download slot %s a delay of %g s, although robots.txt of %s asks for %s",
                key, chosen, origin, _describe(delay),
            )  # fmt: skip

    def _is_new(self, subject: Origin | str, seconds: float) -> bool:
        if subject in self._asked:
            return False
        if len(self._asked) >= self._settings.memory_entries:
            self._asked = self._slowest
        self._asked[subject] = seconds
        return True

    @property
    def _slowest(self) -> dict[Origin | str, float]:
        asked = self._asked
        return {one: asked[one] for one in nlargest(_SLOWEST, asked, key=asked.__getitem__) if asked[one]}

    def _log_over_max(self, origin: Origin, delay: RequestedDelay, consequence: str) -> None:
        text = "robots.txt of %s asks for %s, over REP_CRAWL_DELAY_MAX: %s"
        self._log.add(Topic.LONG_DELAY, text, origin, _describe(delay), consequence)

    def close(self) -> None:
        """Log the totals, and the origins that slowed the crawl down most."""
        waited_seconds = self._waits.seconds
        self._stats.set_value("rep/crawl_delay/waited_seconds", round(waited_seconds, 3))
        if slowest := ", ".join(f"{origin} {seconds:g} s" for origin, seconds in self._slowest.items()):
            waited = f"; hosts with requests waited {waited_seconds:.1f} s in total, DOWNLOAD_DELAY included"
            more = waited if waited_seconds else ""
            logger.info("Longest delays that robots.txt asked for: %s%s.", slowest, more)


@dataclass(frozen=True, slots=True)
class _Waiting:
    """``requests`` that wait for download slot ``key``: ``held`` seconds, then ``delay`` seconds per request."""

    key: str
    requests: int
    delay: float
    held: float

    @property
    def seconds(self) -> float:
        return self.held + self.requests * self.delay

    def fitting(self, within: float) -> float:
        return min(float(self.requests), max(within - self.held, 0.0) / self.delay)

    def __str__(self) -> str:
        held = f"{_short(self.held)} s + " if self.held else ""
        return f"{self.key} {held}{self.requests:,} x {_short(self.delay)} s = {duration(self.seconds)}"


class CrawlForecast:
    """Forecasts the end of a crawl every ``LOGSTATS_INTERVAL``, while download slots have delays.

    It logs nothing unless the crawl uses `RepPriorityQueue`: other queues do not count by download slot.
    """

    def __init__(self, crawl: Crawl, slots: Slots) -> None:
        self._crawler = crawler = crawl.crawler
        self._stats = crawl.stats
        self._slots = slots
        self._download_slots = crawl.download_slots
        self._interval = crawler.settings.getfloat("LOGSTATS_INTERVAL")
        self._timeout = crawler.settings.getfloat("CLOSESPIDER_TIMEOUT")
        self._timer: Timer | None = None
        self._began = 0.0
        self._is_running = False
        self._announced: set[str] = set()
        crawler.signals.connect(self._spider_closed, signal=signals.spider_closed)

    def watch(self, timer: Timer) -> None:
        """Use the *timer* of the queue, which counts the requests that wait for each download slot."""
        self._timer, self._began = timer, clock.monotonic()
        self.start()

    def start(self) -> None:
        """Start, if there are delays; stop when the last delay is gone."""
        if self._timer is not None and self._slots.delayed and self._interval > 0 and not self._is_running:
            self._is_running = True
            self._timer.call_after(self._interval, self._interval_over)

    def _interval_over(self) -> None:
        self._is_running = False
        if self._slots.delayed:
            self._forecast()
            self.start()

    def sitemap_read(self, page: Request) -> None:
        """Forecast at once after the first sitemap of a host with a delay; *page* is the sitemap's last page."""
        key = self._download_slots.key(page)
        if self._timer is None or self._slots.delayed_at(key) is None or key in self._announced:
            return
        if self._interval > 0 and len(self._announced) < _SLOWEST:
            self._announced.add(key)
            self._timer.call_after(0.0, self._forecast)  # by then the last pages are in the queue

    def _forecast(self) -> None:
        slots = [_Waiting(slot.key, slot.size, *delays) for slot, *delays in self._slots.in_force() if slot.size]
        requests = sum(slot.requests for slot in slots)
        seconds = max((slot.seconds for slot in slots), default=0.0)
        self._set_stats(seconds, requests)
        if slots:
            logger.info(
                "So far, %s for Crawl-delays, %s in all: %s.%s",
                number_of(requests, "request waits", "requests wait"), duration(seconds), _named(slots),
                self._cut_short(slots, requests, seconds),
                extra={"spider": self._crawler.spider},
            )  # fmt: skip

    def _cut_short(self, slots: list[_Waiting], requests: int, seconds: float) -> str:
        """Say how much fits in the time that ``CLOSESPIDER_TIMEOUT`` leaves, if not everything does."""
        left = max(self._began + self._timeout - clock.monotonic(), 0.0)
        if not self._timeout or left >= seconds:
            return ""
        percent = 100 * sum(slot.fitting(left) for slot in slots) / requests
        share = f"about {percent:.0f}%" if percent >= 1 else "less than 1%"
        return f" CLOSESPIDER_TIMEOUT ends the crawl in {duration(left)}: {share} of these requests fit."

    def _set_stats(self, seconds: float, requests: int) -> None:
        self._stats.set_value("rep/forecast/seconds", round(seconds, 3))
        self._stats.set_value("rep/forecast/request_count", requests)

    def _spider_closed(self, reason: str) -> None:
        if reason == "finished" and self._stats.get_value("rep/forecast/request_count"):
            self._set_stats(0.0, 0)

    def __repr__(self) -> str:
        return f"<CrawlForecast interval={self._interval:g} is_running={self._is_running}>"


class LeftRequests:
    """The requests that a crawl leaves in its queue.

    The host queue counts them by host. Scrapy's stats count any other queue of Scrapy's scheduler. Another kind of
    scheduler is not counted, because crawls may share its queue.
    """

    def __init__(self, crawl: Crawl) -> None:
        self._crawl = crawl
        self._slots = crawl.part(Slots)
        # Number of requests that the scheduler had from an earlier run. `begin` sets it.
        self._from_before = 0

    def begin(self) -> None:
        """Count the requests of an earlier run; the scheduler is open, and has no new requests yet."""
        self._from_before = self._crawl.engine.scheduled

    def count(self) -> int:
        """Return the number of requests left, after the scheduler has closed."""
        if self._slots.has_queue:
            return sum(slot.size for slot in self._slots.by_key.values())
        put, taken = (self._crawl.stats.get_value(f"scheduler/{way}", 0) for way in ("enqueued", "dequeued"))
        return max(self._from_before + int(put) - int(taken), 0)

    def describe(self, count: int, reason: str) -> str:
        """Describe *count* requests: why the crawl closed, which hosts they wait for, and what to do."""
        hosts = sorted(self._hosts(), key=lambda slot: slot.size, reverse=True)
        named: list[str] = []
        remedies: dict[str, None] = {}
        for slot in hosts:
            why, remedy = self._why(slot)
            remedies[remedy] = None
            size = f"{slot.size:,} for " if slot.size else ""
            named.append(f"{size}{slot.key}{f' ({why})' if why else ''}")
        more = len(named) - _SLOWEST
        named = [*named[:_SLOWEST], *([number_of(more, "more host", "more hosts")] if more > 0 else [])]
        has_folder = self._crawl.crawler.settings.get("JOBDIR")
        kept = "the next run finds those in the JOBDIR" if has_folder else "JOBDIR keeps them for the next run"
        where = f": {', '.join(named)}" if named else ""
        requests = number_of(count, "request", "requests")
        to_do = ", ".join([kept, *filter(None, remedies)])
        return f"{requests} still in the queue when the crawl closed ({reason}){where}; {to_do}"

    def _hosts(self) -> Iterator[Slot]:
        """Yield the download slots with requests left; with another queue, the slots that held requests back."""
        slots = self._slots.by_key.values() if self._slots.has_queue else self._slots.delayed
        return (slot for slot in slots if slot.size or not self._slots.has_queue)

    def _why(self, slot: Slot) -> tuple[str, str]:
        """Return why requests of *slot* wait, and what changes that; empty if their turn had not come."""
        if slot.held_for:
            return f"it asked for a pause, {duration(slot.held_for)} left", _OF_HOLDS
        if slot.floor:
            in_all = f", {duration(slot.size * slot.floor)} in all" if slot.size else ""
            return f"one every {slot.floor:g} s{in_all}", _OF_DELAYS
        if any(origin is not None and not origin.is_known for _, origin in slot.origins):
            return "its robots.txt has not come", _OF_FILES
        return "", ""


def _describe(delay: RequestedDelay) -> str:
    line = f" (line {delay.line})" if delay.line else ""
    return f"{delay.seconds:g} s between two requests{line}"


def _named(slots: list[_Waiting]) -> str:
    """Name the slowest of *slots*, and count the others."""
    slowest = ", ".join(map(str, nlargest(_SLOWEST, slots, key=lambda slot: slot.seconds)))
    others = len(slots) - _SLOWEST
    return f"{slowest}, and {number_of(others, 'faster host', 'faster hosts')}" if others > 0 else slowest


def _short(delay: float) -> str:
    """Format *delay* without the margin that is added to the delay in robots.txt."""
    return f"{round(delay, 1):g}" if delay >= 0.5 else f"{delay:.2g}"
