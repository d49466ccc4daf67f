"""`SitemapFeed`: feeds sitemap spiders with the Sitemap lines of robots.txt, and limits what they follow."""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from scrapy import Request
from scrapy.exceptions import NotConfigured
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware
from scrapy.spiders import SitemapSpider
from scrapy.utils.httpobj import urlparse_cached

from scrapy_rep.gate.sitemap_lines import sitemap_callback
from scrapy_rep.pacing.crawl_delay import CrawlDelay
from scrapy_rep.runtime.crawl import Crawl
from scrapy_rep.signals import sitemaps_found

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self


logger = logging.getLogger(__name__)

MAX_NESTING: Final = 5
"""Levels of sitemaps that are followed; the sitemaps protocol has two, an index and its sitemaps."""

_NESTING: Final = "rep_sitemap_nesting"  # meta key: the level of a sitemap; 1 if robots.txt or the spider names it


class SitemapFeed(BaseSpiderMiddleware):
    """Spider middleware that drops sitemaps which a `SitemapSpider` should not follow.

    A sitemap on a host outside ``allowed_domains`` is dropped unless ``REP_OFFSITE_SITEMAPS`` is set, and so is
    one more than `MAX_NESTING` levels deep. With ``REP_FOLLOW_SITEMAPS`` the sitemaps of every origin that the
    crawl meets are added.
    """

    def __init__(self, crawler: Crawler) -> None:
        """Raises ``NotConfigured`` unless the spider is a `SitemapSpider`."""
        super().__init__(crawler)
        if not isinstance(crawler.spider, SitemapSpider):
            raise NotConfigured
        self._spider = crawler.spider
        self._settings = settings = Crawl.of(crawler).settings
        self._sitemap_callback = sitemap_callback(crawler.spider)
        crawl_delay = crawler.get_extension(CrawlDelay)
        self._forecast = crawl_delay.forecast if crawl_delay is not None else None
        # Under "scrapy check" a spider requests its sample pages only.
        if settings.follow_sitemaps and "SCRAPY_CHECK" not in os.environ:
            crawler.signals.connect(self._sitemaps_found, signal=sitemaps_found)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_spider_output(  # type: ignore[override]  # whose spider argument is deprecated
        self, response: Response, result: Iterable[Any]
    ) -> Iterable[Any]:
        """As `BaseSpiderMiddleware`; notes the end of a sitemap."""
        output: Iterable[Any] = super().process_spider_output(response, result)
        return self._until_end(output) if self._is_sitemap(response) else output

    def _until_end(self, output: Iterable[Any]) -> Iterator[Any]:
        page = None
        for each in output:
            page = each if isinstance(each, Request) and each.callback != self._sitemap_callback else page
            yield each
        self._sitemap_read(page)

    async def process_spider_output_async(  # type: ignore[override]
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """As `BaseSpiderMiddleware`; notes the end of a sitemap."""
        page, is_sitemap = None, self._is_sitemap(response)
        async for each in super().process_spider_output_async(response, result):
            if is_sitemap and isinstance(each, Request) and each.callback != self._sitemap_callback:
                page = each
            yield each
        self._sitemap_read(page)

    def _is_sitemap(self, response: Response) -> bool:
        return response.request is not None and response.request.callback == self._sitemap_callback

    def _sitemap_read(self, page: Request | None) -> None:
        """Say that a sitemap has been read; *page* is the last one in it."""
        if page is not None and self._forecast is not None:
            self._forecast.sitemap_read(page)

    def get_processed_request(self, request: Request, response: Response | None) -> Request | None:
        """Return *request*, or None to drop it. Only sitemaps that a response led to are checked."""
        if response is None or request.callback != self._sitemap_callback:
            return request
        return self._checked(request, response.meta.get(_NESTING, 0) + 1)

    def _checked(self, request: Request, nesting: int) -> Request | None:
        request.meta[_NESTING] = nesting
        if self._settings.offsite_sitemaps:
            request.meta["allow_offsite"] = True
        elif not _is_within(request, getattr(self._spider, "allowed_domains", None) or ()):
            self._drop(request, "rep/sitemap/offsite_count", "its host is not in allowed_domains")
            return None
        if nesting > MAX_NESTING:
            self._drop(request, "rep/sitemap/too_deep_count", f"it is more than {MAX_NESTING} levels deep")
            return None
        request.priority -= 1  # pages first, or the scheduler would have to hold the pages of all sitemaps
        self.crawler.stats.inc_value("rep/sitemap/followed_count")
        return request

    def _drop(self, request: Request, stat: str, why: str) -> None:
        self.crawler.stats.inc_value(stat)
        logger.debug(
            "Sitemap not followed: %(request)s (%(why)s)",
            {"request": request, "why": why},
            extra={"spider": self._spider},
        )

    def _sitemaps_found(self, urls: Sequence[str]) -> None:
        """Crawl the sitemaps of another origin; the duplicate filter drops those that were crawled before."""
        for url in urls:
            request = self._checked(Request(url, self._sitemap_callback), nesting=1)
            if request is not None:
                self.crawler.engine.crawl(request)


def _is_within(request: Request, domains: Sequence[str]) -> bool:
    """Whether *domains* include the host of *request*; as in Scrapy, subdomains count, and none means all."""
    host = urlparse_cached(request).hostname or ""
    names = [domain.lower() for domain in domains if domain]
    return not names or any(host == name or host.endswith(f".{name}") for name in names)
