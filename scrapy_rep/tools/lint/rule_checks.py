"""Checks of the rules of a group against each other: duplicates, contradictions, rules that change no verdict.

A rule is reported as useless only when that is proved: whatever else the file says to the same crawlers, no
verdict changes without it, nor without all useless rules together. The work is bounded; beyond the bound
nothing is reported.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from scrapy_rep.protocol import Group, Rule
from scrapy_rep.protocol.path_pattern import Pattern, folder_of_index_page
from scrapy_rep.protocol.product_token import is_global, token_in

from .finding import Findings
from .subject import Subject, is_for_all

_SLASH: Final = frozenset({b"/", b""})
_EVERYBODY: Final = "all crawlers"
_STEPS: Final = 600_000  # comparisons of two rules in a file
_STEPS_OF_AN_OCTET: Final = 10  # as many as any of the 2,818 files of the corpus takes
_OCTETS_OF_A_STEP: Final = 64
_PIECES_OF_A_STEP: Final = 8


def check(subject: Subject, found: Findings) -> None:
    """Compare the rules in each group of *subject*."""
    groups = [group for group in subject.groups if len(group.rules) > 1]
    if groups:
        opponents = _Opponents(subject)
        for group in groups:
            _RuleComparison(group, opponents, found).check()
    _check_ties_of_all(subject, found)


def _check_ties_of_all(subject: Subject, found: Findings) -> None:
    """Report rules for all crawlers that contradict a rule for all in another group: such groups are merged."""
    groups = subject.groups_for_all
    if len(groups) < 2:
        return
    allowed = {rule.value: (rule, group) for group in groups for rule in group.rules if rule.allow and rule.value}
    for group in groups:
        for rule in group.rules:
            other, home = allowed.get(rule.value, (rule, group))
            if not rule.allow and home is not group and rule.value.strip(b"*") != b"/":  # see group-opens-site
                found.add("allow-disallow-tie", rule.line, 1, _EVERYBODY, str(other.line))


def _whom(group: Group) -> str:
    """The crawlers that *group* addresses."""
    if is_for_all(group):
        return _EVERYBODY
    first, *others = [agent.text for agent in group.agents]
    return f"{first} and others" if others else first


class _Weighed(NamedTuple):
    """A ``rule``, on ``line``, as the engine compares it; ``head`` is its path before the first wildcard.

    Of two rules with opposite verdicts that match a path the one with the higher ``rank`` wins: the more specific
    one, or else the one that allows.
    """

    rule: Rule
    line: int
    rank: int
    head: bytes
    pattern: Pattern

    @classmethod
    def of(cls, rule: Rule, pattern: Pattern) -> _Weighed:
        return cls(rule, rule.line, 2 * pattern.specificity + rule.allow, pattern.pieces[0], pattern)


class _Shape(NamedTuple):
    """A rule as a path that stands for all that it matches: ``path`` is its pattern with a NUL for each wildcard.

    ``longest`` is the longest part without one, and ``octets`` is the length of the shortest path that it matches.
    """

    weighed: _Weighed
    path: bytes
    longest: bytes
    octets: int

    @classmethod
    def of(cls, weighed: _Weighed) -> _Shape:
        pieces, anchored, _ = weighed.pattern
        path = b"\0".join(pieces) + (b"" if anchored else b"\0")
        return cls(weighed, path, max(pieces, key=len), len(path) - path.count(0))


class _Ranking(NamedTuple):
    """The rules with one verdict that may apply to some crawlers, the highest rank first: -rank, and the heads."""

    falling: list[int]
    heads: list[bytes]


class _Opponents:
    """The rules that may apply to the crawlers of a group: those of all groups linked to it by shared names.

    ``steps`` is the number of comparisons that are left for all of them.
    """

    def __init__(self, subject: Subject) -> None:
        self.steps = subject.steps(_STEPS_OF_AN_OCTET, _STEPS)
        self._roots: dict[bytes, bytes] = {}
        # Not by rule: equal ones have one hash, and a hostile file thousands.
        self.by_line: dict[int, _Weighed] = {}
        for group in subject.groups:
            root, *others = map(self._root, _names(group))
            for name in others:
                self._roots[self._root(name)] = root
        weighed: dict[bytes, tuple[list[_Weighed], list[_Weighed]]] = {}
        for group in subject.groups:
            both = weighed.setdefault(self._root(_names(group)[0]), ([], []))
            for rule in group.rules:
                if rule.value:
                    each = self.by_line[rule.line] = _Weighed.of(rule, subject.pattern(rule.value))
                    both[rule.allow].append(each)
                folder = folder_of_index_page(rule.value) if rule.allow else None
                if folder:  # an allowed index page also allows its folder
                    both[True].append(_Weighed.of(rule, subject.pattern(folder)))
        self._rankings = {root: tuple(map(_ranking, both)) for root, both in weighed.items()}

    def of(self, group: Group) -> tuple[_Ranking, ...]:
        """The rules for *group*: those that disallow, and those that allow."""
        return self._rankings[self._root(_names(group)[0])]

    def _root(self, name: bytes) -> bytes:
        while (parent := self._roots.setdefault(name, name)) != name:
            self._roots[name] = name = self._roots[parent]
        return name


def _ranking(rules: list[_Weighed]) -> _Ranking:
    rules.sort(key=lambda each: each.rank, reverse=True)
    return _Ranking([-each.rank for each in rules], [each.head for each in rules])


def _names(group: Group) -> list[bytes]:
    """All names under which *group* may be chosen."""
    found = []
    for agent in group.agents:
        value = agent.value
        found += [b"*"] if is_global(value) else [token_in(value, wide=wide).lower() for wide in (True, False)]
    return found


class _RuleComparison:
    """Compares the rules of one group with each other."""

    def __init__(self, group: Group, opponents: _Opponents, found: Findings) -> None:
        self._group = group
        self._opponents = opponents
        self._rankings = opponents.of(group)
        self._found = found
        self._left = len(group.rules)
        self._prefixes: dict[bytes, tuple[bytes, ...]] = {}
        self._shapes: dict[bytes, dict[int, _Shape]] = {}

    def check(self) -> None:
        weighed = self._check_duplicates()
        tied = self._check_ties(weighed)
        self._compare(weighed)
        for each in weighed:
            rule = each.rule
            if (
                each.line in tied
                or each.head[:1] not in _SLASH
                or (rule.allow and folder_of_index_page(rule.value))
            ):
                continue
            why = self._why_useless(each)
            if why and self._left > 1:
                self._shapes.get(each.head, {}).pop(each.line, None)
                self._add("useless-rule", rule, str(rule), why)

    def _compare(self, weighed: list[_Weighed]) -> None:
        """Find the heads that others begin with, and the shapes of the rules that have one of these."""
        by_head: dict[bytes, list[_Weighed]] = {}
        for each in weighed:
            by_head.setdefault(each.head, []).append(each)
        self._prefixes = _prefixes(by_head)
        shared = {head for heads in self._prefixes.values() if len(heads) > 1 for head in heads}
        self._shapes = {
            head: {each.line: _Shape.of(each) for each in rules}
            for head, rules in by_head.items()
            if len(rules) > 1 or head in shared
        }

    def _add(self, code: str, rule: Rule, *facts: str) -> None:
        self._left -= 1
        self._found.add(code, rule.line, 1, *facts)

    def _check_duplicates(self) -> list[_Weighed]:
        """Report duplicates; return the other rules, without empty ones."""
        first: dict[tuple[bool, bytes], Rule] = {}
        for rule in self._group.rules:
            known = first.setdefault((rule.allow, rule.value), rule)
            if known is not rule:
                self._add("duplicate-rule", rule, "", str(known.line))
        return [self._opponents.by_line[rule.line] for rule in first.values() if rule.value]

    def _check_ties(self, weighed: list[_Weighed]) -> set[int]:
        """Report rules that contradict another one of equal length; return the lines of both."""
        allowed = {each.pattern: each.rule for each in weighed if each.rule.allow}
        tied = set()
        for each in weighed if allowed else ():
            other = None if each.rule.allow else allowed.get(each.pattern)
            if other:
                self._found.add("allow-disallow-tie", each.line, 1, _whom(self._group), str(other.line))
                tied |= {each.line, other.line}
        return tied

    def _why_useless(self, rule: _Weighed) -> str:
        """Return why no verdict changes without *rule*, or an empty string when that is not proved.

        It is useless when a wider rule always wins over it, or has the same verdict and wins over the strongest
        opposite rule that *rule* wins over. An allow without such an opposite rule is useless too.
        """
        rank = self._strongest_below(rule)
        if rank == _UNKNOWN:
            return ""
        if rule.head not in self._shapes:  # as of most rules: no other one is wider
            self._opponents.steps -= 1
            return _NOTHING if rule.rule.allow and rank == _NONE else ""
        for other in self._wider(rule):
            if other.rule.allow is not rule.rule.allow:
                if other.rank > rule.rank:
                    return f"line {other.line}, {other.rule}, always wins over it"
            elif other.rank > rank:
                return f"line {other.line}, {other.rule}, already covers it"
        return _NOTHING if rule.rule.allow and rank == _NONE else ""

    def _strongest_below(self, rule: _Weighed) -> int:
        """The rank of the strongest opposite rule that *rule* wins over, of those that may meet it on a path."""
        head, (falling, heads) = rule.head, self._rankings[not rule.rule.allow]
        if not heads:
            return _NONE
        first = bisect_left(falling, -rule.rank)
        for at in range(first, len(heads)):
            if self._opponents.steps < at - first:
                break
            if head.startswith(heads[at]) or heads[at].startswith(head):
                return _UNKNOWN if self._is_too_much(at - first + 1) else -falling[at]
        return _UNKNOWN if first < len(heads) and self._is_too_much(len(heads) - first) else _NONE

    def _wider(self, rule: _Weighed) -> Iterator[_Weighed]:
        """Yield the other rules of the group that match every path that *rule* matches."""
        path = self._shapes[rule.head][rule.line].path
        for head in self._prefixes[rule.head]:
            shapes = self._shapes[head]
            if self._is_too_much(len(shapes)):
                return
            # What is cheap to know comes first: of most pairs neither covers the other. And `find`: ``in`` takes
            # octets for a number first, and makes an exception of what is none.
            length, find = len(path), path.find
            for shape in [each for each in shapes.values() if each.octets <= length and find(each.longest) >= 0]:
                other = shape.weighed
                if other is rule:
                    continue
                octets, pieces = length + len(shape.path), len(other.pattern.pieces)
                if self._is_too_much(1 + octets // _OCTETS_OF_A_STEP + pieces // _PIECES_OF_A_STEP):
                    return
                if other.pattern.matches(path):
                    yield other

    def _is_too_much(self, steps: int) -> bool:
        """Whether there are fewer *steps* left."""
        self._opponents.steps -= steps
        return self._opponents.steps < 0


_NOTHING: Final = "nothing that it matches is disallowed"
_NONE: Final = -1  # the rank of no rule, as all others are higher
_UNKNOWN: Final = -2


def _prefixes(heads: Iterable[bytes]) -> dict[bytes, tuple[bytes, ...]]:
    """For each of *heads* those that it begins with, the shortest first and itself last.

    The octets of a file bound them: a thousand that begin with each other take half a million.
    """
    found: dict[bytes, tuple[bytes, ...]] = {}
    known: tuple[bytes, ...] = ()
    for head in sorted(heads):
        while known and not head.startswith(known[-1]):
            known = known[:-1]
        known = found[head] = (*known, head)
    return found
