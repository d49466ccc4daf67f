"""Findings as text for people, as JSON Lines, and as SARIF 2.1.0 for those who show them beside code."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import IO, Any, Final, Protocol
from urllib.parse import quote

from scrapy_rep.protocol import CODES, Finding, Severity
from scrapy_rep.protocol.display import shown

from .terminal import paint

_PAINTS: Final = {Severity.ERROR: "bad", Severity.WARNING: "strong"}
_LEVELS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning"}
_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


class Report(Protocol):
    """A way to show findings."""

    def add(self, name: str, findings: Sequence[Finding]) -> None:
        """Show the *findings* in the file called *name*."""

    def end(self) -> None:
        """Show what is said of all files together."""


class TextReport:
    """For people, and for editors that read ``file:line:column:``."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out
        self._counts: Counter[Severity] = Counter()
        self._files = 0

    def add(self, name: str, findings: Sequence[Finding]) -> None:
        """Show the *findings* in the file called *name*."""
        self._files += 1
        self._counts.update(each.severity for each in findings)
        for each in findings:
            place = ":".join([shown(name), *(str(number) for number in (each.line, each.column) if number)])
            severity = paint(each.severity.value, _PAINTS.get(each.severity, "faint"), self._out)
            self._out.write(f"{place}: {severity}: {each.message} ({each.code})\n    {each.advice}\n")

    def end(self) -> None:
        """A sum."""
        if not self._files:
            return
        files = "1 file" if self._files == 1 else f"{self._files:,} files"
        counts = [_count(severity, self._counts[severity]) for severity in Severity if self._counts[severity]]
        self._out.write(f"{files}: {', '.join(counts) or 'nothing found'}\n")


def _count(severity: Severity, number: int) -> str:
    is_noun = severity is not Severity.OPTIMISE
    return f"{number:,} {severity.value}{'s' if is_noun and number > 1 else ''}"


class JsonReport:
    """An object a line."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out

    def add(self, name: str, findings: Sequence[Finding]) -> None:
        """Show the *findings* in the file called *name*."""
        for each in findings:
            facts = {
                "file": name,
                "line": each.line,
                "column": each.column,
                "severity": each.severity.value,
                "code": each.code,
                "message": each.message,
                "advice": each.advice,
            }
            self._out.write(json.dumps(facts) + "\n")

    def end(self) -> None:
        """Nothing."""


class SarifReport:
    """One document, written at the end."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out
        self._results: list[dict[str, Any]] = []

    def add(self, name: str, findings: Sequence[Finding]) -> None:
        """Keep the *findings* in the file called *name*."""
        self._results += [_result(_uri(name), each) for each in findings]

    def end(self) -> None:
        """The document."""
        driver = {"name": "scrapy robots lint", "rules": list(map(_rule, CODES))}
        run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": self._results}
        json.dump({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, self._out, indent=1)
        self._out.write("\n")


def _uri(name: str) -> str:
    if "://" in name:
        return name
    return "stdin" if name == "-" else quote(name, safe="/", errors="surrogateescape")


def _rule(code: str) -> dict[str, Any]:
    kind = CODES[code]
    return {
        "id": code,
        "shortDescription": {"text": kind.title},
        "help": {"text": f"docs/lint.md#{code}"},
        "defaultConfiguration": {"level": _LEVELS.get(kind.severity, "note")},
    }


def _result(uri: str, finding: Finding) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if finding.line:
        place["region"] = {"startLine": finding.line}
        if finding.column:
            place["region"]["startColumn"] = finding.column
    return {
        "ruleId": finding.code,
        "ruleIndex": list(CODES).index(finding.code),
        "level": _LEVELS.get(finding.severity, "note"),
        "message": {"text": f"{finding.message} {finding.advice}"},
        "locations": [{"physicalLocation": place}],
    }
