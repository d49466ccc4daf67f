"""What a response says about itself: its header fields and, in HTML, its meta elements and links."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeGuard

from scrapy.http import HtmlResponse

from scrapy_rep.directives.robots_tag import agent_of, read_header, read_meta, read_robots_tag
from scrapy_rep.directives.statement import Directive

if TYPE_CHECKING:
    from scrapy.http import Response

MAX_FIELDS: Final = 1_000
"""Header fields of one name, and meta elements, that are read."""

# What is inside these is no element of the page. libxml2 knows some of them, and makes elements of the rest.
_NOT_INSIDE: Final = " or ".join(
    f"ancestor::{name}" for name in ("template", "textarea", "script", "style", "iframe")
)
_META: Final = f"//meta[@name and not({_NOT_INSIDE})]"
_META_IN_HEAD: Final = f"/html/head//meta[@name and not({_NOT_INSIDE})]"


def header_fields(response: Response, name: str) -> Iterator[str]:
    """The values of all fields called *name*."""
    for value in islice(response.headers.getlist(name), MAX_FIELDS):
        yield value.decode("latin-1")


def is_html(response: Response) -> TypeGuard[HtmlResponse]:
    """Whether *response* has elements that can say something."""
    return isinstance(response, HtmlResponse)


def meta_elements(response: HtmlResponse, *, head_only: bool = False) -> list[tuple[str, str]]:
    """Name and content of the meta elements of an HTML *response*."""
    found = response.xpath(_META_IN_HEAD if head_only else _META)
    return [(one.attrib["name"], one.attrib.get("content", "")) for one in found[:MAX_FIELDS]]


def _may_have_directives(response: HtmlResponse, names: Collection[str]) -> bool:
    """Whether a meta element can address every crawler, or one of *names*: parsing every page would cost too much.

    Names spelt with character references are found too, if a page spells any name so.
    """
    if not response.encoding.lower().startswith(("utf-8", "ascii", "iso-8859", "cp125", "windows-125", "latin")):
        return True
    return bool(_pattern(frozenset(names)).search(response.body))


@lru_cache(maxsize=256)
def _pattern(names: frozenset[str]) -> re.Pattern[bytes]:
    words = [b"robots?", *(re.escape(name.encode()) for name in sorted(names)), b"&#"]
    return re.compile(rb"name\s*=\s*[\"']?\s*(?:%b)" % b"|".join(words), re.IGNORECASE)


def directives_of(response: Response, names: Iterable[str], *, head_only: bool = False) -> list[Directive]:
    """The directives in header and meta elements of *response* that may address a crawler called *names*."""
    found = [one for field in header_fields(response, "X-Robots-Tag") for one in read_header(field)]
    found += [one for field in header_fields(response, "Robots-Tag") for one in read_robots_tag(field)]
    own = {name.lower() for name in names}
    if is_html(response) and _may_have_directives(response, own):
        for name, content in meta_elements(response, head_only=head_only):
            agent = agent_of(name)
            if name.strip() and (agent is None or agent in own):
                found += read_meta(name, content)
    return found
