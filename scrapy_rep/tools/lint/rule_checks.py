"""Checks of the rules of a group against each other: duplicates, contradictions, rules that change no verdict.

A rule is reported as useless only when that is proved: whatever else the file says to the same crawlers, no
verdict changes without it, nor without all useless rules together. The work is bounded; beyond the bound
nothing is reported.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, NamedTuple

from scrapy_rep.protocol import Group, Rule
from scrapy_rep.protocol.path_pattern import Pattern, folder_of_index_page
from scrapy_rep.protocol.product_token import is_global, token_in

from .finding import Code, Findings, Severity
from .subject import Subject, is_for_all

CODES: Final[dict[str, Code]] = {
    "allow-disallow-tie": Code(
        Severity.WARNING,
        "Allow and Disallow of the same path",
        "Line {1} allows {0} what this line disallows; for Google the Allow wins, others use the first rule.",
        "Keep the rule that you mean.",
    ),
    "duplicate-rule": Code(
        Severity.OPTIMISE,
        "Duplicate rule",
        "Line {1} of this group is the same rule.",
        "Remove this line.",
    ),
    "useless-rule": Code(
        Severity.OPTIMISE,
        "Useless rule",
        "{0} changes no verdict: {1}.",
        "Remove this line.",
    ),
}

_EVERYBODY: Final = "all crawlers"
_STEPS: Final = 600_000  # comparisons of two rules in a file
_STEPS_OF_AN_OCTET: Final = 10  # as many as any of the 2,818 files of the corpus takes
_OCTETS_OF_A_STEP: Final = 64
_PIECES_OF_A_STEP: Final = 8


def check(subject: Subject, found: Findings) -> None:
    """Compare the rules in each group of *subject*."""
    work = _Work(subject.steps(_STEPS_OF_AN_OCTET, _STEPS))
    opponents = _Opponents(subject)
    for group in subject.groups:
        if len(group.rules) > 1:
            _Comparison(group, opponents, found, work).check()
    _check_ties_of_all(subject, found)


def _check_ties_of_all(subject: Subject, found: Findings) -> None:
    """Report rules for all crawlers that contradict a rule for all in another group: such groups are merged."""
    groups = [group for group in subject.groups if is_for_all(group)]
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
    """A rule as the engine compares it.

    ``shape`` is its pattern with a NUL for each wildcard, ``head`` is the part before the first wildcard,
    ``longest`` is the longest part without one, and ``octets`` is the length of the shortest path that it matches.
    """

    rule: Rule
    pattern: Pattern
    shape: bytes
    head: bytes
    longest: bytes
    octets: int

    @classmethod
    def of(cls, rule: Rule, spelling: bytes, *, canonical: bool) -> _Weighed:
        pattern = Pattern.of(spelling, canonical_octets=canonical)
        shape = b"\0".join(pattern.pieces) + (b"" if pattern.anchored else b"\0")
        pieces = pattern.pieces
        return cls(rule, pattern, shape, pieces[0], max(pieces, key=len), len(shape) - shape.count(0))

    def beats(self, other: _Weighed) -> bool:
        """Whether it wins over *other*, a rule with the opposite verdict, on a path that both match."""
        mine, others = self.pattern.specificity, other.pattern.specificity
        return mine > others or (mine == others and self.rule.allow)

    def may_meet(self, other: _Weighed) -> bool:
        """Whether a path may exist that both match."""
        return self.head.startswith(other.head) or other.head.startswith(self.head)


class _Work:
    """The number of steps that are left."""

    def __init__(self, steps: int) -> None:
        self._left = steps

    def is_too_much(self, steps: int = 1, octets: int = 0, pieces: int = 0) -> bool:
        self._left -= steps + octets // _OCTETS_OF_A_STEP + pieces // _PIECES_OF_A_STEP
        return self._left < 0


class _Opponents:
    """The rules that may apply to the crawlers of a group: those of all groups linked to it by shared names."""

    def __init__(self, subject: Subject) -> None:
        self.canonical = subject.dialect.canonical_octets
        self._roots: dict[bytes, bytes] = {}
        self._weighed: dict[bytes, dict[bool, list[_Weighed]]] = {}
        self.by_line: dict[
            int, _Weighed
        ] = {}  # not by rule: equal ones have one hash, and a hostile file thousands
        for group in subject.groups:
            root, *others = map(self._root, _names(group))
            for name in others:
                self._roots[self._root(name)] = root
        for group in subject.groups:
            both = self._weighed.setdefault(self._root(_names(group)[0]), {True: [], False: []})
            for rule in group.rules:
                both[rule.allow] += self._patterns(rule)
        for both in self._weighed.values():
            for rules in both.values():
                rules.sort(key=lambda each: each.pattern.specificity, reverse=True)

    def of(self, group: Group) -> dict[bool, list[_Weighed]]:
        """The rules for *group* by whether they allow, the most specific first."""
        return self._weighed[self._root(_names(group)[0])]

    def _patterns(self, rule: Rule) -> Iterator[_Weighed]:
        """The patterns of *rule*: an allowed index page also allows its folder."""
        if rule.value:
            weighed = self.by_line[rule.line] = _Weighed.of(rule, rule.value, canonical=self.canonical)
            yield weighed
        for folder in _folders(rule):
            yield _Weighed.of(rule, folder, canonical=self.canonical)

    def _root(self, name: bytes) -> bytes:
        while (parent := self._roots.setdefault(name, name)) != name:
            self._roots[name] = name = self._roots[parent]
        return name


def _names(group: Group) -> list[bytes]:
    """All names under which *group* may be chosen."""
    found = []
    for agent in group.agents:
        value = agent.value
        found += [b"*"] if is_global(value) else [token_in(value, wide=wide).lower() for wide in (True, False)]
    return found


def _folders(rule: Rule) -> list[bytes]:
    folder = folder_of_index_page(rule.value) if rule.allow else None
    return [folder] if folder else []


class _Comparison:
    """Compares the rules of one group with each other."""

    def __init__(self, group: Group, opponents: _Opponents, found: Findings, work: _Work) -> None:
        self._group = group
        self._by_line = opponents.by_line
        self._opponents = opponents.of(group)
        self._found = found
        self._work = work
        self._left = len(group.rules)
        self._by_head: dict[bytes, dict[int, _Weighed]] = {}  # and by line, for removal
        self._prefixes: dict[bytes, tuple[bytes, ...]] = {}

    def check(self) -> None:
        weighed = self._check_duplicates()
        tied = self._check_ties(weighed)
        for each in weighed:
            self._by_head.setdefault(each.head, {})[each.rule.line] = each
        self._prefixes = _prefixes(self._by_head)
        for each in weighed:
            if each.rule.line not in tied and each.head[:1] in b"/" and not _folders(each.rule):
                why = self._why_useless(each)
                if why and self._left > 1:
                    del self._by_head[each.head][each.rule.line]
                    self._add("useless-rule", each.rule, str(each.rule), why)

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
        return [self._by_line[rule.line] for rule in first.values() if rule.value]

    def _check_ties(self, weighed: list[_Weighed]) -> set[int]:
        """Report rules that contradict another one of equal length; return the lines of both."""
        allowed = {each.pattern: each.rule for each in weighed if each.rule.allow}
        tied = set()
        for each in weighed:
            other = None if each.rule.allow else allowed.get(each.pattern)
            if other:
                self._found.add("allow-disallow-tie", each.rule.line, 1, _whom(self._group), str(other.line))
                tied |= {each.rule.line, other.line}
        return tied

    def _why_useless(self, rule: _Weighed) -> str:
        """Return why no verdict changes without *rule*, or an empty string when that is not proved.

        It is useless when a wider rule always wins over it, or has the same verdict and wins over the strongest
        opposite rule that *rule* wins over. An allow without such an opposite rule is useless too.
        """
        strongest = self._strongest_below(rule)
        if strongest is _UNKNOWN:
            return ""
        for other in self._wider(rule):
            if other.rule.allow is not rule.rule.allow:
                if other.beats(rule):
                    return f"line {other.rule.line}, {other.rule}, always wins over it"
            elif strongest is None or other.beats(strongest):
                return f"line {other.rule.line}, {other.rule}, already covers it"
        if rule.rule.allow and strongest is None:
            return "nothing that it matches is disallowed"
        return ""

    def _strongest_below(self, rule: _Weighed) -> _Weighed | None:
        """The strongest opposite rule that *rule* wins over, among those that may match the same paths."""
        others = self._opponents[not rule.rule.allow]
        first = bisect_left(others, True, key=lambda other: not other.beats(rule))
        for other in islice(others, first, None):
            if self._work.is_too_much():
                return _UNKNOWN
            if other.may_meet(rule):
                return other
        return None

    def _wider(self, rule: _Weighed) -> Iterator[_Weighed]:
        """Yield the other rules of the group that match every path that *rule* matches."""
        shape, octets = rule.shape, len(rule.shape)
        for head in self._prefixes[rule.head]:
            others = self._by_head[head].values()
            if self._work.is_too_much(len(others)):
                return
            # What is cheap to know comes first: of most pairs neither covers the other.
            for other in [each for each in others if each.octets <= octets and each.longest in shape]:
                if other is rule:
                    continue
                if self._work.is_too_much(1, octets + len(other.shape), len(other.pattern.pieces)):
                    return
                if other.pattern.matches(shape):
                    yield other


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


_UNKNOWN: Final = _Weighed(Rule(True, b"", 0), Pattern((b"",), False, 0), b"", b"", b"", 0)
