"""From sitemaps to requests: which entries count, and the requests for them, a thousand at a time."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timezone
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin

from scrapy import Request
from scrapy.spiders import SitemapSpider
from scrapy.utils.httpobj import urlparse_cached

from scrapy_rep.crawl.pacing.crawl_delay import CrawlDelay
from scrapy_rep.crawl.policy.policy import Judge
from scrapy_rep.crawl.runtime.crawl import Crawl
from scrapy_rep.crawl.runtime.scrapy_internals import sitemap_body, sitemap_callback, sitemap_rules
from scrapy_rep.crawl.sitemaps.requests import (
    NOTE,
    SITEMAP_CHAIN,
    SITEMAP_REST,
    SitemapRequests,
    is_for_robots_txt,
    sitemap_rest,
)
from scrapy_rep.directives.sitemap import NotASitemapError, Sitemap, SitemapEntry
from scrapy_rep.protocol import SCHEMES, Origin, parse

if TYPE_CHECKING:
    from scrapy.http import Response

logger = logging.getLogger(__name__)

ENTRY: Final = "rep_sitemap"
"""Meta key of a request for a page: the entry of the sitemap that lists it."""

BATCH: Final = 1_000
"""Maximum requests per sitemap in the scheduler: when they have left, the next batch is made."""

_CUT: Final = frozenset({"dataloss", "partial", "download_stopped"})  # Scrapy's flags of an incomplete body

RequestHook = Callable[[dict[str, Any], Request], Request | None]
"""``(entry, request) -> request``: returns the request for an entry, or None to skip the entry."""


class SitemapReading:
    """Builds the requests of *spider* for the entries of its sitemaps, by its rules and its filter."""

    def __init__(self, spider: SitemapSpider, hook: RequestHook | None = None) -> None:
        self._spider = spider
        self._hook = hook
        self._stats = spider.crawler.stats
        self._crawl = Crawl.of(spider.crawler)
        self._settings = self._crawl.settings
        self._judge = self._crawl.find(Judge)
        self._crawl_delay = spider.crawler.get_extension(CrawlDelay)
        requests = self._crawl.part(SitemapRequests)
        self._runs, self._begun = requests.runs, requests.begun
        self._body = sitemap_body(spider) or (lambda response: response.body)

    def requests(self, response: Response) -> Iterator[Request]:
        """Yield the requests for *response*: a robots.txt, a sitemap, or the placeholder for its rest."""
        request = response.request
        assert request is not None  # noqa: S101  # Scrapy sets it
        if is_for_robots_txt(request) or response.url.endswith("/robots.txt"):
            return self._of_urls((urljoin(response.url, url) for url in parse(response.body).sitemaps), {})
        rest = self._begun.pop(sitemap_rest(request), None)
        if rest is not None:
            return self._in_batches(request, rest, request.meta[SITEMAP_REST], request.meta[SITEMAP_CHAIN])
        if response.status == 304:
            return self._of_unchanged(response)
        try:
            sitemap = Sitemap(self._body(response) or b"", response.url)
        except NotASitemapError as error:
            self._stats.inc_value("rep/sitemap/invalid_count")
            self._warn("Ignoring invalid sitemap: %(response)s (%(why)s)", response=response, why=error)
            return iter(())
        if _CUT.intersection(response.flags):
            sitemap.cut = "end"
        since = _since(self._settings.sitemap_since, request)
        if sitemap.is_index:
            return self._of_index(response, sitemap, since)
        done = request.meta.get(SITEMAP_REST, 0)  # of a job that was stopped
        requests = islice(self._of_pages(response, sitemap, since), done, None)
        return self._in_batches(request, requests, done, _chain(response))

    def _has_read(self, response: Response, sitemap: Sitemap, undated: Sequence[str] | None = None) -> None:
        """Note that the *sitemap* in *response* was read, unless some of its entries may be missing.

        The next run would take changes in the missing part for older than this run.
        """
        if self._runs is None:
            return
        if not sitemap.cut and not sitemap.is_empty:
            self._runs.has_read(response, undated)
        elif response.meta.get(NOTE):
            text = (
                "The sitemap %(url)s does not count as read in this run (%(why)s): the next run crawls what has"
                " changed since the run before"
            )
            self._warn(text, url=sitemap.url, why=sitemap.problem or "it is empty")

    def _warn(self, text: str, **what: object) -> None:
        logger.warning(text, what, extra={"spider": self._spider})

    def _of_unchanged(self, response: Response) -> Iterator[Request]:
        self._stats.inc_value("rep/sitemap/unchanged_count")
        if self._runs is None or response.request is None:
            return iter(())
        self._runs.has_read(response)
        undated = response.request.meta[NOTE].get("undated", ())
        return self._of_urls(undated, {SITEMAP_CHAIN: _chain(response)})

    # Which entries count.

    def _entries(self, sitemap: Sitemap, since: datetime | None) -> Iterator[SitemapEntry]:
        for entry in sitemap:
            if since is not None and (lastmod := entry.lastmod) is not None and lastmod.until < since:
                self._stats.inc_value("rep/sitemap/older_count")
            else:
                yield entry
        if sitemap.errors:
            self._stats.inc_value("rep/sitemap/error_count", sitemap.errors)
        if sitemap.cut:
            self._stats.inc_value("rep/sitemap/cut_count")
            text = "The sitemap %(url)s was not read to its end: %(why)s"
            self._warn(text, url=sitemap.url, why=sitemap.problem)

    def _filtered(self, sitemap: Sitemap, since: datetime | None) -> Iterator[tuple[dict[str, Any], str]]:
        """Yield the entries that pass the spider's filter, once for each of their URLs."""
        entries = self._entries(sitemap, since)
        said = ({**entry.as_scrapys(), ENTRY: entry.as_dict(sitemap.url)} for entry in entries)
        for each in self._spider.sitemap_filter(said):
            yield each, each.get("loc") or ""
            if self._spider.sitemap_alternate_links:
                for url in each.get("alternate") or ():
                    yield each, url

    # The requests for them.

    def _of_urls(self, urls: Iterable[str], meta: dict[str, Any]) -> Iterator[Request]:
        callback = sitemap_callback(self._spider)
        return filter(None, (self._request(url, callback, {**meta}) for url in urls))

    def _of_index(self, response: Response, sitemap: Sitemap, since: datetime | None) -> Iterator[Request]:
        _, follow = sitemap_rules(self._spider)
        undated, urls = [], []
        for each, url in self._filtered(sitemap, since):
            if any(pattern.search(url) for pattern in follow):
                urls.append(url)
                if (each.get(ENTRY) or {}).get("lastmod") is None:
                    undated.append(url)
        self._has_read(response, sitemap, undated)
        return self._of_urls(urls, {SITEMAP_CHAIN: _chain(response)})

    def _of_pages(self, response: Response, sitemap: Sitemap, since: datetime | None) -> Iterator[Request]:
        """Yield the requests for pages in *sitemap*, which counts as read when all have been built."""
        rules, _ = sitemap_rules(self._spider)
        chain_of_urls, origins = _chain(response), {*map(Origin.find, _own_urls(response))}
        for each, url in self._filtered(sitemap, since):
            callback = next((found for pattern, found in rules if pattern.search(url)), None)
            if callback is None:
                continue
            entry = each.get(ENTRY) or {}
            request: Request | None = self._request(url, callback, {ENTRY: entry})
            if request is not None and self._hook is not None:
                request = self._hook(entry, request)
            if request is None:
                continue
            if self._must_be_named(request, origins):
                request.meta[SITEMAP_CHAIN] = chain_of_urls
                request = request.replace(dont_filter=True)  # until the gate knows that it may pass
            yield request
        self._has_read(response, sitemap)

    def _must_be_named(self, request: Request, origins: set[Origin | None]) -> bool:
        """Whether the robots.txt for *request* must name the sitemap: only if it is not on *origins*."""
        if self._settings.offsite_sitemaps or Origin.find(request.url) in origins:
            return False
        return self._judge is not None and self._crawl.has_gate and self._judge.asks(request)

    def _request(self, url: str, callback: Any, meta: dict[str, Any]) -> Request | None:
        """Build the request for *url*; return None if Scrapy cannot build or send it."""
        try:
            request = Request(url, callback, meta=meta)
            parts = urlparse_cached(request)
            if parts.hostname or parts.scheme not in SCHEMES:
                return request
        except ValueError:
            pass
        self._stats.inc_value("rep/sitemap/bad_url_count")
        return None

    def _in_batches(
        self, request: Request, requests: Iterator[Request], done: int, chain_of_urls: list[str]
    ) -> Iterator[Request]:
        """Yield the next of *requests*, and a placeholder for the rest, which leaves the scheduler after them.

        The placeholder's answer is in memory; a resumed job fetches the sitemap again.
        """
        page = None
        for page in islice(requests, BATCH):
            yield page
        if page is not None and self._crawl_delay is not None:
            self._crawl_delay.forecast.sitemap_read(page)
        following = next(requests, None)
        if following is None:
            return
        meta = {SITEMAP_REST: done + BATCH, SITEMAP_CHAIN: chain_of_urls}
        priority = request.priority if SITEMAP_REST in request.meta else request.priority - 1
        rest = Request(request.url, sitemap_callback(self._spider), dont_filter=True, priority=priority, meta=meta)
        self._begun[sitemap_rest(rest)] = chain([following], requests)
        yield rest


def _since(since: datetime | str | None, request: Request) -> datetime | None:
    """Return the time since which entries count: from the setting, or from the note of the last run."""
    if isinstance(since, datetime) or since is None:
        return since
    began = request.meta.get(NOTE, {}).get("began")
    return None if began is None else datetime.fromtimestamp(began, timezone.utc)


def _own_urls(response: Response) -> list[str]:
    """Return the URLs of the sitemap in *response*: the redirecting URLs, and the final URL."""
    return [*dict.fromkeys([*response.meta.get("redirect_urls", ()), response.url])]


def _chain(response: Response) -> list[str]:
    return [*response.meta.get(SITEMAP_CHAIN, ()), *_own_urls(response)]
