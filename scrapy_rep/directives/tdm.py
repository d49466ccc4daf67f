"""TDMRep: reservations of text and data mining, in a file of the site, a header field and a meta element.

https://www.w3.org/community/reports/tdmrep/CG-FINAL-tdmrep-20240510/; the report of a community group, no W3C
Recommendation. A later carrier wins over an earlier one: file, header field, meta element.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from scrapy_rep.protocol.path_pattern import Pattern, path_of

from .answers import Statement
from .vocabulary import Category, Signal

PATH: Final = "/.well-known/tdmrep.json"
"""Where the file of an origin is."""

MAX_SIZE: Final = 1_048_576
"""Octets of a file that is read; a larger one says nothing."""

MAX_RULES: Final = 1_000
"""Rules of a file that are read."""

MAX_POLICY: Final = 2_083
"""Characters of the URL of a policy that are kept."""

_VALUES: Final[dict[Any, bool]] = {"1": True, "0": False}


@dataclass(frozen=True, slots=True)
class Reservation:
    """What one carrier says: ``reserved`` is None where it says nothing. ``policy`` is a URL, or empty.

    An ``irregular`` one breaks a rule of the report: a value that is text, or an object outside of an array.
    """

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
    """Return what ``tdm-reservation`` fields say; *policies* are those of ``tdm-policy``."""
    return _reservation(reservations, policies, "header")


def read_meta(reservations: Iterable[str], policies: Iterable[str] = ()) -> Reservation:
    """Return what ``<meta name="tdm-reservation">`` elements say."""
    return _reservation(reservations, policies, "meta")


def _reservation(values: Iterable[str], policies: Iterable[str], source: str) -> Reservation:
    found = [_VALUES[value.strip()] for value in values if value.strip() in _VALUES]
    policy = next(iter(policies), "").strip()[:MAX_POLICY]
    return Reservation(any(found), policy, source) if found else Reservation()


class ReservationFile:
    """The rules of a file, read once: "the first rule whose location matches" decides, not the longest one."""

    __slots__ = ("_rules",)

    def __init__(self, rules: Iterable[tuple[Pattern, Reservation]] = ()) -> None:
        self._rules = tuple(rules)

    @classmethod
    def of(cls, body: bytes) -> ReservationFile:
        """Return the rules in *body*; none for anything but a JSON array of rules, or a lone rule."""
        if len(body) > MAX_SIZE:
            return cls()
        try:
            found: Any = json.loads(body)
        except (ValueError, RecursionError):
            return cls()
        is_lone = isinstance(found, dict)
        rules = [found] if is_lone else found[:MAX_RULES] if isinstance(found, list) else []
        return cls(_rules_in(rules, is_lone=is_lone))

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
    value, policy = rule.get("tdm-reservation"), rule.get("tdm-policy")
    is_text = isinstance(value, str)
    reserved = _VALUES.get(value if is_text else str(value)) if type(value) in {int, str} else None
    if not isinstance(policy, str) or not policy.isprintable():
        policy = ""
    return Reservation(reserved, policy[:MAX_POLICY], PATH, is_lone or is_text)
