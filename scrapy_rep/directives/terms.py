"""TDMRep and RSL: terms that sites state in files of their own, in header fields and in elements of pages.

- TDMRep, https://www.w3.org/community/reports/tdmrep/CG-FINAL-tdmrep-20240510/: reservations of text and data
  mining; the report of a community group. A later carrier wins over an earlier one: file, header, element.
- RSL (Really Simple Licensing) 1.0, https://rslstandard.org/rsl, a Recommendation of its own committee.
  Sections are cited as others quote them. A license is named, and understood where a page holds it; never fetched.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

from scrapy_rep.protocol import path_of
from scrapy_rep.protocol.path_pattern import Pattern

from .html import Element, xml_elements
from .vocabulary import Category, Signal, Statement, label_of, shortened, without_repetitions

TDMREP: Final = "/.well-known/tdmrep.json"
"""Where the reservations of an origin are."""

MAX_SIZE: Final = 1_048_576
"""Octets of a tdmrep.json that is read; a larger one says nothing."""

MAX_LICENSES: Final = 100
"""Licenses of one source that are named or read."""

RSL_TYPE: Final = "application/rsl+xml"
"""The media type of a license."""

_MAX_RULES: Final = 1_000  # of a tdmrep.json
_MAX_FIELD: Final = 65_536  # characters of a Link field
_FREE: Final = "free"
_RESERVATIONS: Final[dict[Any, bool]] = {"1": True, "0": False}
_LINK: Final = re.compile(r'<([^<>]*)>((?:\s*;\s*[\w!#$&+.^`|~-]+\*?(?:\s*=\s*(?:"[^"]*"|[^\s,;"<>]*))?)*)')
_PARAMETER: Final = re.compile(r';\s*([\w!#$&+.^`|~-]+\*?)(?:\s*=\s*(?:"([^"]*)"|([^\s,;"<>]*)))?')
_TOKEN: Final = re.compile(r"[^\s,]+")


@dataclass(frozen=True, slots=True)
class Reservation:
    """What one carrier says: ``reserved`` is None where it says nothing.

    An ``irregular`` one breaks a rule of the report: a value that is text, or an object outside of an array.
    """

    reserved: bool | None = None
    source: str = ""
    irregular: bool = False

    @classmethod
    def of(cls, values: Iterable[str], source: str) -> Reservation:
        """What the ``tdm-reservation`` fields or elements of a page say."""
        found = [_RESERVATIONS[value.strip()] for value in values if value.strip() in _RESERVATIONS]
        return cls(any(found), source) if found else cls()

    def over(self, other: Reservation) -> Reservation:
        """The one that counts: the *other* where this says nothing, because absence resets nothing."""
        return other if self.reserved is None else self

    def statements(self) -> list[Statement]:
        """The statements that follow; that a reservation covers training and input is our reading."""
        if self.reserved is None:
            return []
        text = f"tdm-reservation: {int(self.reserved)}"
        return [
            Statement(Signal.TDM_RESERVATION, category, not self.reserved, self.source, text, 0, self.irregular)
            for category in (Category.AI_INPUT, Category.AI_TRAIN)
        ]


class ReservationFile:
    """The rules of a tdmrep.json: "the first rule whose location matches" decides, not the longest one."""

    __slots__ = ("_rules",)

    def __init__(self, body: bytes) -> None:
        """Read the rules in *body*; none in anything but a JSON array of rules, or a lone rule."""
        try:
            found: Any = json.loads(body) if len(body) <= MAX_SIZE else []
        except (ValueError, RecursionError):
            found = []
        is_lone = isinstance(found, dict)
        rules = [found] if is_lone else found[:_MAX_RULES] if isinstance(found, list) else []
        self._rules = [_rule(one, is_lone=is_lone) for one in rules if _is_rule(one)]

    def __bool__(self) -> bool:
        return bool(self._rules)

    def about(self, url: str) -> Reservation:
        """Return what the file says about *url*."""
        path = path_of(url)
        return next((said for pattern, said in self._rules if pattern.matches(path)), Reservation())


def _is_rule(rule: Any) -> bool:
    location = rule.get("location") if isinstance(rule, dict) else None
    return isinstance(location, str) and location.startswith("/") and location.isprintable()


def _rule(rule: dict[str, Any], *, is_lone: bool) -> tuple[Pattern, Reservation]:
    value = rule.get("tdm-reservation")
    is_text = isinstance(value, str)
    reserved = _RESERVATIONS.get(value if is_text else str(value)) if type(value) in {int, str} else None
    pattern = Pattern.of(rule["location"].partition("#")[0].encode())
    return pattern, Reservation(reserved, TDMREP, is_lone or is_text)


@dataclass(frozen=True, slots=True)
class License:
    """What one ``<license>`` element says.

    ``permits`` and ``prohibits`` are the texts of its elements with ``type="usage"``, as written; ``permits`` is
    None where there is no such element. ``payment`` is the type of its payment. ``is_limited`` says that
    permits of other types (``user``, ``geo``) narrow it.
    """

    permits: str | None = None
    prohibits: str = ""
    payment: str = _FREE
    is_limited: bool = False


def read_licenses(licenses: Iterable[License], source: str) -> tuple[Statement, ...]:
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
    lists = [one.permits for one in found if one.permits is not None]
    listed = {category for each in lists for some in _tokens(each).values() for category in some}
    statements = [statement for one in found for statement in _of_license(one, source)]
    if lists:
        text = shortened(f"permits: {' '.join(lists)}")
        statements += [
            Statement(Signal.RSL, category, False, source, text) for category in Category if category not in listed
        ]
    return without_repetitions(statements)


def _of_license(license_: License, source: str) -> Iterator[Statement]:
    """The statements of one license."""
    yield from _of_tokens("prohibits", license_.prohibits, source)
    permits, payment = license_.permits, license_.payment.strip().lower()
    if payment not in {"", _FREE} or license_.is_limited:
        condition = "limited" if payment in {"", _FREE} else f"payment: {payment}"
        text = f"permits: {permits} ({condition})" if permits is not None else condition
        yield Statement(Signal.RSL, None, None, source, shortened(text))
    else:
        yield from _of_tokens("permits", permits or "", source)


def _of_tokens(name: str, text: str, source: str) -> Iterator[Statement]:
    """The statements of the tokens in the *text* of an element called *name*."""
    for token, categories in _tokens(text).items():
        written = shortened(f"{name}: {token}")
        yield from (Statement(Signal.RSL, each, name == "permits", source, written) for each in categories)
        if not categories:
            yield Statement(Signal.RSL, None, None, source, written, irregular=True)


def _tokens(text: str) -> dict[str, list[Category]]:
    """The tokens in *text*, and the categories that each is about."""
    labels = {token: label_of(Signal.RSL, token) for token in _TOKEN.findall(text.lower())}
    return {token: sorted(label.categories) if label else [] for token, label in labels.items()}


def urls_in_header(fields: Iterable[str], url: str) -> tuple[str, ...]:
    """Return the absolute URLs of the licenses in the ``Link`` *fields* of a response from *url* (RFC 8288)."""
    found: dict[str, None] = {}
    for field in fields:
        for target, parameters in _LINK.findall(field[:_MAX_FIELD]) if "license" in field.lower() else ():
            values = {name.lower(): quoted or plain for name, quoted, plain in _PARAMETER.findall(parameters)}
            if is_license(values):
                found[absolute(target, url)] = None
    return tuple(filter(is_url, found))[:MAX_LICENSES]


def is_license(values: Mapping[str, str]) -> bool:
    """Whether a link with these attributes or parameters leads to a license."""
    return "license" in values.get("rel", "").lower().split() and is_rsl(values)


def is_rsl(values: Mapping[str, str]) -> bool:
    return values.get("type", "").partition(";")[0].strip().lower() == RSL_TYPE


def is_url(text: str) -> bool:
    """Whether *text* is an absolute http(s) URL."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and text.isprintable()


