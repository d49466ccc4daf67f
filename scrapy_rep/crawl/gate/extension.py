"""The extension: the robots.txt files of one crawl, what they say, and the account of it.

The extension owns the state. Middleware, spiders, contracts and commands ask it, so that a crawl has one memory,
one fetch per origin and one set of stats.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Iterator
from typing import TYPE_CHECKING, Any

from scrapy import Request, signals
from scrapy.spiders import SitemapSpider

from scrapy_rep.clock import clock
from scrapy_rep.crawl.gate.account import Account
from scrapy_rep.crawl.gate.losses import Losses
from scrapy_rep.crawl.pacing.slot_tracker import SlotTracker
from scrapy_rep.crawl.policy.meta import SLOT, drop_stale_slot, is_exempt
from scrapy_rep.crawl.policy.policy import ASKING, Decision, Mode, Policy
from scrapy_rep.crawl.robots.registry import Registry
from scrapy_rep.crawl.robots.stores import open_store
from scrapy_rep.crawl.runtime.crawl import Crawl
from scrapy_rep.crawl.runtime.scrapy_internals import has_listener
from scrapy_rep.crawl.sitemaps.site_files import AiSignals, sitemaps_of
from scrapy_rep.crawl.sitemaps.sitemap_runs import SitemapRuns
from scrapy_rep.extras.ai.files import SiteFiles
from scrapy_rep.extras.fleet.redis_connection import RedisConnection
from scrapy_rep.protocol import Access, Verdict
from scrapy_rep.settings import LAST_RUN, asks_robots, logging_invalid_settings
from scrapy_rep.signals import sitemaps_found

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self

    from scrapy_rep.crawl.robots.fetch import FetchResult
    from scrapy_rep.crawl.robots.robots import Robots
    from scrapy_rep.protocol.freshness import Entry

logger = logging.getLogger(__name__)


class RepExtension:
    """The robots.txt files of one crawl; one fetch per origin at a time serves any number of waiters."""

    def __init__(self, crawler: Crawler) -> None:
        """Raises `InvalidSettingError`, and whatever the parser back-end raises if it cannot be used."""
        self._crawl = crawl = Crawl.of(crawler)
        self.settings, self.targets, self.product_tokens = crawl.settings, crawl.targets, crawl.product_tokens
        self.policy = Policy.from_crawler(crawler)
        if not asks_robots(crawler.settings):
            logger.info("ROBOTSTXT_OBEY is False: no robots.txt is requested for the pages of this crawl")
        self._redis = redis = RedisConnection(crawler) if self.settings.redis_url else None
        if redis is not None:
            crawl.add(redis)
        self._store = open_store(crawler, redis)
        self.sitemap_runs = self._sitemap_runs()
        self.sitemaps_begun: dict[str, Iterator[Request]] = {}
        self.registry = Registry(crawl, self.policy, self._store)
        self.registry.loaded.append(self._loaded)
        crawl.add(self.registry)
        self.files = SiteFiles(crawl, self.registry)
        self.ai = AiSignals(self.settings) if self.settings.purposes else None
        self.account = Account(crawler, self.policy, self.ai)
        self._losses = Losses(crawl, self.account.report)
        crawler.signals.connect(self._spider_closed, signal=signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def _sitemap_runs(self) -> SitemapRuns | None:
        spider = self._crawl.crawler.spider
        if self.settings.sitemap_since != LAST_RUN or not isinstance(spider, SitemapSpider):
            return None
        with logging_invalid_settings(logger):
            return SitemapRuns(spider.name, self._store)

    # What spiders, contracts and the gate ask.

    def obeys(self, request: Request) -> bool:
        """Whether robots.txt decides if *request* may start.

        It does not with ``ROBOTSTXT_OBEY`` off, with the meta key ``dont_obey_robotstxt``, or for a URL scheme
        that has no robots.txt.
        """
        return not is_exempt(request) and self.registry.mode(request) is Mode.OBEY

    def asks(self, request: Request) -> bool:
        """As `Registry.asks`."""
        return self.registry.asks(request)

    def judges(self, request: Request) -> bool:
        """Whether the rules of robots.txt are asked about *request*, whatever follows from them."""
        return not is_exempt(request) and self.registry.mode(request) in ASKING

    def cached_robots(self, url: str) -> Robots | None:
        """As `Registry.current`, with the other files that the purposes of the crawl need; never waits."""
        robots = self.registry.current(url)
        return robots if robots is None or self.ai is None or clock.time() < robots.files_until else None

    def entry(self, url: str) -> Entry | None:
        """The entry of the origin of *url* in memory, or None if there is none or it has expired; never waits.

        Raises ``ValueError`` for a URL that has no robots.txt.
        """
        robots = self.registry.current(url)
        return robots.entry if robots else None

    async def robots(self, subject: Request | str) -> Robots:
        """The robots.txt that applies to *subject*, a request or a URL; fetch it if it is not cached.

        Waits for the fetch and, while the origin is unreachable, for further attempts. Raises ``ValueError`` for
        a URL that has no robots.txt, and `RedisRequiredError` if Redis is required and does not answer.
        """
        request = subject if isinstance(subject, Request) else Request(subject)
        robots = self.registry.current(self.targets.of(request))
        if robots is None:
            if SLOT in request.meta:
                drop_stale_slot(request, self._crawl.download_slots, self.targets)
            robots = await self.registry.wait_for(request)
        if self.ai is not None and clock.time() >= robots.files_until:
            await self._load_files(robots, request)
        return robots

    async def _load_files(self, robots: Robots, request: Request) -> None:
        """Fetch what else *request* needs, which takes no place of one for another host meanwhile."""
        count = 0 if self._crawl.find(SlotTracker) is None else 1
        self._crawl.downloader.lend_places(count)
        self._crawl.engine.wake()
        try:
            await self.files.load(robots, request)
        finally:
            self._crawl.downloader.lend_places(-count)

    def verdict(self, robots: Robots, request: Request) -> Verdict:
        """What *robots* says about *request*, for the product tokens under which it is sent."""
        return self.registry.verdict(robots, request)

    def decide(self, robots: Robots, request: Request, url: str | None = None) -> Decision:
        """What becomes of *request* by *robots*, under the modes and exceptions of this crawl.

        *url* is another URL than its own, under which it may be sent.
        """
        decision = self.registry.decide(robots, request, url)
        if self.ai is None or not self.ai.refuses(request, self._crawl.crawler.spider):
            return decision
        agent = robots.addressed(self.product_tokens.of(request))
        return self.ai.apply(decision, self.policy, robots, agent, url or self.targets.of(request))

    def retry_after(self, robots: Robots) -> float:
        """Seconds until the next request for an unreachable origin causes a new fetch."""
        return max(robots.until - clock.time(), 0.0)

    def can_start(self, request: Request) -> bool:
        """Whether *request* could start at once.

        It could if its robots.txt is known, its download slot is free, and the delay of the slot has passed. Where
        processes share the delay, it may still wait for its turn at the door. For queues of schedulers other than
        Scrapy's: put a request that cannot start back at the end. A robots.txt that it lacks is fetched meanwhile,
        and the engine is woken.
        """
        return self._crawl.part(SlotTracker).can_start(request)

    # What follows from a robots.txt.

    async def _loaded(
        self, robots: Robots, result: FetchResult | None, known: Robots | None, cause: Request
    ) -> None:
        """Report that *robots* replaces *known*, and send the signals."""
        origin = robots.entry.origin
        self.account.loaded(robots, result, known)
        if robots.access is not Access.UNREACHABLE and (known is None or robots.parser is not known.parser):
            await self._send(getattr(signals, "robots_parsed", None), robotparser=robots.parser, request=cause)
            sitemaps = sitemaps_of(robots)
            self.account.report.sitemaps(origin, sitemaps)
            if sitemaps.urls:
                await self._send(sitemaps_found, urls=sitemaps.urls, origin=origin, request=cause)

    async def _send(self, signal: Any, **arguments: Any) -> None:
        """Send *signal*, if Scrapy has it (``robots_parsed`` came with 2.18) and if anybody listens."""
        if signal is not None and has_listener(self._crawl.crawler, signal):
            await self._crawl.crawler.signals.send_catch_log_async(signal=signal, **arguments)

    def _spider_closed(self, reason: str) -> Awaitable[None] | None:
        self.account.close()
        if self.sitemap_runs is not None and reason == "finished":
            return self._save_and_close(self.sitemap_runs)
        self._close()
        return None

    async def _save_and_close(self, runs: SitemapRuns) -> None:
        try:
            await runs.save()
        finally:
            self._close()

    def _close(self) -> None:
        self._store.close()
        if self._redis is not None:
            self._redis.close()
        self._crawl.stats.set_value("rep/memory/evicted_count", self.registry.origins.evicted)

    def __repr__(self) -> str:
        return f"<RepExtension {self.registry!r} {self._store!r}>"
