"""The robots.txt files of one crawl: which are known, which are being fetched, and what they say.

The extension owns the state. Middleware, queue, spiders and contracts ask it, so that a crawl has one cache, one
fetch per origin and one set of stats.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from scrapy import Request, signals

from scrapy_rep.clock import clock
from scrapy_rep.gate.account import DONT_OBEY, Account, has_no_delay, is_exempt
from scrapy_rep.gate.ai_signals import AiSignals
from scrapy_rep.gate.report import Report
from scrapy_rep.gate.robots_loader import NO_DELAY, RobotsLoader
from scrapy_rep.gate.sitemap_lines import sitemaps_of
from scrapy_rep.pacing import open_rate_limiter
from scrapy_rep.pacing.crawl_delay import CrawlDelay
from scrapy_rep.pacing.download_slots import SLOT
from scrapy_rep.pacing.other_scheduler import OtherScheduler
from scrapy_rep.pacing.robots_source import Gate, RobotsSource
from scrapy_rep.policy.exception_report import ExceptionReport
from scrapy_rep.policy.modes import ASKING, Mode
from scrapy_rep.policy.policy import Decision, Policy, forbidden_for
from scrapy_rep.policy.stamp import META_KEY
from scrapy_rep.protocol import SCHEMES, Access, Origin, Reason, Verdict
from scrapy_rep.robots.robots import Robots, RobotsCache
from scrapy_rep.robots.stores import open_store
from scrapy_rep.robots.stores.redis_connection import RedisConnection
from scrapy_rep.runtime.product_tokens import ProductTokens
from scrapy_rep.runtime.targets import Targets
from scrapy_rep.settings import RepSettings, asks_for_delays, asks_robots
from scrapy_rep.signals import sitemaps_found

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.robotstxt import RobotParser
    from typing_extensions import Self

    from scrapy_rep.protocol.freshness import Entry
    from scrapy_rep.robots.refresh import Refreshed

logger = logging.getLogger(__name__)

FETCH: Final = "rep_fetch"
"""Meta key: the robots.txt is fetched even if no rule is asked."""

_SPECIAL: Final = frozenset({DONT_OBEY, FETCH, META_KEY, SLOT})
"""Meta keys of requests that ask for more than a verdict."""


class RepExtension(RobotsSource):
    """The robots.txt files of one crawl; one fetch per origin at a time serves any number of waiters."""

    def __init__(self, crawler: Crawler) -> None:
        """Raises `InvalidSettingError`, and whatever the parser back-end raises if it cannot be used."""
        self.settings = RepSettings.from_crawler(crawler)
        self.product_tokens = ProductTokens(crawler)
        self.targets = Targets.for_crawler(crawler)
        self._crawler = crawler
        self._exceptions = ExceptionReport(crawler)
        self.policy = Policy.from_crawler(crawler, self._exceptions)
        self._asks_for_delays = asks_for_delays(crawler.settings)
        if not asks_robots(crawler.settings):
            logger.info("ROBOTSTXT_OBEY is False: no robots.txt is requested for the pages of this crawl")
        self.redis = RedisConnection(crawler) if self.settings.redis_url else None
        self._store = open_store(crawler, self.redis)
        self.limiter = open_rate_limiter(self._store, self.redis)
        self._cache = RobotsCache(self.settings.memory_entries, self.settings.memory_size)
        self.ai = AiSignals.of(self.settings)
        self.account = Account(crawler, self.policy, self._exceptions, self.ai)
        self.report = Report(crawler, self.policy)
        self._is_plain = self.targets.is_plain and self.account.is_plain
        self._loader = RobotsLoader(
            crawler, self.policy, self.product_tokens, self._cache, self._store, loaded=self._loaded
        )
        crawler.signals.connect(self._spider_closed, signal=signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    # What spiders, contracts and the gate ask.

    def obeys(self, request: Request) -> bool:
        """Whether robots.txt decides if *request* may start.

        It does not with ``ROBOTSTXT_OBEY`` off, with the meta key ``dont_obey_robotstxt``, or for a URL scheme
        that has no robots.txt.
        """
        return not is_exempt(request) and self.mode(request) is Mode.OBEY

    def mode(self, request: Request) -> Mode | None:
        """The mode of the site of *request*; None for a URL scheme that has no robots.txt.

        Raises ``ValueError`` for a URL without a usable host.
        """
        url = self.targets.of(request)
        return self.policy.mode(url) if url.partition(":")[0].lower() in SCHEMES else None

    def asks(self, request: Request) -> bool:
        """Whether *request* needs a robots.txt: to be judged, for its delays, or because of meta ``rep_fetch``."""
        must_fetch = request.meta.get(FETCH)
        if is_exempt(request) and not must_fetch:
            return False
        mode = self.mode(request)
        if mode is None or must_fetch:
            return mode is not None
        return mode in ASKING or (self._asks_for_delays if mode is Mode.OFF else self._crawl_delay is not None)

    def judges(self, request: Request) -> bool:
        """Whether the rules of robots.txt are asked about *request*, whatever follows from them."""
        return not is_exempt(request) and self.mode(request) in ASKING

    def cached_robots(self, url: str) -> Robots | None:
        """The robots.txt that applies to *url*, or None if it is not cached or has expired; never waits.

        Raises ``ValueError`` for a URL that has no robots.txt.
        """
        return self._cache.current(Origin.from_url(url))

    def entry(self, url: str) -> Entry | None:
        """The cached entry of the origin of *url*, or None if it is not cached or has expired; never waits.

        Raises ``ValueError`` for a URL that has no robots.txt.
        """
        robots = self.cached_robots(url)
        return robots.entry if robots else None

    async def robots(self, subject: Request | str) -> Robots:
        """The robots.txt that applies to *subject*, a request or a URL; fetch it if it is not cached.

        Waits for the fetch and, while the origin is unreachable, for further attempts. Raises ``ValueError`` for
        a URL that has no robots.txt, and `RedisRequiredError` if Redis is required and does not answer.
        """
        request = _request(subject)
        robots = self.cached_robots(self.targets.of(request))
        return await self._loader.flight(request).join() if robots is None else robots

    async def with_files(self, robots: Robots, subject: Request | str, paths: Iterable[str]) -> Robots:
        """*robots* with the current files at *paths* of its origin, whatever the purposes of the crawl are."""
        return await self._loader.with_files(paths, robots, _request(subject), robots)

    async def stored_robots(self, subject: Request | str) -> Robots | None:
        """The robots.txt that applies to *subject*, a request or a URL, if it is cached or stored; None if not.

        Waits for the store, not for a fetch. Raises as `robots` does.
        """
        request = _request(subject)
        url = self.targets.of(request)
        robots, origin = self.cached_robots(url), Origin.from_url(url)
        if robots is not None or self._loader.is_loading(origin):
            return robots
        is_stored = await self._loader.is_stored(origin)
        return await self.robots(request) if is_stored and not self._loader.is_loading(origin) else None

    def verdict(self, robots: Robots, request: Request) -> Verdict:
        """What *robots* says about *request*, for the product tokens under which it is sent."""
        return robots.verdict(self.product_tokens.of(request), self.targets.of(request))

    def decide(self, robots: Robots, request: Request) -> Decision:
        """What becomes of *request* by *robots*, under the modes and exceptions of this crawl."""
        if is_exempt(request):
            return self.policy.decide_unasked(Mode.IGNORE)
        url = self.targets.of(request)
        mode = self.policy.mode(url)
        if mode not in ASKING:
            return self.policy.decide_unasked(mode)
        verdict = self.verdict(robots, request)
        refusal = None
        if self.ai is not None and verdict.allowed:
            refusal = self.ai.refusal(robots, self.agent(robots, request), url)
        if refusal is None:
            return self.policy.decide(url, mode, verdict)
        return self.policy.decide(url, mode, forbidden_for(Reason.AI_SIGNAL))._replace(line=refusal.line)

    def lets_pass(self, request: Request) -> bool:
        """Let *request* pass if its cached robots.txt allows it and there is nothing else to ask; record that.

        This is the short way of nearly every request. False says nothing yet: `decide` and `record` have to.
        """
        meta = request.meta
        if not self._is_plain or not _SPECIAL.isdisjoint(meta):
            return False
        try:
            robots = self._cache.current(Origin.from_url(request.url))
        except ValueError:
            return False
        delays = self._crawl_delay
        if robots is None or (delays is not None and (robots.may_request_delays or delays.is_busy)):
            return False
        agent = robots.addressed(self.product_tokens.of(request))
        verdict = robots.verdict((agent,), request.url)
        if not verdict.allowed:
            return False
        self.report.passed(request)
        meta[META_KEY] = robots.allowing_stamp(agent, verdict).copy()
        return True

    def record(self, request: Request, robots: Robots, decision: Decision) -> None:
        """Record the *decision* on *request* in its stamp, in the stats and in the audit log."""
        self.report.decided(request, robots.entry.origin, decision)
        self.account.decided(request, robots, decision, self.agent(robots, request))

    def record_unasked(self, request: Request) -> None:
        """Record that *request* passes without asking robots.txt."""
        self.report.not_forbidden(request)
        self.account.not_asked(request)

    def agent(self, robots: Robots, request: Request) -> str:
        """The product token of *request* that *robots* addresses."""
        return robots.addressed(self.product_tokens.of(request))

    def retry_after(self, robots: Robots) -> float:
        """Seconds until the next request for an unreachable origin causes a new fetch."""
        return max(robots.until - clock.time(), 0.0)

    def can_start(self, request: Request) -> bool:
        """Whether *request* could start at once.

        It could if its robots.txt is known, its download slot is free, the delay of the slot has passed and the
        rate limiter, if there is one, grants it a start. For queues of schedulers other than Scrapy's: put a
        request that cannot start back at the end. What it lacks is requested meanwhile, and the engine is woken.
        """
        return self._other_scheduler.can_start(request)

    # What the queue asks, see `RobotsSource`.

    def origin_to_ask(self, request: Request) -> Origin | None:
        """The origin whose robots.txt must be known before *request* starts, or None if it needs none.

        None also for a URL without a usable host, which the gate rejects.
        """
        try:
            if not (self._is_plain and _SPECIAL.isdisjoint(request.meta)) and not self.asks(request):
                return None
            return Origin.from_url(self.targets.of(request)) if self._has_gate else None
        except ValueError:
            return None

    def is_cached(self, origin: Origin) -> bool:
        """Whether the robots.txt of *origin* is cached and has not expired."""
        robots = self._cache.get(origin)
        return robots is not None and clock.time() < robots.until

    def has_delays(self, origin: Origin) -> bool:
        """Whether a delay may apply to requests of *origin*: one is in force, or its robots.txt names one."""
        delays, robots = self._crawl_delay, self._cache.get(origin)
        return delays is not None and robots is not None and (robots.may_request_delays or delays.is_busy)

    def forbids(self, request: Request) -> bool:
        """Whether the cached robots.txt forbids *request*; False if none is cached. Never raises."""
        try:
            robots = self.cached_robots(self.targets.of(request)) if self.obeys(request) else None
            return robots is not None and self.decide(robots, request).is_forbidden
        except Exception:  # noqa: BLE001  # a parser back-end failed; it fails again in the gate, with the request
            return False

    def prepare(self, request: Request) -> None:
        """Apply the delays of the cached robots.txt to the download slot of *request*. Never raises."""
        if self._crawl_delay is None or has_no_delay(request, self.policy, self.targets):
            return
        try:
            robots = self.cached_robots(self.targets.of(request))
            if robots is not None:
                self._crawl_delay.prepare(request, robots.parser)
        except Exception:  # a parser back-end failed; it fails again in the gate, with the request
            logger.exception(NO_DELAY, self.targets.name(request))

    def prefetch(self, request: Request, ended: Callable[[], None], waiting: Callable[[], int]) -> None:
        """Fetch the robots.txt that applies to *request*, or join the fetch in progress.

        *ended* is called when the fetch ends, in whatever way, perhaps before this returns. *waiting* counts the
        requests that wait for it.
        """
        if self.origin_to_ask(request) is None:  # a crawl with other settings put the request into the queue
            ended()
        else:
            self._loader.flight(request).call_when_ended(ended, waiting)

    def cancel_prefetches(self) -> None:
        """Cancel the fetches that no request awaits: the crawl is closing."""
        self._loader.cancel_prefetches()

    @property
    def downloads(self) -> int:
        """Number of robots.txt requests in flight; attempts that wait for their time do not count."""
        return self._loader.downloads

    @cached_property
    def _has_gate(self) -> bool:
        """Whether our middleware is enabled; Scrapy builds middlewares after extensions."""
        return self._crawler.get_downloader_middleware(Gate) is not None

    @cached_property
    def _other_scheduler(self) -> OtherScheduler:
        return OtherScheduler(self._crawler, self)

    @cached_property
    def _crawl_delay(self) -> CrawlDelay | None:
        return self._crawler.get_extension(CrawlDelay)

    # What follows from a robots.txt.

    async def _loaded(self, robots: Robots, refreshed: Refreshed, known: Robots | None, cause: Request) -> None:
        """Report that *robots* replaces *known*, and send the signals."""
        origin = robots.entry.origin
        if self.policy.has_exceptions and self.policy.mode(f"{origin}/") is not Mode.OFF:
            self._exceptions.met(origin)
        self.report.refreshed(refreshed, robots, known)
        if self.account.audit is not None:
            self.account.audit.robots(robots)
        if robots.access is not Access.UNREACHABLE and (known is None or robots.parser is not known.parser):
            await self._send_robots_parsed(robots.parser, cause)
            await self._send_sitemaps_found(robots, cause)

    async def _send_robots_parsed(self, parser: RobotParser, cause: Request) -> None:
        signal: Any = getattr(signals, "robots_parsed", None)  # Scrapy >= 2.18
        if signal is not None:
            await self._crawler.signals.send_catch_log_async(signal=signal, robotparser=parser, request=cause)

    async def _send_sitemaps_found(self, robots: Robots, cause: Request) -> None:
        sitemaps = sitemaps_of(robots)
        self.report.sitemaps(robots.entry.origin, sitemaps)
        if sitemaps.urls:
            await self._crawler.signals.send_catch_log_async(
                signal=sitemaps_found, urls=sitemaps.urls, origin=robots.entry.origin, request=cause
            )

    def _spider_closed(self) -> None:
        self.report.close()
        self._exceptions.close(self.policy.exceptions)
        self._store.close()
        self._crawler.stats.set_value("rep/memory/evicted_count", self._cache.evicted)

    def __repr__(self) -> str:
        return f"<RepExtension {self._cache!r} {self._store!r} {self._loader!r}>"


def _request(subject: Request | str) -> Request:
    return subject if isinstance(subject, Request) else Request(subject)
