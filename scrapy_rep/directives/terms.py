"""TDMRep and RSL: terms that sites state in files of their own, in header fields and in elements of pages.

- TDMRep, https://www.w3.org/community/reports/tdmrep/CG-FINAL-tdmrep-20240510/: reservations of text and data
  mining; the report of a community group. A later carrier wins over an earlier one: file, header, element.
- RSL (Really Simple Licensing) 1.0, https://rslstandard.org/rsl: which licenses a site or a page names. What they
  say is read in `scrapy_rep.directives.rsl`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

from scrapy_rep.protocol import path_of
from scrapy_rep.protocol.path_pattern import Pattern

from .vocabulary import Category, Signal, Statement

TDMREP: Final = "/.well-known/tdmrep.json"
"""Where the reservations of an origin are."""

MAX_SIZE: Final = 1_048_576
"""Octets of a tdmrep.json that is read; a larger one says nothing."""

MAX_LICENSES: Final = 100
"""Licenses of one source that are named."""

RSL_TYPE: Final = "application/rsl+xml"
"""The media type of a license."""

_MAX_RULES: Final = 1_000  # of a tdmrep.json
_MAX_FIELD: Final = 65_536  # characters of a Link field
_RESERVATIONS: Final[dict[Any, bool]] = {"1": True, "0": False}
_LINK: Final = re.compile(r'<([^<>]*)>((?:\s*;\s*[\w!#$&+.^`|~-]+\*?(?:\s*=\s*(?:"[^"]*"|[^\s,;"<>]*))?)*)')
_PARAMETER: Final = re.compile(r';\s*([\w!#$&+.^`|~-]+\*?)(?:\s*=\s*(?:"([^"]*)"|([^\s,;"<>]*)))?')


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
