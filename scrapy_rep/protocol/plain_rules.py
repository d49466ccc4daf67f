"""What one robots.txt says to one crawler, as any dialect reads it: the plain way.

Each question about a path tries all rules, the strongest first. That is slow, and answers for every dialect;
Google's have `CrawlerRules` too, whose answers are tested to be the same. Knows nothing of lines that are no
records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import chain
from typing import Final, NamedTuple

from .agent_match import agent_matcher, named_octets
from .dialect import Delay, Dialect, EmptyRule, GroupChoice, Precedence, Star
from .other_records import extensions_for
from .path_pattern import Pattern
from .plain_pattern import compared_path, patterns_of
from .plain_reader import Group, PlainReader
from .product_token import is_global
from .records import Kind, Record
from .verdict import Reason, Rule, Verdict

_ROBOTS_TXT: Final = b"/robots.txt"

# At most, measured with tracemalloc on CPython 3.11.
_OCTETS_EMPTY: Final = 4_096
_OCTETS_PER_AGENT: Final = 400
_OCTETS_PER_RULE: Final = 1_000
_OCTETS_PER_PIECE: Final = 60
_COPIES_OF_PATH: Final = 4

IsFor = Callable[[Record], bool]
"""Whether a user-agent line addresses a crawler."""


class Candidate(NamedTuple):
    """A rule and a pattern that stands for it; ``allows`` is what it means for a path that the pattern matches."""

    rule: Rule
    pattern: Pattern
    allows: bool


class PlainRules:
    """What the body of *reader* says to the crawler called *name*, in the dialect of the reader."""

    def __init__(self, reader: PlainReader, name: str) -> None:
        dialect = reader.dialect
        self.dialect = dialect
        self._reader = reader
        groups = list(reader.groups())
        is_named_by = agent_matcher(name, dialect)
        own = _CHOICES[dialect.group_choice](_addressing(groups, is_named_by))
        general = _CHOICES[dialect.group_choice](_addressing(groups, _is_for_all))
        self.by_name = bool(own)
        """Whether a user-agent line names the crawler."""
        self._layers = _LAYERS[dialect.star](own, general)

    @cached_property
    def agents(self) -> tuple[Record, ...]:
        """The user-agent lines that address the crawler."""
        found = {agent.line: agent for _, agents in chain(*self._layers) for agent in agents}
        return tuple(found[line] for line in sorted(found))

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that may decide, in the order of their lines."""
        return tuple(_rules_of(chain(*self._layers)))

    def matches(self, path: bytes) -> list[Candidate]:
        """The rules that match *path*, an answer of `path_of` for the dialect, the strongest first."""
        compared = compared_path(path, self.dialect)
        found: dict[int, Candidate] = {}
        for each in self._candidates:
            if each.pattern.matches(compared):
                found.setdefault(each.rule.line, each)
        return list(found.values())

    def verdict(self, path: bytes) -> Verdict:
        """The verdict on *path*, an answer of `path_of` for the dialect."""
        compared, dialect = compared_path(path, self.dialect), self.dialect
        name = compared.lower() if dialect.robots_txt_any_case else compared
        if name == _ROBOTS_TXT and dialect.robots_txt_allowed:
            return Verdict(allowed=True, rule=None, reason=Reason.ROBOTS_TXT)
        for each in self._candidates:
            if each.pattern.matches(compared):
                return Verdict(each.allows, each.rule, Reason.RULE)
        return Verdict(allowed=True, rule=None, reason=Reason.NO_RULE)

    @cached_property
    def _candidates(self) -> list[Candidate]:
        """The strongest first."""
        rank = _RANKS[self.dialect.precedence]
        layers = [_rules_of(layer) for layer in self._layers]
        return [each for rules in layers for each in sorted(_candidates(rules, self.dialect), key=rank)]

    @property
    def octets(self) -> int:
        """The memory that this takes at most, in octets, once it has been asked about a path."""
        groups = [group for group, _ in chain(*self._layers)]
        agents = sum(len(group.agents) for group in groups)
        values = [rule.value for group in groups for rule in group.rules]
        paths = sum(map(len, values)) * _COPIES_OF_PATH
        pieces = sum(value.count(b"*") for value in values) * _OCTETS_PER_PIECE
        return _OCTETS_EMPTY + _OCTETS_PER_AGENT * agents + _OCTETS_PER_RULE * len(values) + paths + pieces

    @property
    def extensions(self) -> tuple[Record, ...]:
        """The other records that apply to the crawler."""
        lines = {agent.line for agent in self.agents}
        return tuple(extensions_for(self._reader.records(), lambda agent: agent.line in lines))

    def values(self, kind: Kind) -> list[bytes]:
        """The values of the other records of *kind* that count for the crawler, in the order of their lines."""
        records = self.delays if kind is Kind.CRAWL_DELAY else self.extensions
        return [record.value for record in records if record.kind is kind]

    @property
    def delays(self) -> tuple[Record, ...]:
        """The Crawl-delay records that count for the crawler; the last readable one applies."""
        return tuple(_DELAYS[self.dialect.delay](self, self._reader))


