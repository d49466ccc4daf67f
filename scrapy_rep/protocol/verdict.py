"""What robots.txt answers about a URL: allowed or not, and the rule and the reason."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Reason(Enum):
    """Why a verdict is what it is."""

    RULE = "rule"
    NO_RULE = "no rule"
    ROBOTS_TXT = "/robots.txt itself"
    UNAVAILABLE = "unavailable"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True, slots=True)
class Rule:
    """An allow or disallow record: ``value`` is its path as written, ``line`` counts from 1."""

    allow: bool
    value: bytes
    line: int

    def __str__(self) -> str:
        text = self.value.decode("utf-8", "backslashreplace")
        return f"{'Allow' if self.allow else 'Disallow'}: {text}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a URL may be crawled, the rule that decided (or None) and the reason."""

    allowed: bool
    rule: Rule | None
    reason: Reason

    @property
    def line(self) -> int:
        """The line of the rule that decided, counted from 1; 0 when none did."""
        return self.rule.line if self.rule else 0
