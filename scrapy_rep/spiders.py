"""`RepSitemapSpider`: a sitemap spider that is told sites instead of sitemaps."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from scrapy import Request
from scrapy.spiders import SitemapSpider

from .middleware import RepMiddleware
from .protocol import Origin
from .settings import InvalidSettingError
from .sitemap_feed import is_for_robots_txt

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self


class RepSitemapSpider(SitemapSpider):
    """Crawls the pages in the sitemaps that the robots.txt of each site names.

    ``sites`` are URLs or host names (then of https), or one text with commas between; when empty,
    ``allowed_domains`` are. With ``sitemap_fallback`` a site whose robots.txt names no sitemap is asked
    for ``/sitemap.xml``. ``sitemap_urls``, ``sitemap_rules``, ``sitemap_follow``,
    ``sitemap_alternate_links`` and ``sitemap_filter`` are those of Scrapy's `SitemapSpider`.
    """

    sites: Sequence[str] | str = ()
    sitemap_fallback: bool = False
    _origins: Iterable[Origin] = ()

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Raises ``ValueError`` for a site that has no robots.txt."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.sites = _split(spider.sites) or list(getattr(spider, "allowed_domains", None) or ())
        spider._origins = dict.fromkeys(map(_origin, spider.sites))
        return spider

    async def start(self) -> AsyncIterator[Any]:
        """The robots.txt of every site, which is answered from what the crawl knows, and ``sitemap_urls``."""
        if self.crawler.get_downloader_middleware(RepMiddleware) is None:
            raise InvalidSettingError(
                'RepSitemapSpider needs scrapy_rep.RepMiddleware: set ADDONS = {"scrapy_rep.Addon": 300}'
            )
        for origin in self._origins:
            yield Request(origin.robots_url, self._parse_sitemap, meta={"handle_httpstatus_list": [404]})
        async for request in super().start():
            yield request

    def _parse_sitemap(self, response: Response) -> Iterator[Request]:
        named = False
        for request in super()._parse_sitemap(response):
            named = True
            yield request
        asked = response.request
        if self.sitemap_fallback and not named and asked is not None and is_for_robots_txt(asked):
            yield Request(urljoin(response.url, "/sitemap.xml"), self._parse_sitemap)


def _split(sites: Sequence[str] | str) -> Sequence[str]:
    names = sites.split(",") if isinstance(sites, str) else sites
    return [name.strip() for name in names if name.strip()]


def _origin(site: str) -> Origin:
    """Raises ``ValueError`` for what is neither an http(s) URL nor a host name."""
    url = site if "://" in site else f"https://{site}"
    try:
        return Origin.from_url(url)
    except ValueError as error:
        raise ValueError(f"sites = [{site!r}]: it takes https://example.com, or example.com") from error
