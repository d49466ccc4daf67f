"""The second part of an answer: the file line by line, each line with what it is and the findings about it."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any, Final

from scrapy_rep.protocol import Kind, RobotsTxt, parse
from scrapy_rep.protocol.display import shown
from scrapy_rep.protocol.records import bom_length
from scrapy_rep.tools.lint import Edit, Finding, Severity, lint
from scrapy_rep.tools.lint.file_linter import LintedFile
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
    """A finding, and the ``key`` by which its fix is applied; empty when there is none."""

    finding: Finding
    key: str


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


def linted(question: Question) -> LintedFile:
    """The file with the findings of the linter and their fixes."""
    body = question.robots
    findings = _findings_in(question)
    fixes = tuple(map(_fixer(question).fix_for, findings))
    return LintedFile(question.url or "robots.txt", body, body, findings, fixes)


def _findings_in(question: Question) -> tuple[Finding, ...]:
    return lint(
        question.robots,
        question.flavour,
        limit=question.limit,
        url=question.url,
        hops=question.hops,
        status=question.status,
    )


def _fixer(question: Question) -> Fixer:
    return Fixer(question.robots, question.flavour, limit=question.limit)


def facts_of(question: Question) -> list[dict[str, Any]]:
    """The findings as data for JSON, with the edits that fix them."""
    file = linted(question)
    return [
        {
            "line": finding.line,
            "column": finding.column,
            "severity": finding.severity.value,
            "code": finding.code,
            "message": finding.message,
            "advice": finding.advice,
            "edits": [_edit_facts(edit) for edit in (fix.edits if fix else ())],
        }
        for finding, fix in zip(file.findings, file.fixes, strict=True)
    ]


def fixed(question: Question, key: str) -> bytes:
    """The file after the fix of the finding with this *key*; unchanged when there is no such finding any more."""
    finding = next((each for each in _findings_in(question) if _key(each) == key), None)
    fix = _fixer(question).fix_for(finding) if finding else None
    return fix.applied_to(question.robots) if fix else question.robots


def annotate(question: Question) -> AnnotatedFile:
    """Return the file of *question* with the findings at their lines."""
    findings, fixer = _findings_in(question), _fixer(question)
    by_severity = Counter(finding.severity for finding in findings)
    by_line: defaultdict[int, list[FoundHere]] = defaultdict(list)
    for finding in sorted(findings, key=lambda finding: finding.severity.rank)[:_MOST_FINDINGS]:
        by_line[finding.line].append(FoundHere(finding, _key(finding) if fixer.fix_for(finding) else ""))
    raw = question.robots[bom_length(question.robots) :].splitlines()
    counts = {severity.value: by_severity[severity] for severity in Severity if by_severity[severity]}
    return AnnotatedFile(
        tuple(by_line.pop(0, ())), _lines(raw, question, by_line), len(raw), len(findings), counts
    )


def _lines(raw: list[bytes], question: Question, by_line: dict[int, list[FoundHere]]) -> tuple[Line, ...]:
    kinds = _kinds(parse(question.robots, question.flavour, limit=question.limit))
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


def _kinds(robotstxt: RobotsTxt) -> dict[int, str]:
    return {record.line: _KINDS.get(record.kind, _OTHER) for record in robotstxt.records}


def _parts(line: bytes) -> tuple[str, str]:
    """What stands before the comment on *line*, and the comment, both fit to be shown."""
    decoded = line[: 4 * _LONGEST_LINE].decode("utf-8", "surrogateescape").replace("\t", "    ")
    if len(decoded) > _LONGEST_LINE or len(line) > 4 * _LONGEST_LINE:
        decoded = decoded[:_LONGEST_LINE] + "…"
    text, mark, comment = decoded.partition("#")
    return shown(text), mark + shown(comment)


def _key(finding: Finding) -> str:
    return f"{finding.code}:{finding.line}:{finding.column}"


def _edit_facts(edit: Edit) -> dict[str, Any]:
    return {"start": edit.start, "end": edit.end, "text": edit.text.decode("utf-8", "replace")}
