"""The rules of one robots.txt for one crawler, in any dialect: RFC 9309 section 2.2.

Chooses the groups that apply, and the rule that decides for a path. `_speedups.Rules` does the same faster for
Google's dialects; tests require the same answers from both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import chain
from typing import Final, NamedTuple

from .dialect import Delay, Dialect, EmptyRule, GroupChoice, Precedence, Star
from .display import StringEnum
from .path_pattern import COMMON, Pattern, compared_path, patterns_of
from .product_token import IsNamedBy, agent_matcher, is_global, name_in
from .reader import Line, Run, extensions_for, lines_in, records_in, rule_of, runs_in
from .records import Kind, Record, Rule


class Reason(StringEnum):
    """The reason for a verdict. Members are strings, which compare with text and export to JSON."""

    RULE = "rule"
    NO_RULE = "no rule"
    ROBOTS_TXT = "/robots.txt itself"
    UNAVAILABLE = "unavailable"
    UNREACHABLE = "unreachable"
    CRAWL_DELAY = "crawl-delay"
    VISIT_TIME = "visit-time"
    """Only in audit logs and stamps of 1.0.0rc1: Visit-time no longer disallows anything."""
    AI_SIGNAL = "ai-signal"
    REFUSED = "refused"


class Verdict(NamedTuple):
    """Whether a URL may be crawled, the rule that decided (or None), and the reason."""

    allowed: bool
    rule: Rule | None
    reason: Reason

    @property
    def line(self) -> int:
        """The line of the rule that decided, counted from 1; 0 if no rule did."""
        return self.rule.line if self.rule else 0


_new: Final = tuple.__new__  # takes a third of the time of calling a NamedTuple
_ALLOW, _BY_RULE, _LONGEST = Kind.ALLOW, Reason.RULE, Precedence.LONGEST  # in CPython 3.11, access is a call

ROBOTS_TXT: Final = b"/robots.txt"

NO_RULE: Final = Verdict(allowed=True, rule=None, reason=Reason.NO_RULE)
ROBOTS_TXT_ITSELF: Final = Verdict(allowed=True, rule=None, reason=Reason.ROBOTS_TXT)


def verdict_by(allow: bool, value: bytes, line: int) -> Verdict:
    """The verdict of a rule in Google's dialects, where an empty rule matches but disallows nothing."""
    return _new(Verdict, (allow or not value, _new(Rule, (allow, value, line)), _BY_RULE))


class Rules:
    """The rules in *body* for the crawler *name* in *dialect*."""

    def __init__(self, body: bytes, name: str, dialect: Dialect) -> None:
        self._body = body
        self._dialect = dialect
        own, general = _addressing(body, agent_matcher(name, dialect), dialect)
        chosen = _CHOICES[dialect.group_choice]
        self.by_name = bool(own)
        """Whether a user-agent line names the crawler."""
        self._layers = _LAYERS[dialect.star](chosen(own), chosen(general))
        self._judges: list[_Judge] = []  # one per layer; empty until the first verdict

    @cached_property
    def agents(self) -> tuple[Record, ...]:
        """The user-agent lines that apply to the crawler."""
        found = {agent[0]: agent for agents, _ in chain(*self._layers) for agent in agents}
        return tuple(Record(*found[line]) for line in sorted(found))

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that may decide, in line order."""
        return tuple(map(rule_of, _lines_of([*chain(*self._layers)])))

    def matches(self, path: bytes) -> list[tuple[Rule, int]]:
        """The rules that match *path*, a result of `path_of`, with their specificity; strongest first."""
        compared = compared_path(path, self._dialect)
        found: dict[int, tuple[Rule, int]] = {}
        for (_, _, line), pattern in self._candidates:
            if line[0] not in found and pattern.matches(compared):
                found[line[0]] = rule_of(line), pattern.specificity
        return list(found.values())

    @cached_property
    def _candidates(self) -> list[_Candidate]:
        """The candidates of all layers, strongest first."""
        layers = ([_candidates(line, self._dialect) for line in _lines_of(layer)] for layer in self._layers)
        return [*chain(*(sorted(chain(*layer)) for layer in layers))]

    def verdict(self, path: bytes) -> Verdict:
        """The verdict on *path*, a result of `path_of` for the dialect."""
        dialect = self._dialect
        compared = path if dialect.is_googles else compared_path(path, dialect)
        name = compared.lower() if dialect.robots_txt_any_case else compared
        if name == ROBOTS_TXT and dialect.robots_txt_allowed:
            return ROBOTS_TXT_ITSELF
        self._judges = self._judges or [_Judge(_lines_of(layer), dialect) for layer in self._layers]
        for judge in self._judges:
            found = judge.decide(compared)
            if found:
                _, allows, line = found
                return _new(Verdict, (allows, rule_of(line), _BY_RULE))
        return NO_RULE

    @cached_property
    def extensions(self) -> tuple[Record, ...]:
        """The extension records that apply to the crawler."""
        lines = {agent.line for agent in self.agents}
        return tuple(extensions_for(self._records(), lambda agent: agent.line in lines))

    @property
    def delays(self) -> tuple[Record, ...]:
        """The Crawl-delay records for the crawler; the last readable record applies."""
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


_Layer = list[Run]
_Ranked = tuple[int, bool, Line]
"""A rule's rank (the lowest rank that matches decides), whether it allows, and its line."""
_Candidate = tuple[_Ranked, Pattern]


