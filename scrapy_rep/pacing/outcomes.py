"""What the outcomes of requests say: which sites ask to slow down, in this process and in others."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from scrapy import signals
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.misc import load_object

from scrapy_rep.clock import clock
from scrapy_rep.protocol import SCHEMES, Origin
from scrapy_rep.robots.request import is_robots_txt
from scrapy_rep.runtime.event_loop import Timer, start
from scrapy_rep.runtime.log import describe
from scrapy_rep.runtime.scrapy_internals import Answers

from .backoff import ASKING, FAILING, QUIET, SPAN, Plea, SlotBackoff, seconds_asked
from .limiter import Hold, RateLimiterAwayError

if TYPE_CHECKING:
    from scrapy import Request

    from scrapy_rep.runtime.crawl import Crawl

    from .download_slots import SlotStates
    from .limiter import RateLimiter
    from .slots import SlotState

_OF_GATEWAYS: Final = frozenset({502, 504})

_LOOK: Final = 0.2  # seconds between two looks at what other processes were asked
_REMEMBERED: Final = 300.0  # seconds for which a failure may repeat: more than Scrapy's DOWNLOAD_TIMEOUT
_LITTLE: Final = 0.05  # seconds by which the answers of a burst may differ


class _Failure(NamedTuple):
    """The first failure of a site since its last good answer: when, and at which URL."""

    at: float
    url: str


class Backoffs:
    """The back-offs of one crawl.

    Each of ``asked`` is called with a request whose outcome slows its download slot down, with its plea and with
    the back-off; each of ``held`` with a download slot that starts nothing for a while.
    """

    def __init__(self, crawl: Crawl, states: SlotStates, limiter: Callable[[], RateLimiter | None]) -> None:
        """*limiter* gives the rate limiter that processes share, if any."""
        self.asked: list[Callable[[Request, Plea, SlotBackoff], None]] = []
        self.held: list[Callable[[SlotState], None]] = []
        self._crawl = crawl
        self._states = states
        self._limiter = limiter
        self._most = crawl.settings.backoff_max
        failures = crawl.crawler.settings.getlist("RETRY_EXCEPTIONS")
        self._failures: tuple[type[Exception], ...] = tuple(map(load_object, failures))
        self._answers = Answers(ASKING | FAILING, self._ended)
        self._slots: set[SlotBackoff] = set()
        self._failed: dict[str, _Failure] = {}  # by key of the download slot
        self._timer = Timer()
        crawl.crawler.signals.connect(self._spider_opened, signal=signals.spider_opened)
        crawl.crawler.signals.connect(self._timer.stop, signal=signals.spider_closed)

    async def _spider_opened(self) -> None:
        self._crawl.downloader.tell(self._answers)
        await self._learn()  # an earlier run may have left something to wait for

    def _ended(self, request: Request, began: float, outcome: Response | Exception) -> None:
        """Slow the download slot of *request* down by its *outcome*, or let it recover."""
        if is_robots_txt(request) or urlparse_cached(request).scheme not in SCHEMES:
            return  # robots.txt has a back-off of its own
        plea, key = self._plea(request, outcome), self._crawl.download_slots.key(request)
        if plea is not None:
            self._ask(request, key, began, plea)
        elif isinstance(outcome, Response) and outcome.status not in self._answers.statuses:
            self._recover(key, began)

    def _plea(self, request: Request, outcome: Response | Exception) -> Plea | None:
        """What *outcome* asks, if it is the site that does: an error of a proxy says nothing about the site."""
        if isinstance(outcome, Exception):
            is_of_site = isinstance(outcome, self._failures) and not request.meta.get("proxy")
            return Plea("failure", describe(outcome), counts_alone=False) if is_of_site else None
        status = outcome.status
        if status not in self._answers.statuses or (status in _OF_GATEWAYS and _is_of_proxy(request, outcome)):
            return None
        seconds = seconds_asked(outcome, clock.time()) if status in ASKING else None
        return Plea(str(status), f"HTTP status {status}", seconds, status in ASKING)

    def _ask(self, request: Request, key: str, began: float, plea: Plea) -> None:
        """Slow down, unless *request* began before the last time: a burst of answers is one event."""
        state = self._states.of(key)
        backoff = state.backoff
        if (backoff is None or backoff.has_recovered) and not self._is_of_site(request, key, began, plea):
            return
        backoff = backoff or self._add(state)
        if backoff.is_new(began):
            backoff.ask(plea, self._states.own_delay(state), self._accepted(state), self._most)
            for listener in self.asked:
                listener(request, plea, backoff)
        elif plea.seconds is not None and plea.seconds > backoff.seconds_left() + _LITTLE:
            backoff.hold(plea.seconds)
        else:
            return
        self._hold(state, is_shared=self._is_shared(request))
        self._tell(request, Hold(state.key, backoff.seconds_left(), backoff.delay, backoff.pace))

    def _hold(self, state: SlotState, *, is_shared: bool) -> None:
        self._states.back_off(state, is_shared=is_shared)
        for listener in self.held:
            listener(state)

    def _is_of_site(self, request: Request, key: str, began: float, plea: Plea) -> bool:
        """Whether *plea* comes from a site that was well until now, and not from one broken page.

        A page that Scrapy repeats is one that fails again: that alone says nothing new, unless the site names a
        limit or a time.
        """
        is_repeated = bool(request.meta.get("retry_times"))
        if plea.counts_alone:
            return not is_repeated or plea.names_limit or plea.seconds is not None
        first = self._failed.get(key)
        if first is None and not is_repeated:
            self._note_failure(key, request.url)
        return first is not None and began > first.at and first.url != request.url

    def _note_failure(self, key: str, url: str) -> None:
        failure = self._failed[key] = _Failure(clock.monotonic(), url)
        self._hear()
        self._timer.call_after(_REMEMBERED, partial(self._forget_failure, key, failure))

    def _forget_failure(self, key: str, failure: _Failure) -> None:
        if self._failed.get(key) is failure:
            del self._failed[key]
            self._hear()

    def _recover(self, key: str, began: float) -> None:
        """Take a good answer in: what failed before it was not the site."""
        failure, state = self._failed.get(key), self._states.by_key.get(key)
        if failure is not None and began > failure.at:
            self._forget_failure(key, failure)
        if state is not None and state.backoff is not None and state.backoff.recover(began):
            self._states.back_off(state)

    def _hear(self) -> None:
        """Hear of good answers only while there is something that they may end: each costs a call."""
        self._answers.hears_all = bool(self._slots or self._failed)

    def _add(self, state: SlotState) -> SlotBackoff:
        backoff = state.backoff = SlotBackoff()
        self._slots.add(backoff)
        self._hear()
        self._timer.call_after(QUIET, partial(self._relax, state.key, backoff))
        return backoff

    def _relax(self, key: str, backoff: SlotBackoff) -> None:
        state = self._states.by_key.get(key)
        if state is None or state.backoff is not backoff:
            self._forget(backoff)
        elif backoff.relax(self._states.own_delay(state)):
            self._states.back_off(state)
            self._timer.call_after(QUIET, partial(self._relax, key, backoff))
        else:
            self._end(state)

    def _end(self, state: SlotState) -> None:
        backoff, state.backoff = state.backoff, None
        self._forget(backoff)
        self._states.back_off(state)

    def _forget(self, backoff: SlotBackoff | None) -> None:
        self._slots.discard(backoff)
        self._hear()

    def _accepted(self, state: SlotState) -> int:
        """How many requests the site of a download slot answered well in the last `SPAN` seconds."""
        since = clock.monotonic() - SPAN
        return sum(came > since and key in state.keys for came, key in self._answers.recent)

    def _is_shared(self, request: Request) -> bool:
        try:
            return self._crawl.settings.shares(Origin.from_url(self._crawl.targets.of(request)))
        except ValueError:
            return False

    # What processes tell each other.

    def _tell(self, request: Request, hold: Hold) -> None:
        limiter = self._limiter() if self._is_shared(request) else None
        if limiter is not None:
            start(_tell(limiter, hold))

    async def _learn(self) -> None:
        limiter = self._limiter()
        if limiter is None:
            return
        try:
            for hold in await limiter.holds():
                self._adopt(hold)
        except (RateLimiterAwayError, IgnoreRequest):
            pass  # each process keeps to what it is asked itself
        finally:
            if not self._crawl.engine.is_closing:
                self._timer.call_after(_LOOK, self._look)

    def _look(self) -> None:
        start(self._learn())

    def _adopt(self, hold: Hold) -> None:
        state = self._states.of(hold.key)
        backoff = state.backoff or self._add(state)
        backoff.adopt(hold)
        self._hold(state, is_shared=True)
        self._crawl.stats.inc_value("rep/backoff/shared_count")

    def __repr__(self) -> str:
        return f"<Backoffs slots={len(self._slots)}>"


async def _tell(limiter: RateLimiter, hold: Hold) -> None:
    with suppress(RateLimiterAwayError, IgnoreRequest):
        await limiter.hold(hold)


def _is_of_proxy(request: Request, response: Response) -> bool:
    """Whether a proxy made *response* of its own: it may name the site as the one that failed (RFC 9209)."""
    host = (urlparse_cached(request).hostname or "").encode()
    return bool(request.meta.get("proxy")) and host not in (response.headers.get(b"Proxy-Status") or b"")