class _Addressing(NamedTuple):
    """A group, and those of its user-agent lines that address a crawler."""

    group: Group
    agents: tuple[Record, ...]


_Layer = list[_Addressing]


def _addressing(groups: Iterable[Group], is_for: IsFor) -> _Layer:
    found = (_Addressing(group, tuple(filter(is_for, group.agents))) for group in groups)
    return [each for each in found if each.agents]


def _rules_of(groups: Iterable[_Addressing]) -> list[Rule]:
    """The rules of *groups*, each once, in the order of their lines."""
    found = {rule.line: rule for group, _ in groups for rule in group.rules}
    return [found[line] for line in sorted(found)]


def _is_for_all(agent: Record) -> bool:
    return is_global(agent.value)


def _all(groups: _Layer) -> _Layer:
    return groups


def _first(groups: _Layer) -> _Layer:
    return groups[:1]


def _longest_name(groups: _Layer) -> _Layer:
    lengths = [max(map(named_octets, agents)) for _, agents in groups]
    longest = max(lengths, default=0)
    return [group for group, length in zip(groups, lengths, strict=True) if length == longest]


_CHOICES: Final = {
    GroupChoice.ALL: _all,
    GroupChoice.FIRST: _first,
    GroupChoice.LONGEST_NAME: _longest_name,
}

# From the groups that name a crawler and those of "*" to layers of groups: if no rule of a layer matches, the
# next one decides.
_LAYERS: Final[dict[Star, Callable[[_Layer, _Layer], list[_Layer]]]] = {
    Star.NOT_NAMED: lambda own, general: [own or general],
    Star.NO_MATCH: lambda own, general: [own, general],
    Star.ALWAYS: lambda own, general: [own + general],
}


def _candidates(rules: Iterable[Rule], dialect: Dialect) -> Iterator[Candidate]:
    for rule in rules:
        meaning = dialect.empty_allow if rule.allow else dialect.empty_disallow
        if rule.value or meaning is not EmptyRule.IGNORED:
            allows = rule.allow if rule.value else meaning is EmptyRule.ALLOWS
            for pattern in patterns_of(rule.value, allow=rule.allow, dialect=dialect):
                yield Candidate(rule, pattern, allows)


def _longest_first(candidate: Candidate) -> tuple[int, ...]:
    rule, pattern, allows = candidate
    return -pattern.specificity, not allows, not rule.allow, rule.line


def _in_order(candidate: Candidate) -> tuple[int, ...]:
    return (candidate.rule.line,)


_RANKS: Final[dict[Precedence, Callable[[Candidate], tuple[int, ...]]]] = {
    Precedence.LONGEST: _longest_first,
    Precedence.FIRST: _in_order,
}


def _delays_in(records: Iterable[Record]) -> list[Record]:
    return [record for record in records if record.kind is Kind.CRAWL_DELAY]


def _inherited_delays(rules: PlainRules, reader: PlainReader) -> Iterable[Record]:
    return _delays_in(rules.extensions) or _delays_in(extensions_for(reader.records(), _is_for_all))


def _whole_delays(rules: PlainRules, reader: PlainReader) -> Iterable[Record]:  # noqa: ARG001
    return (record for record in _delays_in(reader.records()) if record.value.isdigit())


_DELAYS: Final[dict[Delay, Callable[[PlainRules, PlainReader], Iterable[Record]]]] = {
    Delay.NONE: lambda _rules, _reader: (),
    Delay.OF_GROUP: lambda rules, _reader: _delays_in(rules.extensions),
    Delay.INHERITED: _inherited_delays,
    Delay.LAST_IN_FILE: _whole_delays,
}
