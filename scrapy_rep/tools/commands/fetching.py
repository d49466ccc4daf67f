"""What a command fetches in its crawl: the robots.txt of origins, pages, and the URLs in sitemaps.

The project's own extension fetches robots.txt, so that statuses, redirects, retries, the store and politeness are
those of every crawl. Knows nothing of what the rules say.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from scrapy.utils.misc import load_object
from twisted.internet.defer import DeferredList, FirstError

from scrapy_rep.clock import clock
from scrapy_rep.crawl.gate.extension import RepExtension
from scrapy_rep.crawl.pacing.door import Door
from scrapy_rep.crawl.robots.parser import RepRobotParser
from scrapy_rep.crawl.runtime.crawl import Crawl
from scrapy_rep.crawl.runtime.log import describe
from scrapy_rep.crawl.sitemaps.requests import ask_for_packed
from scrapy_rep.directives.ai import TDMREP
from scrapy_rep.directives.sitemap import Sitemap
from scrapy_rep.exceptions import ForbiddenByRobots, InvalidSettingError
from scrapy_rep.extras.ai.files import SiteFiles, needed_files
from scrapy_rep.extras.ai.signals import said_by_files
from scrapy_rep.extras.backoff.outcomes import Backoffs
from scrapy_rep.extras.edge.refusals import Refusals
from scrapy_rep.extras.fleet.sharing import Sharing
from scrapy_rep.protocol.display import shown

from .crawl_runner import run_in_crawl

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

    from scrapy_rep.crawl.robots.robots import Robots
    from scrapy_rep.directives.refusals import Refusal
    from scrapy_rep.directives.vocabulary import Statement
    from scrapy_rep.extras.ai.files import KeptFile
    from scrapy_rep.protocol import Origin, RobotsTxt
    from scrapy_rep.protocol.freshness import Entry
    from scrapy_rep.settings import RepSettings

MOST_SITEMAPS: Final = 1_000
"""Sitemaps that are fetched: at 50,000 URLs each they hold more than anyone wants to check in CI."""

_MOST_OCTETS: Final = 52_428_800  # of a page


@dataclass(slots=True)
class FetchedRobots:
    """The robots.txt of ``origin``; ``is_fresh`` when it was fetched now rather than found in the store.

    A crawl requests no page for ``held`` seconds, because of a back-off. ``refusal`` is what the site
    answered instead of the file. ``has_files`` says that the files that speak about AI, if the origin has any, are
    in ``files``, and ``has_licenses`` that those that it names are.
    """

    origin: Origin
    robots: Robots
    is_fresh: bool
    held: float = 0.0
    refusal: Refusal | None = None
    has_files: bool = False
    has_licenses: bool = False
    files: Mapping[str, KeptFile] = field(default_factory=dict)

    @property
    def entry(self) -> Entry:
        """The cached entry: status, final URL, hops, body, dates."""
        return self.robots.entry

    @property
    def problem(self) -> str:
        """Why the origin is unreachable, in one line; empty when it is reachable."""
        return describe(self.robots.error) if self.robots.error else ""

    @property
    def robotstxt(self) -> RobotsTxt:
        """The rules that apply: those of the body, or allow-all or disallow-all, as the access says."""
        parser = self.robots.parser
        assert isinstance(parser, RepRobotParser)  # noqa: S101  # the settings of the crawl say so
        return parser.robotstxt

    def said_by_files(self, token: str, url: str, licenses: Sequence[str]) -> list[Statement]:
        """What the files besides robots.txt, and its *licenses*, say about *url* to the crawler with *token*."""
        return said_by_files(self.files, token, url, licenses)


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """The ``response`` to the one request for a page, or the ``problem`` that kept it from coming.

    ``refusal`` is what the response refuses.
    """

    response: Response | None = None
    problem: str = ""
    refusal: Refusal | None = None


_ONE_REQUEST: Final = {
    "dont_redirect": True, "dont_retry": True, "dont_cache": True, "download_maxsize": _MOST_OCTETS,
}  # fmt: skip


class CrawlFetcher:
    """Fetches with the engine of the running crawl of ``crawler``, each robots.txt at most once."""

    def __init__(self, crawler: Crawler) -> None:
        extension = crawler.get_extension(RepExtension)
        if extension is None:
            raise InvalidSettingError(
                "EXTENSIONS disables scrapy_rep.RepExtension, which fetches robots.txt: remove that entry"
            )
        self.crawler = crawler
        self._extension = extension
        self._crawl = Crawl.of(crawler)
        self._refusals = self._crawl.part(Refusals)
        self._crawl.part(Door).open()  # behind which answers are heard
        self._began = clock.time()
        self._held_until: dict[str, float] = {}  # by site, monotonic; what other crawls were asked

    @property
    def is_closing(self) -> bool:
        """Whether the crawl is ending early, after Ctrl-C."""
        return self._crawl.engine.is_closing

    async def fetch(self, origin: Origin) -> FetchedRobots:
        """Return the robots.txt of *origin*; an unreachable origin gives an entry that says so."""
        robots = await self._extension.robots(origin.robots_url)
        fetched = FetchedRobots(origin, robots, is_fresh=robots.entry.tried_at >= self._began)
        fetched.refusal = self._refusals.of_robots_txt(robots.entry.url, robots.entry.status)
        return fetched

    async def fetch_each(self, origins: Iterable[Origin], found: Callable[[FetchedRobots], object]) -> None:
        """Hand the robots.txt of each of *origins* to *found* as it arrives, as `for_each` does."""

        async def fetch(origin: Origin) -> None:
            found(await self.fetch(origin))

        await self.for_each(origins, fetch)

    async def for_each(self, origins: Iterable[Origin], work: Callable[[Origin], Awaitable[object]]) -> None:
        """Await *work* for each of *origins*, ``CONCURRENT_REQUESTS`` at a time.

        Reads *origins* only as fast as it works, and stops once the crawl closes. Raises what *work* raises.
        """
        left = iter(origins)

        async def work_off() -> None:
            for origin in left:
                await work(origin)
                if self.is_closing:
                    break

        number = self.crawler.settings.getint("CONCURRENT_REQUESTS")
        workers = [deferred_from_coro(work_off()) for _ in range(max(number, 1))]
        try:
            await maybe_deferred_to_future(DeferredList(workers, fireOnOneErrback=True, consumeErrors=True))
        except FirstError as error:
            raise error.subFailure.value from None  # type: ignore[misc]  # an exception

    async def learn_holds(self) -> None:
        """Learn what other crawls were asked. A command does not wait for that unless ``REP_BACKOFF`` is set."""
        sharing = self._crawl.find(Sharing)
        if sharing is not None and self._crawl.find(Backoffs) is None:
            for hold in await sharing.holds():
                self._held_until[hold.site] = clock.monotonic() + hold.seconds

    def seconds_held(self, origin: Origin) -> float:
        """Seconds for which no request for *origin* starts, because of a back-off: another crawl's, perhaps.

        Without ``REP_BACKOFF`` only those count that `learn_holds` has learned of.
        """
        backoffs = self._crawl.find(Backoffs)
        if backoffs is not None:
            return backoffs.held_for(origin.host)
        return max(self._held_until.get(origin.host, 0.0) - clock.monotonic(), 0.0)

    async def add_files(
        self, fetched: FetchedRobots, settings: RepSettings | None = None, licenses: Collection[str] = ()
    ) -> None:
        """Fetch the *licenses* at these URLs, and with *settings* what else a crawl reads about AI, each once."""
        wanted: dict[str, Iterable[str]] = {}
        if licenses and not fetched.has_licenses:
            wanted["licenses"], fetched.has_licenses = licenses, True
        if settings is not None and not fetched.has_files:
            wanted["paths"], fetched.has_files = {TDMREP, *needed_files(settings)}, True
        if wanted:
            cause = Request(fetched.origin.robots_url)
            found = await self._crawl.part(SiteFiles).fetched(fetched.robots, cause, **wanted)
            fetched.files = {**fetched.files, **found}

    async def fetch_page(self, url: str) -> FetchedPage:
        """Request *url* once. A redirect is not followed, because it speaks for its own URL. Never raises."""
        request = Request(url, callback=NO_CALLBACK, dont_filter=True, meta=dict(_ONE_REQUEST))
        try:
            response = await self.crawler.engine.download_async(request)
            return FetchedPage(response, refusal=self._refusals.of(request, response))
        except ForbiddenByRobots as error:
            return FetchedPage(problem=f"not requested: {error}")
        except Exception as error:  # noqa: BLE001  # of a download handler or another middleware
            return FetchedPage(problem=f"no answer: {describe(error)}")

    async def fetch_sitemap(self, url: str) -> Sitemap:
        """Return the sitemap at *url*. Raises ``ValueError`` for anything else, and Scrapy's download errors."""
        request = Request(url, callback=NO_CALLBACK, dont_filter=True)
        ask_for_packed(request)
        response = await self.crawler.engine.download_async(request)
        if response.status != 200:
            raise ValueError(f"status {response.status}")
        return Sitemap(response.body, response.url)

    async def sitemaps(
        self,
        urls: Iterable[str],
        failed: Callable[[str], object],
        wanted: Callable[[str, int], Awaitable[bool]] | None = None,
    ) -> AsyncIterator[Iterable[str]]:
        """Yield the pages in each of the sitemaps at *urls*, and in those that they list, one sitemap at a time.

        *failed* gets a message for each sitemap that cannot be read, and for those beyond `MOST_SITEMAPS`.
        *wanted* says whether to fetch a sitemap; it gets the URL and the level, which is 1 for *urls*.
        """
        left = dict.fromkeys(urls, 1)
        seen: set[str] = set()
        while left and not self.is_closing:
            url = next(iter(left))
            level = left.pop(url)
            seen.add(url)
            if len(seen) > MOST_SITEMAPS:
                failed(f"there are more than {MOST_SITEMAPS:,} sitemaps: the rest was skipped")
                return
            if wanted is not None and not await wanted(url, level):
                continue
            try:
                sitemap = await self.fetch_sitemap(url)
            except Exception as error:  # noqa: BLE001  # of any download or parser; the next sitemap may work
                failed(f"{url}: {describe(error)}")
                continue
            targets = _targets(sitemap, failed)
            if sitemap.is_index:
                for target in targets:
                    if target not in seen:
                        left.setdefault(target, level + 1)
            else:
                yield targets


