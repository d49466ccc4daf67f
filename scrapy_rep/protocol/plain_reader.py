"""The `Reader` interface, and the plain reader: octets to numbered records, records to groups and rules.

RFC 9309 sections 2.1 and 2.2. Tolerant: what can be read counts, the rest is skipped, nothing raises.
The plain reader makes a record of every line. It is the reference for `FastReader`, whose answers are tested
to be the same, and it answers what is rarely asked: records, groups, lint.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from .dialect import Dialect
from .dialects import GOOGLE
from .other_records import extensions_for
from .product_token import Token, is_global
from .records import Kind, Record, bom_length, kind_of, split_line
from .verdict import Rule

Span = tuple[int, int]
"""Start and end of the lines that follow a run of user-agent lines."""

_RULES: Final = frozenset({Kind.ALLOW, Kind.DISALLOW})


@dataclass(frozen=True, slots=True)
class Group:
    """User-agent lines and the rules they share (RFC 9309 section 2.1)."""

    agents: tuple[Record, ...]
    rules: tuple[Rule, ...]


class TokenScan(NamedTuple):
    """What a reader finds for one crawler.

    ``by_name`` says that a user-agent line names it; ``spans`` are where `FastReader` finds its rules, or else
    those for all.
    """

    by_name: bool
    spans: tuple[Span, ...] = ()


Paths = tuple[list[bytes], list[bytes]]
"""The paths of the rules that allow, and of those that disallow, in the order of their lines."""


class Reader(Protocol):
    """Answers questions about a body; every reader gives the same answers."""

    @property
    def body(self) -> bytes:
        """The octets that are read."""

    @property
    def octets(self) -> int:
        """The octets of the body."""

    def records(self) -> Iterator[Record]:
        """The records in the order of their lines."""

    def groups(self) -> Iterator[Group]:
        """The groups in the order of their lines."""

    def scan(self, token: Token) -> TokenScan:
        """Where the rules for *token* are."""

    def paths(self, token: Token, scan: TokenScan) -> Paths:
        """The paths of the rules in *scan*."""

    def by_line(self, token: Token, scan: TokenScan) -> Iterator[tuple[bool, bytes, int]]:
        """The rules in *scan* in the order of their lines: whether it allows, its path, its line."""

    def line(self, allow: bool, path: bytes, scan: TokenScan) -> int | None:
        """The first line of a rule in *scan*; None when finding it costs as much as `by_line`."""

    def sitemaps(self) -> Iterable[bytes]:
        """The values of the Sitemap lines."""

    def values(self, kind: Kind, token: Token, *, by_name: bool) -> Sequence[bytes]:
        """The values of the other records of *kind* for *token*, or for all crawlers when not *by_name*."""


class PlainReader:
    """A body read line by line, as *dialect* says."""

    __slots__ = ("body", "dialect")

    def __init__(self, body: bytes, dialect: Dialect = GOOGLE) -> None:
        self.body = body
        self.dialect = dialect

    @property
    def octets(self) -> int:
        """The octets of the body."""
        return len(self.body)

    def records(self) -> Iterator[Record]:
        """The records in the order of their lines."""
        return filter(None, self._records_and_blanks())

    def _records_and_blanks(self) -> Iterator[Record | None]:
        """The records, and None for each blank line that ends a group."""
        body, dialect = self.body, self.dialect
        lenient = dialect.lenient_keys
        for number, line in enumerate(body[bom_length(body) :].splitlines(), start=1):
            key, value = split_line(line, lenient=lenient)
            if key:
                kind = kind_of(key, lenient=lenient)
                is_known = kind is not Kind.ALLOW or dialect.allow_counts
                yield Record(number, kind if is_known else Kind.UNKNOWN, key, value)
            elif dialect.blank_line_ends and not line.strip():
                yield None

    def groups(self) -> Iterator[Group]:
        """The groups in the order of their lines."""
        return groups_in(self._records_and_blanks(), self.dialect.closing_kinds)

    def scan(self, token: Token) -> TokenScan:
        """Where the rules for *token* are."""
        # RFC 9309 section 2.2.1: groups of one token are combined; "*" is for crawlers without a group.
        agents = (record for record in self.records() if record.kind is Kind.USER_AGENT)
        return TokenScan(any(token.is_named_by(agent.value) for agent in agents))

    def paths(self, token: Token, scan: TokenScan) -> Paths:
        """The paths of the rules in *scan*."""
        rules = list(self.by_line(token, scan))
        return [path for allow, path, _ in rules if allow], [path for allow, path, _ in rules if not allow]

    def by_line(self, token: Token, scan: TokenScan) -> Iterator[tuple[bool, bytes, int]]:
        """The rules in *scan* in the order of their lines: whether it allows, its path, its line."""
        is_for = agent_filter(token, by_name=scan.by_name)
        for group in self.groups():
            if any(map(is_for, group.agents)):
                yield from ((rule.allow, rule.value, rule.line) for rule in group.rules)

    def line(self, allow: bool, path: bytes, scan: TokenScan) -> int | None:  # noqa: ARG002
        """None: only `by_line` finds it."""
        return None

    def sitemaps(self) -> list[bytes]:
        """The values of the Sitemap lines."""
        return [record.value for record in self.records() if record.kind is Kind.SITEMAP]

    def values(self, kind: Kind, token: Token, *, by_name: bool) -> list[bytes]:
        """The values of the other records of *kind* for *token*, or for all crawlers when not *by_name*."""
        is_for = agent_filter(token, by_name=by_name)
        return [record.value for record in extensions_for(self.records(), is_for) if record.kind is kind]


def agent_filter(token: Token, *, by_name: bool) -> Callable[[Record], bool]:
    """A filter for the user-agent lines that apply to *token*: those that name it, else those for all."""
    if by_name:
        return lambda agent: token.is_named_by(agent.value)
    return lambda agent: is_global(agent.value)


def groups_in(records: Iterable[Record | None], closing: Container[Kind]) -> Iterator[Group]:
    """The groups in *records*, in which None ends a group; rules before any user-agent line are ignored.

    Only a record of a *closing* kind ends a run of user-agent lines: at Google, a rule.
    """
    agents: list[Record] = []
    rules: list[Rule] = []
    is_closed = False
    for record in records:
        if record is None or (is_closed and record.kind is Kind.USER_AGENT):
            if agents:
                yield Group(tuple(agents), tuple(rules))
            agents, rules, is_closed = [], [], False
        if record is None:
            continue
        if record.kind is Kind.USER_AGENT:
            agents.append(record)
        elif record.kind in _RULES and agents:
            rules.append(Rule(record.kind is Kind.ALLOW, record.value, record.line))
        is_closed |= record.kind in closing
    if agents:
        yield Group(tuple(agents), tuple(rules))
