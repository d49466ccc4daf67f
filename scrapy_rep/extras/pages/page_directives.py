"""`PageDirectivesMiddleware`: reports or obeys page directives (``REP_PAGE_DIRECTIVES``)."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urljoin
from weakref import WeakKeyDictionary

from scrapy.exceptions import NotConfigured
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware
from scrapy.utils.response import get_base_url
from w3lib.url import canonicalize_url, safe_url_string

from scrapy_rep.crawl.runtime.crawl import Crawl
from scrapy_rep.extras.pages.reading import NOTHING, PageMiddleware, html_of, is_successful
from scrapy_rep.signals import page_directives

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response, TextResponse
    from typing_extensions import Self

    from scrapy_rep.directives import PageDirectives

logger = logging.getLogger(__name__)

FOLLOW: Final = "rep_follow"
"""Meta key: follow the link although its page says nofollow."""

_STATS: Final = {
    "noindex": "rep/page/noindex_count",
    "nofollow": "rep/page/nofollow_count",
    "unread": "rep/page/unread_count",
}

_OF_PAGE: Final = "//a/@href | //area/@href | //frame/@src | //iframe/@src"
_NEIGHBOURS: Final = "//link[@rel and @href]"
_TO_PAGES: Final = {"next", "prev", "alternate"}
_WITH_REL: Final = "//a[@href] | //area[@href] | //form[@action]"
_WORD: Final = re.compile(r"[^\s,]+")


class PageDirectivesMiddleware(PageMiddleware):
    """Spider middleware for ``X-Robots-Tag``, ``Robots-Tag`` and meta robots; the add-on enables it.

    Directives are counted, stamped, sent as a signal, and written to the audit log. Sitemaps are not read.
    """

    def __init__(self, crawler: Crawler) -> None:
        """Raises ``NotConfigured`` if both ``REP_PAGE_DIRECTIVES`` and ``REP_REL_NOFOLLOW`` are ``"ignore"``."""
        super().__init__(crawler)
        settings = self._settings
        if settings.page_directives == settings.rel_nofollow == "ignore":
            raise NotConfigured
        self._reads = settings.page_directives != "ignore"
        self._reads_links = settings.rel_nofollow != "ignore"
        self._skips_silent = not self._reads_links

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        settings = Crawl.of(crawler).settings
        has_effect = settings.page_directives == "obey" or settings.rel_nofollow != "ignore"
        return cast("Self", ObeyedPageDirectives(crawler)) if has_effect else cls(crawler)

    def read_page(self, response: Response, request: Request) -> PageDirectives:
        said = self._said(response, request) if self._reads else NOTHING
        if said is not NOTHING and said.statements:
            self._report(response, request, said)
        return said

    def _report(self, response: Response, request: Request, said: PageDirectives) -> None:
        """Count, stamp, record and signal the directives of *response*."""
        for name, stat in _STATS.items():
            if getattr(said, name):
                self._count(stat)
        self._extension.account.stamp(request)["page"] = said.words
        self._events.page_read.send(request, response, said)
        self.crawler.signals.send_catch_log(signal=page_directives, response=response, directives=said)

    def _count(self, stat: str) -> None:
        self.crawler.stats.inc_value(stat)


class ObeyedPageDirectives(PageDirectivesMiddleware, BaseSpiderMiddleware):
    """The middleware of a crawl that obeys page directives or the ``rel`` of links.

    Requests for links of a nofollow page are dropped; items of a noindex page are marked or dropped. Error pages
    are read without effect.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._obeys = self._settings.page_directives == "obey"
        # Only for responses whose directives have an effect; links are read when a request needs them.
        self._pages: WeakKeyDictionary[Response, PageDirectives] = WeakKeyDictionary()
        self._links: WeakKeyDictionary[Response, frozenset[str]] = WeakKeyDictionary()
        self._marked: WeakKeyDictionary[Response, frozenset[str]] = WeakKeyDictionary()

    def read_page(self, response: Response, request: Request) -> PageDirectives:
        said = super().read_page(response, request)
        has_effect = self._reads_links or (self._obeys and (said.nofollow or said.noindex))
        if has_effect and is_successful(response):
            self._pages[response] = said
        return said

    def get_processed_request(self, request: Request, response: Response | None) -> Request | None:
        """Return *request*, or None if it is for a link that must not be followed."""
        said = self._pages.get(response) if response is not None else None
        if response is None or said is None or request.method != "GET" or request.meta.get(FOLLOW):
            return request
        if self._obeys and said.nofollow and self._is_cut_off(request.url, response):
            why = "its page says nofollow"
        elif not (self._reads_links and self._is_marked(request.url, response)):
            return request
        elif self._settings.rel_nofollow == "report":
            self._count("rep/page/rel_nofollow_count")
            return request
        else:
            why = "its rel says so"
        self._count("rep/page/link_dropped_count")
        targets = self._extension.targets
        self._report_dropped(logger, "link", targets.url(request), why, targets.name(request))
        return None

    def _is_cut_off(self, url: str, response: Response) -> bool:
        """Whether *url* is a link of *response*, which says nofollow."""
        if response not in self._links:
            self._links[response] = links_of(response)
        return same(url) in self._links[response]

    def _is_marked(self, url: str, response: Response) -> bool:
        """Whether ``rel`` marks every link to *url* in *response*."""
        if response not in self._marked:
            self._marked[response] = marked_links(response)
        return same(url) in self._marked[response]

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        """Return *item*, or None if its page says noindex and such items are dropped."""
        said = self._pages.get(response) if response is not None else None
        if response is None or said is None or not (self._obeys and said.noindex):
            return item
        if self._settings.noindex == "mark":
            self._count("rep/page/item_marked_count")
            return item
        self._count("rep/page/item_dropped_count")
        self._report_dropped(logger, "item", response.url, "its page says noindex")
        return None


# The links of a page.


def same(url: str) -> str:
    """*url* in the spelling that the duplicate filter compares."""
    return str(canonicalize_url(url))


def links_of(response: Response) -> frozenset[str]:
    """The URLs that *response* links to; none unless it is HTML."""
    page = html_of(response)
    if page is None:
        return frozenset()
    absolute = _absolute_by(page)
    hrefs = page.xpath(_OF_PAGE).getall()
    hrefs += [
        link.root.get("href")
        for link in page.xpath(_NEIGHBOURS)
        if not _TO_PAGES.isdisjoint(_words(link.root.get("rel")))
    ]
    return frozenset(filter(None, map(absolute, hrefs)))


def marked_links(response: Response) -> frozenset[str]:
    """The URLs whose links in *response* all have nofollow in their ``rel``; none unless it is HTML."""
    page = html_of(response)
    if page is None:
        return frozenset()
    absolute = _absolute_by(page)
    marked: set[str] = set()
    plain: set[str] = set()
    for link in page.xpath(_WITH_REL):
        element = link.root  # a selector fails if an attribute's name has a control character
        url = absolute(element.get("href") or element.get("action", ""))
        (marked if "nofollow" in _words(element.get("rel", "")) else plain).add(url)
    return frozenset(marked - plain - {""})


def _words(rel: str) -> list[str]:
    return _WORD.findall(rel.lower())


def _absolute_by(response: TextResponse) -> Callable[[str], str]:
    """A function that makes an ``href`` in *response* absolute, like Scrapy; empty for an invalid URL."""
    base, encoding = get_base_url(response), response.encoding

    def absolute(href: str) -> str:
        try:
            # Browsers, and therefore Scrapy, encode a query in the encoding of the page.
            return same(safe_url_string(urljoin(base, href.strip()), encoding))
        except ValueError:
            return ""

    return absolute
