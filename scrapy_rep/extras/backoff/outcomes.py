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
from scrapy_rep.crawl.robots.request import is_robots_txt
from scrapy_rep.crawl.runtime.event_loop import Timer, start
from scrapy_rep.crawl.runtime.log import Line, describe
from scrapy_rep.crawl.runtime.scrapy_internals import Answers
from scrapy_rep.extras.backoff.site_backoff import ASKING, FAILING, QUIET, SPAN, Plea, SiteBackoff, seconds_asked
from scrapy_rep.extras.fleet.limiter import MOST_HOLDS, Hold, RateLimiterAwayError
from scrapy_rep.extras.fleet.permits import Permits
from scrapy_rep.protocol import SCHEMES, Origin

if TYPE_CHECKING:
    from scrapy import Request

    from scrapy_rep.crawl.pacing.download_slots import SlotStates
    from scrapy_rep.crawl.pacing.slots import Site
    from scrapy_rep.crawl.runtime.crawl import Crawl

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

    Each of ``asked`` is called with a request whose outcome slows its site down, with its plea and the back-off,
    and each of ``learned`` with a site that another process told of, once the back-off holds.
    """

    def __init__(self, crawl: Crawl, states: SlotStates, heard: Callable[[], None]) -> None:
        """*heard* is called when other processes have told something."""
        self.asked: list[Callable[[Request, Plea, SiteBackoff], None]] = []
        self.learned: list[Callable[[Site], None]] = []
        self._crawl = crawl
        self._states = states
        self._heard = heard
        self.told: dict[str, tuple[Hold, float]] = {}
        """Holds of sites that this crawl has not requested yet, and when each was told (monotonic seconds)."""
        self._most = crawl.settings.backoff_max
        failures = crawl.crawler.settings.getlist("RETRY_EXCEPTIONS")
        self._failures: tuple[type[Exception], ...] = tuple(map(load_object, failures))
        self._answers = Answers(ASKING | FAILING, self._ended)
        self._backoffs: set[SiteBackoff] = set()
        self._failed: dict[str, _Failure] = {}  # by site
        self._timer = Timer()
        crawl.crawler.signals.connect(self._spider_opened, signal=signals.spider_opened)
        crawl.crawler.signals.connect(self._timer.stop, signal=signals.spider_closed)

    async def _spider_opened(self) -> None:
        self._crawl.downloader.tell(self._answers)
        await self._learn()  # an earlier run may have left something to wait for

    def _ended(self, request: Request, began: float, outcome: Response | Exception) -> None:
        """Slow the site of *request* down by its *outcome*, or let it recover."""
        if is_robots_txt(request) or urlparse_cached(request).scheme not in SCHEMES:
            return  # robots.txt has a back-off of its own
        plea, name = self._plea(request, outcome), self._crawl.targets.site(request)
        if plea is not None:
            self._ask(request, self._states.site(name), began, plea)
        elif isinstance(outcome, Response) and outcome.status not in self._answers.statuses:
            self._recover(name, began)

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

    def _ask(self, request: Request, site: Site, began: float, plea: Plea) -> None:
        """Slow down, unless *request* began before the last time: a burst of answers is one event."""
        backoff, key = site.backoff, self._crawl.download_slots.key(request)
        if (backoff is None or backoff.has_recovered) and not self._is_of_site(request, site.name, began, plea):
            return
        backoff = backoff or self._add(site)
        if backoff.is_new(began):
            backoff.ask(plea, self._states.own_delay(site, key), self._accepted(site, key), self._most)
            for listener in self.asked:
                listener(request, plea, backoff)
        elif plea.seconds is not None and plea.seconds > backoff.seconds_left() + _LITTLE:
            backoff.hold(plea.seconds)
        else:
            return
        is_shared = self._is_shared(request)
        self._states.back_off(site, key, is_shared=is_shared)
        if is_shared and (permits := Permits.of(self._crawl)) is not None:
            start(self._tell(permits, Hold(site.name, backoff.seconds_left(), backoff.delay, backoff.pace)))

    def _is_of_site(self, request: Request, name: str, began: float, plea: Plea) -> bool:
        """Whether *plea* comes from a site that was well until now, and not from one broken page.

        A page that Scrapy repeats is one that fails again: that alone says nothing new, unless the site names a
        limit or a time.
        """
        is_repeated = bool(request.meta.get("retry_times"))
        if plea.counts_alone:
            return not is_repeated or plea.names_limit or plea.seconds is not None
        first = self._failed.get(name)
        if first is None and not is_repeated:
            self._note_failure(name, request.url)
        return first is not None and began > first.at and first.url != request.url

    def _note_failure(self, name: str, url: str) -> None:
        failure = self._failed[name] = _Failure(clock.monotonic(), url)
        self._hear()
        self._timer.call_after(_REMEMBERED, partial(self._forget_failure, name, failure))

    def _forget_failure(self, name: str, failure: _Failure) -> None:
        if self._failed.get(name) is failure:
            del self._failed[name]
            self._hear()

    def _recover(self, name: str, began: float) -> None:
        """Take a good answer in: what failed before it was not the site."""
        failure, site = self._failed.get(name), self._states.sites.get(name)
        if failure is not None and began > failure.at:
            self._forget_failure(name, failure)
        if site is not None and site.backoff is not None and site.backoff.recover(began):
            self._keep(site)

    def _keep(self, site: Site) -> None:
        self._states.back_off(site, self._key(site))

    @staticmethod
    def _key(site: Site) -> str:
        return site.slot.key if site.slot is not None else site.name

    def _hear(self) -> None:
        """Hear of good answers only while there is something that they may end: each costs a call."""
        self._answers.hears_all = bool(self._backoffs or self._failed)

    def _add(self, site: Site) -> SiteBackoff:
        backoff = site.backoff = SiteBackoff()
        self._backoffs.add(backoff)
        self._hear()
        self._timer.call_after(QUIET, partial(self._relax, site, backoff))
        return backoff

    def _relax(self, site: Site, backoff: SiteBackoff) -> None:
        if self._states.sites.get(site.name) is not site:
            self._forget(backoff)
        elif backoff.relax(self._states.own_delay(site, self._key(site))):
            self._keep(site)
            self._timer.call_after(QUIET, partial(self._relax, site, backoff))
        else:
            site.backoff = None
            self._forget(backoff)
            self._keep(site)

    def _forget(self, backoff: SiteBackoff) -> None:
        self._backoffs.discard(backoff)
        self._hear()

    def _accepted(self, site: Site, key: str) -> int:
        """How many requests of the download slot of *site* were answered well in the last `SPAN` seconds."""
        since, keys = clock.monotonic() - SPAN, site.slot.keys if site.slot is not None else [key]
        return sum(came > since and slot in keys for came, slot in self._answers.recent)

    def _is_shared(self, request: Request) -> bool:
        try:
            return self._crawl.settings.shares(Origin.from_url(self._crawl.targets.of(request)))
        except ValueError:
            return False

    # What processes tell each other.

    async def _tell(self, permits: Permits, hold: Hold) -> None:
        with suppress(RateLimiterAwayError, IgnoreRequest):
            if dropped := await permits.limiter.hold(hold):
                self._crawl.log.add(
                    Line.HOLDS_DROPPED, "More than %d sites ask to slow down: other processes forget %d of them",
                    MOST_HOLDS, dropped,
                )  # fmt: skip

    async def _learn(self) -> None:
        permits = Permits.of(self._crawl)
        if permits is None:
            return
        try:
            for hold in await permits.limiter.holds():
                self.told[hold.site] = hold, clock.monotonic()
                if hold.site in self._states.sites or hold.site in self._states.by_key:
                    self.meet(hold.site)
            if self.told:
                self._heard()
        except (RateLimiterAwayError, IgnoreRequest):
            pass  # each process keeps to what it is asked itself
        finally:
            if not self._crawl.engine.is_closing:
                self._timer.call_after(_LOOK, self._look)

    def _look(self) -> None:
        start(self._learn())

    def meet(self, name: str) -> None:
        """Adopt what other processes, or an earlier run, were asked by the site *name*, which is requested now."""
        told = self.told.pop(name, None)
        if told is None:
            return
        hold, at = told
        seconds = hold.seconds - (clock.monotonic() - at)
        if seconds > 0:
            site = self._states.site(name)
            backoff = site.backoff or self._add(site)
            backoff.adopt(hold._replace(seconds=seconds))
            site.is_shared = True
            self._keep(site)
            self._crawl.stats.inc_value("rep/backoff/shared_count")
            for listener in self.learned:
                listener(site)

    def __repr__(self) -> str:
        return f"<Backoffs sites={len(self._backoffs)} told={len(self.told)}>"


def _is_of_proxy(request: Request, response: Response) -> bool:
    """Whether a proxy made *response* of its own: it may name the site as the one that failed (RFC 9209)."""
    host = (urlparse_cached(request).hostname or "").encode()
    return bool(request.meta.get("proxy")) and host not in (response.headers.get(b"Proxy-Status") or b"")
