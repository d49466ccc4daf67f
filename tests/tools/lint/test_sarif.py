"""SARIF: the rules with their pages, and fixes in lines and columns."""

from __future__ import annotations

from typing import Any

import pytest

from scrapy_rep.tools.lint import CODES, Severity, explained
from scrapy_rep.tools.lint.config import Config
from scrapy_rep.tools.lint.file_linter import FileLinter
from scrapy_rep.tools.lint.sarif import sarif_document, sarif_results


def replacements(body: bytes, code: str) -> list[dict[str, Any]]:
    linted = FileLinter(Config(select=(code,))).lint("robots.txt", body)
    (result,) = sarif_results(linted)
    (fix,) = result["fixes"]
    (change,) = fix["artifactChanges"]
    assert change["artifactLocation"] == {"uri": "robots.txt"}
    found: list[dict[str, Any]] = change["replacements"]
    return found


def region(start_line: int, start_column: int, end_line: int, end_column: int) -> dict[str, int]:
    return {"startLine": start_line, "startColumn": start_column, "endLine": end_line, "endColumn": end_column}


def test_each_rule_has_its_page() -> None:
    document = sarif_document([], Config(severity={"nul": Severity.NOTE}))
    rules = {rule["id"]: rule for rule in document["runs"][0]["tool"]["driver"]["rules"]}
    assert list(rules) == list(CODES)
    assert all(rule["help"]["text"] == explained(code) for code, rule in rules.items())
    assert rules["nul"]["defaultConfiguration"] == {"level": "note"}


@pytest.mark.parametrize(
    ("code", "body", "found"),
    [
        (
            "needless-star",
            "User-agent: *\r\nDisallow: /café**b\r\n".encode(),
            [{"deletedRegion": region(2, 17, 2, 18)}],
        ),
        (
            "duplicate-rule",
            b"\xef\xbb\xbfUser-agent: *\nDisallow: /a\nDisallow: /a\n",
            [{"deletedRegion": region(3, 1, 4, 1)}],
        ),
        (
            "byte-order-mark",
            b"\xef\xbb\xbfUser-agent: *\n",
            [{"deletedRegion": {"byteOffset": 0, "byteLength": 3}}],
        ),
        (
            "comment-after-rule",
            b"User-agent: *\nDisallow: /a # b",
            [{"deletedRegion": region(2, 1, 2, 17), "insertedContent": {"text": "# b\nDisallow: /a"}}],
        ),
    ],
)
def test_a_fix_is_a_replacement_of_characters(code: str, body: bytes, found: list[dict[str, Any]]) -> None:
    assert replacements(body, code) == found


def test_what_cannot_be_fixed_has_no_fixes() -> None:
    (result,) = sarif_results(
        FileLinter(Config(select=("path-without-slash",))).lint("-", b"User-agent: *\nAllow: a")
    )
    assert "fixes" not in result
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "stdin"}
