"""Read the directives and links of a response; the base class of the middlewares that do.

`scrapy_rep.directives` reads directives and signals; links come from the parser that spiders also use.
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
"""The directives of a page without any."""

_BASE: Final = re.compile(rb"<base\b", re.IGNORECASE)
_FIELDS: Final = frozenset({b"X-Robots-Tag", b"Robots-Tag"})  # as Scrapy spells the keys of headers

_in_place: WeakKeyDictionary[Response, TextResponse] = WeakKeyDictionary()  # values must not refer to keys


def headers_of(response: Response, names: Iterable[bytes]) -> list[tuple[bytes, bytes]]:
    """The header fields of *response* called *names*."""
    return [(name, value) for name in names for value in response.headers.getlist(name)]


def content_type_of(response: Response) -> str:
    """The Content-Type of *response*; ``text/html`` if Scrapy detected HTML."""
    declared = (response.headers.get(b"Content-Type") or b"").decode("latin-1")
    if isinstance(response, HtmlResponse) and not html_pages.is_html(declared):
        return "text/html;" + declared.partition(";")[2]
    return declared if isinstance(response, TextResponse) else ""


def is_html(response: Response) -> TypeGuard[TextResponse]:
    """Whether *response* is HTML, by its type, because other packages have their own response classes."""
    return html_pages.is_html(content_type_of(response))


def html_of(response: Response) -> TextResponse | None:
    """The page whose links are those of *response*; None unless it is HTML.

    Returns *response* itself unless it is very long or its parser fails.
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
    """*page*, or a repaired copy, because Scrapy's parser fails on an invalid base URL or an unknown charset."""
    with suppress(LookupError, ValueError):
        page.selector  # noqa: B018  # parses it
        get_base_url(page)  # may reject a page that the parser accepts
        return page
    try:
        text = page.text
    except (LookupError, ValueError):
        text = page.body.decode("utf-8", "replace")
    body = _BASE.sub(b"<no-base", text.encode("utf-8", "replace"))
    return HtmlResponse(page.url, body=body, encoding="utf-8")


def is_successful(response: Response) -> bool:
    """Whether the directives of *response* have an effect; those of an error page have none."""
    return HTTPStatus.OK <= response.status < HTTPStatus.MULTIPLE_CHOICES


_said: WeakKeyDictionary[Response, PageDirectives] = WeakKeyDictionary()


def said_by(response: Response, names: Collection[str], settings: RepSettings) -> PageDirectives:
    """The directives of *response* for a crawler with any of *names*, read once per response."""
    said = _said.get(response)
    if said is None:
        found = read_directives(response, names)
        now, permissive = datetime.fromtimestamp(clock.time(), timezone.utc), settings.dialect.permissive_pages
        said = _said[response] = combine(found, names, now, permissive=permissive) if found else NOTHING
    return said


def read_directives(response: Response, names: Collection[str]) -> list[Directive]:
    """The directives in headers and meta elements of *response* that may address a crawler with any of *names*."""
    return directives_of(names, headers_of(response, _FIELDS), response.body, content_type_of(response))


def is_silent(response: Response) -> bool:
    """Whether a quick check shows that *response* has no directives: neither a header field nor a meta element."""
    body = response.body
    # A zero byte suggests UTF-16. Every page of a crawl pays for these three checks.
    return _FIELDS.isdisjoint(response.headers) and META.search(body) is None and b"\0" not in body[:START]


class PageMiddleware:
    """Reads each response before its callback, except sitemaps, whose directives are not about the listed URLs.

    Scrapy wraps the output of a callback in a generator for each middleware with methods for it. A middleware that
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
        """Read the directives of *response*, unless a quick check shows that it has none."""
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
        """Report a dropped link to *url*, or a dropped item of it; *what* is ``link`` or ``item``.

        *name* replaces the URL in the log line.
        """
        message = "Link not followed, %(why)s: %(what)s" if what == "link" else "Item dropped, %(why)s: %(what)s"
        logger.debug(message, {"why": why, "what": name or url}, extra={"spider": self.crawler.spider})
        self._events.dropped.send(what, url, why)
