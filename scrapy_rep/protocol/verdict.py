"""What robots.txt answers about a URL: allowed or not, and the rule and the reason."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from .display import shown


class Reason(str, Enum):
    """Why a verdict is what it is; each is a string, so that it compares with text and exports to JSON."""

    __str__ = str.__str__

    RULE = "rule"
    NO_RULE = "no rule"
    ROBOTS_TXT = "/robots.txt itself"
    UNAVAILABLE = "unavailable"
    UNREACHABLE = "unreachable"
    CRAWL_DELAY = "crawl-delay"
    VISIT_TIME = "visit-time"


class KnowsLines(Protocol):
    """Somebody who can find the first line of a rule."""

    def line(self, allow: bool, value: bytes, /) -> int:
        """The first line of the rule, counted from 1."""


class Rule:
    """An allow or disallow record: ``value`` is its path as written.

    To find its line costs a look at the file, so instead of it one may give somebody who knows it; he is
    asked when ``line`` is read first.
    """

    __slots__ = ("_line", "allow", "value")

    def __init__(self, allow: bool, value: bytes, line: int | KnowsLines) -> None:
        self.allow = allow
        self.value = value
        self._line = line

    @property
    def line(self) -> int:
        """The line of the record, counted from 1."""
        line = self._line
        if not isinstance(line, int):
            line = self._line = line.line(self.allow, self.value)
        return line

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rule):
            return NotImplemented
        return (self.allow, self.value, self.line) == (other.allow, other.value, other.line)

    def __hash__(self) -> int:
        return hash((self.allow, self.value))

    def __repr__(self) -> str:
        return f"<Rule line={self.line} {self}>"

    def __str__(self) -> str:
        """For people: what a terminal would obey is escaped."""
        text = shown(self.value.decode("utf-8", "backslashreplace"))
        return f"{'Allow' if self.allow else 'Disallow'}: {text}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a URL may be crawled, the rule that decided (or None) and the reason.

    Safe to share between threads, its line included.
    """

    allowed: bool
    rule: Rule | None
    reason: Reason

    @property
    def line(self) -> int:
        """The line of the rule that decided, counted from 1; 0 when none did."""
        return self.rule.line if self.rule else 0
