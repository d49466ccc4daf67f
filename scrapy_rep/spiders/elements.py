"""The elements of an HTML page that speak about the use by AI: reservations, and licenses of RSL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from parsel import Selector
from scrapy.utils.response import get_base_url

from scrapy_rep.directives.rsl import FREE, MEDIA_TYPE, License, absolute, is_url
from scrapy_rep.protocol.path_pattern import Pattern, path_of
from scrapy_rep.spiders.reading import html_of, may_name, meta_elements

if TYPE_CHECKING:
    from scrapy.http import Response, TextResponse

_NAMES: Final = frozenset({"tdm-reservation", MEDIA_TYPE})
_MAX: Final = 100
"""Licenses of a page that are read."""

_LINKS: Final = "//link[@rel and @type and @href]"
_SCRIPTS: Final = "//script[@type]"


@dataclass(frozen=True, slots=True)
class Elements:
    """What the elements of a page say: the values of its TDMRep elements, URLs of licenses, and licenses in it."""

    tdm: tuple[list[str], list[str]] = ([], [])
    licenses: tuple[str, ...] = ()
    rsl: tuple[License, ...] = ()

    @classmethod
    def of(cls, response: Response) -> Elements:
        """Read the elements of *response*, if it is HTML and may have any."""
        page = html_of(response) if may_name(response, _NAMES, anywhere=True) else None
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


def _links(page: TextResponse) -> Iterator[str]:
    base = get_base_url(page)
    for link in islice(_of_type(page, _LINKS), _MAX):
        url = absolute(link.root.get("href"), base)
        if "license" in link.root.get("rel").lower().split() and is_url(url):
            yield url


def _licenses_in(page: TextResponse) -> Iterator[License]:
    """The licenses in the page for the page itself."""
    for script in islice(_of_type(page, _SCRIPTS), _MAX):
        text = script.xpath("./text()").get("")
        with suppress(LookupError, ValueError):  # what cannot be parsed says nothing
            for content in Selector(text=text, type="xml").xpath("//*[local-name()='content']"):
                if _is_for(content.root.get("url", ""), page):
                    yield from map(_license, content.xpath("./*[local-name()='license']"))


def _of_type(page: TextResponse, path: str) -> Iterator[Selector]:
    """The elements at *path* whose type is that of a license.

    Attributes are read one by one: a selector fails on those of an element if a name holds a control character.
    """
    for element in page.xpath(path):
        if element.root.get("type").partition(";")[0].strip().lower() == MEDIA_TYPE:
            yield element


def _is_for(pattern: str, page: TextResponse) -> bool:
    """Whether content with the URL *pattern*, which may be empty, is *page*: matched as a rule of robots.txt."""
    if not pattern.strip():
        return True
    url = absolute(pattern, page.url)
    if urlsplit(url)[:2] != urlsplit(page.url)[:2]:  # content of another site
        return False
    return Pattern.of(path_of(url)).matches(path_of(page.url))


def _license(element: Selector) -> License:
    usage = "[@type='usage']/text()"
    permits = element.xpath(f"./*[local-name()='permits']{usage}").getall()
    prohibits = element.xpath(f"./*[local-name()='prohibits']{usage}").getall()
    others = element.xpath("./*[local-name()='permits'][@type!='usage']")
    payment = element.xpath("./*[local-name()='payment']/@type").get(FREE)
    return License(" ".join(permits) if permits else None, " ".join(prohibits), payment, bool(others))
