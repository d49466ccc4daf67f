"""What can be fixed without asking: edits after which the engine gives every verdict that it gave before.

An edit is safe when every verdict of the engine stays, for every URL and crawler, and when no crawler that reads
the file in another way (without wildcards, the first rule that matches, groups that end at a blank line) reads it
worse: what it misread it may read afterwards as the engine does. All else is for people to decide.

For some of that there is a fix which does what the advice of a finding says, and which may change verdicts: it is
never made without asking.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import ClassVar, Final

from scrapy_rep.protocol import GOOGLE, GOOGLE_EXACT, MAX_SIZE, Dialect, Kind, Record, Rule
from scrapy_rep.protocol.path_pattern import folder_of_index_page
from scrapy_rep.protocol.product_token import token_in
from scrapy_rep.protocol.records import MAX_LINE, kind_of, split_line
from scrapy_rep.tools.crawlers import crawler_like

from .finding import Edit, Finding, Fix
from .path_checks import rooted, without_needless_stars
from .subject import RULES, Subject
from .text_checks import known_key

PROVED: Final = frozenset({GOOGLE.name, GOOGLE_EXACT.name})
"""The dialects in which the tests prove it; nothing is fixed for another one."""

_MOST_EDITS: Final = 1_000  # of one fix; the next pass makes the others
_NAMES: Final[dict[Kind, bytes]] = {
    kind: kind.value.capitalize().encode() for kind in Kind if kind is not Kind.UNKNOWN
}
_MISSPELT: Final = re.compile(  # and no "Allow-training", which is read as Allow by its start alone
    rb"user[- ]?agents?|allow(?:s|ed)?|(?:disallow|dissallow|dissalow|disalow|diasllow|disallaw)(?:s|ed)?"
    rb"|site-?maps?|crawl ?delay|content-signals",
    re.IGNORECASE,
)
_WITH_VERSION: Final = re.compile(rb"([A-Za-z_-]+)/[0-9.]*")
_LINE_END: Final = re.compile(rb"\r\n?")
_COMMENT_OF_OURS: Final = re.compile(rb"lint\s*:", re.IGNORECASE)
_STEPS: Final = 1_000_000  # comparisons with a rule, or with the start of a path; beyond them nothing is fixed
_STEPS_OF_AN_OCTET: Final = 4
_LONGEST_PATH: Final = 2_000  # octets; to know all starts of longer ones takes too long
_WILDCARD: Final = re.compile(rb"[*$]")
_NO_RULE: Final = Rule(True, b"", 0)


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
        """The fix of *finding*; None where none is safe."""
        if finding.code in self.OF_LINES and self._is_fixable:
            return self._made(self.OF_LINES[finding.code](self, finding.line))
        return self._of_record(self.OF_RECORDS, finding)

    def changing_fix_for(self, finding: Finding) -> Fix | None:
        """The fix of *finding* that may change verdicts, and that a person must want; None where there is none."""
        return self._of_record(self.CHANGING, finding)

    def _of_record(self, fixes: _FixesOfRecords, finding: Finding) -> Fix | None:
        fix = fixes.get(finding.code) if self._is_fixable else None
        record = self._subject.record(finding.line) if fix else None
        return self._made(fix(self, record)) if fix and record else None

    def _made(self, edits: Iterable[Edit]) -> Fix | None:
        edits = sorted(edits)
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
    def _rules(self) -> RuleFixes:
        return RuleFixes(self._subject)

    def _line(self, number: int) -> bytes:
        return self._subject.lines[number - 1]

    def _rewritten(self, number: int, line: bytes, *, kind: Kind, value: bytes) -> Iterator[Edit]:
        """The edit that makes line *number* to *line*, if that is a record of *kind* with *value*."""
        old = self._line(number)
        key, read = split_line(line)
        if len(old) <= MAX_LINE and b"\0" not in old and (kind_of(key), read) == (kind, value):
            yield _smallest(self._subject.line_starts[number - 1], old, line)

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

    def _indentation(self, record: Record) -> Iterator[Edit]:
        line = self._line(record.line).lstrip()
        yield from self._rewritten(record.line, line, kind=record.kind, value=record.value)

    def _key(self, record: Record) -> Iterator[Edit]:
        """The usual spelling of a key; other keys that only start like one are not misspelt."""
        if _MISSPELT.fullmatch(record.key):
            yield from self._respelt(record)

    def _case(self, record: Record) -> Iterator[Edit]:
        """The usual spelling, on all lines that have this one: it is reported once."""
        for each in self._by_key[record.key][:_MOST_EDITS]:
            yield from self._respelt(each)

    def _respelt(self, record: Record) -> Iterator[Edit]:
        line = self._line(record.line).replace(record.key, _NAMES[record.kind], 1)
        yield from self._rewritten(record.line, line, kind=record.kind, value=record.value)

    def _colon(self, record: Record) -> Iterator[Edit]:
        """A colon between two words that the engine reads as a record; more words are none."""
        if b":" not in record.key + record.value:
            line = re.sub(rb"(?<=\S)[ \t]+", b": ", self._line(record.line), count=1)
            yield from self._rewritten(record.line, line, kind=record.kind, value=record.value)

    def _comment(self, record: Record) -> Iterator[Edit]:
        """The comment above its rule. A # after anything but white space may be meant as part of the path."""
        text, _, comment = self._line(record.line).partition(b"#")
        if text[-1:].isspace():
            moved = b"#" + comment.rstrip() + self._end_of(record.line)
            start = self._subject.line_starts[record.line - 1]
            for edit in self._rewritten(record.line, text.rstrip(), kind=record.kind, value=record.value):
                yield from (Edit(start, start, moved), edit)

    def _end_of(self, number: int) -> bytes:
        """How line *number* ends; as the one before it, or with LF, where it is the last."""
        for at in (number, number - 1):
            end = self._subject.line_starts[at]
            line = self._subject.octets[self._subject.line_starts[at - 1] : end] if at else b""
            if line[-1:] in {b"\r", b"\n"}:
                return b"\r\n" if line.endswith(b"\r\n") else line[-1:]
        return b"\n"

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

    def _version(self, record: Record) -> Iterator[Edit]:
        """A token without its version, where nothing else follows."""
        found = _WITH_VERSION.fullmatch(record.value)
        if found and token_in(record.value, wide=True) == found[1]:
            yield from self._revalued(record, found[1])

    def _star(self, record: Record) -> Iterator[Edit]:
        if shorter := self._rules.without_needless_star(record):
            yield from self._revalued(record, shorter)

    def _revalued(self, record: Record, value: bytes) -> Iterator[Edit]:
        """*value* in place of that of *record*."""
        line = self._line(record.line)
        at = line.find(record.value, line.find(record.key) + len(record.key))
        line = line[:at] + value + line[at + len(record.value) :]
        yield from self._rewritten(record.line, line, kind=record.kind, value=value)

    def _useless(self, line: int) -> Iterator[Edit]:
        if self._rules.is_covered_for_all(line):
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

    def _key_meant(self, record: Record) -> Iterator[Edit]:
        """The known key in place of one that is ignored."""
        if name := known_key(record.key):
            line = self._line(record.line).replace(record.key, name.encode(), 1)
            kind = kind_of(name.lower().encode())
            yield from self._rewritten(record.line, line, kind=kind, value=record.value)

    def _crawler_meant(self, record: Record) -> Iterator[Edit]:
        """The known crawler in place of a name that is misspelt."""
        if meant := crawler_like(record.text):
            yield from self._revalued(record, meant.token.encode())

    def _rooted(self, record: Record) -> Iterator[Edit]:
        """A path with its slash."""
        if record.kind in RULES:
            yield from self._revalued(record, rooted(record.value))

    CHANGING: ClassVar[_FixesOfRecords] = {
        "misspelt-key-ignored": _key_meant,
        "misspelt-agent": _crawler_meant,
        "path-without-slash": _rooted,
    }
    """What makes the edits of a record for the findings of a code where that may change verdicts."""

    OF_RECORDS: ClassVar[_FixesOfRecords] = {
        "misspelt-key": _key,
        "missing-colon": _colon,
        "indented-line": _indentation,
        "odd-case-key": _case,
        "comment-after-rule": _comment,
        "agent-with-other-text": _version,
        "needless-star": _star,
    }
    """What makes the edits of a record for the findings of a code."""

    OF_LINES: ClassVar[dict[str, Callable[[Fixer, int], Iterator[Edit]]]] = {
        "byte-order-mark": _mark,
        "cr-line-ends": _all_line_ends,
        "crlf-line-ends": _all_line_ends,
        "mixed-line-ends": _all_line_ends,
        "blank-line-in-group": _blank_lines,
        "duplicate-rule": _removed,
        "useless-rule": _useless,
    }
    """What makes the edits of a line, or of the whole file."""