def absolute(target: str, base: str) -> str:
    """*target* as a URL, seen from *base*; empty if it cannot be one."""
    try:
        return urljoin(base, target.strip())
    except ValueError:
        return ""


def licenses_in(text: str, url: str) -> Iterator[License]:
    """The licenses in the XML of a script for the page at *url*."""
    is_for, parts = False, list[Element]()
    for one in xml_elements(text):
        if one.name in {"content", "/content"}:
            is_for = one.name == "content" and _is_for(one.attributes.get("url", ""), url)
        elif one.name == "license":
            parts = []
        elif one.name == "/license" and is_for:
            yield _license(parts)
        else:
            parts.append(one)


def _is_for(pattern: str, url: str) -> bool:
    """Whether content with the URL *pattern*, which may be empty, is that at *url*; matched as a rule is."""
    if not pattern.strip():
        return True
    target, site = absolute(pattern, url), absolute("/", url)
    if not target or not (site == "/" or f"{target}/".startswith(site)):  # a path may be of any site
        return False
    path = urlsplit(target)._replace(scheme="", netloc="", fragment="").geturl()
    return Pattern.of(path.encode("utf-8", "replace")).matches(path_of(url))


def _license(parts: Sequence[Element]) -> License:
    def texts(name: str) -> str:
        return " ".join(one.text for one in parts if one.name == name and one.attributes.get("type") == "usage")

    others = [one for one in parts if one.name == "permits" and one.attributes.get("type", "usage") != "usage"]
    payments = (one.attributes["type"] for one in parts if one.name == "payment" and "type" in one.attributes)
    return License(texts("permits") or None, texts("prohibits"), next(payments, _FREE), bool(others))
