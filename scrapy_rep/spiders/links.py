"""The links of a page, and which of them ``rel`` marks as not to be followed."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin

from scrapy.utils.response import get_base_url
from w3lib.url import canonicalize_url, safe_url_string

if TYPE_CHECKING:
    from scrapy.http import TextResponse

_OF_PAGE: Final = "//a/@href | //area/@href | //frame/@src | //iframe/@src"
_NEIGHBOURS: Final = "//link[@rel and @href]"
_TO_PAGES: Final = {"next", "prev", "alternate"}
_WITH_REL: Final = "//a[@href] | //area[@href] | //form[@action]"
_WORD: Final = re.compile(r"[^\s,]+")


def same(url: str) -> str:
    """*url* in the spelling by which the duplicate filter compares requests."""
    return str(canonicalize_url(url))


def links_of(response: TextResponse) -> frozenset[str]:
    """The URLs that an HTML *response* links to."""
    absolute = _absolute_by(response)
    hrefs = response.xpath(_OF_PAGE).getall()
    hrefs += [
        link.root.get("href")
        for link in response.xpath(_NEIGHBOURS)
        if not _TO_PAGES.isdisjoint(_words(link.root.get("rel")))
    ]
    return frozenset(filter(None, map(absolute, hrefs)))


def marked_links(response: TextResponse, words: Collection[str]) -> frozenset[str]:
    """The URLs of which every link in an HTML *response* has one of *words* in its ``rel``."""
    absolute = _absolute_by(response)
    marked: set[str] = set()
    plain: set[str] = set()
    for link in response.xpath(_WITH_REL):
        element = link.root  # a selector fails on attributes one of whose names holds a control character
        url = absolute(element.get("href") or element.get("action", ""))
        rel = _words(element.get("rel", ""))
        (plain if not set(words).intersection(rel) else marked).add(url)
    return frozenset(marked - plain - {""})


def _words(rel: str) -> list[str]:
    return _WORD.findall(rel.lower())


def _absolute_by(response: TextResponse) -> Callable[[str], str]:
    """What makes the ``href`` of a link in *response* absolute, as Scrapy does; empty for one that is no URL."""
    base, encoding = get_base_url(response), response.encoding

    def absolute(href: str) -> str:
        try:
            # A browser, and so Scrapy, writes a query in the encoding of the page.
            return same(safe_url_string(urljoin(base, href.strip()), encoding))
        except ValueError:
            return ""

    return absolute