_FixesOfRecords = dict[str, Callable[[Fixer, Record], Iterator[Edit]]]


class RuleFixes:
    """Answers for the rules of one *subject*."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._left = subject.steps(_STEPS_OF_AN_OCTET, _STEPS)

    def without_needless_star(self, record: Record) -> bytes:
        """The path of the rule *record* without the stars that change nothing; empty where that is not safe.

        A rule that is shorter ranks lower. That is safe as long as it wins over the same opposite rules of the
        file as before, whichever crawlers they are for. (Each such order stays when several rules are
        shortened: ranks only fall, and no shortened rule passes one that it did not pass alone.)
        """
        shorter = without_needless_stars(record.value)
        allows = record.kind is Kind.ALLOW
        if record.kind not in RULES or shorter == record.value or (allows and folder_of_index_page(record.value)):
            return b""
        old, new = self._subject.pattern(record.value), self._subject.pattern(shorter)
        # On a tie the Allow wins: one that falls to a rank no longer wins over the ranks above it.
        passed = range(new.specificity + allows, old.specificity + allows)
        heads = self._heads[not allows]
        for head in (head for rank in passed if rank in heads for head in heads[rank]):
            self._left -= 1
            if self._left < 0 or head.startswith(old.pieces[0]) or old.pieces[0].startswith(head):
                return b""
        return shorter

    @cached_property
    def _heads(self) -> dict[bool, dict[int, list[bytes]]]:
        """The starts, up to the first star, of the rules that allow and of the others, by their ranks."""
        heads: dict[bool, dict[int, list[bytes]]] = {True: defaultdict(list), False: defaultdict(list)}
        for record in self._subject.rules:
            allows = record.kind is Kind.ALLOW
            folder = folder_of_index_page(record.value) if allows else None
            for value in (record.value, folder) if folder else (record.value,):
                pattern = self._subject.pattern(value)
                heads[allows][pattern.specificity].append(pattern.pieces[0])
        return heads

    def is_covered_for_all(self, line: int) -> bool:
        """Whether the rule on *line*, which the engine does not need, is of no use to any other crawler.

        Those may know no wildcard, or take the first rule that matches. So an earlier rule of its group, with
        the same verdict and without a wildcard, covers it, and no opposite rule of the file, its wildcards read
        as letters, ranks between the two.
        """
        rule, earlier = self._rules.get(line, (_NO_RULE, {}))
        self._left -= len(rule.value)
        if self._left < 0 or len(rule.value) > _LONGEST_PATH:
            return False
        for length in range(len(rule.value), 0, -1):
            start = rule.value[:length]
            if start in self._paths[not rule.allow]:
                return False
            if earlier.get((rule.allow, start), line) < line:
                return True
        return False

    @cached_property
    def _rules(self) -> dict[int, tuple[Rule, dict[tuple[bool, bytes], int]]]:
        """Each rule by its line, with the first lines of the rules of its group that have no wildcard."""
        rules = {}
        for group in self._subject.groups:
            lines: dict[tuple[bool, bytes], int] = {}
            for rule in group.rules:
                rules[rule.line] = rule, lines
                if not _WILDCARD.search(rule.value):
                    lines.setdefault((rule.allow, rule.value), rule.line)
        return rules

    @cached_property
    def _paths(self) -> dict[bool, set[bytes]]:
        """The paths of the rules that allow, and of the others."""
        by_kind = self._subject.by_kind
        return {
            allows: {record.value for record in by_kind[kind]}
            for allows, kind in ((True, Kind.ALLOW), (False, Kind.DISALLOW))
        }


def _smallest(start: int, old: bytes, new: bytes) -> Edit:
    """The shortest edit that makes *old*, at *start* in its body, to *new*."""
    shorter = min(len(old), len(new))
    same = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    tail = next((at for at in range(shorter - same) if old[-1 - at] != new[-1 - at]), shorter - same)
    return Edit(start + same, start + len(old) - tail, new[same : len(new) - tail])


FIXABLE: Final = frozenset({*Fixer.OF_RECORDS, *Fixer.OF_LINES})
"""The codes some of whose findings have a fix."""
