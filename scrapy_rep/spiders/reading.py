"""What a response says about itself, in header fields and meta elements; the middlewares that ask share a base.

HTML is read by the parser of the response, which spiders use as well: a page is parsed once.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from functools import lru_cache
from http import HTTPStatus
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeGuard
from weakref import WeakKeyDictionary

from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse, TextResponse

from scrapy_rep.clock import clock
from scrapy_rep.directives.page import PageDirectives, combine
from scrapy_rep.directives.robots_tag import agent_of, read_header, read_meta, read_robots_tag
from scrapy_rep.directives.statement import Directive
from scrapy_rep.gate.extension import RepExtension
from scrapy_rep.gate.site_files import sitemap_callback
from scrapy_rep.runtime.crawl import Crawl
from scrapy_rep.settings import RepSettings

if TYPE_CHECKING:
    import logging

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

NOTHING: Final = PageDirectives()
"""What a page says that says nothing."""

MAX_FIELDS: Final = 1_000
"""Header fields of one name, and meta elements, that are read."""

MAX_OCTETS: Final = 65_536
"""Octets of the header fields of one name that are read; the field that exceeds them is the last."""

MAX_BODY: Final = 2_097_152
"""Octets of an HTML page that are parsed for its elements."""

_AS_NAMES: Final = frozenset({"noai", "noimageai"})
"""Rules that are found as the name of an element without content."""

_NAMES: Final = _AS_NAMES | {"robot"}

# What is inside these is no element of the page. libxml2 knows some of them, and makes elements of the rest.
_NOT_INSIDE: Final = frozenset({"template", "textarea", "script", "style", "iframe"})

_HTML: Final = {b"text/html", b"application/xhtml+xml"}
_BASE: Final = re.compile(rb"<base\b[^<>]*>", re.IGNORECASE)

_FIELDS: Final = frozenset({b"X-Robots-Tag", b"Robots-Tag"})  # as Scrapy spells the keys of headers
_START: Final = 100  # octets in which an encoding of two or four octets shows
_TAG: Final = b"<meta"
_META: Final = re.compile(rb"<[Mm][Ee][Tt][Aa]")
# One that ends at its first ">" for every parser: no quote is open there.
_WHOLE_TAG: Final = re.compile(rb"<meta(?:\s+[\w:-]+(?:\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'|[^\s\"'<>=]+))?)*\s*/?>")
_LONGEST_TAG: Final = 8_192  # octets
_LONGEST_HEAD: Final = 65_536  # octets from the first tag to the last, in which their ends are looked for
_ESCAPED: Final = re.compile(rb"name\s*=\s*[\"']?[^\"'>]{0,40}&#")


def header_fields(response: Response, name: str) -> Iterator[str]:
    """The values of the fields called *name*, until they have `MAX_OCTETS`; readers bound each of them."""
    octets = 0
    for value in islice(response.headers.getlist(name), MAX_FIELDS):
        if octets >= MAX_OCTETS:
            return
        octets += len(value)
        yield value.decode("latin-1")


_in_place: WeakKeyDictionary[Response, TextResponse] = WeakKeyDictionary()  # values must not refer to keys


def html_of(response: Response) -> TextResponse | None:
    """The page to read the elements of *response* in; None if it is no HTML.

    That is *response* itself unless it is very long or its parser fails.
    """
    if not is_html(response):
        return None
    if response not in _in_place:
        page = response if len(response.body) <= MAX_BODY else response.replace(body=response.body[:MAX_BODY])
        page = _parsable(page)
        if page is response:
            return page
        _in_place[response] = page
    return _in_place[response]


def _parsable(page: TextResponse) -> TextResponse:
    """*page*, or a copy of it for Scrapy's parser, which fails on a base that is no URL or an unknown charset."""
    with suppress(LookupError, ValueError):
        page.selector  # noqa: B018  # parses it
        return page
    try:
        text = page.text
    except (LookupError, ValueError):
        text = page.body.decode("utf-8", "replace")
    body = _BASE.sub(b"", text.encode("utf-8", "replace"))
    return HtmlResponse(page.url, body=body, encoding="utf-8")


def is_html(response: Response) -> TypeGuard[TextResponse]:
    """Whether *response* has elements that can say something; those of scrapy-splash have a class of their own."""
    if isinstance(response, HtmlResponse):
        return True
    media_type = (response.headers.get(b"Content-Type") or b"").partition(b";")[0].strip().lower()
    return isinstance(response, TextResponse) and media_type in _HTML


def is_successful(response: Response) -> bool:
    """Whether what *response* says has an effect: an error page speaks for nothing."""
    return HTTPStatus.OK <= response.status < HTTPStatus.MULTIPLE_CHOICES


