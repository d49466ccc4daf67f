"""Find the sites that ask to slow down in the outcomes of requests, and back off."""

from __future__ import annotations

import logging
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from scrapy import signals
from scrapy.http import Response
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.misc import load_object

from scrapy_rep.clock import clock
from scrapy_rep.crawl.pacing.crawl_delay import CrawlDelay
from scrapy_rep.crawl.pacing.slots import Slots
from scrapy_rep.crawl.robots.request import is_robots_txt
from scrapy_rep.crawl.runtime.event_loop import Timer
from scrapy_rep.crawl.runtime.log import describe
from scrapy_rep.extras.backoff.site_backoff import (
    FAILING,
    QUIET,
    SLOW_DOWN,
    SPAN,
    Plea,
    SiteBackoff,
    seconds_asked,
)
from scrapy_rep.extras.topics import ExtraTopic
from scrapy_rep.protocol import SCHEMES, Origin
from scrapy_rep.protocol.display import duration, number_of

if TYPE_CHECKING:
    from scrapy import Request

    from scrapy_rep.crawl.pacing.slots import Site
    from scrapy_rep.crawl.runtime.crawl import Crawl

logger = logging.getLogger(__name__)

_STATUSES: Final = SLOW_DOWN | FAILING
_OF_GATEWAYS: Final = frozenset({502, 504})

_REMEMBERED: Final = 300.0  # seconds within which a failure may repeat: more than Scrapy's DOWNLOAD_TIMEOUT
_LITTLE: Final = 0.05  # seconds by which the times named in a burst may differ

_NAMED: Final = 5  # hosts in the summary


class _Told(NamedTuple):
    """A hold from another process, for a site not yet requested here: no start before ``until`` (monotonic)."""

    until: float
    delay: float
    pace: float


class _Failure(NamedTuple):
    """The first failure of a site since its last good answer: its time and URL."""

    at: float
    url: str