class _Judge:
    """Decides by the rules of one layer.

    ``_by_prefix`` holds the patterns that are plain prefixes, ``_by_literal`` the rest by their longest piece.
    """

    __slots__ = ("_by_literal", "_by_prefix", "_prefixes")

    def __init__(self, lines: Iterable[Line], dialect: Dialect) -> None:
        self._by_prefix: dict[bytes, _Ranked] = {}
        self._by_literal: dict[bytes, list[_Candidate]] = {}
        is_googles, by_prefix = dialect.is_googles, self._by_prefix
        for line in lines:
            number, kind, _, value = line
            if is_googles and value and not value.translate(None, COMMON) and b"index.htm" not in value:
                allow = kind is _ALLOW  # nearly every rule; `_candidates` is equivalent, in four times the time
                ranked = number - (4 * len(value) + 3 * allow << 32), allow, line
                if ranked <= by_prefix.get(value, ranked):
                    by_prefix[value] = ranked
                continue
            for candidate in _candidates(line, dialect):
                ranked, (pieces, anchored, _) = candidate
                if anchored or len(pieces) > 1:
                    self._by_literal.setdefault(max(pieces, key=len), []).append(candidate)
                elif ranked <= by_prefix.get(pieces[0], ranked):
                    by_prefix[pieces[0]] = ranked
        self._prefixes = tuple(by_prefix)

    def decide(self, path: bytes) -> _Ranked | None:
        """The rule that decides for *path*, with its rank, or None if no rule matches."""
        best = None
        if path.startswith(self._prefixes):  # 8 ns per prefix, where a step of Python takes 40 ns
            best = min(map(self._by_prefix.__getitem__, filter(path.startswith, self._prefixes)))
        literals = self._by_literal
        for literal in filter(path.count, literals) if literals else ():  # `in` would first try bytes as a number
            for ranked, pattern in literals[literal]:
                if (best is None or ranked < best) and pattern.matches(path):
                    best = ranked
        return best


def _candidates(line: Line, dialect: Dialect) -> list[_Candidate]:
    """The candidates of the rule on *line*."""
    number, kind, _, value = line
    allow = kind is _ALLOW
    if value:
        patterns, allows = patterns_of(value, allow, dialect), allow
    else:
        meaning = dialect.empty_allow if allow else dialect.empty_disallow
        patterns, allows = [_EMPTY] * (meaning is not EmptyRule.IGNORED), meaning is EmptyRule.ALLOWS
    if dialect.precedence is not _LONGEST:
        return [((number, allows, line), pattern) for pattern in patterns]
    meant = 2 * allows + allow  # rank by pattern times four, more than both bits; by effect; by key; by line
    return [((number - (4 * each.specificity + meant << 32), allows, line), each) for each in patterns]


def _addressing(body: bytes, is_for: IsNamedBy, dialect: Dialect) -> tuple[_Layer, _Layer]:
    """The groups that name a crawler, and the groups of ``*``, each with only the user-agent lines that do."""
    own, general = _Layer(), _Layer()
    for agents, rules in runs_in(lines_in(body, dialect), dialect.closing_kinds):
        if named := [agent for agent in agents if is_for(agent[3])]:
            own.append((named, rules))
        if of_all := [agent for agent in agents if is_global(agent[3])]:
            general.append((of_all, rules))
    return own, general


def _lines_of(layer: _Layer) -> list[Line]:
    """The lines of the rules in *layer*, in order, without duplicates."""
    if len(layer) == 1:
        return layer[0][1]
    found = {line[0]: line for _, rules in layer for line in rules}
    return [found[number] for number in sorted(found)]


def _longest_name(groups: _Layer) -> _Layer:
    lengths = [max(len(name_in(agent[3])) for agent in agents) for agents, _ in groups]
    longest = max(lengths, default=0)
    return [group for group, length in zip(groups, lengths, strict=True) if length == longest]


_CHOICES: Final[dict[GroupChoice, Callable[[_Layer], _Layer]]] = {
    GroupChoice.ALL: lambda groups: groups,
    GroupChoice.FIRST: lambda groups: groups[:1],
    GroupChoice.LONGEST_NAME: _longest_name,
}

# From the groups that name a crawler and the groups of "*" to layers: if no rule of a layer matches, the next
# layer decides.
_LAYERS: Final[dict[Star, Callable[[_Layer, _Layer], list[_Layer]]]] = {
    Star.NOT_NAMED: lambda own, general: [own or general],
    Star.NO_MATCH: lambda own, general: [own, general],
    Star.ALWAYS: lambda own, general: [own + general],
}

_EMPTY: Final = Pattern((b"",), anchored=False, specificity=0)


def delays_in(records: Iterable[Record]) -> tuple[Record, ...]:
    """The Crawl-delay records among *records*."""
    return tuple(record for record in records if record.kind is Kind.CRAWL_DELAY)