def meta_elements(page: TextResponse, *, head_only: bool = False) -> list[tuple[str, str]]:
    """Name and content of the meta elements of *page*."""
    named = (element for element in page.selector.root.iter("meta") if element.get("name") is not None)
    found = (element for element in named if _is_of_page(element, head_only=head_only))
    return [(element.get("name"), element.get("content", "")) for element in islice(found, MAX_FIELDS)]


def _is_of_page(element: Any, *, head_only: bool) -> bool:
    tags = [ancestor.tag for ancestor in element.iterancestors()]
    return _NOT_INSIDE.isdisjoint(tags) and (not head_only or tags[-2:] == ["head", "html"])


_said: WeakKeyDictionary[Response, PageDirectives] = WeakKeyDictionary()


def said_by(response: Response, names: Collection[str], settings: RepSettings) -> PageDirectives:
    """What *response* says to a crawler called *names*; the first to ask reads it."""
    said = _said.get(response)
    if said is None:
        found = directives_of(response, names, head_only=settings.meta_robots == "head")
        permissive = settings.dialect.permissive_pages
        said = _said[response] = combine(found, names, clock.time(), permissive=permissive) if found else NOTHING
    return said


def is_silent(response: Response) -> bool:
    """Whether one look shows that *response* says nothing: it has neither a field nor an element that could."""
    if not _FIELDS.isdisjoint(response.headers):
        return False
    body = response.body
    return _META.search(body) is None and b"\0" not in body[:_START]


def directives_of(response: Response, names: Collection[str], *, head_only: bool = False) -> list[Directive]:
    """The directives in header and meta elements of *response* that may address a crawler called *names*."""
    found = [one for field in header_fields(response, "X-Robots-Tag") for one in read_header(field)]
    found += [one for field in header_fields(response, "Robots-Tag") for one in read_robots_tag(field)]
    own = frozenset(name.lower() for name in names)
    if may_name(response, own | _NAMES):
        page = html_of(response)
        for name, content in meta_elements(page, head_only=head_only) if page is not None else ():
            agent = agent_of(name)
            if agent in _AS_NAMES and not content.strip():
                found += read_meta("", agent)
            elif name.strip() and (agent is None or agent in own):
                found += read_meta(name, content)
    return found


def may_name(response: Response, names: frozenset[str], *, anywhere: bool = False) -> bool:
    """Whether a meta element of *response*, or text *anywhere* in it, may hold one of *names*, in lower case.

    Parsing every page costs more. A name that is spelt with character references counts if it is the value of an
    attribute.
    """
    if not is_html(response):
        return False
    if b"\0" in response.body[:_START]:  # UTF-16 or UTF-32
        return True
    body = (response.body if len(response.body) <= MAX_BODY else response.body[:MAX_BODY]).lower()
    part = body if anywhere else _around_tags(body)
    return any(name in part for name in _octets(names)) or (b"&#" in part and bool(_ESCAPED.search(part)))


def _around_tags(body: bytes) -> bytes:
    """The part of *body*, in lower case, with its meta elements: them alone where their ends are certain."""
    first, last = body.find(_TAG), body.rfind(_TAG)
    if first < 0:
        return b""
    end = body.find(b">", last) + 1
    tags = _WHOLE_TAG.findall(body, first, end) if end - first <= _LONGEST_HEAD else ()
    is_certain = len(tags) == body.count(_TAG, first, last + len(_TAG))
    return b"".join(tags) if is_certain else body[first : last + _LONGEST_TAG]


@lru_cache(maxsize=256)
def _octets(names: frozenset[str]) -> list[bytes]:
    return [name.encode() for name in sorted(names)]


class PageMiddleware:
    """Reads each response before its callback runs. Sitemaps are not read: what they say is not for their URLs.

    Scrapy puts a generator around the output of a callback for each middleware that has a say in it, so one that
    only reads has none.
    """

    def __init__(self, crawler: Crawler) -> None:
        """Raises ``NotConfigured`` without `RepExtension`."""
        self.crawler = crawler
        extension = crawler.get_extension(RepExtension)
        if extension is None:
            raise NotConfigured
        self._settings = Crawl.of(crawler).settings
        self._extension = extension
        self._sitemap_callback = sitemap_callback(crawler.spider)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_spider_input(self, response: Response) -> None:
        """Read what *response* says."""
        request = response.request
        if request is not None and (self._sitemap_callback is None or request.callback != self._sitemap_callback):
            self.read_page(response, request)

    def read_page(self, response: Response, request: Request) -> object:
        raise NotImplementedError

    def _said(self, response: Response, request: Request) -> PageDirectives:
        """The directives of *response* for this crawler."""
        if is_silent(response):
            return NOTHING
        return said_by(response, self._extension.product_tokens.of(request), self._settings)

    def _log_dropped(self, logger: logging.Logger, message: str, what: str) -> None:
        logger.debug(message, {"what": what}, extra={"spider": self.crawler.spider})
