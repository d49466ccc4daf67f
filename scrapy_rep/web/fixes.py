"""From a finding to edits of the file. The one place to exchange for the fixes of the linter itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from scrapy_rep.protocol.records import bom_length
from scrapy_rep.tools.lint import Finding


@dataclass(frozen=True, slots=True)
class Edit:
    """Put *text* in place of the octets from *start* to *end*."""

    start: int
    end: int
    text: bytes


class Fixer:
    """Finds the edits for the findings in one robots.txt *body*."""

    def __init__(self, body: bytes) -> None:
        self._lines = body[bom_length(body) :].splitlines(keepends=True)
        self._starts = [*accumulate(map(len, self._lines), initial=bom_length(body))]

    def edits(self, finding: Finding) -> tuple[Edit, ...]:
        """Return the edits that do what the advice of *finding* says; empty where a person has to decide."""
        fix = _FIXES.get(finding.code)
        if fix is None or not 0 < finding.line <= len(self._lines):
            return ()
        start = self._starts[finding.line - 1]
        edit = fix(self._lines[finding.line - 1], finding)
        return () if edit is None else (Edit(start + edit.start, start + edit.end, edit.text),)


def apply(body: bytes, edits: Iterable[Edit]) -> bytes:
    """Return *body* after *edits*, which must not overlap."""
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        body = body[: edit.start] + edit.text + body[edit.end :]
    return body


_ADVISED_KEY: Final = re.compile(r"Write ([\w-]+)\.")


def _without_line(line: bytes, _: Finding) -> Edit:
    return Edit(0, len(line), b"")


def _with_advised_key(line: bytes, finding: Finding) -> Edit | None:
    advised = _ADVISED_KEY.fullmatch(finding.advice)
    key, colon, _ = line.partition(b":")
    if not advised or not colon:
        return None
    start = len(key) - len(key.lstrip())
    return Edit(start, len(key.rstrip()), advised[1].encode())


def _without_indent(line: bytes, _: Finding) -> Edit:
    return Edit(0, len(line) - len(line.lstrip(b" \t\v\f")), b"")


_FIXES: Final[dict[str, Callable[[bytes, Finding], Edit | None]]] = {
    "duplicate-rule": _without_line,
    "useless-rule": _without_line,
    "misspelt-key": _with_advised_key,
    "odd-case-key": _with_advised_key,
    "indented-line": _without_indent,
}
