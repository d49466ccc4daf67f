"""Robots.txt fetched ahead of the requests that wait for it in the scheduler, a bounded number at a time.

A fetch that takes long, or waits for its next attempt, does not keep others from being made.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Protocol

from scrapy_rep.crawl.event_loop import CLOSING_CHECK

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.statscollectors import StatsCollector

    from scrapy_rep.crawl.scrapy_internals import Engine
    from scrapy_rep.protocol import Origin

    from .alarm import Alarm
    from .robots_source import RobotsSource

MAX_FRESH: Final = 64
"""Fetches at a time that were started less than `PATIENCE` seconds ago."""

MAX_DOWNLOADS: Final = 512
"""Requests for robots.txt at a time, those that hang included: each takes a socket."""

PATIENCE: Final = 0.5
"""Seconds after which a fetch counts as one that hangs."""


class WaitsForRobots(Protocol):
    """Requests of one origin that wait for its robots.txt."""

    @property
    def origin(self) -> Origin | None: ...

    def peek(self) -> Request | None:
        """The first of them; None when there is none any more."""

    def admit(self) -> None:
        """The fetch is over."""

    def __len__(self) -> int: ...


class Prefetcher:
    """Fetches robots.txt for those who wait, origin by origin in turn, until enough requests are ready."""

    def __init__(
        self,
        robots: RobotsSource,
        engine: Engine,
        alarm: Alarm,
        are_enough: Callable[[], bool],
        stats: StatsCollector,
    ) -> None:
        self._robots = robots
        self._engine = engine
        self._alarm = alarm
        self._are_enough = are_enough
        self._stats = stats
        self._queue: OrderedDict[Origin, list[WaitsForRobots]] = OrderedDict()
        self._fetching: dict[Origin, list[WaitsForRobots]] = {}
        self._fresh: OrderedDict[Origin, float] = OrderedDict()  # when they will count as hanging
        self._is_watching = False
        self._is_starting = False

    def add(self, requests: WaitsForRobots) -> None:
        """*requests* are admitted once their robots.txt has been fetched."""
        origin = requests.origin
        if origin in self._fetching:
            self._fetching[origin].append(requests)
        elif origin is not None:
            self._queue.setdefault(origin, []).append(requests)
            self.start()

    def start(self) -> None:
        """Start as many fetches as may be made now."""
        if self._is_starting:  # a fetch that ends at once calls again
            return
        if not self._engine.is_running:  # a job goes on, and the middlewares do not know the spider yet
            self._watch()
            return
        self._is_starting = True
        try:
            while self._queue and self._may_start():
                self._fetch(*self._queue.popitem(last=False))
        finally:
            self._is_starting = False

    def _may_start(self) -> bool:
        now = self._alarm.now()
        while self._fresh and next(iter(self._fresh.values())) <= now:
            self._fresh.popitem(last=False)
        return (
            len(self._fresh) < MAX_FRESH
            and self._robots.downloads < MAX_DOWNLOADS
            and not self._are_enough()
            and not self._engine.is_closing
        )

    def _fetch(self, origin: Origin, waiting: list[WaitsForRobots]) -> None:
        cause = next(filter(None, (each.peek() for each in waiting)), None)
        if cause is None:
            return
        self._fetching[origin] = waiting
        self._fresh[origin] = self._alarm.now() + PATIENCE
        self._watch()
        self._robots.prefetch(cause, lambda: self._ended(origin), lambda: sum(map(len, waiting)))

    def _ended(self, origin: Origin) -> None:
        self._fresh.pop(origin, None)
        waiting = self._fetching.pop(origin, ())
        if not self._engine.is_closing:
            self._stats.inc_value("rep/waited_count", sum(map(len, waiting)))
            for each in waiting:
                each.admit()
            self.start()

    def _watch(self) -> None:
        """Look now and then whether the crawl runs, whether fetches hang, and whether the crawl is closing."""
        if not self._is_watching:
            self._is_watching = True
            self._alarm.after(CLOSING_CHECK, self._check)

    def _check(self) -> None:
        self._is_watching = False
        if self._engine.is_closing:
            self._robots.cancel_prefetches()
        else:
            if self._fetching:
                self._watch()
                self._engine.wake()  # nothing can go: ``scheduler_empty`` tells a lazy start() to read on
            self.start()

    def __repr__(self) -> str:
        return f"<Prefetcher waiting={len(self._queue)} fetching={len(self._fetching)}>"
