"""What a response says about itself: its header fields and, in HTML, its meta elements.

HTML is read by the parser of the response, which spiders use as well: a page is parsed once.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from http import HTTPStatus
from itertools import islice
from time import time
from typing import TYPE_CHECKING, Final, TypeGuard
from weakref import WeakKeyDictionary

from scrapy.http import HtmlResponse

from scrapy_rep.directives.page import PageDirectives, combine
from scrapy_rep.directives.robots_tag import agent_of, read_header, read_meta, read_robots_tag
from scrapy_rep.directives.statement import Directive

if TYPE_CHECKING:
    from scrapy.http import Response

NOTHING: Final = PageDirectives()
"""What a page says that says nothing."""

MAX_FIELDS: Final = 1_000
"""Header fields of one name, and meta elements, that are read."""

MAX_BODY: Final = 2_097_152
"""Octets of an HTML page that are parsed for its elements."""

# What is inside these is no element of the page. libxml2 knows some of them, and makes elements of the rest.
_NOT_INSIDE: Final = " or ".join(
    f"ancestor::{name}" for name in ("template", "textarea", "script", "style", "iframe")
)
_META: Final = f"//meta[@name and not({_NOT_INSIDE})]"
_META_IN_HEAD: Final = f"/html/head//meta[@name and not({_NOT_INSIDE})]"

_NOAI: Final = frozenset({"noai", "noimageai"})
"""Elements that are called like the rule are found, and read as that rule."""

_FOR_ALL: Final = _NOAI | {"robot"}
_START: Final = 100  # octets in which an encoding of two or four octets shows
_ESCAPED: Final = re.compile(rb"name\s*=\s*[\"']?[^\"'>]{0,40}&#")


def header_fields(response: Response, name: str) -> Iterator[str]:
    """The values of all fields called *name*."""
    for value in islice(response.headers.getlist(name), MAX_FIELDS):
        yield value.decode("latin-1")


def html_of(response: Response) -> HtmlResponse | None:
    """The part of *response* whose elements are read: None if it is no HTML, its beginning if it is very long."""
    if not is_html(response):
        return None
    return response if len(response.body) <= MAX_BODY else response.replace(body=response.body[:MAX_BODY])


def is_html(response: Response) -> TypeGuard[HtmlResponse]:
    """Whether *response* has elements that can say something."""
    return isinstance(response, HtmlResponse)


def is_successful(response: Response) -> bool:
    """Whether what *response* says has an effect: an error page speaks for nothing."""
    return HTTPStatus.OK <= response.status < HTTPStatus.MULTIPLE_CHOICES


def meta_elements(page: HtmlResponse, *, head_only: bool = False) -> list[tuple[str, str]]:
    """Name and content of the meta elements of *page*."""
    found = page.xpath(_META_IN_HEAD if head_only else _META)
    return [(one.attrib["name"], one.attrib.get("content", "")) for one in found[:MAX_FIELDS]]


_said: WeakKeyDictionary[Response, PageDirectives] = WeakKeyDictionary()


def said_by(response: Response, names: Collection[str], *, head_only: bool = False) -> PageDirectives:
    """What *response* says to a crawler called *names*; the first to ask reads it."""
    said = _said.get(response)
    if said is None:
        found = directives_of(response, names, head_only=head_only)
        said = _said[response] = combine(found, names, time()) if found else NOTHING
    return said


def directives_of(response: Response, names: Collection[str], *, head_only: bool = False) -> list[Directive]:
    """The directives in header and meta elements of *response* that may address a crawler called *names*."""
    found = [one for field in header_fields(response, "X-Robots-Tag") for one in read_header(field)]
    found += [one for field in header_fields(response, "Robots-Tag") for one in read_robots_tag(field)]
    own = frozenset(name.lower() for name in names)
    if may_name(response, own | _FOR_ALL):
        page = html_of(response)
        for name, content in meta_elements(page, head_only=head_only) if page is not None else ():
            found += _of_element(name.strip(), content, own)
    return found


def _of_element(name: str, content: str, own: frozenset[str]) -> list[Directive]:
    """The directives of a meta element called *name*, if it may address a crawler called one of *own*."""
    if name.lower() in _NOAI:
        return read_meta("", f"{name},{content}")
    agent = agent_of(name)
    return read_meta(name, content) if name and (agent is None or agent in own) else []


def may_name(response: Response, names: frozenset[str]) -> bool:
    """Whether an element of *response* may be called one of *names*, in lower case; parsing every page costs more.

    A name that is spelt with character references counts if it is the value of an attribute.
    """
    if not is_html(response):
        return False
    if b"\0" in response.body[:_START]:  # UTF-16 or UTF-32
        return True
    body = response.body[:MAX_BODY].lower()
    return any(name in body for name in _octets(names)) or (b"&#" in body and bool(_ESCAPED.search(body)))


@lru_cache(maxsize=256)
def _octets(names: frozenset[str]) -> list[bytes]:
    return [name.encode() for name in sorted(names)]
