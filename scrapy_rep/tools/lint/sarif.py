"""SARIF 2.1.0, the format in which code hosts and editors exchange findings.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

from scrapy_rep.protocol import GOOGLE

from . import CODES, Severity, explained
from .config import Config
from .file_linter import LintedFile
from .finding import Consequence, Edit, Finding, Fix
from .subject import Subject

_LEVELS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning"}
_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_RULE_INDEX: Final = {code: index for index, code in enumerate(CODES)}


def sarif_document(results: list[dict[str, Any]], config: Config) -> dict[str, Any]:
    """The document with *results*, which are those of `sarif_results`, and a rule for each code."""
    driver = {
        "name": "robots-lint",
        "rules": [_rule(code, config.severity.get(code, kind.severity)) for code, kind in CODES.items()],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "newlineSequences": ["\r\n", "\n", "\r"],
        "results": results,
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def sarif_results(linted: LintedFile) -> list[dict[str, Any]]:
    """A result for each finding in a file."""
    uri = "stdin" if linted.name == "-" else linted.name
    if "://" not in uri:
        uri = quote(uri, safe="/", errors="surrogateescape")
    subject = Subject(linted.body, GOOGLE, None)
    return [_result({"uri": uri}, *each, subject) for each in zip(linted.findings, linted.fixes, strict=True)]


def _rule(code: str, severity: Severity) -> dict[str, Any]:
    return {
        "id": code,
        "shortDescription": {"text": CODES[code].title},
        "help": {"text": explained(code)},
        "defaultConfiguration": {"level": _LEVELS.get(severity, "note")},
    }


def _result(artifact: dict[str, str], finding: Finding, fix: Fix | None, subject: Subject) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": artifact}
    if finding.line:
        location["region"] = {"startLine": finding.line}
        if finding.column:
            location["region"]["startColumn"] = finding.column
    result = {
        "ruleId": finding.code,
        "ruleIndex": _RULE_INDEX[finding.code],
        "level": _LEVELS.get(finding.severity, "note"),
        "message": {"text": f"{finding.message} {finding.advice}"},
        "locations": [{"physicalLocation": location}],
    }
    if finding.consequences:
        result["relatedLocations"] = [_related(artifact, each) for each in finding.consequences]
    if fix:
        replacements = [_replacement(edit, subject) for edit in fix.edits]
        result["fixes"] = [{"artifactChanges": [{"artifactLocation": artifact, "replacements": replacements}]}]
    return result


def _related(artifact: dict[str, str], consequence: Consequence) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": artifact}
    if consequence.line:
        location["region"] = {"startLine": consequence.line}
    return {"physicalLocation": location, "message": {"text": consequence.message}}


def _replacement(edit: Edit, subject: Subject) -> dict[str, Any]:
    """The replacement object of *edit*. SARIF counts no byte order mark, so its own edit is given in octets."""
    if edit.start < subject.bom_length:
        region = {"byteOffset": edit.start, "byteLength": edit.end - edit.start}
    else:
        (start_line, start_column), (end_line, end_column) = map(subject.place, (edit.start, edit.end))
        region = {
            "startLine": start_line, "startColumn": start_column, "endLine": end_line, "endColumn": end_column,
        }  # fmt: skip
    replacement: dict[str, Any] = {"deletedRegion": region}
    if edit.text:
        replacement["insertedContent"] = {"text": edit.text.decode("utf-8", "replace")}
    return replacement
