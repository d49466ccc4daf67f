"""What one robots.txt says to one crawler, as any dialect reads it: RFC 9309 section 2.2.

Which groups count, and which of their rules decides about a path. `_speedups.Rules` does the same faster for
Google's dialects; tests hold the two to the same answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import chain
from typing import Final, NamedTuple

from .dialect import Delay, Dialect, EmptyRule, GroupChoice, Precedence, Star
from .display import StringEnum
from .path_pattern import Pattern, compared_path, patterns_of
from .product_token import IsNamedBy, agent_matcher, is_global, name_in
from .reader import Group, extensions_for, groups_in, lines_in, records_in
from .records import Kind, Record, Rule


class Reason(StringEnum):
    """Why a verdict is what it is; each is a string, so that it compares with text and exports to JSON."""

    RULE = "rule"
    NO_RULE = "no rule"
    ROBOTS_TXT = "/robots.txt itself"
    UNAVAILABLE = "unavailable"
    UNREACHABLE = "unreachable"
    CRAWL_DELAY = "crawl-delay"
    VISIT_TIME = "visit-time"
    """Only in audit logs and stamps of 1.0.0rc1: Visit-time forbids nothing any more."""
    AI_SIGNAL = "ai-signal"
    REFUSED = "refused"


class Verdict(NamedTuple):
    """Whether a URL may be crawled, the rule that decided (or None) and the reason."""

    allowed: bool
    rule: Rule | None
    reason: Reason

    @property
    def line(self) -> int:
        """The line of the rule that decided, counted from 1; 0 when none did."""
        return self.rule.line if self.rule else 0


ROBOTS_TXT: Final = b"/robots.txt"

NO_RULE: Final = Verdict(allowed=True, rule=None, reason=Reason.NO_RULE)
ROBOTS_TXT_ITSELF: Final = Verdict(allowed=True, rule=None, reason=Reason.ROBOTS_TXT)


class Candidate(NamedTuple):
    """A rule and a pattern that stands for it; ``allows`` is what it means for a path that the pattern matches."""

    rule: Rule
    pattern: Pattern
    allows: bool


class Rules:
    """What *body* says to the crawler called *name* in *dialect*."""

    def __init__(self, body: bytes, name: str, dialect: Dialect) -> None:
        self._body = body
        self._dialect = dialect
        groups = list(groups_in(lines_in(body, dialect), dialect.closing_kinds))
        chosen = _CHOICES[dialect.group_choice]
        own = chosen(_addressing(groups, agent_matcher(name, dialect)))
        general = chosen(_addressing(groups, is_global))
        self.by_name = bool(own)
        """Whether a user-agent line names the crawler."""
        self._layers = _LAYERS[dialect.star](own, general)

    @cached_property
    def agents(self) -> tuple[Record, ...]:
        """The user-agent lines that address the crawler."""
        found = {agent.line: agent for group in chain(*self._layers) for agent in group.agents}
        return tuple(found[line] for line in sorted(found))

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that may decide, in the order of their lines."""
        return tuple(_rules_of(chain(*self._layers)))

    @cached_property
    def _candidates(self) -> list[Candidate]:
        """The candidates of all layers, the strongest first."""
        layers = [_candidates(_rules_of(layer), self._dialect) for layer in self._layers]
        if self._dialect.precedence is Precedence.LONGEST:  # among equals, the first line
            layers = [sorted(layer, key=_weakness) for layer in layers]
        return [*chain(*layers)]

    def matches(self, path: bytes) -> list[Candidate]:
        """The rules that match *path*, an answer of `path_of` for the dialect, the strongest first."""
        compared = compared_path(path, self._dialect)
        found: dict[int, Candidate] = {}
        for each in self._candidates:
            if each.pattern.matches(compared):
                found.setdefault(each.rule.line, each)
        return list(found.values())

    def verdict(self, path: bytes) -> Verdict:
        """The verdict on *path*, an answer of `path_of` for the dialect."""
        dialect = self._dialect
        compared = path if dialect.is_googles else compared_path(path, dialect)
        name = compared.lower() if dialect.robots_txt_any_case else compared
        if name == ROBOTS_TXT and dialect.robots_txt_allowed:
            return ROBOTS_TXT_ITSELF
        # The first candidate that matches.
        candidates, (prefixes, ranks, others) = self._candidates, self._by_shape
        found = len(candidates)
        if compared.startswith(prefixes):  # 8 ns for each, where a step of this language takes 40
            found = ranks[next(filter(compared.startswith, prefixes))]
        find = compared.find  # twice as fast as ``in``, which takes octets for a number first
        for rank, literal in others:
            if rank > found:
                break
            if find(literal) >= 0 and candidates[rank].pattern.matches(compared):
                found = rank
                break
        if found == len(candidates):
            return NO_RULE
        rule, _, allows = candidates[found]
        return Verdict(allows, rule, Reason.RULE)

    @cached_property
    def _by_shape(self) -> tuple[tuple[bytes, ...], dict[bytes, int], list[tuple[int, bytes]]]:
        """The candidates that are mere prefixes, the strongest first, and their ranks among all.

        And the ranks of the others, with the longest piece of each.
        """
        ranks: dict[bytes, int] = {}
        others: list[tuple[int, bytes]] = []
        for rank, (_, (pieces, anchored, _), _) in enumerate(self._candidates):
            if anchored or len(pieces) > 1:
                others.append((rank, max(pieces, key=len)))
            else:
                ranks.setdefault(pieces[0], rank)
        return tuple(ranks), ranks, others

    @cached_property
    def extensions(self) -> tuple[Record, ...]:
        """The other records that apply to the crawler."""
        lines = {agent.line for agent in self.agents}
        return tuple(extensions_for(self._records(), lambda agent: agent.line in lines))

    @property
    def delays(self) -> tuple[Record, ...]:
        """The Crawl-delay records that count for the crawler; the last readable one applies."""
        counts = self._dialect.delay
        if counts is Delay.NONE:
            return ()
        if counts is Delay.LAST_IN_FILE:
            return tuple(each for each in delays_in(self._records()) if each.value.isdigit())
        own = delays_in(self.extensions)
        if own or counts is Delay.OF_GROUP:
            return own
        return delays_in(extensions_for(self._records(), lambda agent: is_global(agent.value)))

    def _records(self) -> Iterator[Record]:
        return records_in(self._body, self._dialect)