class Backoffs:
    """The back-offs of one crawl."""

    def __init__(self, crawl: Crawl) -> None:
        self._crawl, self._events = crawl, crawl.events
        self._slots = crawl.part(Slots)
        self._report = BackoffReport(crawl)
        # By site. Subscribed to `Events.met` only while this is not empty.
        self._told: dict[str, _Told] = {}
        self._most = crawl.settings.backoff_max
        failures = crawl.crawler.settings.getlist("RETRY_EXCEPTIONS")
        self._failures: tuple[type[Exception], ...] = tuple(map(load_object, failures))
        self._backoffs: dict[str, SiteBackoff] = {}  # by site
        self._failed: dict[str, _Failure] = {}  # by site
        self._timer = Timer()
        crawl.events.opened.subscribe(self._opened)

    def _opened(self) -> None:
        """Start if `CrawlDelay`, which keeps the delays, is enabled."""
        if self._crawl.crawler.get_extension(CrawlDelay) is None:
            return
        self._events.outcome.subscribe(self._ended)
        self._events.told.subscribe(self._learn)
        self._answers = self._crawl.downloader.tell(_STATUSES)
        self._crawl.crawler.signals.connect(self._timer.stop, signal=signals.spider_closed)

    def _ended(self, request: Request, began: float, outcome: Response | Exception) -> None:
        """Slow down the site of *request* after its *outcome*, or let it recover."""
        if is_robots_txt(request) or urlparse_cached(request).scheme not in SCHEMES:
            return  # robots.txt has a separate back-off
        plea, name = self._plea(request, outcome), self._crawl.targets.site(request)
        if plea is not None:
            self._ask(request, self._slots.site(name), began, plea)
        elif isinstance(outcome, Response) and outcome.status not in _STATUSES:
            if outcome.status in self._answers.statuses:  # another subscriber asked for it
                self._answers.recent.append((clock.monotonic(), self._crawl.download_slots.key(request)))
            self._recover(name, began)

    def _plea(self, request: Request, outcome: Response | Exception) -> Plea | None:
        """The plea of the site in *outcome*, or None: an error of a proxy says nothing about the site."""
        if isinstance(outcome, Exception):
            is_of_site = isinstance(outcome, self._failures) and not request.meta.get("proxy")
            return Plea("failure", describe(outcome), counts_alone=False) if is_of_site else None
        status = outcome.status
        if status not in _STATUSES or (status in _OF_GATEWAYS and _is_of_proxy(request, outcome)):
            return None
        seconds = seconds_asked(outcome, clock.time()) if status in SLOW_DOWN else None
        return Plea(str(status), f"HTTP status {status}", seconds, status in SLOW_DOWN)

    def _ask(self, request: Request, site: Site, began: float, plea: Plea) -> None:
        """Slow down, unless *request* began before the last plea: a burst of answers is one event."""
        backoff, key = self._of(site), self._crawl.download_slots.key(request)
        if (backoff is None or backoff.has_recovered) and not self._is_of_site(request, site.name, began, plea):
            return
        backoff = backoff or self._add(site)
        if backoff.is_new(began):
            backoff.ask(plea, self._slots.own_delay(site, key), self._accepted(site, key), self._most)
            self._report.asked(request, plea, backoff)
            self._events.asked.send(request, plea, backoff)
        elif plea.seconds is not None and plea.seconds > backoff.seconds_left() + _LITTLE:
            backoff.hold(plea.seconds)
        else:
            return
        is_shared = self._is_shared(request)
        self._slots.back_off(site, key, is_shared=is_shared)
        if is_shared:
            self._events.slowed.send(site.name, backoff.seconds_left(), backoff.delay, backoff.pace)

    def _is_of_site(self, request: Request, name: str, began: float, plea: Plea) -> bool:
        """Whether *plea* is about a site that was well until now, and not about a single broken page.

        A page that Scrapy retries and that fails again is no news, unless the site names a limit or a time.
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
        """Note a good answer: failures before it were not the site's."""
        failure, site = self._failed.get(name), self._slots.sites.get(name)
        if failure is not None and began > failure.at:
            self._forget_failure(name, failure)
        backoff = self._of(site) if site is not None else None
        if site is not None and backoff is not None and backoff.recover(began):
            self._keep(site)

    def _keep(self, site: Site) -> None:
        self._slots.back_off(site, self._key(site))

    @staticmethod
    def _key(site: Site) -> str:
        return next((slot.key for slot in site.places), site.name)

    def _hear(self) -> None:
        """Listen to good answers, each of which costs a call, only while they may end a back-off or failure."""
        eager = self._answers.eager
        (eager.add if self._backoffs or self._failed else eager.discard)(self)

    def _of(self, site: Site) -> SiteBackoff | None:
        """The back-off of *site*; None if the crawl has forgotten the site since."""
        backoff = self._backoffs.get(site.name)
        return backoff if site.backoff is backoff else None

    def _add(self, site: Site) -> SiteBackoff:
        backoff = site.backoff = self._backoffs[site.name] = SiteBackoff()
        self._hear()
        self._timer.call_after(QUIET, partial(self._relax, site, backoff))
        return backoff

    def _relax(self, site: Site, backoff: SiteBackoff) -> None:
        if self._slots.sites.get(site.name) is not site:
            self._forget(site, backoff)
        elif backoff.relax(self._slots.own_delay(site, self._key(site))):
            self._keep(site)
            self._timer.call_after(QUIET, partial(self._relax, site, backoff))
        else:
            site.backoff = None
            self._forget(site, backoff)
            self._keep(site)

    def _forget(self, site: Site, backoff: SiteBackoff) -> None:
        if self._backoffs.get(site.name) is backoff:
            del self._backoffs[site.name]
        self._hear()

    def _accepted(self, site: Site, key: str) -> int:
        """How many requests in the download slot of *site* got a good answer in the last `SPAN` seconds."""
        since, keys = clock.monotonic() - SPAN, {key, *(slot.key for slot in site.places)}
        return sum(came > since and slot in keys for came, slot in self._answers.recent)

    def _is_shared(self, request: Request) -> bool:
        try:
            return self._crawl.settings.shares(Origin.from_url(self._crawl.targets.of(request)))
        except ValueError:
            return False

    # Holds from other processes.

    def _learn(self, name: str, seconds: float, delay: float, pace: float) -> None:
        """Remember the hold of the site *name* in another process, or an earlier run, until it is requested."""
        if not self._told:
            self._events.met.subscribe(self._met)
        self._told[name] = _Told(clock.monotonic() + seconds, delay, pace)
        if name in self._slots.sites or name in self._slots.by_key:
            self._met(name)
        self._events.delayed.send()

    def _met(self, name: str) -> None:
        """Adopt the remembered hold of the site *name*, which is now requested."""
        told = self._told.pop(name, None)
        if told is None:
            return
        if not self._told:
            self._events.met.unsubscribe(self._met)
        seconds = told.until - clock.monotonic()
        if seconds > 0:
            site = self._slots.site(name)
            backoff = self._of(site) or self._add(site)
            backoff.adopt(seconds, told.delay, told.pace)
            site.is_shared = True
            self._keep(site)
            self._report.told(site)

    def held_for(self, name: str) -> float:
        """Seconds until a back-off, here or in another process, lets requests start on the site *name*."""
        self._met(name)
        site = self._slots.sites.get(name)
        return site.held_for if site is not None else 0.0

    def __repr__(self) -> str:
        return f"<Backoffs sites={len(self._backoffs)} told={len(self._told)}>"


