"""Findings, their codes and severities, and how they are collected. Knows no particular code."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import Enum
from typing import Final

from scrapy_rep.protocol.display import shown

MOST_OF_A_CODE: Final = 1_000
"""Findings of one code that are kept: a hostile body can have hundreds of thousands."""

_LONGEST_QUOTE: Final = 60  # characters


class Severity(str, Enum):
    """How serious a finding is, the worst first; each is a string."""

    __str__ = str.__str__

    ERROR = "error"
    """It does not do what its author meant, or no crawler reads it."""
    WARNING = "warning"
    """Crawlers disagree about it, or it is probably a mistake."""
    OPTIMISE = "optimise"
    """It could be removed without changing a verdict."""
    NOTE = "note"
    """It works, but is worth knowing."""

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return list(Severity).index(self)


@dataclass(frozen=True, slots=True)
class Code:
    """A kind of finding. ``message`` and ``advice`` are format strings for the facts of a finding."""

    severity: Severity
    title: str
    message: str
    advice: str


@dataclass(frozen=True, slots=True)
class Finding:
    """Something in a robots.txt that its author should know.

    ``line`` and ``column``, in characters, count from 1; line 0 is the whole file, column 0 the whole line.
    ``advice`` says what to do about it.
    """

    code: str
    severity: Severity
    line: int
    column: int
    message: str
    advice: str


class Findings:
    """Collects findings, at most `MOST_OF_A_CODE` of each code."""

    def __init__(self, codes: dict[str, Code]) -> None:
        self._codes = codes
        self._counts: Counter[str] = Counter()
        self._found: list[Finding] = []

    def add(self, code: str, line: int = 0, column: int = 0, *facts: bytes | str | int) -> None:
        """Add a finding of *code*, with *facts* for its texts."""
        self._counts[code] += 1
        if self._counts[code] > MOST_OF_A_CODE:
            return
        kind, quotes = self._codes[code], [_quote(fact) for fact in facts]
        message, advice = kind.message.format(*quotes), kind.advice.format(*quotes)
        self._found.append(Finding(code, kind.severity, line, column, message, advice))

    def sorted(self) -> tuple[Finding, ...]:
        """Return all findings by line and column."""
        return tuple(sorted(self._found, key=lambda each: (each.line, each.column, each.severity.rank, each.code)))


def _quote(fact: bytes | str | int) -> str:
    """*fact* as printable text of limited length."""
    if isinstance(fact, int):
        return f"{fact:,}"
    text = fact[: 4 * _LONGEST_QUOTE].decode("utf-8", "backslashreplace") if isinstance(fact, bytes) else fact
    if len(text) > _LONGEST_QUOTE:
        text = text[: _LONGEST_QUOTE - 1] + "…"
    return shown(text)