_Layer = list[Group]


def _addressing(groups: Iterable[Group], is_for: IsNamedBy) -> _Layer:
    """The *groups* that address a crawler, each with none but those of its user-agent lines that do."""
    found = (Group(tuple(each for each in agents if is_for(each.value)), rules) for agents, rules in groups)
    return [group for group in found if group.agents]


def _rules_of(groups: Iterable[Group]) -> list[Rule]:
    """The rules of *groups*, each once, in the order of their lines."""
    found = {rule.line: rule for group in groups for rule in group.rules}
    return [found[line] for line in sorted(found)]


def _longest_name(groups: _Layer) -> _Layer:
    lengths = [max(len(name_in(agent.value)) for agent in group.agents) for group in groups]
    longest = max(lengths, default=0)
    return [group for group, length in zip(groups, lengths, strict=True) if length == longest]


_CHOICES: Final[dict[GroupChoice, Callable[[_Layer], _Layer]]] = {
    GroupChoice.ALL: lambda groups: groups,
    GroupChoice.FIRST: lambda groups: groups[:1],
    GroupChoice.LONGEST_NAME: _longest_name,
}

# From the groups that name a crawler and those of "*" to layers of groups: if no rule of a layer matches, the
# next one decides.
_LAYERS: Final[dict[Star, Callable[[_Layer, _Layer], list[_Layer]]]] = {
    Star.NOT_NAMED: lambda own, general: [own or general],
    Star.NO_MATCH: lambda own, general: [own, general],
    Star.ALWAYS: lambda own, general: [own + general],
}


def _candidates(rules: Iterable[Rule], dialect: Dialect) -> list[Candidate]:
    """The candidates in the order of their lines."""
    found = []
    for rule in rules:
        allow, value, _ = rule
        if value:
            for pattern in patterns_of(value, allow, dialect):
                found.append(Candidate(rule, pattern, allow))  # noqa: PERF401  # a comprehension for each is slower
            continue
        meaning = dialect.empty_allow if allow else dialect.empty_disallow
        if meaning is not EmptyRule.IGNORED:
            found.append(Candidate(rule, _EMPTY, meaning is EmptyRule.ALLOWS))
    return found


def _weakness(candidate: Candidate) -> int:
    """By pattern, then by what it means, then by what is written: twice four is more than all of these."""
    rule, (_, _, specificity), allows = candidate
    return -4 * specificity - 2 * allows - rule.allow


_EMPTY: Final = Pattern((b"",), anchored=False, specificity=0)


def delays_in(records: Iterable[Record]) -> tuple[Record, ...]:
    """Those of *records* that are Crawl-delays."""
    return tuple(record for record in records if record.kind is Kind.CRAWL_DELAY)
