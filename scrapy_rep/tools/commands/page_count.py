"""Counts the pages of a crawl by origin, from sitemaps or a list, and finds the delay of each origin.

Holds robots.txt files and counts, never the URLs of pages. Knows nothing of durations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from math import ceil
from typing import TYPE_CHECKING, Final

from scrapy_rep.crawl.pacing.requested_delays import DelayLimits, requested_delay
from scrapy_rep.crawl.runtime.product_tokens import tokens_of
from scrapy_rep.crawl.sitemaps.requests import sitemaps_of
from scrapy_rep.crawl.sitemaps.spider import MAX_NESTING
from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.display import duration, number_of
from scrapy_rep.settings import RepSettings
from scrapy_rep.tools.forecast import OriginForecast, Pace

from .crawl_policy import CrawlPolicy
from .inputs import with_scheme

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from .fetching import CrawlFetcher, FetchedRobots
    from .terminal import Progress

_BATCH: Final = 5_000  # URLs of a list in memory while their origins are fetched
_MOST_OTHERS: Final = 20
"""Origins that only sitemaps name: the robots.txt of each is fetched while the others wait."""


@dataclass(slots=True)
class _Count(OriginForecast):
    """What is listed of an origin; ``is_forbidden`` where no page may be requested at all."""

    fetched: FetchedRobots | None = None
    is_forbidden: bool = False


class PageCount:
    """The counts of one forecast, of a crawl with *settings*.

    *failed* gets a message for everything that cannot be counted. Raises `InvalidSettingError`.
    """

    def __init__(
        self, fetcher: CrawlFetcher, settings: BaseSettings, failed: Callable[[str], object], progress: Progress
    ) -> None:
        self._fetcher, self._failed, self._progress = fetcher, failed, progress
        self._settings = RepSettings.from_settings(settings)
        self._policy, self._tokens = CrawlPolicy(settings), tokens_of(settings)
        self._delay, self._limits = settings.getfloat("DOWNLOAD_DELAY"), DelayLimits.of(self._settings, settings)
        self._counts: dict[Origin, _Count] = {}
        self._named: set[Origin] = set()
        self._seen: set[str] = set()
        self._left_out = 0

    @property
    def origins(self) -> Iterable[OriginForecast]:
        """The origins that were named, and those that sitemaps led to, with the back-offs that last until now."""
        for origin, count in self._counts.items():
            count.held = self._fetcher.seconds_held(origin)
        return self._counts.values()

    async def count(self, origins: Iterable[Origin]) -> None:
        """Count the pages that the sitemaps of *origins* list, wherever these are."""
        self._named = set(origins)
        await self._fetcher.for_each(origins, self._count_site)
        if self._left_out:
            pages = number_of(self._left_out, "URL", "URLs")
            self._failed(f"sitemaps name more than {_MOST_OTHERS} other origins: {pages} not counted")

    async def count_urls(self, urls: Iterator[str]) -> None:
        """Count *urls*, which may be bare hosts, on however many origins they are. Raises `InputError`."""
        while batch := [*map(with_scheme, islice(urls, _BATCH))]:
            await self._fetcher.for_each(set(filter(None, map(Origin.find, batch))), self._add)
            for url in batch:
                if count := self._known(url):
                    self._tally(count, url)
                elif not self._fetcher.is_closing:
                    self._failed(f"{url}: not a URL with a robots.txt")
            self._show()

    async def assume(self, origins: Iterable[Origin], pages: int) -> None:
        """Count on so many *pages* of each of *origins* that the crawl requests."""
        await self._fetcher.for_each(origins, self._add)
        for count in self._counts.values():
            count.pages = 0 if count.error else pages

    async def _count_site(self, origin: Origin) -> None:
        site = await self._add(origin)
        assert site.fetched is not None  # noqa: S101  # `_add` has set it
        urls, failed = sitemaps_of(site.fetched.robots).urls, partial(self._fail, site)
        if not urls and site.fetched.robots.access is not Access.UNREACHABLE:
            failed(f"robots.txt of {origin} names no sitemap: its pages cannot be counted")
        async for pages in self._fetcher.sitemaps(urls, failed, self._is_followed):
            for url in pages:
                if count := self._known(url) or await self._count_of(url):
                    self._tally(count, url)
            self._show()

    def _tally(self, count: _Count, url: str) -> None:
        if self._allows(count, url):
            count.pages += 1
        else:
            count.disallowed += 1

    def _fail(self, count: _Count, problem: str) -> None:
        count.error = count.error or problem
        self._failed(problem)

    async def _is_followed(self, url: str, level: int) -> bool:
        """Whether a crawl requests the sitemap at *url*; counts it."""
        if url in self._seen:
            return False
        self._seen.add(url)  # before it waits: another site may name the same sitemap meanwhile
        count = await self._count_of(url)
        if count is None:
            return False
        is_followed = level <= MAX_NESTING and self._allows(count, url, is_sitemap=True)
        count.sitemaps += is_followed
        count.unread += not is_followed
        return is_followed

    def _known(self, url: str) -> _Count | None:
        origin = Origin.find(url)
        return self._counts.get(origin) if origin else None

    async def _count_of(self, url: str) -> _Count | None:
        """The count of the origin of *url*; None for one too many, and for what is not crawled."""
        origin = Origin.find(url)
        if origin is None:
            return None
        is_known = origin in self._counts or origin in self._named
        if not is_known and len(self._counts.keys() - self._named) >= _MOST_OTHERS:
            self._left_out += 1
            return None
        return await self._add(origin)

    async def _add(self, origin: Origin) -> _Count:
        if origin not in self._counts:
            if held := self._fetcher.seconds_held(origin):
                self._progress.note(
                    f"{origin}: what is not in the store waits {duration(ceil(held))} for its back-off"
                )
            fetched = await self._fetcher.fetch(origin)
            if origin not in self._counts:  # another site may have led here meanwhile
                count = self._counts[origin] = _Count(str(origin), origin.host, fetched=fetched)
                self._find_pace(count, fetched)
                if fetched.robots.access is Access.UNREACHABLE:
                    self._fail(count, f"{origin} is unreachable: {fetched.problem}")
        return self._counts[origin]

    def _find_pace(self, count: _Count, fetched: FetchedRobots) -> None:
        """The slower one of the delays that robots.txt and the project ask for; one of DOWNLOAD_SLOTS wins."""
        origin, limits, settings = fetched.origin, self._limits, self._settings
        delay = requested_delay(fetched.robots.parser, self._tokens) if settings.crawl_delay else None
        if delay is not None:
            count.pace = Pace(limits.kept(delay), "Crawl-delay", delay.line, str(origin), delay.seconds)
        if delay is not None and limits.forbids(origin.host, delay):
            count.is_forbidden = True
            self._fail(
                count,
                f'{origin}: REP_CRAWL_DELAY_OVER_MAX = "skip" forbids its pages: Crawl-delay, line {delay.line},'
                f" asks for {delay.seconds:g} s, and REP_CRAWL_DELAY_MAX is {settings.crawl_delay_max:g} s",
            )
        own = limits.own.get(origin.host)
        if own is not None:
            count.pace = Pace(own, "DOWNLOAD_SLOTS", asked=own) if own else Pace()
        elif self._delay > count.pace.seconds:
            count.pace = Pace(self._delay, "DOWNLOAD_DELAY", asked=self._delay)

    def _allows(self, count: _Count, url: str, *, is_sitemap: bool = False) -> bool:
        if count.is_forbidden or count.fetched is None:
            return False
        robots = count.fetched.robots
        return not self._policy.decide_by(robots, self._tokens, url, is_sitemap=is_sitemap).is_forbidden

    def _show(self) -> None:
        pages = sum(count.pages for count in self._counts.values())
        sitemaps = sum(count.sitemaps for count in self._counts.values())
        self._progress.show(f"{number_of(pages, 'page', 'pages')} in {number_of(sitemaps, 'sitemap', 'sitemaps')}")
