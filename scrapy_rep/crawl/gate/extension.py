"""The extension that owns a crawl's robots.txt files and its account. All other components ask it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any

from scrapy import Request, signals

from scrapy_rep.clock import clock
from scrapy_rep.crawl.gate.losses import Losses
from scrapy_rep.crawl.gate.report import Account
from scrapy_rep.crawl.pacing.priority_queue import SlotTracker
from scrapy_rep.crawl.policy.meta import drop_stale_slot
from scrapy_rep.crawl.policy.policy import Judge, Mode, Policy, is_exempt
from scrapy_rep.crawl.robots.registry import Registry
from scrapy_rep.crawl.robots.stores import open_store
from scrapy_rep.crawl.runtime.crawl import Crawl
from scrapy_rep.crawl.runtime.scrapy_internals import has_listener
from scrapy_rep.crawl.sitemaps.requests import SitemapRequests, sitemaps_of
from scrapy_rep.protocol import Access, Verdict
from scrapy_rep.settings import asks_robots, logging_invalid_settings
from scrapy_rep.signals import sitemaps_found

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self

    from scrapy_rep.crawl.robots.fetch import FetchResult
    from scrapy_rep.crawl.robots.robots import Robots
    from scrapy_rep.protocol.freshness import Entry

logger = logging.getLogger(__name__)


class RepExtension:
    """The robots.txt files of a crawl. One fetch per origin at a time serves any number of waiters."""

    def __init__(self, crawler: Crawler) -> None:
        """Raises `InvalidSettingError`, and whatever the parser back-end raises if it cannot be used."""
        self._crawl = crawl = Crawl.of(crawler)
        self.settings, self.targets, self.product_tokens = crawl.settings, crawl.targets, crawl.product_tokens
        default = Mode.OBEY if crawler.settings.getbool("ROBOTSTXT_OBEY") else Mode.OFF
        with logging_invalid_settings(logger):
            self.policy = Policy.from_settings(crawl.settings, default)
        if not asks_robots(crawler.settings):
            logger.info("ROBOTSTXT_OBEY is False: this crawl requests its pages without robots.txt")
        crawl.start_extras()
        self._store = open_store(crawler)
        self.registry = Registry(crawl, self._store)
        self.judge = Judge(crawl, self.registry, self.policy)
        crawl.add(self.registry)
        crawl.add(self.judge)
        self.sitemaps = crawl.part(SitemapRequests)
        self._needed = crawl.events.needed
        self.account = Account(crawl, self.policy)
        crawl.events.loaded.subscribe(self._loaded)
        self._losses = Losses(crawl, self.account)
        crawler.signals.connect(self._spider_closed, signal=signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    # What spiders, contracts and the gate ask.

    def obeys(self, request: Request) -> bool:
        """Whether robots.txt decides if *request* may start.

        It does not if ``ROBOTSTXT_OBEY`` is off, for the meta key ``dont_obey_robotstxt``, or for a URL scheme
        that has no robots.txt.
        """
        return not is_exempt(request) and self.judge.mode(request) is Mode.OBEY

    def asks(self, request: Request) -> bool:
        """As `Judge.asks`."""
        return self.judge.asks(request)

    def entry(self, url: str) -> Entry | None:
        """Return the entry for *url* in memory, or None if it is missing or has expired. Never waits.

        Raises ``ValueError`` for a URL that has no robots.txt.
        """
        robots = self.registry.current(url)
        return robots.entry if robots else None

    async def robots(self, subject: Request | str) -> Robots:
        """Return the robots.txt that applies to *subject*, a request or a URL; fetch it if it is not cached.

        Waits for the fetch and, while the origin is unreachable, for retries. Raises ``ValueError`` for a URL that
        has no robots.txt, and ``IgnoreRequest`` if a required store does not answer.
        """
        request = subject if isinstance(subject, Request) else Request(subject)
        robots = self.registry.current_for(request)
        if robots is None:
            drop_stale_slot(request, self._crawl.download_slots, self.targets)
            robots = await self.judge.wait_for(request)
        await self._needed.send_async(robots, request)
        return robots

    def verdict(self, robots: Robots, request: Request) -> Verdict:
        """Return the verdict of *robots* on *request*, for the product tokens under which it is sent."""
        return robots.verdict(self.product_tokens.of(request), self.targets.of(request))

    def retry_after(self, robots: Robots) -> float:
        """Return the seconds until a request for the unreachable origin can cause a new fetch."""
        return max(robots.until - clock.time(), 0.0)

    def can_start(self, request: Request) -> bool:
        """Whether *request* could start at once.

        It could if its robots.txt is known, its download slot is free, and the delay of the slot has passed. If
        processes share the delay, it may still wait for its turn at the door. For queues of schedulers other than
        Scrapy's: put a request that cannot start back at the end. Meanwhile a missing robots.txt is fetched, and
        the engine is woken.
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
            self.account.sitemaps(origin, sitemaps)
            if sitemaps.urls:
                await self._send(sitemaps_found, urls=sitemaps.urls, origin=origin, request=cause)

    async def _send(self, signal: Any, **arguments: Any) -> None:
        """Send *signal* if Scrapy has it (``robots_parsed`` came with 2.18) and it has a listener."""
        if signal is not None and has_listener(self._crawl.crawler, signal):
            await self._crawl.crawler.signals.send_catch_log_async(signal=signal, **arguments)

    def _spider_closed(self, reason: str) -> Awaitable[None] | None:
        self.account.close()
        if self._crawl.events.ending:
            return self._end(reason)
        self._close()
        return None

    async def _end(self, reason: str) -> None:
        try:
            await self._crawl.events.ending.send_async(reason)
        finally:
            self._close()

    def _close(self) -> None:
        self._store.close()
        self._crawl.events.closed.send()
        self._crawl.stats.set_value("rep/memory/evicted_count", self.registry.origins.evicted)
