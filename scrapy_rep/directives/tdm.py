"""TDMRep: reservations of text and data mining, in a file of the site, a header field and a meta element.

https://www.w3.org/community/reports/tdmrep/CG-FINAL-tdmrep-20240510/; a community group's report.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from scrapy_rep.protocol import parse

from .answers import Statement
from .vocabulary import Category, Signal

PATH: Final = "/.well-known/tdmrep.json"
"""Where the file of an origin is."""

MAX_RULES: Final = 1_000
"""Rules of a file that are read."""

_VALUES: Final[dict[Any, bool]] = {"1": True, "0": False}


@dataclass(frozen=True, slots=True)
class Reservation:
    """What one carrier says: ``reserved`` is None where it says nothing. ``policy`` is a URL, or empty."""

    reserved: bool | None = None
    policy: str = ""
    source: str = ""
    irregular: bool = False

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


def read_header(reservations: Iterable[str], policies: Iterable[str] = ()) -> Reservation:
    """What ``tdm-reservation`` fields say; *policies* are those of ``tdm-policy``."""
    return _reservation(reservations, policies, "header")


def read_meta(reservations: Iterable[str], policies: Iterable[str] = ()) -> Reservation:
    """What ``<meta name="tdm-reservation">`` elements say."""
    return _reservation(reservations, policies, "meta")


def _reservation(values: Iterable[str], policies: Iterable[str], source: str) -> Reservation:
    found = [_VALUES[value.strip()] for value in values if value.strip() in _VALUES]
    return Reservation(any(found), next(iter(policies), "").strip(), source) if found else Reservation()


def read_file(body: bytes, url: str) -> Reservation:
    """What the file with this *body* says about *url*: the first rule whose location matches."""
    try:
        rules: Any = json.loads(body)
    except (ValueError, RecursionError):
        return Reservation()
    is_lone = isinstance(rules, dict)
    for rule in [rules] if is_lone else rules[:MAX_RULES] if isinstance(rules, list) else []:
        if isinstance(rule, dict) and _matches(rule.get("location"), url):
            value, policy = rule.get("tdm-reservation"), rule.get("tdm-policy")
            is_text = isinstance(value, str)
            reserved = _VALUES.get(value if is_text else str(value)) if type(value) in {int, str} else None
            return Reservation(reserved, policy if isinstance(policy, str) else "", PATH, is_lone or is_text)
    return Reservation()


def _matches(location: Any, url: str) -> bool:
    if not isinstance(location, str) or not location.startswith("/") or not location.isprintable():
        return False
    pattern = location.partition("#")[0].encode("utf-8", "replace")
    return not parse(b"User-agent: *\nDisallow: %b" % pattern, limit=None).verdict("*", url).allowed
