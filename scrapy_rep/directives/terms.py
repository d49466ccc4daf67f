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

from scrapy_rep.protocol import Kind, Record, path_of
from scrapy_rep.protocol.path_pattern import Pattern

from .html import Element, xml_elements
from .vocabulary import Category, Signal, Statement, label_of, shortened, without_repetitions

TDMREP: Final = "/.well-known/tdmrep.json"
"""Where the reservations of an origin are."""

MAX_SIZE: Final = 1_048_576
"""Octets of a tdmrep.json that is read; a larger one says nothing."""

MAX_RULES: Final = 1_000
"""Rules of a tdmrep.json that are read."""

MAX_LICENSES: Final = 100
"""Licenses of one source that are named or read."""

MAX_FIELD: Final = 65_536
"""Characters of a ``Link`` field that are read."""

RSL_TYPE: Final = "application/rsl+xml"
"""The media type of a license."""

_FREE: Final = "free"
_RESERVATIONS: Final[dict[Any, bool]] = {"1": True, "0": False}
_LINK: Final = re.compile(r'<([^<>]*)>((?:\s*;\s*[\w!#$&+.^`|~-]+\*?(?:\s*=\s*(?:"[^"]*"|[^\s,;"<>]*))?)*)')
_PARAMETER: Final = re.compile(r';\s*([\w!#$&+.^`|~-]+\*?)(?:\s*=\s*(?:"([^"]*)"|([^\s,;"<>]*)))?')
_TOKEN: Final = re.compile(r"[^\s,]+")


# TDMRep.


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
        rules = [found] if is_lone else found[:MAX_RULES] if isinstance(found, list) else []
        self._rules = [*_rules_in(rules, is_lone=is_lone)]

    def __bool__(self) -> bool:
        return bool(self._rules)

    def about(self, url: str) -> Reservation:
        """Return what the file says about *url*."""
        path = path_of(url)
        return next((said for pattern, said in self._rules if pattern.matches(path)), Reservation())


def _rules_in(rules: list[Any], *, is_lone: bool) -> Iterator[tuple[Pattern, Reservation]]:
    for rule in rules:
        location = rule.get("location") if isinstance(rule, dict) else None
        if isinstance(location, str) and location.startswith("/") and location.isprintable():
            pattern = Pattern.of(location.partition("#")[0].encode())
            yield pattern, _of_rule(rule, is_lone=is_lone)


def _of_rule(rule: dict[str, Any], *, is_lone: bool) -> Reservation:
    value = rule.get("tdm-reservation")
    is_text = isinstance(value, str)
    reserved = _RESERVATIONS.get(value if is_text else str(value)) if type(value) in {int, str} else None
    return Reservation(reserved, TDMREP, is_lone or is_text)


# RSL.


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

    @property
    def condition(self) -> str:
        """What the permission depends on; empty for nothing."""
        payment = self.payment.strip().lower()
        return f"payment: {payment}" if payment not in {"", _FREE} else "limited" if self.is_limited else ""


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
    listed = {category for each in lists for token in _tokens(each) for category in _categories(token)}
    statements = [statement for one in found for statement in _of_license(one, source)]
    if lists:
        text = shortened(f"permits: {' '.join(lists)}")
        statements += [
            Statement(Signal.RSL, category, False, source, text) for category in Category if category not in listed
        ]
    return without_repetitions(statements)


def _of_license(license_: License, source: str) -> Iterator[Statement]:
    """The statements of the tokens of one license."""
    for token in _tokens(license_.prohibits):
        yield from _of_token(token, False, source, f"prohibits: {token}")
    permits, condition = license_.permits, license_.condition
    if condition:
        text = f"permits: {permits} ({condition})" if permits is not None else condition
        yield Statement(Signal.RSL, None, None, source, shortened(text))
        return
    for token in _tokens(permits or ""):
        yield from _of_token(token, True, source, f"permits: {token}")


def _of_token(token: str, allows: bool, source: str, text: str) -> Iterator[Statement]:
    for category in sorted(_categories(token)):
        yield Statement(Signal.RSL, category, allows, source, shortened(text))
    if not _categories(token):
        yield Statement(Signal.RSL, None, None, source, shortened(text), irregular=True)


def _tokens(text: str) -> list[str]:
    return [*dict.fromkeys(_TOKEN.findall(text.lower()))]


def _categories(token: str) -> frozenset[Category]:
    label = label_of(Signal.RSL, token)
    return label.categories if label else frozenset()


def urls_in(records: Iterable[Record]) -> tuple[str, ...]:
    """Return the URLs of the License lines among *records*; a line that holds none means nothing."""
    texts = dict.fromkeys(record.text for record in records if record.kind is Kind.LICENSE)
    return tuple(filter(is_url, texts))[:MAX_LICENSES]


def urls_in_header(fields: Iterable[str], url: str) -> tuple[str, ...]:
    """Return the absolute URLs of the licenses in the ``Link`` *fields* of a response from *url* (RFC 8288)."""
    found: dict[str, None] = {}
    for field in fields:
        for target, parameters in _LINK.findall(field[:MAX_FIELD]) if "license" in field.lower() else ():
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


# The licenses in a page.


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
    target, site = absolute(pattern, url), _site(url)
    if not target or site not in {None, _site(target)}:
        return False
    path = urlsplit(target)._replace(scheme="", netloc="", fragment="").geturl()
    return Pattern.of(path.encode("utf-8", "replace")).matches(path_of(url))


def _site(url: str) -> tuple[str, str] | None:
    """The scheme and the authority of *url*; None of a path, which may be of any site."""
    try:
        return urlsplit(url)[:2] if urlsplit(url).scheme else None
    except ValueError:
        return None


def _license(parts: Sequence[Element]) -> License:
    def texts(name: str) -> str:
        return " ".join(one.text for one in parts if one.name == name and one.attributes.get("type") == "usage")

    others = [one for one in parts if one.name == "permits" and one.attributes.get("type", "usage") != "usage"]
    payments = (one.attributes["type"] for one in parts if one.name == "payment" and "type" in one.attributes)
    return License(texts("permits") or None, texts("prohibits"), next(payments, _FREE), bool(others))
