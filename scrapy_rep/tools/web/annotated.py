"""The second part of an answer: the file line by line, each line with what it is and the findings about it."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import asdict, dataclass
from typing import Any, Final

from scrapy_rep.protocol import Kind, parse
from scrapy_rep.protocol.display import shown
from scrapy_rep.protocol.records import bom_length
from scrapy_rep.tools.lint import Finding, Fix, Severity, lint
from scrapy_rep.tools.lint.fixes import Fixer

from .question import Question

_MOST_LINES: Final = 3_000
"""Lines that are shown without a finding, so that a browser can show the page."""

_MOST_FINDINGS: Final = 2_000
"""Findings that are shown."""

_LONGEST_LINE: Final = 500
"""Characters of a line that are shown."""

_OTHER: Final = "other"
_KINDS: Final = {
    Kind.USER_AGENT: "user-agent",
    Kind.ALLOW: "allow",
    Kind.DISALLOW: "disallow",
    Kind.SITEMAP: "sitemap",
    Kind.UNKNOWN: "unknown",
}


@dataclass(frozen=True, slots=True)
class FoundHere:
    """A finding and its fix, if that is safe without a person."""

    finding: Finding
    fix: Fix | None

    @property
    def key(self) -> str:
        """By what the page names the fix; empty when there is none."""
        return f"{self.finding.code}:{self.finding.line}:{self.finding.column}" if self.fix else ""

    def as_facts(self) -> dict[str, Any]:
        """The same as data for JSON, with the edits that fix it."""
        edits = self.fix.edits if self.fix else ()
        return {
            "line": self.finding.line,
            "column": self.finding.column,
            "severity": self.finding.severity.value,
            "code": self.finding.code,
            "message": self.finding.message,
            "advice": self.finding.advice,
            "edits": [{**asdict(edit), "text": edit.text.decode("utf-8", "replace")} for edit in edits],
        }


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the file: ``kind`` says what the parser takes it for, ``comment`` starts with its ``#``.

    ``skipped`` is the number of lines before it that are not shown.
    """

    number: int
    kind: str
    text: str
    comment: str
    findings: tuple[FoundHere, ...] = ()
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class AnnotatedFile:
    """The file: findings ``about_file``, its ``lines``, and how many lines and findings there are in all."""

    about_file: tuple[FoundHere, ...]
    lines: tuple[Line, ...]
    line_count: int
    finding_count: int
    counts: dict[str, int]
    """Findings by severity, the worst first."""


def found_in(question: Question) -> tuple[FoundHere, ...]:
    """The findings of the linter, in the order of the file, with their fixes."""
    findings = lint(
        question.robots,
        question.flavour,
        limit=question.limit,
        url=question.url,
        hops=question.hops,
        status=question.status,
    )
    fixer = Fixer(question.robots, question.flavour, limit=question.limit)
    return tuple(FoundHere(finding, fixer.fix_for(finding)) for finding in findings)


def fixed(question: Question, key: str) -> bytes:
    """The file after the fix with this *key*; unchanged when there is no such finding any more."""
    fixes = (here.fix for here in found_in(question) if here.key == key)
    fix = next(fixes, None)
    return fix.applied_to(question.robots) if fix else question.robots


def annotate(question: Question) -> AnnotatedFile:
    """Return the file of *question* with the findings at their lines."""
    found = found_in(question)
    by_severity = Counter(here.finding.severity for here in found)
    counts = {severity.value: by_severity[severity] for severity in Severity if by_severity[severity]}
    by_line: defaultdict[int, list[FoundHere]] = defaultdict(list)
    for here in sorted(found, key=lambda here: here.finding.severity.rank)[:_MOST_FINDINGS]:
        by_line[here.finding.line].append(here)
    raw = question.robots[bom_length(question.robots) :].splitlines()
    about_file = tuple(by_line.pop(0, ()))
    return AnnotatedFile(about_file, _lines(raw, question, by_line), len(raw), len(found), counts)


def _lines(raw: list[bytes], question: Question, by_line: dict[int, list[FoundHere]]) -> tuple[Line, ...]:
    records = parse(question.robots, question.flavour, limit=question.limit).records
    kinds = {record.line: _KINDS.get(record.kind, _OTHER) for record in records}
    shown_lines, last = [], 0
    for number, octets in enumerate(raw, start=1):
        found = by_line.get(number)
        if not found and number > _MOST_LINES:
            continue
        text, comment = _parts(octets)
        kind = kinds.get(number) or ("unread" if text.strip() else "comment" if comment else "blank")
        shown_lines.append(Line(number, kind, text, comment, tuple(found or ()), number - last - 1))
        last = number
    return tuple(shown_lines)


def _parts(line: bytes) -> tuple[str, str]:
    """What stands before the comment on *line*, and the comment, both fit to be shown."""
    decoded = line[: 4 * _LONGEST_LINE].decode("utf-8", "surrogateescape").replace("\t", "    ")
    if len(decoded) > _LONGEST_LINE or len(line) > 4 * _LONGEST_LINE:
        decoded = decoded[:_LONGEST_LINE] + "…"
    text, mark, comment = decoded.partition("#")
    return shown(text), mark + shown(comment)
