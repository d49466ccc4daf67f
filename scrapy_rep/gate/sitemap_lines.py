"""The Sitemap lines of a robots.txt: the URLs that they name, and the answer that a sitemap spider gets.

https://www.sitemaps.org/protocol.html, "Specifying the Sitemap location in your robots.txt file".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urldefrag, urljoin, urlsplit

from scrapy.http import TextResponse
from scrapy.spiders import SitemapSpider
from scrapy.utils.httpobj import urlparse_cached
from w3lib.url import safe_url_string

from scrapy_rep.protocol import SCHEMES, Access

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.http import Response

    from scrapy_rep.protocol import Origin
    from scrapy_rep.robots.robots import Robots


@dataclass(frozen=True, slots=True)
class Sitemaps:
    """The ``urls`` of Sitemap lines, each once and in order; ``unusable`` are the values of the other lines."""

    urls: tuple[str, ...] = ()
    unusable: tuple[str, ...] = ()


_NONE: Final = Sitemaps()
# An absolute URL in which there is nothing to resolve or to escape, as in nearly every line.
_PLAIN: Final = re.compile(r"https?://[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d+)?/[\w./~-]*(?:\?[\w./?=&~-]+)?", re.ASCII)
# RFC 3986 sections 3.2.2 and 3.2.3, without the user information of section 3.2.1.
_HOST_AND_PORT: Final = re.compile(r"[\w.~%!$&'()*+,;=:\[\]-]*", re.ASCII)


def sitemaps_of(robots: Robots) -> Sitemaps:
    """The sitemaps of an origin, with any parser back-end; none unless its access is *successful*.

    A relative line is resolved against the origin, not against the URL that redirects led to.
    """
    values = robots.robotstxt.sitemaps if robots.access is Access.SUCCESSFUL else ()
    if not values:
        return _NONE
    origin = robots.entry.origin
    urls = {value: _absolute(value, origin) for value in values}
    return Sitemaps(
        tuple(dict.fromkeys(url for url in urls.values() if url)),
        tuple(value for value, url in urls.items() if not url),
    )


def sitemap_callback(spider: Spider | None) -> Any:
    """The callback with which *spider* reads sitemaps; None unless it is a `SitemapSpider`.

    Scrapy has no public name for it. No other callback receives a robots.txt or a sitemap.
    """
    return spider._parse_sitemap if isinstance(spider, SitemapSpider) else None


def is_for_robots_txt(request: Request) -> bool:
    """Whether *request* is for the robots.txt of an origin, as those of a sitemap spider are."""
    url = urlparse_cached(request)
    return url.path == "/robots.txt" and url.scheme in SCHEMES and not url.query and request.method == "GET"


def sitemap_lines(request: Request, robots: Robots) -> Response:
    """The answer to a sitemap spider's *request* for a robots.txt: its Sitemap lines, absolute, each once.

    An unavailable robots.txt becomes a 404 whatever its status was: Scrapy would retry or follow other statuses.
    """
    lines = "".join(f"Sitemap: {url}\n" for url in sitemaps_of(robots).urls)
    status = 200 if robots.access is Access.SUCCESSFUL else 404
    return TextResponse(request.url, status=status, body=lines.encode(), encoding="utf-8", flags=["scrapy_rep"])


def _absolute(value: str, origin: Origin) -> str | None:
    """The absolute URL of a Sitemap line of *origin*, without its fragment; None if it is unusable."""
    base = origin.robots_url
    url = value if _PLAIN.fullmatch(value) else _resolved(value, base)
    return url if url is not None and url != base and origin.may_lead_to(url) else None


def _resolved(value: str, base: str) -> str | None:
    """The URL of *value* at *base*, escaped; None if it is none.

    Nor is it one with a password: a public sitemap needs none, and Scrapy's download handlers fail on it. Escaping
    leaves the host as it is, so a host with a space or a control character is none either.
    """
    try:
        spelt = safe_url_string(value.encode("utf-8", "surrogateescape"))
        url = urldefrag(urljoin(base, spelt)).url
        return url if _HOST_AND_PORT.fullmatch(urlsplit(url).netloc) else None
    except ValueError:
        return None
