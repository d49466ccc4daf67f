"""RSL (Really Simple Licensing) 1.0: which license a site or a page names, and what a license says about usage.

https://rslstandard.org/rsl, a Recommendation of its own committee (2025-11-06). Sections are cited as
commonmeasure/commonmeasure and others quote them; of the text itself only the head was at hand. A license is named
here, and what a caller read from it is understood. It is neither fetched nor parsed nor paid for here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import urljoin, urlsplit

from scrapy_rep.protocol import Kind, Record, RobotsTxt
from scrapy_rep.protocol.other_records import outside_groups

from .answers import Statement, shortened, without_repetitions
from .vocabulary import Category, Signal, label_of

MEDIA_TYPE: Final = "application/rsl+xml"
"""The type of a license."""

FREE: Final = "free"
"""The type of a payment that asks for nothing; also what an absent payment means."""

MAX_FIELD: Final = 65_536
"""Characters of a ``Link`` field that are read."""

MAX_URLS: Final = 100
"""Licenses of one source that are named."""

_LINK: Final = re.compile(r'<([^<>]*)>((?:\s*;\s*[\w!#$&+.^`|~-]+\*?(?:\s*=\s*(?:"[^"]*"|[^\s,;"<>]*))?)*)')
_PARAMETER: Final = re.compile(r';\s*([\w!#$&+.^`|~-]+\*?)(?:\s*=\s*(?:"([^"]*)"|([^\s,;"<>]*)))?')
_TOKEN: Final = re.compile(r"[^\s,]+")


@dataclass(frozen=True, slots=True)
class License:
    """What a caller read from one ``<license>`` element.

    ``permits`` and ``prohibits`` are the texts of its elements with ``type="usage"``, as written; ``permits`` is
    None where there is no such element. ``payment`` is the type of its payment. ``is_limited`` says that
    permits of other types (``user``, ``geo``) narrow it.
    """

    permits: str | None = None
    prohibits: str = ""
    payment: str = FREE
    is_limited: bool = False

    @property
    def condition(self) -> str:
        """What the permission depends on; empty for nothing."""
        payment = self.payment.strip().lower()
        return f"payment: {payment}" if payment not in {"", FREE} else "limited" if self.is_limited else ""


def read_licenses(licenses: Iterable[License], source: str) -> list[Statement]:
    """Return what the *licenses* of one ``<content>`` element say about usage.

    - A listed token permits: "the listed values, separated by one or more spaces, are allowed" (section 3.5).
    - Usage is restricted only where a license has ``permits`` of that type (section 3.5). Then what no license of
      the content lists is a no.
    - A prohibition wins over a permission (section 3.1.1: licenses are read conservatively).
    - ``ai-all`` and ``all`` stand for the usages that the table of labels names (section 3.4.1.1).
    - A permission that asks for a payment, or is for some users or countries, is an offer rather than a yes: it is
      recorded without a category [ours].
    - Commas between tokens are read too, since generators write them [ours].
    """
    found = [*licenses]
    lists = [one for one in found if one.permits is not None]
    listed = {category for one in lists for token in _tokens(one.permits) for category in _categories(token)}
    statements = [statement for one in found for statement in _of_license(one, source)]
    if lists:
        text = shortened(f"permits: {' '.join(one.permits or '' for one in lists)}")
        statements += [
            Statement(Signal.RSL, category, False, source, text) for category in Category if category not in listed
        ]
    return [*without_repetitions(statements)]


def _of_license(license_: License, source: str) -> Iterator[Statement]:
    """The statements of the tokens of one license."""
    for token in _tokens(license_.prohibits):
        yield from _of_token(token, False, source, f"prohibits: {token}")
    condition = license_.condition
    if condition:
        text = f"permits: {license_.permits} ({condition})" if license_.permits is not None else condition
        yield Statement(Signal.RSL, None, None, source, shortened(text))
        return
    for token in _tokens(license_.permits):
        yield from _of_token(token, True, source, f"permits: {token}")


def _of_token(token: str, allows: bool, source: str, text: str) -> Iterator[Statement]:
    for category in sorted(_categories(token)):
        yield Statement(Signal.RSL, category, allows, source, shortened(text))
    if not _categories(token):
        yield Statement(Signal.RSL, None, None, source, shortened(text), irregular=True)


def _tokens(text: str | None) -> list[str]:
    return [*dict.fromkeys(_TOKEN.findall((text or "").lower()))]


def _categories(token: str) -> frozenset[Category]:
    label = label_of(Signal.RSL, token)
    return label.categories if label else frozenset()


def urls_in_robots_txt(robotstxt: RobotsTxt, token: str) -> tuple[str, ...]:
    """Return the URLs of the License lines for the crawler called *token*: of its group, else of no group.

    RSL 1.0 section 4.4.2: the lines of a group replace the global ones.
    """
    own = urls_in(robotstxt.extensions_for(token))
    return own or urls_in(outside_groups(robotstxt.extensions))


def urls_in(records: Iterable[Record]) -> tuple[str, ...]:
    """Return the URLs of the License lines among *records*; a line that holds none means nothing."""
    texts = dict.fromkeys(record.text for record in records if record.kind is Kind.LICENSE)
    return tuple(filter(is_url, texts))[:MAX_URLS]


def urls_in_header(fields: Iterable[str], url: str) -> tuple[str, ...]:
    """Return the absolute URLs of the licenses in the ``Link`` *fields* of a response from *url* (RFC 8288)."""
    found: dict[str, None] = {}
    for field in fields:
        if "license" not in field.lower():
            continue
        for target, parameters in _LINK.findall(field[:MAX_FIELD]):
            values = {name.lower(): quoted or plain for name, quoted, plain in _PARAMETER.findall(parameters)}
            if "license" in values.get("rel", "").lower().split() and values.get("type", "").lower() == MEDIA_TYPE:
                found[absolute(target, url)] = None
    return tuple(filter(is_url, found))[:MAX_URLS]


def is_url(text: str) -> bool:
    """Whether *text* is an absolute http(s) URL."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and text.isprintable()


def absolute(target: str, base: str) -> str:
    """Return *target* as a URL, seen from *base*; empty if it cannot be one."""
    try:
        return urljoin(base, target.strip())
    except ValueError:
        return ""