def _targets(sitemap: Sitemap, failed: Callable[[str], object]) -> Iterable[str]:
    """The URLs in *sitemap*."""
    for entry in sitemap:
        try:
            problem = "" if urlsplit(entry.loc).scheme else "not a URL"
        except ValueError as error:
            problem = str(error)
        if problem:
            failed(f"{sitemap.url}: {shown(entry.loc)}: {problem}")
        else:
            yield entry.loc
    if sitemap.cut:
        failed(f"{sitemap.url}: not read to its end: {sitemap.problem}")


def with_gate(settings: BaseSettings) -> BaseSettings:
    """The *settings* for a crawl whose gate judges and delays pages, in a folder without a project too."""
    chosen = settings.copy()
    chosen.setdefault_in_component_priority_dict("ADDONS", load_object("scrapy_rep.Addon"), 300)
    return chosen


def crawl(settings: BaseSettings, work: Callable[[CrawlFetcher], Awaitable[None]]) -> None:
    """Run *work* in a crawl with the *settings* of a project; raises what `run_in_crawl` does."""
    run_in_crawl(settings, lambda crawler: work(CrawlFetcher(crawler)))


def fetch_each(
    origins: Iterable[Origin], settings: BaseSettings, found: Callable[[FetchedRobots], object]
) -> None:
    """Hand the robots.txt of each of *origins* to *found* as it arrives; raises what `run_in_crawl` does."""
    crawl(settings, lambda fetcher: fetcher.fetch_each(origins, found))
