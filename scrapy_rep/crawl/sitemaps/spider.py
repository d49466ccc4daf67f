"""Sitemaps in robots.txt: `RepSitemapSpider` starts from them, `SitemapFeed` adds those of other sites."""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin

from scrapy import Request, signals
from scrapy.exceptions import NotConfigured
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware
from scrapy.spiders import SitemapSpider
from scrapy.utils.httpobj import urlparse_cached

from scrapy_rep.crawl.runtime.crawl import Crawl
from scrapy_rep.crawl.runtime.scrapy_internals import (
    ReadsSitemaps,
    is_for_sitemap,
    replace_sitemap_callback,
    sitemap_body,
    sitemap_callback,
)
from scrapy_rep.crawl.sitemaps.reading import SitemapReading
from scrapy_rep.crawl.sitemaps.requests import SITEMAP_REST, is_for_robots_txt
from scrapy_rep.directives.sitemap import GZIP
from scrapy_rep.exceptions import InvalidSettingError
from scrapy_rep.protocol import Origin
from scrapy_rep.settings.kinds import flag
from scrapy_rep.signals import sitemaps_found

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self


logger = logging.getLogger(__name__)

MAX_NESTING: Final = 5
"""Maximum levels of sitemaps to follow; the sitemaps protocol has two, an index and its sitemaps."""

_NESTING: Final = "rep_sitemap_nesting"  # meta key: the level of a sitemap; 1 if robots.txt or the spider names it

_NO_SITES: Final = "has no sites: expected sites to be URLs or host names, or sitemap_urls to be set"


class SitemapFeed(BaseSpiderMiddleware):
    """Spider middleware that reads the sitemaps of a `SitemapSpider`, and drops those that it should not follow.

    A spider that overrides ``_parse_sitemap`` reads them itself. Sitemaps on hosts outside ``allowed_domains`` are
    dropped unless ``REP_OFFSITE_SITEMAPS`` is set, as are sitemaps more than `MAX_NESTING` levels deep. With
    ``REP_FOLLOW_SITEMAPS`` the sitemaps of every origin that the crawl meets are added.
    """

    def __init__(self, crawler: Crawler) -> None:
        """Raises ``NotConfigured`` unless the spider is a `SitemapSpider`."""
        super().__init__(crawler)
        if not isinstance(crawler.spider, SitemapSpider):
            raise NotConfigured
        self._spider = crawler.spider
        self._settings = settings = Crawl.of(crawler).settings
        self.reading = SitemapReading(self._spider)
        if replace_sitemap_callback(self._spider, _read) and sitemap_body(self._spider) is None:
            crawler.signals.connect(self._keep_packed, signal=signals.response_downloaded)
        # Under "scrapy check" a spider requests its sample pages only.
        if settings.follow_sitemaps and "SCRAPY_CHECK" not in os.environ:
            crawler.signals.connect(self._sitemaps_found, signal=sitemaps_found)

    def _is_for_sitemap(self, request: Request) -> bool:
        return is_for_sitemap(request, self._spider)

    def _keep_packed(self, response: Response, request: Request) -> None:
        """Keep Scrapy from unpacking a sitemap: the reader unpacks it without holding all of it in memory."""
        if self._is_for_sitemap(request) and response.body.startswith(GZIP):
            response.headers.pop("Content-Encoding", None)

    def get_processed_request(self, request: Request, response: Response | None) -> Request | None:
        """Return *request*, or None to drop it. Only sitemaps that come from a response are checked."""
        if response is None or not self._is_for_sitemap(request) or SITEMAP_REST in request.meta:
            return request
        return self._checked(request, response.meta.get(_NESTING, 0) + 1)

    def _checked(self, request: Request, nesting: int) -> Request | None:
        request.meta[_NESTING] = nesting
        stat, why = "rep/sitemap/followed_count", ""
        if self._settings.offsite_sitemaps:
            request.meta["allow_offsite"] = True
        elif not _is_within(request, getattr(self._spider, "allowed_domains", None) or ()):
            stat, why = "rep/sitemap/offsite_count", "its host is not in allowed_domains"
        if nesting > MAX_NESTING and not why:
            stat, why = "rep/sitemap/too_deep_count", f"it is more than {MAX_NESTING} levels deep"
        self.crawler.stats.inc_value(stat)
        if why:
            text = "Sitemap not followed: %(request)s (%(why)s)"
            logger.debug(text, {"request": request, "why": why}, extra={"spider": self._spider})
            return None
        request.priority -= 1  # pages first, or the scheduler would hold the pages of all sitemaps
        return request

    def _sitemaps_found(self, urls: Sequence[str]) -> None:
        """Crawl the sitemaps of another origin; the duplicate filter drops sitemaps crawled before."""
        for url in urls:
            request = self._checked(Request(url, sitemap_callback(self._spider)), nesting=1)
            if request is not None:
                self.crawler.engine.crawl(request)


