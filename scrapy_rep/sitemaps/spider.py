"""`RepSitemapSpider`: a sitemap spider that is told sites instead of sitemaps."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin

from scrapy import Request
from scrapy.spiders import SitemapSpider
from scrapy.utils.httpobj import urlparse_cached

from scrapy_rep.exceptions import InvalidSettingError
from scrapy_rep.gate.middleware import RepMiddleware
from scrapy_rep.gate.sitemap_lines import is_for_robots_txt
from scrapy_rep.protocol import SCHEMES, Origin
from scrapy_rep.settings.kinds import flag

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self


_NO_SITES: Final = "has no sites: it takes URLs or host names, or sitemap_urls"


class RepSitemapSpider(SitemapSpider):
    """Crawls the pages in the sitemaps that the robots.txt of each site names.

    ``sites`` are http(s) URLs or host names (then of https), or one text with commas between; when empty,
    ``allowed_domains`` are, of which the same holds. With ``sitemap_fallback`` a site whose robots.txt names
    no sitemap is asked for ``/sitemap.xml``. ``sitemap_urls``, ``sitemap_rules``, ``sitemap_follow``,
    ``sitemap_alternate_links`` and ``sitemap_filter`` are those of Scrapy's `SitemapSpider`.
    """

    sites: Sequence[str] | str = ()
    sitemap_fallback: bool | str = False
    allowed_domains: Sequence[str]

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Raises ``ValueError`` for what is no site, and when there is neither a site nor a sitemap.

        A spider with a ``start()`` of its own may name them there, as for Scrapy's.
        """
        spider = super().from_crawler(crawler, *args, **kwargs)
        if isinstance(getattr(spider, "allowed_domains", None), str):
            spider.allowed_domains = _split(spider.allowed_domains)
        spider.sitemap_fallback = _is_true(spider.sitemap_fallback)
        has_sites = spider._origins()
        chosen = spider.sitemap_filter
        spider.sitemap_filter = lambda entries: spider._usable(chosen(entries))  # type: ignore[method-assign]
        is_told_later = cls.start is not RepSitemapSpider.start or "SCRAPY_CHECK" in os.environ
        if not (has_sites or spider.sitemap_urls or is_told_later):
            raise ValueError(f"{spider.name} {_NO_SITES}")
        return spider

    async def start(self) -> AsyncIterator[Any]:
        """The robots.txt of every site, which is answered from what the crawl knows, and ``sitemap_urls``."""
        if self.crawler.get_downloader_middleware(RepMiddleware) is None:
            raise InvalidSettingError(
                'RepSitemapSpider needs scrapy_rep.RepMiddleware: set ADDONS = {"scrapy_rep.Addon": 300}'
            )
        origins = self._origins()
        if not origins and not self.sitemap_urls:
            self.logger.warning("%s %s", self.name, _NO_SITES)
        for origin in origins:
            # A site is wanted, whatever allowed_domains says of its pages.
            meta = {"handle_httpstatus_list": [404], "allow_offsite": True}
            yield Request(origin.robots_url, self._parse_sitemap, meta=meta)
        async for request in super().start():
            yield request

    def _origins(self) -> Iterable[Origin]:
        """The sites to start with, each once. Raises ``ValueError`` for what is none."""
        self.sites = _split(self.sites) or _split(getattr(self, "allowed_domains", None) or ())
        return dict.fromkeys(map(_origin, self.sites))

    def _usable(self, entries: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Leave out what is no URL: it would cost Scrapy's spider all entries behind it."""
        for entry in entries:
            links = [entry["loc"], *entry.get("alternate", ())]
            bad = [link for link in links if not _is_url(link)]
            if bad:
                self.crawler.stats.inc_value("rep/sitemap/bad_url_count", len(bad))
                entry["alternate"] = [link for link in links[1:] if link not in bad]
            if links[0] not in bad:
                yield entry

    def _parse_sitemap(self, response: Response) -> Iterator[Request]:
        named = False
        for request in super()._parse_sitemap(response):
            named = True
            yield request
        asked = response.request
        if self.sitemap_fallback and not named and asked is not None and is_for_robots_txt(asked):
            yield Request(urljoin(response.url, "/sitemap.xml"), self._parse_sitemap)


def _is_url(link: str) -> bool:
    """Whether Scrapy can make a request for *link*, and send it; it raises ``ValueError``, of several kinds."""
    try:
        url = urlparse_cached(Request(link))
    except ValueError:
        return False
    return bool(url.hostname) or url.scheme not in SCHEMES


def _split(sites: Sequence[str] | str) -> Sequence[str]:
    names = sites.split(",") if isinstance(sites, str) else sites
    return [name.strip() for name in names if name.strip()]


def _is_true(value: bool | str) -> bool:
    """A spider argument is a text. Raises ``ValueError`` for one that is neither true nor false."""
    try:
        return flag(value)
    except KeyError:
        raise ValueError(f"sitemap_fallback = {value!r}: it takes True or False") from None


def _origin(site: str) -> Origin:
    """Raises ``ValueError`` for what is neither an http(s) URL nor a host name."""
    try:
        origin = Origin.from_url(site if "://" in site else f"https://{site}")
    except ValueError:
        origin = None
    if origin is None or origin.scheme not in {"http", "https"}:
        raise ValueError(f"sites = [{site!r}]: it takes https://example.com, or example.com")
    return origin
