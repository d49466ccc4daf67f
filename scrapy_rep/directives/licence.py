"""RSL: the licences that a site names in its robots.txt, and a page in ``Link`` fields and elements.

https://rslstandard.org. A licence is named, not fetched: what it asks for is a decision for people.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import urljoin, urlsplit

from scrapy_rep.protocol import Kind, Record, RobotsTxt

MEDIA_TYPE: Final = "application/rsl+xml"
"""The type of a licence."""

MAX_FIELD: Final = 65_536
"""Characters of a ``Link`` field that are read."""

_LINK: Final = re.compile(r'<([^<>]*)>((?:\s*;\s*[\w!#$&+.^`|~-]+\*?(?:\s*=\s*(?:"[^"]*"|[^\s,;"<>]*))?)*)')
_PARAMETER: Final = re.compile(r';\s*([\w!#$&+.^`|~-]+\*?)(?:\s*=\s*(?:"([^"]*)"|([^\s,;"<>]*)))?')


def in_robots_txt(robotstxt: RobotsTxt, token: str) -> tuple[str, ...]:
    """The URLs of the License lines for the crawler called *token*: of its group, else of no group."""
    own = [record for record in robotstxt.extensions_for(token) if _is_licence(record)]
    outside = [one.record for one in robotstxt.extensions if not one.agents and _is_licence(one.record)]
    return tuple(dict.fromkeys(record.text for record in own or outside))


def _is_licence(record: Record) -> bool:
    return record.kind is Kind.LICENSE and is_url(record.text)


def in_header(fields: Iterable[str], url: str) -> tuple[str, ...]:
    """The absolute URLs of the licences in the ``Link`` *fields* of a response from *url*."""
    found = []
    for field in fields:
        for target, parameters in _LINK.findall(field[:MAX_FIELD]):
            values = {name.lower(): quoted or plain for name, quoted, plain in _PARAMETER.findall(parameters)}
            if "license" in values.get("rel", "").lower().split() and values.get("type", "").lower() == MEDIA_TYPE:
                found.append(_absolute(target, url))
    return tuple(dict.fromkeys(filter(is_url, found)))


def is_url(text: str) -> bool:
    """Whether *text* is an absolute http(s) URL."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)


def _absolute(target: str, base: str) -> str:
    try:
        return urljoin(base, target.strip())
    except ValueError:
        return ""
