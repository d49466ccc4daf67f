"""Comments in a robots.txt that speak to the linter.

``# lint: ignore CODE, CODE`` silences findings from its own line to the next record; ``# lint: ignore-file CODE``
those of the whole file. What follows the codes is free text, for the reason.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from typing import Final

from scrapy_rep.protocol.records import bom_length, split_line

from .finding import Finding

_MARK: Final = b"lint:"
_COMMENT: Final = re.compile(
    rb"#[ \t]*lint:[ \t]*ignore(?P<file>-file)?(?![\w-])[ \t]*(?P<codes>[a-z0-9-]+(?:[ \t]*,[ \t]*[a-z0-9-]+)*)?",
    re.IGNORECASE,
)


@dataclass(slots=True)
class InlineIgnores:
    """The codes that the comments of a file silence: in the file, and by line.

    ``problems`` are comments without effect: their lines, and why.
    """

    in_file: set[str] = field(default_factory=set)
    by_line: defaultdict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    problems: list[tuple[int, str]] = field(default_factory=list)

    def silences(self, finding: Finding) -> bool:
        """Whether a comment silences *finding*."""
        return finding.code in self.in_file or finding.code in self.by_line.get(finding.line, ())


def inline_ignores(body: bytes, codes: Container[str]) -> InlineIgnores:
    """The comments for the linter in *body*; *codes* are those that exist."""
    found = InlineIgnores()
    if _MARK not in body.lower():  # as in nearly every file
        return found
    open_codes: set[str] = set()
    for number, line in enumerate(body[bom_length(body) :].splitlines(), start=1):
        comment = _COMMENT.search(line) if _MARK in line.lower() else None
        if comment:
            names = _known(comment, number, codes, found.problems)
            (found.in_file if comment["file"] else open_codes).update(names)
        if open_codes:
            found.by_line[number] |= open_codes
            if split_line(line)[0]:
                open_codes.clear()
    return found


def _known(
    comment: re.Match[bytes], line: int, codes: Container[str], problems: list[tuple[int, str]]
) -> Iterable[str]:
    names = re.findall(r"[a-z0-9-]+", (comment["codes"] or b"").decode().lower())
    if not names:
        problems.append((line, "the comment names no code, so it silences nothing"))
    for name in names:
        if name in codes:
            yield name
        else:
            problems.append((line, f"{name} is no code of a finding"))
