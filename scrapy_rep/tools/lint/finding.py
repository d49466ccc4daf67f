"""What a linter says: findings, and how they are collected. Knows no code and no check."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import Enum
from typing import Final

from scrapy_rep.protocol.display import shown

MOST_OF_A_CODE: Final = 1_000
"""Findings of one code that are kept: a hostile body has hundreds of thousands, and nobody reads them."""

_LONGEST_QUOTE: Final = 60  # characters


class Severity(str, Enum):
    """How bad a finding is, the worst first; each is a string."""

    __str__ = str.__str__

    ERROR = "error"
    """It does not do what its author meant, or nobody reads it."""
    WARNING = "warning"
    """Crawlers disagree about it, or it probably means something else."""
    OPTIMISE = "optimise"
    """It could go without changing an answer."""
    NOTE = "note"
    """It works; it is good to know."""

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return list(Severity).index(self)


@dataclass(frozen=True, slots=True)
class Code:
    """A kind of finding: its ``title``, and the texts of its findings, with places for what was found."""

    severity: Severity
    title: str
    message: str
    advice: str


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about a robots.txt that its author should know.

    ``line`` and ``column``, in characters, count from 1; line 0 is the whole file, column 0 the whole line.
    ``advice`` says what to write instead.
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
        """Note a finding of *code*; its texts name the *facts*."""
        self._counts[code] += 1
        if self._counts[code] > MOST_OF_A_CODE:
            return
        kind, quotes = self._codes[code], [_quote(fact) for fact in facts]
        message, advice = kind.message.format(*quotes), kind.advice.format(*quotes)
        self._found.append(Finding(code, kind.severity, line, column, message, advice))

    def sorted(self) -> tuple[Finding, ...]:
        """All of them by line and column."""
        return tuple(sorted(self._found, key=lambda each: (each.line, each.column, each.severity.rank, each.code)))


def _quote(fact: bytes | str | int) -> str:
    """*fact* as it is shown, and not too long."""
    if isinstance(fact, int):
        return f"{fact:,}"
    text = fact[: 4 * _LONGEST_QUOTE].decode("utf-8", "backslashreplace") if isinstance(fact, bytes) else fact
    if len(text) > _LONGEST_QUOTE:
        text = text[: _LONGEST_QUOTE - 1] + "…"
    return shown(text)