def _is_within(request: Request, domains: Sequence[str]) -> bool:
    """Whether *domains* include the host of *request*; as in Scrapy, subdomains count, and no domains mean all."""
    host = urlparse_cached(request).hostname or ""
    names = [domain.lower() for domain in domains if domain]
    return not names or any(host == name or host.endswith(f".{name}") for name in names)


class RepSitemapSpider(ReadsSitemaps):
    """Crawls the pages in the sitemaps that the robots.txt of each site names.

    ``sitemap_urls``, ``sitemap_rules``, ``sitemap_follow``, ``sitemap_alternate_links`` and ``sitemap_filter`` are
    those of Scrapy's `SitemapSpider`.
    """

    sites: Sequence[str] | str = ()
    """http(s) URLs or host names (for https), as a list or separated by commas; default: ``allowed_domains``."""
    sitemap_fallback: bool | str = False
    """Whether to try ``/sitemap.xml`` on a site whose robots.txt names no sitemap."""
    allowed_domains: Sequence[str]

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Build the spider.

        Raises ``ValueError`` for an invalid site, and if there are neither sites nor ``sitemap_urls``, unless the
        spider overrides ``start()``, which may set them.
        """
        spider = super().from_crawler(crawler, *args, **kwargs)
        if isinstance(getattr(spider, "allowed_domains", None), str):
            spider.allowed_domains = _split(spider.allowed_domains)
        try:
            spider.sitemap_fallback = flag(spider.sitemap_fallback)  # text on the command line
        except KeyError:
            what = f"sitemap_fallback = {spider.sitemap_fallback!r}"
            raise ValueError(f"{what}: expected True or False") from None
        has_sites = spider._origins()
        may_set_later = cls.start is not RepSitemapSpider.start or "SCRAPY_CHECK" in os.environ
        if not (has_sites or spider.sitemap_urls or may_set_later):
            raise ValueError(f"{spider.name} {_NO_SITES}")
        return spider

    async def start(self) -> AsyncIterator[Any]:
        """Request the robots.txt of every site, which the gate fetches only once, and ``sitemap_urls``."""
        if not Crawl.of(self.crawler).has_gate:
            raise InvalidSettingError(
                'RepSitemapSpider needs scrapy_rep.RepMiddleware: set ADDONS = {"scrapy_rep.Addon": 300}'
            )
        origins = self._origins()
        if not origins and not self.sitemap_urls:
            self.logger.warning("%s %s", self.name, _NO_SITES)
        for origin in origins:
            # allowed_domains limits the pages, not the sites.
            meta = {"handle_httpstatus_list": [404], "allow_offsite": True}
            yield Request(origin.robots_url, sitemap_callback(self), meta=meta)
        async for request in super().start():
            yield request

    def _origins(self) -> Iterable[Origin]:
        """Return the origins of the sites, each once. Raises ``ValueError`` for an invalid site."""
        self.sites = _split(self.sites) or _split(getattr(self, "allowed_domains", None) or ())
        return dict.fromkeys(map(_origin, self.sites))

    def sitemap_request(self, entry: dict[str, Any], request: Request) -> Request | None:  # noqa: ARG002
        """Return the request for *entry* of a sitemap, which is also in ``request.meta["rep_sitemap"]``.

        Override this to change *request*, which follows from ``sitemap_rules``, or return None to skip the entry.
        With ``sitemap_alternate_links`` it is called for each URL of the entry.
        """
        return request

    @cached_property
    def _reading(self) -> SitemapReading:
        return SitemapReading(self, self.sitemap_request)

    def _read_sitemap(self, response: Response) -> Iterator[Request]:
        """Yield the requests for *response*, the robots.txt of a site or a sitemap."""
        has_sitemaps = False
        for sitemap_or_page in self._reading.requests(response):
            has_sitemaps = True
            yield sitemap_or_page
        request = response.request
        if self.sitemap_fallback and not has_sitemaps and request is not None and is_for_robots_txt(request):
            yield Request(urljoin(response.url, "/sitemap.xml"), sitemap_callback(self))


def _read(spider: SitemapSpider, response: Response) -> Iterator[Request]:
    """Replacement for the sitemap method of Scrapy's spider."""
    feed = spider.crawler.get_spider_middleware(SitemapFeed)
    assert feed is not None  # noqa: S101  # it has put this there
    return feed.reading.requests(response)


def _split(sites: Sequence[str] | str) -> Sequence[str]:
    names = sites.split(",") if isinstance(sites, str) else sites
    return [name.strip() for name in names if name.strip()]


def _origin(site: str) -> Origin:
    """Return the origin of *site*. Raises ``ValueError`` if it is neither an http(s) URL nor a host name."""
    origin = Origin.find(site if "://" in site else f"https://{site}")
    if origin is None or origin.scheme not in {"http", "https"}:
        raise ValueError(f"sites = [{site!r}]: expected URLs or host names, such as https://example.com")
    return origin
