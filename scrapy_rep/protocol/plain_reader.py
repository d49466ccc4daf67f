"""The ways to read a body, and the plain one: octets to numbered records, records to groups and rules.

RFC 9309 sections 2.1 and 2.2. Tolerant: what can be read counts, the rest is skipped, nothing raises.
The plain reading makes a record of every line; it is the reference for the fast one in ``scan``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from .other_records import extensions_for
from .product_token import Token, is_global
from .records import Kind, Record, bom_length, kind_of, split_line
from .verdict import Rule, RulePaths

Span = tuple[int, int]
"""Where the lines behind a run of user-agent lines begin, and where they end."""

_RULES: Final = frozenset({Kind.ALLOW, Kind.DISALLOW})


@dataclass(frozen=True, slots=True)
class Group:
    """User-agent lines and the rules they share (RFC 9309 section 2.1)."""

    agents: tuple[Record, ...]
    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class TokenScan:
    """Whether a user-agent line names a crawler, the rules for it, and where a fast reading finds them again."""

    by_name: bool
    rules: RulePaths
    spans: tuple[Span, ...] = ()


class Reader(Protocol):
    """A way to read a body; all of them give the same answers."""

    def records(self) -> Iterator[Record]:
        """The records in the order of their lines."""

    def scan(self, token: Token) -> TokenScan:
        """The rules for *token*."""

    def by_line(self, token: Token, scan: TokenScan) -> Iterator[tuple[bool, bytes, int]]:
        """The rules in *scan* in the order of their lines: whether it allows, its path, its line."""

    def line(self, allow: bool, path: bytes, scan: TokenScan) -> int | None:
        """The first line of a rule in *scan*, or None when that takes no less than reading all by line."""

    def sitemaps(self) -> Iterable[bytes]:
        """The values of the Sitemap lines."""

    def values(self, kind: Kind, token: Token, *, by_name: bool) -> Sequence[bytes]:
        """The values of the records of *kind*, one beside the protocol, for *token* or, not *by_name*, for all."""


class PlainReader:
    """A body read line by line."""

    __slots__ = ("body",)

    def __init__(self, body: bytes) -> None:
        self.body = body

    def records(self) -> Iterator[Record]:
        """The records in the order of their lines."""
        body = self.body
        for number, line in enumerate(body[bom_length(body) :].splitlines(), start=1):
            key, value = split_line(line)
            if key:
                yield Record(number, kind_of(key), key, value)

    def scan(self, token: Token) -> TokenScan:
        """The rules for *token*."""
        # RFC 9309 section 2.2.1: groups of one token are combined; "*" is for those nobody named.
        agents = (record for record in self.records() if record.kind is Kind.USER_AGENT)
        scan = TokenScan(any(token.is_named_by(agent.value) for agent in agents), RulePaths.of([], []))
        rules = list(self.by_line(token, scan))
        allow = [path for allow, path, _ in rules if allow]
        disallow = [path for allow, path, _ in rules if not allow]
        return TokenScan(scan.by_name, RulePaths.of(allow, disallow))

    def by_line(self, token: Token, scan: TokenScan) -> Iterator[tuple[bool, bytes, int]]:
        """The rules in *scan* in the order of their lines: whether it allows, its path, its line."""
        is_for = agent_filter(token, by_name=scan.by_name)
        for group in groups_in(self.records()):
            if any(map(is_for, group.agents)):
                yield from ((rule.allow, rule.value, rule.line) for rule in group.rules)

    def line(self, allow: bool, path: bytes, scan: TokenScan) -> int | None:  # noqa: ARG002
        """None: there is no way but reading all by line."""
        return None

    def sitemaps(self) -> list[bytes]:
        """The values of the Sitemap lines."""
        return [record.value for record in self.records() if record.kind is Kind.SITEMAP]

    def values(self, kind: Kind, token: Token, *, by_name: bool) -> list[bytes]:
        """The values of the records of *kind*, one beside the protocol, for *token* or, not *by_name*, for all."""
        is_for = agent_filter(token, by_name=by_name)
        return [record.value for record in extensions_for(self.records(), is_for) if record.kind is kind]


def agent_filter(token: Token, *, by_name: bool) -> Callable[[Record], bool]:
    """Whether a user-agent line is for *token*: those that name it, or those for all when none does."""
    if by_name:
        return lambda agent: token.is_named_by(agent.value)
    return lambda agent: is_global(agent.value)


def groups_in(records: Iterable[Record]) -> Iterator[Group]:
    """A run of user-agent lines is closed by a rule and by nothing else; rules before any are nobody's."""
    agents: list[Record] = []
    rules: list[Rule] = []
    for record in records:
        if record.kind is Kind.USER_AGENT:
            if rules:
                yield Group(tuple(agents), tuple(rules))
                agents, rules = [], []
            agents.append(record)
        elif record.kind in _RULES and agents:
            rules.append(Rule(record.kind is Kind.ALLOW, record.value, record.line))
    if agents:
        yield Group(tuple(agents), tuple(rules))
