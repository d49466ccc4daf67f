"""Feeds the Sitemap lines of robots.txt files to sitemap spiders, and bounds what sitemaps lead to."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from scrapy import Request
from scrapy.exceptions import NotConfigured
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware
from scrapy.spiders import SitemapSpider
from scrapy.utils.httpobj import urlparse_cached

from scrapy_rep.gate.sitemap_lines import sitemap_callback
from scrapy_rep.settings import RepSettings
from scrapy_rep.signals import sitemaps_found

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self


logger = logging.getLogger(__name__)

MAX_NESTING: Final = 5
"""Sitemaps below one another; the protocol knows two levels, an index and its sitemaps."""

_NESTING: Final = "rep_sitemap_nesting"  # meta key: how far below a robots.txt or a start a sitemap was named


class SitemapFeed(BaseSpiderMiddleware):
    """Spider middleware: which sitemaps a `SitemapSpider` follows, those of all origins included.

    A sitemap on another host is followed when ``allowed_domains`` has it, or with
    ``REP_OFFSITE_SITEMAPS``; an endless chain of sitemaps is cut at `MAX_NESTING`.
    """

    def __init__(self, crawler: Crawler) -> None:
        """Raises ``NotConfigured`` for any other spider."""
        super().__init__(crawler)
        if not isinstance(crawler.spider, SitemapSpider):
            raise NotConfigured
        self._spider = crawler.spider
        self._settings = settings = RepSettings.from_crawler(crawler)
        self._sitemap_callback = sitemap_callback(crawler.spider)
        # A contract asks for its own page alone.
        if settings.follow_sitemaps and "SCRAPY_CHECK" not in os.environ:
            crawler.signals.connect(self._sitemaps_found, signal=sitemaps_found)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def get_processed_request(self, request: Request, response: Response | None) -> Request | None:
        """*request* when it may be followed, else None; pages and the spider's own start are not judged."""
        if response is None or request.callback != self._sitemap_callback:
            return request
        return self._judged(request, response.meta.get(_NESTING, 0) + 1)

    def _judged(self, request: Request, nesting: int) -> Request | None:
        request.meta[_NESTING] = nesting
        if self._settings.offsite_sitemaps:
            request.meta["allow_offsite"] = True
        elif not _is_within(request, getattr(self._spider, "allowed_domains", None) or ()):
            self._drop(request, "rep/sitemap/offsite_count", "allowed_domains lacks its host")
            return None
        if nesting > MAX_NESTING:
            self._drop(request, "rep/sitemap/too_deep_count", "it ends a chain of sitemaps")
            return None
        request.priority -= 1  # pages come first, or the scheduler would hold those of all sitemaps
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
        """Hand the spider the sitemaps of one more origin; what it has had the duplicate filter keeps out."""
        for url in urls:
            request = self._judged(Request(url, self._sitemap_callback), nesting=1)
            if request is not None:
                self.crawler.engine.crawl(request)


def _is_within(request: Request, domains: Sequence[str]) -> bool:
    """As for Scrapy's pages: no *domains* are all, and a domain stands for its sub-domains."""
    host = urlparse_cached(request).hostname or ""
    names = [domain.lower() for domain in domains if domain]
    return not names or any(host == name or host.endswith(f".{name}") for name in names)
