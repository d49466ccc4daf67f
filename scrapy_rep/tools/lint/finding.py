"""Findings: what they hold, how they are collected, and how edits fix them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Final, NamedTuple

from scrapy_rep.protocol.display import shown

from .codes import CODES, Severity

MOST_OF_A_CODE: Final = 1_000
"""Findings of one code that are kept: a hostile body can have hundreds of thousands."""

_LONGEST_QUOTE: Final = 60  # characters


class Consequence(NamedTuple):
    """What follows from a finding, and is gone once that is repaired: no finding of its own.

    ``line`` counts from 1; 0 is the whole file. ``message`` is a sentence or two.
    """

    code: str
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Finding:
    """Something in a robots.txt that its author should know.

    ``line`` and ``column``, in characters, count from 1; line 0 is the whole file, column 0 the whole line.
    ``advice`` says what to do about it, and thus about its ``consequences``.
    """

    code: str
    severity: Severity
    line: int
    column: int
    message: str
    advice: str
    consequences: tuple[Consequence, ...] = ()

    def as_facts(self) -> dict[str, Any]:
        """The same as data for JSON."""
        consequences = [each._asdict() for each in self.consequences]
        return {**asdict(self), "severity": self.severity.value, "consequences": consequences}


class Findings:
    """Collects findings, at most `MOST_OF_A_CODE` of each code."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._found: list[Finding] = []

    def add(self, code: str, line: int = 0, column: int = 0, *facts: bytes | str | int) -> None:
        """Add a finding of *code*, with *facts* for its texts."""
        self._counts[code] += 1
        if self._counts[code] > MOST_OF_A_CODE:
            return
        kind, quotes = CODES[code], [_quote(fact) for fact in facts]
        message, advice = kind.message.format(*quotes), kind.advice.format(*quotes)
        self._found.append(Finding(code, kind.severity, line, column, message, advice))

    def sorted(self) -> tuple[Finding, ...]:
        """Return all findings by line and column."""
        return tuple(sorted(self._found, key=lambda one: (one.line, one.column, one.severity.rank, one.code)))


def _quote(fact: bytes | str | int) -> str:
    """*fact* as printable text of limited length."""
    if isinstance(fact, int):
        return f"{fact:,}"
    text = fact[: 4 * _LONGEST_QUOTE].decode("utf-8", "backslashreplace") if isinstance(fact, bytes) else fact
    if len(text) > _LONGEST_QUOTE:
        text = text[: _LONGEST_QUOTE - 1] + "…"
    return shown(text)


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """``text`` replaces the octets of a body from ``start`` to before ``end``, counted from 0."""

    start: int
    end: int
    text: bytes = b""


@dataclass(frozen=True, slots=True)
class Fix:
    """The edits that settle one finding, in the order of their places. They do not overlap."""

    edits: tuple[Edit, ...]

    def applied_to(self, body: bytes) -> bytes:
        """*body* with all edits made."""
        return apply_fixes(body, [self])[0]


def apply_fixes(body: bytes, fixes: Iterable[Fix]) -> tuple[bytes, int]:
    """*body* with *fixes* made, and how many were: one that touches the place of an earlier one is left out."""
    chosen: list[Edit] = []
    made, end = 0, -1
    for fix in sorted(fixes, key=lambda each: each.edits[0]):
        if fix.edits[0].start > end:
            chosen += fix.edits
            made, end = made + 1, fix.edits[-1].end
    parts, end = [], 0
    for edit in chosen:
        parts += [body[end : edit.start], edit.text]
        end = edit.end
    return b"".join([*parts, body[end:]]), made
