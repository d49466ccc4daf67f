"""How a robots.txt gets into memory: one fetch per origin at a time, and what follows from what it brings."""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final

from scrapy_rep.directives.site_file import SiteFile
from scrapy_rep.gate.account import has_no_delay
from scrapy_rep.gate.ai_signals import needed_files
from scrapy_rep.pacing.crawl_delay import CrawlDelay
from scrapy_rep.pacing.download_slots import SLOT, drop_stale_slot
from scrapy_rep.policy.modes import SENT_ANYWAY
from scrapy_rep.protocol import Origin
from scrapy_rep.robots.builder import RobotsBuilder
from scrapy_rep.robots.fetch import Fetcher
from scrapy_rep.robots.refresh import Refresher
from scrapy_rep.robots.single_flight import SingleFlight
from scrapy_rep.runtime.scrapy_internals import Downloader
from scrapy_rep.runtime.targets import Targets
from scrapy_rep.settings import RepSettings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from scrapy import Request
    from scrapy.crawler import Crawler

    from scrapy_rep.policy.policy import Policy
    from scrapy_rep.protocol.freshness import Entry
    from scrapy_rep.robots.refresh import Refreshed
    from scrapy_rep.robots.robots import Robots, RobotsCache
    from scrapy_rep.robots.stores import Store
    from scrapy_rep.runtime.product_tokens import ProductTokens

logger = logging.getLogger(__name__)

NO_DELAY: Final = "The parser back-end failed: the delay that robots.txt asks for %s is unknown."


class RobotsLoader:
    """Loads the robots.txt files of one crawl into its *cache*: from its *store*, or by a fetch."""

    def __init__(
        self,
        crawler: Crawler,
        policy: Policy,
        product_tokens: ProductTokens,
        cache: RobotsCache,
        store: Store,
        *,
        loaded: Callable[[Robots, Refreshed, Robots | None, Request], Awaitable[None]],
    ) -> None:
        """Call *loaded* for each `Robots`, before the requests that wait for it continue.

        Its other arguments are where the entry comes from, the `Robots` that was known before, and the request
        that caused it. Raises whatever the parser back-end raises if it cannot be used.
        """
        self._crawler = crawler
        self._policy = policy
        self._product_tokens = product_tokens
        self._targets = Targets.for_crawler(crawler)
        self._downloader = Downloader(crawler)
        self._cache = cache
        self._loaded = loaded
        self._needed_files = needed_files(RepSettings.from_crawler(crawler))
        self._fetcher = Fetcher(crawler, self._waiting)
        self._refresher = Refresher(crawler, self._fetcher, store)
        self._builder = RobotsBuilder(crawler, self._refresher.freshness)
        self._flights: dict[Origin, SingleFlight[Robots]] = {}

    def flight(self, cause: Request) -> SingleFlight[Robots]:
        """The fetch of the robots.txt for *cause*: the one in progress, or a new one."""
        origin = Origin.from_url(self._targets.of(cause))
        flight = self._flights.get(origin)
        if flight is None:
            if SLOT in cause.meta:
                drop_stale_slot(cause, self._downloader, self._targets)
            flight = self._flights[origin] = SingleFlight(ended=partial(self._flights.__delitem__, origin))
            flight.start(self._load(origin, cause))
        return flight

    def is_loading(self, origin: Origin) -> bool:
        """Whether the robots.txt of *origin* is being fetched."""
        return origin in self._flights

    async def is_stored(self, origin: Origin) -> bool:
        """Whether the store has a current entry of *origin*."""
        known = self._cache.get(origin)
        return await self._refresher.is_stored(origin, known.entry if known else None)

    def cancel_prefetches(self) -> None:
        """Cancel the fetches that no request awaits."""
        for flight in list(self._flights.values()):
            if not flight.has_waiters:
                flight.cancel()

    @property
    def downloads(self) -> int:
        """Number of requests in flight; attempts that wait for their time do not count."""
        return self._fetcher.downloads

    async def with_files(
        self, paths: Iterable[str], robots: Robots, cause: Request, known: Robots | None
    ) -> Robots:
        """*robots* with the current files at *paths* of its origin, those that it allows to fetch.

        *known* is the `Robots` that may hold older ones.
        """
        files = {}
        for path in paths:
            file, before = SiteFile.of(robots.entry.origin, path), known.files.get(path) if known else None
            if robots.verdict(self._product_tokens.of(cause), file.robots_url).allowed:
                files[path] = await self._file(file, robots, cause, before)
        return replace(robots, files=files)

    async def _file(self, file: SiteFile, robots: Robots, cause: Request, known: Entry | None) -> Entry:
        forbids = partial(self._forbids_redirect, cause, robots)
        refreshed = await self._refresher.refresh(file, cause, known, forbids=forbids, retries=False)
        if refreshed.result is not None:
            self._crawler.stats.inc_value("rep/ai/file_count")
        await self._save(refreshed, robots, cause)
        return refreshed.entry

    @cached_property
    def _crawl_delay(self) -> CrawlDelay | None:
        return self._crawler.get_extension(CrawlDelay)

    def _waiting(self, origin: Origin) -> int:
        """Number of requests that wait for the robots.txt of *origin*."""
        return self._flights[origin].waiting if origin in self._flights else 0

    async def _load(self, origin: Origin, cause: Request) -> Robots:
        known = self._cache.get(origin)
        is_patient = self._policy.mode(self._targets.of(cause)) not in SENT_ANYWAY
        forbids = partial(self._forbids_redirect, cause, None)
        refreshed = await self._refresher.refresh(
            origin, cause, known.entry if known else None, forbids=forbids, retries=is_patient
        )
        robots = self._builder.build(refreshed, known)
        await self._save(refreshed, robots, cause)
        if self._needed_files:
            robots = await self.with_files(self._needed_files, robots, cause, known)
        self._cache.put(robots, robots.octets)
        await self._loaded(robots, refreshed, known, cause)
        return robots

    def _forbids_redirect(self, cause: Request, fresh: Robots | None, url: str) -> bool:
        """Whether a cached robots.txt forbids the target of a redirect; nothing is fetched to find out.

        *fresh* is one that is about to be cached.
        """
        origin = Origin.from_url(url)
        robots = fresh if fresh is not None and fresh.entry.origin == origin else self._cache.current(origin)
        return robots is not None and not robots.verdict(self._product_tokens.of(cause), url).allowed

    async def _save(self, refreshed: Refreshed, robots: Robots, cause: Request) -> None:
        """Store what a fetch brought; the delay of *robots* counts from the answer before others can read it."""
        if refreshed.result is not None:
            if not refreshed.result.is_cached:
                await self._start_delay(robots, cause)
            await self._refresher.save(refreshed)

    async def _start_delay(self, robots: Robots, cause: Request) -> None:
        delays = self._crawl_delay
        if delays is None or not (robots.may_request_delays or delays.is_busy):
            return
        if has_no_delay(cause, self._policy, self._targets):
            return
        try:
            await delays.robots_answered(cause, robots.parser)
        except Exception:  # a parser back-end failed; it fails again in the gate, with the request
            logger.exception(NO_DELAY, self._targets.name(cause))

    def __repr__(self) -> str:
        return f"<RobotsLoader flights={len(self._flights)}>"
