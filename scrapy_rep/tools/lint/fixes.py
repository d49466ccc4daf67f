"""What can be fixed without asking: edits after which the engine gives every verdict that it gave before.

An edit is safe when every verdict of the engine stays, for every URL and crawler, and when no crawler that reads
the file in another way (without wildcards, the first rule that matches, groups that end at a blank line) reads it
worse: what it misread it may read afterwards as the engine does. All else is for people to decide.

The replacement of any other finding may change verdicts, to what its line says: it is never made without asking.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import ClassVar, Final

from scrapy_rep.protocol import GOOGLE, GOOGLE_EXACT, MAX_SIZE, Dialect, Kind, Record
from scrapy_rep.protocol.records import kind_of, split_line

from .finding import Edit, Finding, Fix
from .rule_proofs import RuleProofs
from .subject import RULES, Subject

PROVED: Final = frozenset({GOOGLE.name, GOOGLE_EXACT.name})
"""The dialects in which the tests prove it; nothing is fixed for another one."""

_MOST_EDITS: Final = 1_000  # of one fix; the next pass makes the others
_LINE_END: Final = re.compile(rb"\r\n?")
_COMMENT_OF_OURS: Final = re.compile(rb"lint\s*:", re.IGNORECASE)
_SAFE: Final = frozenset({"agent-with-other-text", "needless-star"})
"""Codes whose replacement changes no verdict."""
_SAFE_IF_SAME: Final = frozenset({"misspelt-key", "missing-colon", "indented-line", "comment-after-rule"})
"""Codes whose replacement changes none if the engine reads the same record in it."""


def fix_for(
    finding: Finding, body: bytes, dialect: Dialect = GOOGLE, *, limit: int | None = MAX_SIZE
) -> Fix | None:
    """The fix of a *finding* that ``lint(body, dialect, limit=limit)`` gave; None where none is safe.

    For many findings of one body a `Fixer` is faster.
    """
    return Fixer(body, dialect, limit=limit).fix_for(finding)


class Fixer:
    """Gives the fixes of the findings in one *body*, or in the *subject* that was made of it for the linter."""

    def __init__(
        self,
        body: bytes,
        dialect: Dialect = GOOGLE,
        *,
        limit: int | None = MAX_SIZE,
        subject: Subject | None = None,
    ) -> None:
        self._most_octets = MAX_SIZE if limit is None else min(limit, MAX_SIZE)
        # In a longer one the end is not read, and a shorter start would bring it back.
        self._is_fixable = len(body) <= self._most_octets and dialect.name in PROVED
        # Where there are fixes, no limit has cut it: what the linter has read need not be read again.
        self._subject = subject if subject and self._is_fixable else Subject(body, dialect, None)

    def fix_for(self, finding: Finding) -> Fix | None:
        """The fix of *finding*, on all its lines; None where none is safe."""
        if fix := self.OF_LINES.get(finding.code):
            return self._made(edit for line in finding.lines for edit in fix(self, line))
        is_safe = finding.code in _SAFE or (finding.code in _SAFE_IF_SAME and self._is_same_record(finding))
        return self._replaced(finding) if is_safe else None

    def changing_fix_for(self, finding: Finding) -> Fix | None:
        """The fix of *finding* that may change verdicts, and that a person must want; None where there is none."""
        return None if finding.code in FIXABLE else self._replaced(finding)

    def _is_same_record(self, finding: Finding) -> bool:
        record = self._subject.record(finding.line)
        key, value = split_line((finding.replacement or b"").rpartition(b"\n")[2])
        return record is not None and (kind_of(key), value) == (record.kind, record.value)

    def _replaced(self, finding: Finding) -> Fix | None:
        """The replacement of *finding* in place of its line."""
        text = finding.replacement
        if text is None or not finding.line:
            return None
        if not text:
            return self._made(self._removed(finding.line))
        start, old = self._subject.line_starts[finding.line - 1], self._line(finding.line)
        return self._made([_smallest(start, old, text.replace(b"\n", self._subject.end_of(finding.line)))])

    def _made(self, edits: Iterable[Edit]) -> Fix | None:
        edits = sorted(edits) if self._is_fixable else []
        growth = sum(len(edit.text) - edit.end + edit.start for edit in edits)
        is_too_long = growth > 0 and len(self._subject.octets) + growth > self._most_octets
        return Fix(tuple(edits)) if edits and not is_too_long else None

    @cached_property
    def _by_key(self) -> dict[bytes, list[Record]]:
        """The records by the spelling of their keys, of which a hostile file has a thousand."""
        found: dict[bytes, list[Record]] = {}
        for record in self._subject.records:
            found.setdefault(record.key, []).append(record)
        return found

    @cached_property
    def _proofs(self) -> RuleProofs:
        return RuleProofs(self._subject)

    def _line(self, number: int) -> bytes:
        return self._subject.lines[number - 1]

    def _mark(self, line: int) -> Iterator[Edit]:  # noqa: ARG002  # all have one form
        """Without the mark, unless that makes a mark of what follows."""
        if self._subject.octets[3:4] != b"\xef":
            yield Edit(0, 3)

    def _all_line_ends(self, line: int) -> Iterator[Edit]:  # noqa: ARG002
        """LF for every CRLF and CR: one edit, as a file may have hundreds of thousands."""
        octets = self._subject.octets
        start, end = octets.index(b"\r"), octets.rindex(b"\r") + 1
        end += octets[end : end + 1] == b"\n"
        yield Edit(start, end, _LINE_END.sub(b"\n", octets[start:end]))

    def _case(self, line: int) -> Iterator[Edit]:
        """The usual spelling of a key, on all lines that have this one: it is reported once."""
        reported = self._subject.record(line)
        for record in self._by_key[reported.key][:_MOST_EDITS] if reported else ():
            start = self._subject.line_starts[record.line - 1]
            if text := self._subject.with_key(record, record.kind.value.capitalize().encode()):
                yield _smallest(start, self._line(record.line), text)

    def _blank_lines(self, line: int) -> Iterator[Edit]:
        """An empty comment for each blank line of the group, from the reported one to its last rule."""
        last = line
        records = self._subject.records
        for at in range(bisect_left(self._subject.record_lines, line), len(records)):
            if records[at].kind is Kind.USER_AGENT:
                break
            if records[at].kind in RULES:
                last = records[at].line
        blank = [number for number in range(line, last) if not self._line(number).strip()]
        for number in blank[:_MOST_EDITS]:
            start = self._subject.line_starts[number - 1]
            yield Edit(start, start + len(self._line(number)), b"#")

    def _useless(self, line: int) -> Iterator[Edit]:
        if self._proofs.is_covered_for_all(line):
            yield from self._removed(line)

    def _removed(self, number: int) -> Iterator[Edit]:
        """Without line *number*; its comment stays, if it is none for the linter."""
        line = self._line(number)
        _, mark, comment = line.partition(b"#")
        start, end = self._subject.line_starts[number - 1 : number + 1]
        if not mark:
            yield Edit(start, end)
        elif not _COMMENT_OF_OURS.search(comment):
            yield Edit(start, start + len(line) - len(mark + comment))

    OF_LINES: ClassVar[dict[str, Callable[[Fixer, int], Iterator[Edit]]]] = {
        "byte-order-mark": _mark,
        "cr-line-ends": _all_line_ends,
        "crlf-line-ends": _all_line_ends,
        "mixed-line-ends": _all_line_ends,
        "odd-case-key": _case,
        "blank-line-in-group": _blank_lines,
        "duplicate-rule": _removed,
        "useless-rule": _useless,
    }
    """What makes the edits of a line, or of the whole file, where there is more to do than to replace the line."""


FIXABLE: Final = frozenset({*_SAFE, *_SAFE_IF_SAME, *Fixer.OF_LINES})
"""The codes some of whose findings have a fix."""


def _smallest(start: int, old: bytes, new: bytes) -> Edit:
    """The shortest edit that makes *old*, at *start* in its body, to *new*."""
    shorter = min(len(old), len(new))
    same = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    tail = next((at for at in range(shorter - same) if old[-1 - at] != new[-1 - at]), shorter - same)
    return Edit(start + same, start + len(old) - tail, new[same : len(new) - tail])
