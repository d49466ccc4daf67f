"""RulePaths arranged so that a decision looks only at those that may match.

The longest match wins, so most rules need no look. Plain prefixes are sorted: bisection finds the
longest one that the path begins with, whatever their number. Any other rule is filed under the plain
prefix before its first wildcard, or else under its longest literal. What may match is tried from the
longest rule down, and the first that does match ends the search. The first decision walks over the rules:
an index pays from the second one on.

A decision takes time linear in the rules and in the path. Only where thousands of rules with wildcards can
be told from the path neither by an octet nor by a pair of them does it search the path for each.

Knows nothing of agents, groups and lines. A property test holds its answers equal to those of a walk
over all patterns.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, pairwise, product
from typing import Final

from .path_pattern import COMMON, compared, is_plain, matches, pieces_of, specificity
from .verdict import RulePaths, folders_of_index_pages, may_hold_patterns

# What a rule that is more than a prefix may start with instead of the two octets that the path does; "/%" for
# the escape of a letter.
_OTHER_STARTS: Final = (b"*", b"/*", b"/%")
_OF_ESCAPES: Final = b"0123456789ABCDEFabcdef"
_PERCENT: Final = ord("%")
_FEW: Final = 32  # patterns, or literals, that are looked at one by one
_MANY: Final = 256  # patterns of which no path of an honest site needs as many
_END: Final = 4  # octets at the end of a literal by which many are told apart

# Octets of memory, at most, measured with tracemalloc on CPython 3.11.
_OCTETS_EMPTY: Final = 1_024
_OCTETS_PER_PREFIX: Final = 84
_OCTETS_PER_POSITION: Final = 5
_OCTETS_PER_PATTERN: Final = 850
_COPIES_OF_PATTERN: Final = 4  # as written, as compared, its key and its pieces
_OCTETS_PER_PIECE: Final = 42

Numbered = tuple[int, bytes]
"""The position of a rule among all, first those that allow; and a pattern for it."""

Pieces = tuple[tuple[bytes, ...], bool]
"""The octets of a pattern between its wildcards, and whether it is anchored."""

Candidate = tuple[int, int, bytes, bytes]
"""What ranks a pattern that is more than a prefix, its negative length and its position; itself; its rule."""


def best_by_walk(
    allow: list[bytes], disallow: list[bytes], path: bytes, *, canonical_octets: bool
) -> bytes | None:
    """As `RuleIndex.best`, by a walk over the paths of the rules."""
    paths = allow + disallow
    prefixes = [rule for rule in paths if path.startswith(rule)]
    others: list[bytes] = []
    if may_hold_patterns(paths):
        prefixes = [rule for rule in prefixes if is_plain(rule)]
        starts = (b"",) if path[1:2].translate(None, COMMON) else (path[:2], *_OTHER_STARTS)
        others = [rule for rule in paths if rule.startswith(starts) and rule.translate(None, COMMON)]
        others = _without_octets(COMMON.translate(None, path), others)
    folders = _folders_of(allow, path) if path.endswith(b"/") else []
    best = max(prefixes, key=len) if prefixes else None
    if not others and not folders:
        return best
    numbered = [*enumerate(others)]
    if folders:  # and their positions are those among all
        positions = {rule: -number for number, rule in enumerate(reversed(paths), 1 - len(paths))}
        numbered = [(positions[rule], rule) for rule in others]
    candidates = _candidates(paths, numbered, folders, path if len(others) > _FEW else None, canonical_octets)
    return _strongest(best, candidates, path, {}, lambda best, other: paths.index(best) < paths.index(other[3]))


class RuleIndex:
    """The rules for one crawler; `best` finds the one that decides about a path."""

    __slots__ = (
        "_has_patterns",
        "_heads",
        "_literals",
        "_parents",
        "_pieces",
        "_plain",
        "_positions",
        "_prefixes",
        "octets",
        "rules",
    )

    def __init__(self, rules: RulePaths, *, canonical_octets: bool) -> None:
        self.rules = rules
        paths = rules.paths
        others: dict[bytes, int] = {}
        if may_hold_patterns(paths):
            for position, path in enumerate(paths):
                if path.translate(None, COMMON) and path not in others and not is_plain(path):
                    others[path] = position
        prefixes = _Prefixes({*paths}.difference(others))
        self._plain, self._parents = prefixes.keys, prefixes.parents
        heads: dict[bytes, list[Candidate]] = {}
        literals: dict[bytes, list[Candidate]] = {}
        numbered = [(position, path) for path, position in others.items()]
        folders = folders_of_index_pages(paths[: rules.count_of_allow])
        candidates = _candidates(paths, numbered, folders, None, canonical_octets)
        for candidate in candidates:
            pieces = pieces_of(candidate[2])
            if len(pieces[0]) > 1:
                heads.setdefault(pieces[0], []).append(candidate)
            else:
                literals.setdefault(max(pieces, key=len), []).append(candidate)
        self._heads = heads
        self._prefixes = _Prefixes(heads)
        self._literals = _Literals(literals) if literals else None
        self._has_patterns = bool(heads or literals)
        self._pieces: dict[bytes, Pieces] = {}
        self._positions: array[int] | None = None  # of the plain prefixes, from the first tie on
        self.octets = _most_octets(rules, len(self._plain), candidates)
        """The memory that this takes at most, however many paths it is asked about."""

    def best(self, path: bytes) -> bytes | None:
        """The path of the rule that decides about *path*, or None when none matches."""
        # Whatever is a prefix of the path is one of its predecessor in the sorted list, too.
        position = bisect_right(self._plain, path) - 1
        while position >= 0 and not path.startswith(self._plain[position]):
            position = self._parents[position]
        best = self._plain[position] if position >= 0 else None
        if not self._has_patterns:
            return best
        candidates = self._literals.candidates_for(path) if self._literals else []
        if self._heads:
            for head in self._prefixes.all(path):
                candidates += self._heads[head]
        if not candidates:
            return best
        if len(candidates) > 1:
            candidates.sort()
        return _strongest(best, candidates, path, self._pieces, self._precedes)

    def _precedes(self, plain: bytes, other: Candidate) -> bool:
        """Whether the rule *plain* comes before that of the candidate *other*."""
        if self._positions is None:
            paths = self.rules.paths
            positions = dict(zip(reversed(paths), range(len(paths) - 1, -1, -1), strict=True))
            self._positions = array("I", map(positions.__getitem__, self._plain))
        return self._positions[bisect_left(self._plain, plain)] < other[1]


def _most_octets(rules: RulePaths, prefixes: int, candidates: list[Candidate]) -> int:
    octets = _OCTETS_EMPTY + _OCTETS_PER_PREFIX * prefixes + 2 * rules.octets
    if candidates:
        octets += _OCTETS_PER_POSITION * prefixes
        pieces = len(candidates) + rules.allow.count(b"*") + rules.disallow.count(b"*")
        octets += _OCTETS_PER_PATTERN * len(candidates) + _OCTETS_PER_PIECE * pieces
        octets += _COPIES_OF_PATTERN * sum(len(pattern) for _, _, pattern, _ in candidates)
    return octets


class _Prefixes:
    """Which of some octet strings a path begins with."""

    __slots__ = ("keys", "parents")

    def __init__(self, keys: Iterable[bytes]) -> None:
        self.keys = keys = sorted(keys)
        self.parents = parents = [-1] * len(keys)  # the position of the longest other key that a key begins with
        for position in range(1, len(keys)):
            key, parent = keys[position], position - 1
            while parent >= 0 and not key.startswith(keys[parent]):
                parent = parents[parent]
            parents[position] = parent

    def all(self, path: bytes) -> list[bytes]:
        found = []
        position = bisect_right(self.keys, path) - 1
        while position >= 0:
            if path.startswith(self.keys[position]):
                found.append(self.keys[position])
            position = self.parents[position]
        return found


class _Literals:
    """The candidates by an octet string that is in whatever they match."""

    __slots__ = ("_by_end", "_few")

    def __init__(self, candidates: dict[bytes, list[Candidate]]) -> None:
        self._few = list(candidates.items())
        self._by_end: dict[bytes, list[tuple[bytes, list[Candidate]]]] = {}
        if len(self._few) > _FEW:
            for item in self._few:
                self._by_end.setdefault(item[0][-_END:], []).append(item)
            self._few = [item for end in [*self._by_end] if len(end) < _END for item in self._by_end.pop(end)]

    def candidates_for(self, path: bytes) -> list[Candidate]:
        """Those whose literal is in *path*."""
        find = path.find  # twice as fast as ``in``
        found = [each for literal, candidates in self._few if find(literal) >= 0 for each in candidates]
        if self._by_end:
            ends = self._by_end.keys() & {path[at : at + _END] for at in range(len(path) - _END + 1)}
            for literal, candidates in chain.from_iterable(map(self._by_end.__getitem__, ends)):
                if find(literal) >= 0:
                    found += candidates
        return found


def _without_octets(absent: bytes, rules: list[bytes]) -> list[bytes]:
    """*rules* without those that hold an octet *absent* from a path; an escape may stand for another one."""
    absent_from_escapes = absent.translate(None, _OF_ESCAPES)
    if len(rules) > _FEW:
        rules = [*dict.fromkeys(rules)]
    return [
        rule
        for rule in rules
        if len(rule.translate(None, absent_from_escapes if _PERCENT in rule else absent)) == len(rule)
    ]


def _folders_of(allow: list[bytes], path: bytes) -> list[Numbered]:
    """The folders that index pages stand for, without those that clearly are not *path*."""
    folders = folders_of_index_pages(allow)
    return [each for each in folders if each[1][:-1] == path or each[1].translate(None, COMMON) != b"$"]


def _candidates(
    paths: list[bytes], others: list[Numbered], folders: list[Numbered], path: bytes | None, canonical_octets: bool
) -> list[Candidate]:
    """The rules *others* among all *paths*, and the *folders*, the strongest first: the longest, then the first.

    Those of *others* that hold an octet that is not in *path* are left out, if one is given.
    """
    if not others and not folders:
        return []
    present = None if path is None else bytes({*path, *b"*$"})
    spellings = compared([rule for _, rule in others], canonical_octets=canonical_octets)
    candidates = [
        (-specificity(rule), position, pattern, rule)
        for (position, rule), pattern in zip(others, spellings, strict=True)
        if present is None or not pattern.translate(None, present)
    ]
    if folders:
        spellings = compared([folder for _, folder in folders], canonical_octets=canonical_octets)
        candidates += [
            (-specificity(folder), position, pattern, paths[position])
            for (position, folder), pattern in zip(folders, spellings, strict=True)
        ]
    candidates.sort()
    return candidates


def _strongest(
    best: bytes | None,
    candidates: list[Candidate],
    path: bytes,
    known: dict[bytes, Pieces],
    precedes: Callable[[bytes, Candidate], bool],
) -> bytes | None:
    """The strongest of *best*, a plain prefix of *path*, and the first of the *candidates* that matches.

    *known* keeps the pieces of the patterns that were tried; *precedes* is asked where two are equally long.
    """
    length = -1 if best is None else len(best)
    for candidate in _possible(candidates, path) if len(candidates) > _MANY else candidates:
        negative, _, pattern, rule = candidate
        if -negative < length:
            return best
        pieces = known.get(pattern)
        if pieces is None:
            pieces = known[pattern] = tuple(pieces_of(pattern)), pattern.endswith(b"$")
        if matches(*pieces, path):
            return best if -negative == length and best is not None and precedes(best, candidate) else rule
    return best


def _possible(candidates: list[Candidate], path: bytes) -> Iterator[Candidate]:
    """*candidates* without those that hold two octets side by side that *path* does not, or one too far behind.

    To look for a run of octets takes the product of its length and the path's at worst: thousands of those in a
    hostile body are told apart by what they cannot hold.
    """
    octets = {*path, *b"*$"}
    pairs = {*pairwise(path), *product(b"*$", octets), *product(octets, b"*$")}
    early = min({*path}.difference(b"*$"), key=path.rfind)  # the octet that is last seen before all others
    most = path.rfind(early)  # octets before it
    for candidate in candidates:
        pattern = candidate[2]
        before = pattern[: max(pattern.rfind(early), 0)]
        if len(before) - before.count(b"*") <= most and pairs.issuperset(pairwise(pattern)):
            yield candidate
