"""Proofs about the rules of a file: what may be shortened or removed without changing a verdict of any crawler."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cached_property
from typing import Final

from scrapy_rep.protocol import Kind, Record, Rule
from scrapy_rep.protocol.path_pattern import folder_of_index_page

from .subject import Subject

_STEPS: Final = 1_000_000  # comparisons with a rule, or with the start of a path; beyond them nothing is proved
_STEPS_OF_AN_OCTET: Final = 4
_LONGEST_PATH: Final = 2_000  # octets; to know all starts of longer ones takes too long
_WILDCARD: Final = re.compile(rb"[*$]")
_STARS: Final = re.compile(rb"\*{2,}")
_NO_RULE: Final = Rule(True, b"", 0)


class RuleProofs:
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
        shorter = _STARS.sub(b"*", record.value).rstrip(b"*") or b"/"
        allows = record.kind is Kind.ALLOW
        if shorter == record.value or shorter.endswith(b"$") or (allows and folder_of_index_page(record.value)):
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
