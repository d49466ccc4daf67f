"""The elements of an HTML page that speak about the use by AI: reservations, and licenses of RSL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin

from parsel import Selector
from scrapy.utils.response import get_base_url

from scrapy_rep.directives.rsl import FREE, MEDIA_TYPE, License, is_url
from scrapy_rep.protocol import parse
from scrapy_rep.protocol.path_pattern import path_of

from .reading import html_of, may_name, meta_elements

if TYPE_CHECKING:
    from scrapy.http import HtmlResponse, Response

_NAMES: Final = frozenset({"tdm-reservation", MEDIA_TYPE})
_MAX: Final = 100
"""Licenses of a page that are read."""

_LICENSE_LINKS: Final = (
    f"//link[contains(concat(' ', normalize-space(@rel), ' '), ' license ')][@type='{MEDIA_TYPE}']/@href"
)
_LICENSE_TEXTS: Final = f"//script[@type='{MEDIA_TYPE}']/text()"


@dataclass(frozen=True, slots=True)
class Elements:
    """What the elements of a page say: the values of its TDMRep elements, URLs of licenses, and licenses in it."""

    tdm: tuple[list[str], list[str]] = ([], [])
    licenses: tuple[str, ...] = ()
    rsl: tuple[License, ...] = ()

    @classmethod
    def of(cls, response: Response) -> Elements:
        """Read the elements of *response*, if it is HTML and may have any."""
        page = html_of(response) if may_name(response, _NAMES) else None
        if page is None:
            return _NONE
        by_name: dict[str, list[str]] = {"tdm-reservation": [], "tdm-policy": []}
        for name, content in meta_elements(page):
            by_name.get(name.strip().lower(), []).append(content)
        return cls(
            (by_name["tdm-reservation"], by_name["tdm-policy"]),
            tuple(_links(page)),
            tuple(islice(_licenses_in(page), _MAX)),
        )


_NONE: Final = Elements()


def _links(page: HtmlResponse) -> Iterator[str]:
    base = get_base_url(page)
    for href in page.xpath(_LICENSE_LINKS).getall()[:_MAX]:
        url = _absolute(base, href)
        if is_url(url):
            yield url


def _licenses_in(page: HtmlResponse) -> Iterator[License]:
    """The licenses in the page for the page itself."""
    for text in page.xpath(_LICENSE_TEXTS).getall()[:_MAX]:
        for content in Selector(text=text, type="xml").xpath("//*[local-name()='content']"):
            if _is_for(content.attrib.get("url", ""), page):
                yield from map(_license, content.xpath("./*[local-name()='license']"))


def _is_for(pattern: str, page: HtmlResponse) -> bool:
    """Whether content with the URL *pattern*, which may be empty, is *page*: matched as a rule of robots.txt."""
    if not pattern.strip():
        return True
    path = path_of(_absolute(page.url, pattern))
    return not parse(b"User-agent: *\nDisallow: %b" % path, limit=None).verdict("*", page.url).allowed


def _license(element: Selector) -> License:
    usage = "[@type='usage']/text()"
    permits = element.xpath(f"./*[local-name()='permits']{usage}").getall()
    prohibits = element.xpath(f"./*[local-name()='prohibits']{usage}").getall()
    others = element.xpath("./*[local-name()='permits'][@type!='usage']")
    payment = element.xpath("./*[local-name()='payment']/@type").get(FREE)
    return License(" ".join(permits) if permits else None, " ".join(prohibits), payment, bool(others))


def _absolute(base: str, url: str) -> str:
    try:
        return urljoin(base, url.strip())
    except ValueError:
        return ""
