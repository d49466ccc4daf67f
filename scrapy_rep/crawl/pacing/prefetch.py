"""Fetches robots.txt ahead of time for requests that wait in the scheduler, a bounded number at a time.

A fetch that is slow, or waits for its next attempt, does not hold up others.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from scrapy_rep.clock import clock
from scrapy_rep.crawl.runtime.event_loop import CLOSING_CHECK

if TYPE_CHECKING:
    from scrapy import Request

    from scrapy_rep.crawl.pacing.origin_queue import OriginQueue
    from scrapy_rep.crawl.policy.policy import Judge
    from scrapy_rep.crawl.robots.origins import OriginState
    from scrapy_rep.crawl.runtime.crawl import Crawl
    from scrapy_rep.crawl.runtime.event_loop import Timer

MAX_RECENT: Final = 64
"""Maximum number of fetches in progress that started less than `SLOW_AFTER` seconds ago."""

MAX_DOWNLOADS: Final = 512
"""Maximum number of robots.txt requests in progress, including slow requests: each takes a socket."""

SLOW_AFTER: Final = 0.5
"""Idle seconds after which a fetch counts as slow, and no longer holds up others."""


class Prefetcher:
    """Fetches robots.txt for origins in order of arrival, until enough requests are ready.

    ``waiting`` holds the origins whose fetches have not started.
    """

    def __init__(
        self,
        crawl: Crawl,
        judge: Judge,
        timer: Timer,
        has_enough: Callable[[], bool],
        admit: Callable[[OriginQueue], None],
    ) -> None:
        """*has_enough* says whether enough requests are ready; *admit* gets the requests whose fetch has ended."""
        self.waiting: OrderedDict[OriginState, list[OriginQueue]] = OrderedDict()
        self._judge = judge
        self._registry = judge.registry
        self._engine = crawl.engine
        self._timer = timer
        self._has_enough = has_enough
        self._admit = admit
        self._inc_value = crawl.stats.inc_value
        self._fetching: dict[OriginState, list[OriginQueue]] = {}
        self._serves_another = False
        crawl.events.landed.subscribe(self._landed)
        self._recent: OrderedDict[OriginState, float] = OrderedDict()  # fetches, and when each becomes slow
        self._is_check_due = False
        self._is_starting = False

    def add(self, requests: OriginQueue) -> None:
        """Fetch the robots.txt for *requests*, and admit them when the fetch ends."""
        state = requests.state
        if state in self._fetching:
            self._fetching[state].append(requests)
        elif state is not None:
            self.waiting.setdefault(state, []).append(requests)
            self.start()

    def ask(self, state: OriginState, request: Request) -> None:
        """Fetch the robots.txt of *state* for *request* of another scheduler; wake the engine when it ends."""
        self._serves_another = True
        self._check_later()
        self._judge.flight(state, request)

    def start(self) -> None:
        """Start as many fetches as the limits allow now."""
        if self._is_starting:  # a fetch that ends at once calls this again
            return
        if not self._engine.is_running:  # a resumed job has requests before the middlewares know the spider
            self._check_later()
            return
        self._is_starting = True
        try:
            while self.waiting and self._may_start():
                self._fetch(*self.waiting.popitem(last=False))
        finally:
            self._is_starting = False

    def _may_start(self) -> bool:
        # Below the limit, slow fetches do not matter, and reading the time is a system call.
        if len(self._recent) >= MAX_RECENT:
            now = self._idle_time()
            while self._recent and next(iter(self._recent.values())) <= now:
                self._recent.popitem(last=False)
        return (
            len(self._recent) < MAX_RECENT
            and self._registry.downloads < MAX_DOWNLOADS
            and not self._has_enough()
            and not self._engine.is_closing
        )

    def _idle_time(self) -> float:
        """Return seconds that pass only while this process is idle: a busy process delays healthy fetches."""
        return clock.monotonic() - clock.process_time()

    def _fetch(self, state: OriginState, waiting: list[OriginQueue]) -> None:
        cause = next(filter(None, (each.owner.peek_in(each) for each in waiting)), None)
        if cause is None:
            return
        self._fetching[state] = waiting
        asked = self._judge.state_to_ask(cause)
        if asked is None:  # a crawl with other settings queued it
            self._landed(state)
            return
        self._recent[state] = self._idle_time() + SLOW_AFTER
        self._check_later()
        state.queued = waiting
        self._judge.flight(asked, cause)

    def _landed(self, state: OriginState) -> None:
        """Admit the requests that waited for the robots.txt of *state*, whose fetch has ended."""
        if self._serves_another:
            self._engine.wake()
        self._recent.pop(state, None)
        state.queued, waiting = (), self._fetching.pop(state, None)
        if waiting is not None and not self._engine.is_closing:
            self._inc_value("rep/waited_count", sum(map(len, waiting)))
            for requests in waiting:
                self._admit(requests)
            self.start()

    def _check_later(self) -> None:
        """Schedule a check whether the crawl runs, and whether fetches have become slow."""
        if not self._is_check_due:
            self._is_check_due = True
            self._timer.call_after(CLOSING_CHECK, self._check)

    def _check(self) -> None:
        self._is_check_due = False
        if not self._engine.is_closing:
            if self._registry.is_fetching:
                self._check_later()
                self._engine.wake()  # if nothing can start, ``scheduler_empty`` makes a lazy start() read on
            self.start()

    def __repr__(self) -> str:
        return f"<Prefetcher waiting={len(self.waiting)} fetching={len(self._fetching)}>"
