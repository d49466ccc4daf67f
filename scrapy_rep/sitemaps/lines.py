"""What the Sitemap lines of a robots.txt name: absolute http(s) URLs on any host, and lines nobody can follow.

https://www.sitemaps.org/protocol.html, "Specifying the Sitemap location in your robots.txt file".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urldefrag, urljoin, urlsplit

from w3lib.url import safe_url_string

from scrapy_rep.protocol import Access, parse
from scrapy_rep.robotparser import RepRobotParser

if TYPE_CHECKING:
    from scrapy_rep.protocol import Origin
    from scrapy_rep.robots import Robots


@dataclass(frozen=True, slots=True)
class Sitemaps:
    """``urls`` each once, in the order of their lines; ``unusable`` are the values of the other lines."""

    urls: tuple[str, ...] = ()
    unusable: tuple[str, ...] = ()


_NONE: Final = Sitemaps()


def sitemaps_of(robots: Robots) -> Sitemaps:
    """The sitemaps of an origin, whatever the parser back-end; none while its robots.txt does not count.

    A relative line counts from the origin that the file speaks for, wherever redirects have led.
    """
    if robots.access is not Access.SUCCESSFUL:
        return _NONE
    ours = robots.parser if isinstance(robots.parser, RepRobotParser) else parse(robots.entry.body, limit=None)
    values = ours.sitemaps
    if not values:
        return _NONE
    origin = robots.entry.origin
    urls = {value: _absolute(value, origin) for value in values}
    return Sitemaps(
        tuple(dict.fromkeys(url for url in urls.values() if url)),
        tuple(value for value, url in urls.items() if not url),
    )


def _absolute(value: str, origin: Origin) -> str | None:
    """The URL that *value* means to a crawler of *origin*, without its fragment; None when it means none."""
    base = origin.robots_url
    try:
        spelt = safe_url_string(value.encode("utf-8", "surrogateescape"))
        url = urldefrag(urljoin(base, spelt)).url
    except ValueError:
        return None
    # Nobody needs a password for what is told to everybody, and Scrapy's handlers choke on one.
    is_usable = url != base and "@" not in urlsplit(url).netloc and origin.may_lead_to(url)
    return url if is_usable else None