def _is_of_proxy(request: Request, response: Response) -> bool:
    """Whether a proxy made *response*, unless its Proxy-Status names the site as the cause (RFC 9209)."""
    host = (urlparse_cached(request).hostname or "").encode()
    return bool(request.meta.get("proxy")) and host not in (response.headers.get(b"Proxy-Status") or b"")


class BackoffReport:
    """Logs each host that asks to slow down once, and at the end the hosts that asked most."""

    def __init__(self, crawl: Crawl) -> None:
        self._crawl, self._stats = crawl, crawl.stats
        # How often each host asked to slow down.
        self._slowed: Counter[str] = Counter()
        # Reported sites with a hold from another process.
        self._held: set[str] = set()
        crawl.crawler.signals.connect(self._close, signal=signals.spider_closed)

    def asked(self, request: Request, plea: Plea, backoff: SiteBackoff) -> None:
        """Report that the download slot of *request* slows down for *plea*."""
        host = self._crawl.download_slots.key(request)
        if not self._slowed[host]:
            self._stats.inc_value("rep/backoff/slot_count")
            self._crawl.log.add(
                ExtraTopic.BACKOFF, "%s %s (%s): no requests for %.1f s, then fewer", host,
                "asks to slow down" if plea.counts_alone else "fails repeatedly", plea.why, backoff.seconds_left(),
            )  # fmt: skip
        self._slowed[host] += 1
        self._stats.inc_value("rep/backoff/event_count")
        self._stats.inc_value(f"rep/backoff/reason_count/{plea.reason}")
        if len(self._slowed) > self._crawl.settings.memory_entries:
            self._slowed = Counter(dict(self._slowed.most_common(_NAMED)))

    def told(self, site: Site) -> None:
        """Report a pause for *site*, which asked an earlier run or another process to slow down."""
        self._stats.inc_value("rep/backoff/shared_count")
        if site.name in self._held:
            return
        if len(self._held) >= self._crawl.settings.memory_entries:
            self._held.clear()
        self._held.add(site.name)
        self._crawl.log.add(
            ExtraTopic.HELD, "%s asked an earlier run or another process to slow down: no requests for %s, then"
            " fewer", site.name, duration(site.held_for),
        )  # fmt: skip

    def _close(self) -> None:
        most = self._slowed.most_common(_NAMED)
        if named := ", ".join(f"{host} {number_of(count, 'time', 'times')}" for host, count in most):
            hosts = number_of(len(self._slowed), "host", "hosts")
            logger.info("%s asked to slow down, or failed repeatedly; most often %s.", hosts, named)
