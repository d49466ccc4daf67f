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
from scrapy_rep.crawl.sitemaps.requests import sitemaps_of
from scrapy_rep.crawl.sitemaps.spider import MAX_NESTING
from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.display import duration, number_of
from scrapy_rep.settings import RepSettings
from scrapy_rep.tools.forecast import OriginForecast, Pace

from .inputs import with_scheme

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from scrapy_rep.crawl.policy.policy import Decision
    from scrapy_rep.crawl.robots.robots import Robots

    from .fetching import CrawlFetcher, FetchedRobots
    from .terminal import Progress

_BATCH: Final = 5_000  # URLs of a list in memory while their origins are fetched
_MOST_OTHERS: Final = 20
"""Origins that only sitemaps name: the robots.txt of each is fetched while the others wait."""


@dataclass(slots=True)
class _Count:
    """What is listed of one origin; ``error`` says what could not be counted.

    ``pace`` is what its robots.txt asks for; ``forbidden`` says why no page may be requested at all.
    """

    fetched: FetchedRobots
    pace: Pace
    forbidden: str
    pages: int = 0
    disallowed: int = 0
    sitemaps: int = 0
    unread: int = 0
    error: str = ""


class PageCount:
    """The counts of one forecast.

    *decide* says what becomes of a request by a robots.txt, by its URL and whether that is a sitemap. *failed*
    gets a message for everything that cannot be counted.
    """

    def __init__(
        self,
        fetcher: CrawlFetcher,
        decide: Callable[[Robots, str, bool], Decision],
        delays: DelayReader,
        failed: Callable[[str], object],
        progress: Progress,
    ) -> None:
        self._fetcher = fetcher
        self._decide = decide
        self._delays = delays
        self._failed = failed
        self._progress = progress
        self._counts: dict[Origin, _Count] = {}
        self._named: set[Origin] = set()
        self._seen: set[str] = set()
        self._left_out = 0

    async def count(self, origins: Iterable[Origin]) -> None:
        """Count the pages that the sitemaps of *origins* list, wherever these are."""
        self._named = set(origins)
        await self._fetcher.for_each(origins, self._count_site)
        self._progress.clear()
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
        self._progress.clear()

    async def assume(self, origins: Iterable[Origin], pages: int) -> None:
        """Count on so many *pages* of each of *origins* that the crawl requests."""
        await self._fetcher.for_each(origins, self._add)
        for count in self._counts.values():
            count.pages = 0 if count.error else pages

    async def _count_site(self, origin: Origin) -> None:
        site = await self._add(origin)
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
                count = self._counts[origin] = _Count(fetched, *self._delays.read(fetched))
                if fetched.robots.access is Access.UNREACHABLE:
                    self._fail(count, f"{origin} is unreachable: {fetched.problem}")
                elif count.forbidden:
                    self._fail(count, f"{origin}: {count.forbidden}")
        return self._counts[origin]

    def _allows(self, count: _Count, url: str, *, is_sitemap: bool = False) -> bool:
        if count.forbidden:
            return False
        return not self._decide(count.fetched.robots, url, is_sitemap).is_forbidden

    def _show(self) -> None:
        pages = sum(count.pages for count in self._counts.values())
        sitemaps = sum(count.sitemaps for count in self._counts.values())
        self._progress.show(f"{number_of(pages, 'page', 'pages')} in {number_of(sitemaps, 'sitemap', 'sitemaps')}")

    def origins(self) -> Iterator[OriginForecast]:
        """The origins that were named, and those that sitemaps led to."""
        for origin, count in self._counts.items():
            pages = None if count.error and not count.pages else count.pages
            yield OriginForecast(
                str(origin), origin.host, pages, count.disallowed, count.sitemaps, count.unread,
                self._delays.with_own(origin, count.pace), count.error,
                self._fetcher.seconds_held(origin),
            )  # fmt: skip


class DelayReader:
    """Finds the delays that apply to origins: those of robots.txt as the settings obey them, and the project's."""

    def __init__(self, settings: BaseSettings, tokens: tuple[str, ...], workers: int) -> None:
        """*tokens* are those of the crawler. Raises `InvalidSettingError`."""
        self._parsed = parsed = RepSettings.from_settings(settings)
        self._tokens = tokens
        self._workers = workers
        self._delay = settings.getfloat("DOWNLOAD_DELAY")
        self._limits = DelayLimits.of(parsed, settings)

    def read(self, fetched: FetchedRobots) -> tuple[Pace, str]:
        """What the robots.txt asks of the crawler, and why that forbids all pages; empty if it does not."""
        limits, origin = self._limits, fetched.origin
        delay = requested_delay(fetched.robots.parser, self._tokens)
        if delay is None or not self._parsed.crawl_delay:
            return Pace(), ""
        pace = Pace(limits.kept(delay), "Crawl-delay", delay.line, str(origin), delay.seconds)
        if not limits.forbids(origin.host, delay):
            return pace, ""
        why = (
            f'REP_CRAWL_DELAY_OVER_MAX = "skip" forbids its pages: {pace.source}, line {pace.line}, asks for'
            f" {pace.asked:g} s, and REP_CRAWL_DELAY_MAX is {self._parsed.crawl_delay_max:g} s"
        )
        return pace, why

    def with_own(self, origin: Origin, pace: Pace) -> Pace:
        """The *pace* that robots.txt asks of *origin*, or the one that the project's settings put in its stead."""
        own = self._limits.own.get(origin.host)
        if own is not None:
            return Pace().or_own(own, "DOWNLOAD_SLOTS", self._workers)
        return pace.or_own(self._delay, "DOWNLOAD_DELAY", self._workers)
