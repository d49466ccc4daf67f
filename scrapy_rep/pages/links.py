"""The links of a page, and which of them ``rel`` marks as not to be followed."""

from __future__ import annotations

import re
from collections.abc import Collection
from string import ascii_lowercase, ascii_uppercase
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin

from scrapy.utils.response import get_base_url
from w3lib.url import canonicalize_url

if TYPE_CHECKING:
    from scrapy.http import HtmlResponse

_REL: Final = f"concat(' ', translate(normalize-space(@rel), '{ascii_uppercase}', '{ascii_lowercase}'), ' ')"
_IS_LINK: Final = " or ".join(f"contains({_REL}, ' {word} ')" for word in ("next", "prev", "alternate"))
_OF_PAGE: Final = f"//a/@href | //area/@href | //frame/@src | //iframe/@src | //link[{_IS_LINK}]/@href"
_WITH_REL: Final = "//a[@href] | //area[@href] | //form[@action]"
_WORD: Final = re.compile(r"[^\s,]+")


def same(url: str) -> str:
    """*url* in the spelling by which the duplicate filter compares requests."""
    return str(canonicalize_url(url))


def links_of(response: HtmlResponse) -> frozenset[str]:
    """The URLs that an HTML *response* links to."""
    base = get_base_url(response)
    return frozenset(filter(None, (_absolute(base, href) for href in response.xpath(_OF_PAGE).getall())))


def marked_links(response: HtmlResponse, words: Collection[str]) -> frozenset[str]:
    """The URLs of which every link in an HTML *response* has one of *words* in its ``rel``."""
    base = get_base_url(response)
    marked: set[str] = set()
    plain: set[str] = set()
    for link in response.xpath(_WITH_REL):
        url = _absolute(base, link.attrib.get("href") or link.attrib.get("action", ""))
        rel = _WORD.findall(link.attrib.get("rel", "").lower())
        (plain if not set(words).intersection(rel) else marked).add(url)
    return frozenset(marked - plain - {""})


def _absolute(base: str, href: str) -> str:
    try:
        return same(urljoin(base, href.strip()))
    except ValueError:
        return ""
