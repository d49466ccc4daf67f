"""What a response says about itself; the middlewares that ask share a base.

Directives and signals are read by `scrapy_rep.directives`, links by the parser that spiders use too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from contextlib import suppress
from datetime import datetime, timezone
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, TypeGuard
from weakref import WeakKeyDictionary

from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse, TextResponse
from scrapy.spiders import SitemapSpider
from scrapy.utils.response import get_base_url

from scrapy_rep.clock import clock
from scrapy_rep.crawl.gate.extension import RepExtension
from scrapy_rep.crawl.runtime.crawl import Crawl
from scrapy_rep.crawl.runtime.scrapy_internals import is_for_sitemap
from scrapy_rep.directives import PageDirectives
from scrapy_rep.directives import html as html_pages
from scrapy_rep.directives.html import MAX_SIZE, META, START
from scrapy_rep.directives.page import combine, directives_of
from scrapy_rep.settings import RepSettings

if TYPE_CHECKING:
    import logging

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

    from scrapy_rep.directives import Directive

NOTHING: Final = PageDirectives()
"""What a page says that says nothing."""

_BASE: Final = re.compile(rb"<base\b", re.IGNORECASE)
_FIELDS: Final = frozenset({b"X-Robots-Tag", b"Robots-Tag"})  # as Scrapy spells the keys of headers

_in_place: WeakKeyDictionary[Response, TextResponse] = WeakKeyDictionary()  # values must not refer to keys


def headers_of(response: Response, names: Iterable[bytes]) -> list[tuple[bytes, bytes]]:
    """The header fields of *response* called *names*."""
    return [(name, value) for name in names for value in response.headers.getlist(name)]


def content_type_of(response: Response) -> str:
    """The Content-Type of *response*; that of HTML where Scrapy found out that it is."""
    declared = (response.headers.get(b"Content-Type") or b"").decode("latin-1")
    if isinstance(response, HtmlResponse) and not html_pages.is_html(declared):
        return "text/html;" + declared.partition(";")[2]
    return declared if isinstance(response, TextResponse) else ""


def is_html(response: Response) -> TypeGuard[TextResponse]:
    """Whether *response* has elements that can say something; other packages have classes of their own."""
    return html_pages.is_html(content_type_of(response))


def html_of(response: Response) -> TextResponse | None:
    """The page to read the links of *response* in; None if it is no HTML.

    That is *response* itself unless it is very long or its parser fails.
    """
    if not is_html(response):
        return None
    if response not in _in_place:
        page = response if len(response.body) <= MAX_SIZE else response.replace(body=response.body[:MAX_SIZE])
        page = _parsable(page)
        if page is response:
            return page
        _in_place[response] = page
    return _in_place[response]


def _parsable(page: TextResponse) -> TextResponse:
    """*page*, or a copy of it for Scrapy's parser, which fails on a base that is no URL or an unknown charset."""
    with suppress(LookupError, ValueError):
        page.selector  # noqa: B018  # parses it
        get_base_url(page)  # which may refuse what the parser takes
        return page
    try:
        text = page.text
    except (LookupError, ValueError):
        text = page.body.decode("utf-8", "replace")
    body = _BASE.sub(b"<no-base", text.encode("utf-8", "replace"))
    return HtmlResponse(page.url, body=body, encoding="utf-8")


def is_successful(response: Response) -> bool:
    """Whether what *response* says has an effect: an error page speaks for nothing."""
    return HTTPStatus.OK <= response.status < HTTPStatus.MULTIPLE_CHOICES


_said: WeakKeyDictionary[Response, PageDirectives] = WeakKeyDictionary()


def said_by(response: Response, names: Collection[str], settings: RepSettings) -> PageDirectives:
    """What *response* says to a crawler called *names*; the first to ask reads it."""
    said = _said.get(response)
    if said is None:
        found = read_directives(response, names)
        now, permissive = datetime.fromtimestamp(clock.time(), timezone.utc), settings.dialect.permissive_pages
        said = _said[response] = combine(found, names, now, permissive=permissive) if found else NOTHING
    return said


def read_directives(response: Response, names: Collection[str]) -> list[Directive]:
    """The directives in header and meta elements of *response* that may address a crawler called *names*."""
    return directives_of(names, headers_of(response, _FIELDS), response.body, content_type_of(response))


def is_silent(response: Response) -> bool:
    """Whether one look shows that *response* says nothing: it has neither a field nor an element that could."""
    body = response.body
    # A zero is a sign of UTF-16. These three looks are for every page of a crawl.
    return _FIELDS.isdisjoint(response.headers) and META.search(body) is None and b"\0" not in body[:START]


class PageMiddleware:
    """Reads each response before its callback runs. Sitemaps are not read: what they say is not for their URLs.

    Scrapy puts a generator around the output of a callback for each middleware that has a say in it, so one that
    only reads has none.
    """

    _skips_silent = False

    def __init__(self, crawler: Crawler) -> None:
        """Raises ``NotConfigured`` without `RepExtension`."""
        self.crawler = crawler
        extension = crawler.get_extension(RepExtension)
        if extension is None:
            raise NotConfigured
        self._settings, self._events = Crawl.of(crawler).settings, Crawl.of(crawler).events
        self._extension = extension
        self._feeds_sitemaps = isinstance(crawler.spider, SitemapSpider)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_spider_input(self, response: Response) -> None:
        """Read what *response* says; most pages say nothing, which one look shows."""
        if self._skips_silent and is_silent(response):
            return
        request = response.request
        if request is not None and not (self._feeds_sitemaps and is_for_sitemap(request, self.crawler.spider)):
            self.read_page(response, request)

    def read_page(self, response: Response, request: Request) -> object:
        raise NotImplementedError

    def _said(self, response: Response, request: Request) -> PageDirectives:
        """The directives of *response* for this crawler."""
        if is_silent(response):
            return NOTHING
        return said_by(response, self._extension.product_tokens.of(request), self._settings)

    def _report_dropped(self, logger: logging.Logger, what: str, url: str, why: str, name: str = "") -> None:
        """Report that a link to *url*, or an item of it, was dropped; *what* is ``link`` or ``item``.

        *name* is what a log line calls it, if not by its URL.
        """
        message = "Link not followed, %(why)s: %(what)s" if what == "link" else "Item dropped, %(why)s: %(what)s"
        logger.debug(message, {"why": why, "what": name or url}, extra={"spider": self.crawler.spider})
        self._events.dropped.send(what, url, why)
