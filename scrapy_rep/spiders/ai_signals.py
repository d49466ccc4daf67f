"""`AiSignalsMiddleware`: what sites say about the use of a page by AI, for the purposes of the crawl."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from parsel import Selector
from scrapy.exceptions import NotConfigured
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware
from scrapy.utils.response import get_base_url

from scrapy_rep.directives import content_signal, content_usage, page_signals, rsl, tdm
from scrapy_rep.directives.answers import Answer, Statement, answers, reserved_from
from scrapy_rep.directives.content_signal import content_use
from scrapy_rep.directives.rsl import FREE, MEDIA_TYPE, License, absolute, is_url
from scrapy_rep.directives.vocabulary import Signal
from scrapy_rep.gate.site_files import as_values, statements_in
from scrapy_rep.policy.policy import Mode
from scrapy_rep.protocol.path_pattern import Pattern, path_of
from scrapy_rep.signals import ai_signals
from scrapy_rep.spiders.reading import (
    PageMiddleware,
    header_fields,
    html_of,
    is_successful,
    may_name,
    meta_elements,
)

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response, TextResponse

    from scrapy_rep.directives.page import PageDirectives
    from scrapy_rep.directives.vocabulary import Category

logger = logging.getLogger(__name__)

_BY_SETTING: Final = {"bing": page_signals.bing, "google": page_signals.google}  # the source ai.txt is a file

_NAMES: Final = frozenset({"tdm-reservation", MEDIA_TYPE})
_MAX: Final = 100
"""Licenses of a page that are read."""

_LINKS: Final = "//link[@rel and @type and @href]"
_SCRIPTS: Final = "//script[@type]"


class AiSignalsMiddleware(PageMiddleware, BaseSpiderMiddleware):
    """Spider middleware for signals about the use by AI; the add-on enables it, ``REP_PURPOSES`` turns it on.

    It adds what the page says to what robots.txt and other files said when the request passed the gate. The
    answers are counted, stamped and signalled. With ``REP_AI_SIGNALS = "obey"`` the items of a page that is
    reserved from a purpose of the crawl are dropped. Error pages are read, and have no effect.
    """

    def __init__(self, crawler: Crawler) -> None:
        """Raises ``NotConfigured`` without ``REP_PURPOSES``."""
        super().__init__(crawler)
        if not self._settings.purposes:
            raise NotConfigured
        self._obeys = self._settings.ai_signals == "obey"
        self._reserved: WeakKeyDictionary[Response, str] = WeakKeyDictionary()

    def read_page(self, response: Response, request: Request) -> None:
        stamp = self._extension.account.stamp(request)
        site = stamp["ai"] or {}
        said = self._said(response, request)
        statements, licenses = signals_of(response, said, statements_in(site), self._settings.ai_sources)
        values = stamp["ai"] = as_values(statements, licenses or site.get("licenses", ()))
        found = answers(statements)
        self._count(statements, found)
        reserved = reserved_from(self._settings.purposes, found, silence=self._settings.ai_unknown)
        if self._extension.account.audit is not None:
            self._extension.account.audit.ai(request, response, values, is_reserved=bool(reserved))
        if statements:
            self.crawler.signals.send_catch_log(
                signal=ai_signals, response=response, answers=found, statements=statements
            )
        if reserved and is_successful(response) and self._is_obeyed(request):
            self._reserved[response] = ", ".join(reserved)

    def _is_obeyed(self, request: Request) -> bool:
        """Whether the items of *request*, whose page is reserved, are dropped."""
        mode = self._extension.mode(request) if self._obeys else Mode.REPORT
        return mode is not Mode.REPORT and (mode is None or not self._extension.account.excepts_signals(request))

    def _count(self, statements: Iterable[Statement], found: Mapping[Category, Answer]) -> None:
        stats, level = self.crawler.stats, self._settings.content_use
        for purpose in self._settings.purposes:
            stats.inc_value(f"rep/ai/{purpose.value}/{found[purpose]}_count")
        allowed = content_use(statements) if level is not None else None
        if level is not None and allowed is not None and level.rank > allowed.rank:
            stats.inc_value("rep/ai/content_use_exceeded_count")

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        """Return *item*, or None if its page is reserved from a purpose of the crawl and that is obeyed."""
        reserved = self._reserved.get(response) if response is not None else None
        if response is None or reserved is None:
            return item
        self.crawler.stats.inc_value("rep/ai/item_dropped_count")
        self._log_dropped(logger, f"Item dropped, its page is reserved from {reserved}: %(what)s", response.url)
        return None


def signals_of(
    response: Response, said: PageDirectives, site: Sequence[Statement], sources: Iterable[str] = ()
) -> tuple[list[Statement], Sequence[str]]:
    """What *response*, whose directives are *said*, and its *site* say, and the licenses that the page names.

    *sources* are those of ``REP_AI_SOURCES``.
    """
    elements = Elements.of(response)
    reservation = tdm.read_meta(*elements.tdm).over(
        tdm.read_header(header_fields(response, "tdm-reservation"), header_fields(response, "tdm-policy"))
    )
    if reservation.reserved is not None:  # it counts instead of that of tdmrep.json
        site = [one for one in site if one.signal is not Signal.TDM_RESERVATION]
    return (
        [
            *site,
            *content_usage.read_header(header_fields(response, "Content-Usage")),
            *content_signal.read_header(header_fields(response, "Content-Signal")),
            *reservation.statements(),
            *rsl.read_licenses(elements.rsl, "page"),
            *_of_directives(response, said, sources),
        ],
        (*rsl.urls_in_header(header_fields(response, "Link"), response.url), *elements.licenses),
    )


def _of_directives(response: Response, said: PageDirectives, sources: Iterable[str]) -> Iterable[Statement]:
    media_type = (response.headers.get(b"Content-Type") or b"").decode("latin-1")
    yield from page_signals.noai(said, media_type)
    for read in filter(None, map(_BY_SETTING.get, sources)):
        yield from read(said)


# What the elements of a page say.


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
            return cls()
        by_name: dict[str, list[str]] = {"tdm-reservation": [], "tdm-policy": []}
        for name, content in meta_elements(page):
            by_name.get(name.strip().lower(), []).append(content)
        return cls(
            (by_name["tdm-reservation"], by_name["tdm-policy"]),
            tuple(_links(page)),
            tuple(islice(_licenses_in(page), _MAX)),
        )


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
