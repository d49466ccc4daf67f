"""What a webmaster does about a finding: the file after its advice was followed, by hand and not by the linter.

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

_WRITE: Final = re.compile(r"Write ([^…]+)\.")


def survivors(body: bytes, finding: Finding, dialect: Dialect = GOOGLE) -> set[tuple[str, int]] | None:
    """What is still found in *body* once *finding* is repaired, by code and old line; None without a repair."""
    lines = body.removeprefix(b"\xef\xbb\xbf").splitlines(keepends=True)
    repair = REPAIRS.get(finding.code)
    changed = repair(lines, finding) if repair else None
    if changed is None:
        return None
    new, origins = [b"\xef\xbb\xbf" if body[:3] == b"\xef\xbb\xbf" else b""], [0]
    for number, line in enumerate(lines, start=1):
        for each in changed.get(number, [line]):
            new.append(each)
            origins.append(number)
    left = lint(b"".join(new), dialect, limit=None)
    return {(each.code, origins[min(each.line, len(origins) - 1)]) for each in left}


def _line(lines: Lines, finding: Finding) -> bytes:
    return (
        lines[finding.line - 1]
        if lines[finding.line - 1].endswith((b"\n", b"\r"))
        else lines[finding.line - 1] + b"\n"
    )


def _advised(finding: Finding) -> bytes | None:
    found = _WRITE.fullmatch(finding.advice)
    return found[1].encode() if found else None


def _value(line: bytes) -> bytes:
    return re.split(rb"[:\s]\s*", line.lstrip().partition(b"#")[0], maxsplit=1)[-1].strip()


def _without(lines: Lines, finding: Finding) -> dict[int, Lines]:
    return {finding.line: []}


def _key(lines: Lines, finding: Finding) -> dict[int, Lines] | None:
    line, key = _line(lines, finding), _advised(finding)
    start = len(line) - len(line.lstrip())
    return (
        {finding.line: [line[:start] + re.sub(rb"^[^:]*", lambda _: key, line[start:], count=1)]} if key else None
    )


def _colon(lines: Lines, finding: Finding) -> dict[int, Lines]:
    return {finding.line: [re.sub(rb"(\S)\s+", rb"\1: ", _line(lines, finding), count=1)]}


def _path(lines: Lines, finding: Finding) -> dict[int, Lines] | None:
    line, path = _line(lines, finding), _advised(finding)
    if not path or not path.isascii():
        return None
    path = path.partition(b", which")[0]
    return {finding.line: [line.replace(_value(line), path, 1)]}


def _sitemap(lines: Lines, finding: Finding) -> dict[int, Lines]:
    return {finding.line: [b"Sitemap: " + _line(lines, finding)]}


def _agent_above(lines: Lines, finding: Finding) -> dict[int, Lines]:
    at = max(finding.line, 1)
    return {at: [b"User-agent: *\n", lines[at - 1]]}


def _split(separators: bytes) -> Repair:
    def split(lines: Lines, finding: Finding) -> dict[int, Lines]:
        line = _line(lines, finding)
        key, _, value = line.partition(b"#")[0].partition(b":")
        return {finding.line: [key + b": " + each + b"\n" for each in re.split(separators, value.strip()) if each]}

    return split


def _merged(lines: Lines, finding: Finding) -> dict[int, Lines] | None:
    """The rules of the group at the end of the first one; the other crawlers of both stay where they are."""
    found = re.search(r"at line (\d+)", finding.message)
    first, rules = int(found[1]) if found else 0, _block(lines, finding.line)
    if not first or _is_agent(lines, finding.line - 1) or _is_agent(lines, finding.line + 1):
        return None
    end = max(_block(lines, first), default=first)
    if end >= finding.line:
        return None
    moved = [
        lines[number - 1] if lines[number - 1].endswith(b"\n") else lines[number - 1] + b"\n" for number in rules
    ]
    own = lines[end - 1] if lines[end - 1].endswith(b"\n") else lines[end - 1] + b"\n"
    return {end: [own, *moved], finding.line: [], **{number: [] for number in rules}}


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
    if finding.advice != "Remove it.":
        return _path(lines, finding)
    if _is_agent(lines, finding.line - 1) or _is_agent(lines, finding.line + 1):
        return {finding.line: []}
    return {number: [] for number in (finding.line, *_block(lines, finding.line))}


def _header(lines: Lines, finding: Finding) -> dict[int, Lines]:
    """The product of a comment, or a name that nobody has."""
    line = _line(lines, finding)
    found = re.search(rb"compatible;\s*([A-Za-z_-]+)", line)
    name = found[1] if found and found[1].lower() != b"msie" else b"Nobody" + b"x" * (finding.line % 97)
    return {finding.line: [b"User-agent: " + name + b"\n"]}


REPAIRS: Final[dict[str, Repair]] = {
    "misspelt-key-ignored": _key,
    "misspelt-key": _key,
    "missing-colon": _colon,
    "bare-url": _sitemap,
    "no-user-agent": _agent_above,
    "rule-before-user-agent": _agent_above,
    "rule-never-matches": _path,
    "path-without-slash": _path,
    "needless-star": _path,
    "space-in-path": _path,
    "agent-with-other-text": _path,
    "misspelt-agent": _path,
    "user-agent-header": _header,
    "agent-in-several-groups": _merged,
    "retired-agent": _retired,
    "several-agents": _split(rb"[,;|]\s*"),
    "several-paths": _split(rb"[\s,];?(?=/)"),
    **dict.fromkeys(
        (
            "useless-rule",
            "duplicate-rule",
            "empty-allow",
            "noindex-record",
            "host-record",
            "noindex-behind-disallow",
            "allow-disallow-tie",
        ),
        _without,
    ),
}
