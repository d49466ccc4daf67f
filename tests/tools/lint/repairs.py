"""What a webmaster does about a finding: the file after its advice was followed.

Each repair says which old line every new line comes from. Where the advice leaves a choice there is none.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from scrapy_rep.protocol import GOOGLE, Dialect
from scrapy_rep.tools.lint import Finding, lint

Lines = list[bytes]
Repair = Callable[[Lines, Finding], "dict[int, Lines] | None"]
"""Gives the lines that take the place of others, by their numbers."""


def survivors(body: bytes, finding: Finding, dialect: Dialect = GOOGLE) -> set[tuple[str, int]] | None:
    """What is still found in *body* once *finding* is repaired, by code and old line; None without a repair."""
    lines = body.removeprefix(b"\xef\xbb\xbf").splitlines(keepends=True)
    repair = REPAIRS.get(finding.code)
    changed = repair(lines, finding) if repair else None
    if changed is None:
        return None
    new, origins = [body[: len(body) - sum(map(len, lines))]], [0]
    for number, line in enumerate(lines, start=1):
        for each in changed.get(number, [line]):
            new.append(each)
            origins.append(number)
    left = lint(b"".join(new), dialect, limit=None)
    return {(each.code, origins[min(each.line, len(origins) - 1)]) for each in left}


def _unlimited(lines: Lines, finding: Finding) -> dict[int, Lines]:
    """Nothing but the limit, without which `survivors` reads."""
    return {}


def _line(lines: Lines, finding: Finding) -> bytes:
    return _ended(lines[finding.line - 1])


def _ended(line: bytes) -> bytes:
    return line if line.endswith((b"\n", b"\r")) else line + b"\n"


def _value(line: bytes) -> bytes:
    return re.split(rb"[:\s]\s*", line.lstrip().partition(b"#")[0], maxsplit=1)[-1].strip()


def _without(lines: Lines, finding: Finding) -> dict[int, Lines]:
    return {finding.line: []}


def _written(lines: Lines, finding: Finding) -> dict[int, Lines] | None:
    text = finding.replacement
    return None if text is None else {finding.line: [line + b"\n" for line in text.split(b"\n")]}


def _sitemap(lines: Lines, finding: Finding) -> dict[int, Lines]:
    return {finding.line: [b"Sitemap: " + _line(lines, finding)]}


def _agent_above(lines: Lines, finding: Finding) -> dict[int, Lines]:
    at = max(finding.line, 1)
    return {at: [b"User-agent: *\n", lines[at - 1]]}


def _is_shared(lines: Lines, number: int) -> bool:
    return _is_agent(lines, number - 1) or _is_agent(lines, number + 1)


def _is_agent(lines: Lines, number: int) -> bool:
    return 0 < number <= len(lines) and lines[number - 1].lstrip().lower().startswith(b"user")


def _block(lines: Lines, number: int) -> list[int]:
    """The lines of the group whose user-agent line is *number*, without user-agent lines."""
    at = number + 1
    while _is_agent(lines, at):
        at += 1
    end = next((n for n in range(at, len(lines) + 1) if _is_agent(lines, n)), len(lines) + 1)
    return [*range(at, end)]


def _retired(lines: Lines, finding: Finding) -> dict[int, Lines] | None:
    if finding.advice.startswith("Name "):
        return None
    rules = [] if _is_shared(lines, finding.line) else _block(lines, finding.line)
    return {number: [] for number in (finding.line, *rules)}


def _header(lines: Lines, finding: Finding) -> dict[int, Lines]:
    """The product of a comment, or a name that nobody has."""
    line = _line(lines, finding)
    found = re.search(rb"compatible;\s*([A-Za-z_-]+)", line)
    name = found[1] if found and found[1].lower() != b"msie" else b"Nobody" + b"x" * (finding.line % 97)
    return {finding.line: [b"User-agent: " + name + b"\n"]}


REPAIRS: Final[dict[str, Repair]] = {
    "file-too-long": _unlimited,
    "misspelt-key-ignored": _written,
    "missing-colon": _written,
    "bare-url": _sitemap,
    "no-user-agent": _agent_above,
    "rule-before-user-agent": _agent_above,
    "misspelt-agent": _written,
    "user-agent-header": _header,
    "retired-agent": _retired,
    "several-agents": _written,
    "rule-on-agent-line": _written,
    "useless-rule": _without,
    "duplicate-rule": _without,
}
"""The codes of findings that have consequences."""
