"""Findings: what they hold, how they are collected, and how edits fix them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any, Final, NamedTuple

from scrapy_rep.protocol.display import shown

from .codes import CODES, Code, Severity

MOST_OF_A_CODE: Final = 1_000
"""Findings of one code that are kept: a hostile body can have hundreds of thousands."""

_LONGEST_QUOTE: Final = 60  # characters
_UNCLEAR: Final = "Rewrite the line: crawlers do not read all of it."
_MOST_RANGES: Final = 12  # of the lines of a finding that are listed
_MOST_SHOWN: Final = 3  # lines of a replacement in its advice


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

    ``line`` and ``column``, in characters, count from 1; line 0 is the whole file, column 0 the whole line. An
    improvement that is possible on several lines is one finding; ``also`` has the lines after the first.
    ``advice`` says what to do about it, and thus about its ``consequences``. ``replacement`` is the line as the
    advice writes it: several lines with LF between them, or ``b""`` for none. It is None where the author has to
    decide, because more than one text may be meant. It allows and disallows nothing but what the line says.
    """

    code: str
    severity: Severity
    line: int
    column: int
    message: str
    advice: str
    replacement: bytes | None = None
    also: tuple[int, ...] = ()
    consequences: tuple[Consequence, ...] = ()

    @property
    def lines(self) -> tuple[int, ...]:
        """All lines with this finding."""
        return (self.line, *self.also)

    def as_facts(self) -> dict[str, Any]:
        """The same as data for JSON."""
        text = self.replacement
        return {
            **asdict(self),
            "severity": self.severity.value,
            "replacement": None if text is None else text.decode("utf-8", "surrogateescape"),
            "consequences": [each._asdict() for each in self.consequences],
        }


class Prose(str):
    """A fact that is a part of a sentence of ours, and is not cut as a quotation is."""

    __slots__ = ()


class Findings:
    """Collects findings, at most `MOST_OF_A_CODE` of each code.

    A line with an accident of publishing gets no other finding: those show once it is repaired.
    """

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._broken: set[int] = set()
        self._found: list[Finding] = []

    def add(
        self, code: str, line: int = 0, column: int = 0, *facts: bytes | str | int, write: bytes | None = None
    ) -> None:
        """Add a finding of *code*, with *facts* for its texts, and what to *write* in place of the line."""
        kind = CODES[code]
        if line in self._broken:
            return
        if line and kind.is_accident:
            self._broken.add(line)
        self._counts[code] += 1
        if self._counts[code] > MOST_OF_A_CODE:
            return
        quotes = [_quote(fact) for fact in facts]
        message, advice = kind.message.format(*quotes), _advice(kind, quotes, write)
        self._found.append(Finding(code, kind.severity, line, column, message, advice, write))

    def sorted(self) -> tuple[Finding, ...]:
        """Return all findings by line and column, accidents first."""
        return tuple(sorted(self._found, key=_place))


def _place(finding: Finding) -> tuple[bool, int, int, int, str]:
    is_accident = CODES[finding.code].is_accident
    return not is_accident, finding.line, finding.column, finding.severity.rank, finding.code


def _advice(kind: Code, quotes: list[str], write: bytes | None) -> str:
    if write is None:
        text = kind.question or (_UNCLEAR if "{write}" in kind.advice else kind.advice)
        return text.format(*quotes)
    if not write:
        return "Remove the line."
    lines = [f"“{_quote(line.strip())}”" for line in write.split(b"\n")]
    if len(lines) > _MOST_SHOWN + 1:
        lines = [*lines[:_MOST_SHOWN], f"{len(lines) - _MOST_SHOWN:,} more lines"]
    return kind.advice.format(*quotes, write=_listed(lines))


def line_ranges(numbers: Iterable[int]) -> str:
    """*numbers* of lines with consecutive ones in one range, and not too many of them."""
    runs = [list(run) for _, run in groupby(enumerate(sorted({*numbers})), key=lambda pair: pair[1] - pair[0])]
    texts = [str(run[0][1]) if len(run) == 1 else f"{run[0][1]}-{run[-1][1]}" for run in runs]
    left = len(texts) - _MOST_RANGES
    return ", ".join(texts[:_MOST_RANGES]) + (f" and {left:,} more" if left > 0 else "")


def _listed(texts: list[str]) -> str:
    *first, last = texts
    return f"{', '.join(first)} and {last}" if first else last


def _quote(fact: bytes | str | int) -> str:
    """*fact* as printable text of limited length."""
    if isinstance(fact, int):
        return f"{fact:,}"
    text = fact[: 4 * _LONGEST_QUOTE].decode("utf-8", "backslashreplace") if isinstance(fact, bytes) else fact
    if len(text) > _LONGEST_QUOTE and not isinstance(fact, Prose):
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
