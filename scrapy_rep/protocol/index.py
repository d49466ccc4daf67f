"""Rules arranged so that a decision looks only at those that may match.

The longest match wins, so most rules need no look. Plain prefixes are sorted: bisection finds the
longest one that the path begins with, whatever their number. Any other rule is filed under the plain
prefix before its first wildcard, or else under its longest literal, and its pattern is made when the
path has that. The first decision walks over the rules: an index pays from the second one on.

Knows nothing of agents, groups and lines. A property test holds its answers equal to those of a walk
over all patterns.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final

from .pattern import COMMON, COMMON_OR_WILDCARD, Pattern, is_plain, specificity
from .rules import Rules

_ESCAPE: Final = re.compile(b"%[0-9A-Fa-f]{2}")
_COMMON_RUNS: Final = re.compile(b"%%[0-9A-Fa-f]{2}|[%s]+" % re.escape(COMMON))  # or an escape
_RUNS: Final = 4  # so many are looked for
# What a rule that is more than a prefix may start with instead of the two octets that the path does; "/%" for
# the escape of a letter.
_OTHER_STARTS: Final = (b"*", b"/*", b"/%")
_LONG: Final = 256
_FEW: Final = 32  # literals that are looked for one by one
_END: Final = 4  # octets at the end of a literal by which many are told apart

Candidate = tuple[bytes, bytes]
"""A pattern as written and the rule it stands for."""


def first_best(rules: Rules, path: bytes, *, canonical_octets: bool) -> bytes | None:
    """As `RuleIndex.best`, by a walk over *rules*."""
    paths = rules.paths
    prefixes = [rule for rule in paths if path.startswith(rule)]
    candidates: list[Candidate] = []
    if rules.has_patterns:
        prefixes = [rule for rule in prefixes if is_plain(rule)]
        starts = (b"",) if path[1:2].translate(None, COMMON) else (path[:2], *_OTHER_STARTS)
        others = [rule for rule in paths if rule.startswith(starts) and rule.translate(None, COMMON)]
        if len(path) > _LONG:
            others = _made_of(path, others)
        candidates += [(rule, rule) for rule in others if _may_match(rule, path)]
    if path.endswith(b"/"):
        candidates += rules.folders_of_index_pages()
    best = max(prefixes, key=len) if prefixes else None
    return _Choice(rules, canonical_octets).among(best, candidates, path) if candidates else best


class RuleIndex:
    """The rules for one crawler; `best` finds the one that decides about a path."""

    __slots__ = (
        "_among",
        "_by_literal",
        "_has_patterns",
        "_heads",
        "_literals",
        "_parents",
        "_plain",
        "_prefixes",
    )

    def __init__(self, rules: Rules, *, canonical_octets: bool) -> None:
        plain, patterns = _sorted_out(rules)
        prefixes = _Prefixes(plain)
        self._plain, self._parents = prefixes.keys, prefixes.parents
        self._has_patterns = bool(patterns)
        heads: dict[bytes, list[Candidate]] = {}
        literals: dict[bytes, list[Candidate]] = {}
        for candidate in patterns:
            pieces = _pieces(candidate[0], canonical_octets)
            if len(pieces[0]) > 1:
                heads.setdefault(pieces[0], []).append(candidate)
            else:
                literals.setdefault(max(pieces, key=len), []).append(candidate)
        self._heads = heads
        self._prefixes = _Prefixes(heads)
        self._literals = _Literals(literals) if literals else None
        self._by_literal = literals
        self._among = _Choice(rules, canonical_octets).among

    def best(self, path: bytes) -> bytes | None:
        """The path of the rule that decides about *path*, or None when none matches."""
        # Whatever is a prefix of the path is one of its predecessor in the sorted list, too.
        place = bisect_right(self._plain, path) - 1
        while place >= 0 and not path.startswith(self._plain[place]):
            place = self._parents[place]
        best = self._plain[place] if place >= 0 else None
        if not self._has_patterns:
            return best
        candidates: list[Candidate] = []
        if self._literals:
            for literal in self._literals.within(path):
                candidates += self._by_literal[literal]
        if self._heads:
            for head in self._prefixes.all(path):
                candidates += self._heads[head]
        return self._among(best, candidates, path) if candidates else best


class _Prefixes:
    """Which of some octet strings a path begins with."""

    __slots__ = ("keys", "parents")

    def __init__(self, keys: Iterable[bytes]) -> None:
        self.keys = keys = sorted(keys)
        self.parents = parents = [-1] * len(keys)  # the place of the longest other key that a key begins with
        for place in range(1, len(keys)):
            key, parent = keys[place], place - 1
            while parent >= 0 and not key.startswith(keys[parent]):
                parent = parents[parent]
            parents[place] = parent

    def all(self, path: bytes) -> list[bytes]:
        found = []
        place = bisect_right(self.keys, path) - 1
        while place >= 0:
            if path.startswith(self.keys[place]):
                found.append(self.keys[place])
            place = self.parents[place]
        return found


class _Literals:
    """Which of some octet strings are in a path."""

    __slots__ = ("_by_end", "_few")

    def __init__(self, literals: Iterable[bytes]) -> None:
        self._few = tuple(literals)
        self._by_end: dict[bytes, list[bytes]] = {}
        if len(self._few) > _FEW:
            for literal in self._few:
                self._by_end.setdefault(literal[-_END:], []).append(literal)
            self._few = tuple(end for end in self._by_end if len(end) < _END)

    def within(self, path: bytes) -> list[bytes]:
        found = [literal for literal in self._few if literal in path]
        if self._by_end:
            ends = self._by_end.keys() & {path[at : at + _END] for at in range(len(path) - _END + 1)}
            found += [literal for end in ends for literal in self._by_end[end] if literal in path]
        return found


def _sorted_out(rules: Rules) -> tuple[set[bytes], list[Candidate]]:
    """The rules that are plain prefixes, and the others; with them the folders that index pages stand for."""
    paths = set(rules.paths)
    patterns: list[Candidate] = []
    if rules.has_patterns:
        others = [path for path in paths if path.translate(None, COMMON) and not is_plain(path)]
        patterns += [(path, path) for path in others]
        paths.difference_update(others)
    patterns += rules.folders_of_index_pages()
    return paths, patterns


def _pieces(spelling: bytes, canonical_octets: bool) -> Sequence[bytes]:
    """The octets between the wildcards, without making a pattern where that is possible."""
    plain = spelling[:-1] if spelling.endswith(b"$") else spelling
    if plain.translate(None, COMMON_OR_WILDCARD):
        return Pattern.of(spelling, canonical_octets=canonical_octets).pieces
    return plain.split(b"*")


def _made_of(path: bytes, spellings: list[bytes]) -> list[bytes]:
    """*spellings* without those that clearly hold an octet that is not in *path*.

    To look for a run of octets in a long path can take microseconds, and a hostile body has thousands.
    """
    present = bytes({*path, *b"*$"})
    return [spelling for spelling in spellings if not _lacks(present, spelling)]


def _lacks(present: bytes, spelling: bytes) -> bool:
    """Whether *spelling* holds an octet that stands for itself and is not *present*."""
    itself = _ESCAPE.sub(b"", spelling) if b"%" in spelling else spelling
    missing = itself.translate(None, present)
    return len(missing.translate(None, COMMON)) < len(missing)


def _may_match(spelling: bytes, path: bytes) -> bool:
    """False when *path* clearly lacks octets that stand between wildcards, escapes and the like."""
    tail = spelling.rpartition(b"*")[2].rstrip(b"$")
    if tail not in path and not tail.translate(None, COMMON):
        return False
    runs = islice(_COMMON_RUNS.finditer(spelling), _RUNS)
    return all(run[0].startswith(b"%") or run[0] in path for run in runs)


class _Choice:
    """Chooses among rules; keeps the patterns it made."""

    __slots__ = ("_canonical_octets", "_patterns", "_rules")

    def __init__(self, rules: Rules, canonical_octets: bool) -> None:
        self._rules = rules
        self._canonical_octets = canonical_octets
        self._patterns: dict[bytes, Pattern] = {}

    def among(self, best: bytes | None, candidates: list[Candidate], path: bytes) -> bytes | None:
        """The longest of *best*, a plain prefix of *path*, and those *candidates* that match."""
        length = -1 if best is None else len(best)
        places: dict[bytes, int] = {}
        for spelling, rule in candidates:
            own = specificity(spelling)
            if own < length or not self._pattern(spelling).matches(path):
                continue
            if own == length and best is not None:
                places = places or self._rules.places
                if places[best] < places[rule]:
                    continue
            best, length = rule, own
        return best

    def _pattern(self, spelling: bytes) -> Pattern:
        pattern = self._patterns.get(spelling)
        if pattern is None:
            pattern = self._patterns[spelling] = Pattern.of(spelling, canonical_octets=self._canonical_octets)
        return pattern
