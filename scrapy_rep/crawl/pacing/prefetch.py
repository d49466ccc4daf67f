"""Fetches robots.txt ahead for requests that wait in the scheduler, a bounded number at a time.

A fetch that takes long, or waits for its next attempt, does not keep others from starting.
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
"""Fetches under way that were started less than `SLOW_AFTER` seconds ago."""

MAX_DOWNLOADS: Final = 512
"""Requests for robots.txt under way, slow ones included: each takes a socket."""

SLOW_AFTER: Final = 0.5
"""Idle seconds after which a fetch counts as slow, so that it no longer keeps others from starting."""


class Prefetcher:
    """Fetches robots.txt, origin by origin in the order in which they came, until enough requests are ready.

    ``waiting`` holds the origins whose fetch has not started.
    """

    def __init__(
        self,
        crawl: Crawl,
        judge: Judge,
        timer: Timer,
        has_enough: Callable[[], bool],
        admit: Callable[[OriginQueue], None],
    ) -> None:
        """*has_enough* says whether enough requests are ready, *admit* is called for those whose fetch is over."""
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
        self._recent: OrderedDict[OriginState, float] = OrderedDict()  # fetches by when they will count as slow
        self._is_check_due = False
        self._is_starting = False

    def add(self, requests: OriginQueue) -> None:
        """Fetch the robots.txt for *requests*, which are admitted when the fetch is over."""
        state = requests.state
        if state in self._fetching:
            self._fetching[state].append(requests)
        elif state is not None:
            self.waiting.setdefault(state, []).append(requests)
            self.start()

    def ask(self, state: OriginState, request: Request) -> None:
        """Fetch that of *state* for *request* of another scheduler, and wake the engine when that is over."""
        self._serves_another = True
        self._check_later()
        self._judge.flight(state, request)

    def start(self) -> None:
        """Start as many fetches as allowed now."""
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
        # Below the limit the slow ones among them do not matter, and the time is a system call.
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
        """Seconds that pass only while this process does not compute: a busy one keeps healthy fetches waiting."""
        return clock.monotonic() - clock.process_time()

    def _fetch(self, state: OriginState, waiting: list[OriginQueue]) -> None:
        cause = next(filter(None, (each.owner.peek_in(each) for each in waiting)), None)
        if cause is None:
            return
        self._fetching[state] = waiting
        asked = self._judge.state_to_ask(cause)
        if asked is None:  # a crawl with other settings put it into the queue
            self._landed(state)
            return
        self._recent[state] = self._idle_time() + SLOW_AFTER
        self._check_later()
        state.queued = waiting
        self._judge.flight(asked, cause)

    def _landed(self, state: OriginState) -> None:
        """Admit the requests that waited for the robots.txt of *state*, which nobody fetches any more."""
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
        """Check soon whether the crawl runs, and whether fetches have become slow."""
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
