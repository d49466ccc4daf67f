"""The URLs in sitemaps: index files, gzip and plain XML, as Scrapy reads them. Bounded in files and octets."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin

from scrapy.http import Response
from scrapy.utils.gz import gunzip, gzip_magic_number
from scrapy.utils.sitemap import Sitemap

if TYPE_CHECKING:
    from .fetching import Source

MOST_FILES: Final = 1_000
"""Sitemaps that are fetched: at 50,000 URLs each more than a site's CI wants to ask about."""

_MOST_OCTETS: Final = 52_428_800  # of a sitemap unpacked: 50 MiB, by the protocol of sitemaps.org


async def walk(
    source: Source, urls: Iterable[str], found: Callable[[str], object], complain: Callable[[str], object]
) -> None:
    """Hand each URL in the sitemaps at *urls*, and in those that these name, to *found* as it comes.

    What cannot be had is told to *complain*, and so is what is beyond `MOST_FILES`.
    """
    left = dict.fromkeys(urls)
    seen: set[str] = set()
    while left and not source.is_closing:
        url = next(iter(left))
        del left[url]
        seen.add(url)
        if len(seen) > MOST_FILES:
            complain(f"there are more than {MOST_FILES:,} sitemaps: the rest was left out")
            return
        try:
            sitemap = _read(await source.page(url))
        except Exception as error:  # noqa: BLE001  # of any download or parser; the next sitemap may do
            complain(f"{url}: {error or type(error).__name__}")
            continue
        for entry in sitemap:
            try:
                target = urljoin(url, entry["loc"])
            except ValueError as error:
                complain(f"{url}: {entry['loc']}: {error}")
                continue
            if sitemap.type != "sitemapindex":
                found(target)
            elif target not in seen:
                left[target] = None


def _read(response: Response) -> Sitemap:
    """Raises ``ValueError`` for what is no sitemap."""
    if response.status != 200:
        raise ValueError(f"status {response.status}")
    body = response.body
    if gzip_magic_number(response):
        body = gunzip(body, max_size=_MOST_OCTETS)
    try:
        sitemap = Sitemap(body)
    except Exception:  # noqa: BLE001  # whatever lxml and Scrapy make of it
        raise ValueError("it is no XML") from None
    if sitemap.type not in {"urlset", "sitemapindex"}:
        raise ValueError(f"it is no sitemap but <{sitemap.type}>")
    return sitemap
