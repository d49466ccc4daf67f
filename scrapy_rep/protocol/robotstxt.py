"""What a robots.txt says: its groups, the verdict on a URL, and the records beside the rules.

RFC 9309 section 2.2 in Google's reading. Knows nothing of octets on lines: it is handed records, and
reads them anew for every product token it is asked about, so that a crawl, which asks for one, keeps
the rules of one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from .agent import Token, is_global
from .dialect import GOOGLE, Dialect
from .extensions import Extension, RequestRate, extensions, request_rate, seconds
from .pattern import Pattern, path_of
from .record import Kind, Record


class Reason(Enum):
    """Why a verdict is what it is."""

    RULE = "rule"
    NO_RULE = "no rule"
    ROBOTS_TXT = "/robots.txt itself"
    UNAVAILABLE = "unavailable"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True, slots=True)
class Rule:
    """An allow or disallow record: ``value`` is its path as written, ``line`` counts from 1."""

    allow: bool
    value: bytes
    line: int

    def __str__(self) -> str:
        text = self.value.decode("utf-8", "backslashreplace")
        return f"{'Allow' if self.allow else 'Disallow'}: {text}"


@dataclass(frozen=True, slots=True)
class Group:
    """User-agent lines and the rules they share (RFC 9309 section 2.1)."""

    agents: tuple[Record, ...]
    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a URL may be crawled, the rule that decided (or None) and the reason."""

    allowed: bool
    rule: Rule | None
    reason: Reason

    @property
    def line(self) -> int:
        """The line of the rule that decided, counted from 1; 0 when none did."""
        return self.rule.line if self.rule else 0


_TOKENS_KEPT: Final = 16  # compiled rules of so many tokens; a crawl under ever new names stays bounded
_RULES: Final = frozenset({Kind.ALLOW, Kind.DISALLOW})


class RobotsTxt:
    """A parsed robots.txt, made by `scrapy_rep.protocol.parse`.

    *read* yields its records in the order of their lines, every time it is called.
    """

    __slots__ = ("_compiled", "_read", "dialect")

    def __init__(self, read: Callable[[], Iterable[Record]], dialect: Dialect = GOOGLE) -> None:
        self.dialect = dialect
        self._read = read
        self._compiled: dict[str, _Addressed] = {}

    @property
    def records(self) -> tuple[Record, ...]:
        """Every line that has a key and a value, unknown keys included."""
        return tuple(self._read())

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups in the order of their lines, those that name the same agent not yet merged."""
        return tuple(_groups(self._read()))

    @property
    def extensions(self) -> tuple[Extension, ...]:
        """The records beside the protocol, each with the user-agent lines it is for."""
        return tuple(extensions(self._read()))

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """The values of the Sitemap lines as written, in order, without duplicates."""
        return tuple(dict.fromkeys(record.text for record in self._read() if record.kind is Kind.SITEMAP))

    @property
    def host(self) -> str | None:
        """The value of the first Host line, Yandex's extension; None without one."""
        return next((record.text for record in self._read() if record.kind is Kind.HOST), None)

    def verdict(self, token: str, url: str | bytes) -> Verdict:
        """Whether the crawler called *token* may request *url*.

        The longest pattern that matches wins, a tie goes to allow, no match allows (RFC 9309
        section 2.2.2). *token* is a product token, not a User-Agent header.
        """
        path = path_of(url, canonical_octets=self.dialect.canonical_octets)
        if self.dialect.robots_txt_allowed and path == b"/robots.txt":
            return Verdict(True, None, Reason.ROBOTS_TXT)
        for pattern, rule in self._addressed_to(token).ranked:
            if pattern.matches(path):
                return Verdict(rule.allow or not pattern.specificity, rule, Reason.RULE)
        return Verdict(True, None, Reason.NO_RULE)

    def has_group(self, token: str) -> bool:
        """Whether a user-agent line names *token*; ``*`` names nobody."""
        return self._addressed_to(token).by_name

    def rules(self, token: str) -> tuple[Rule, ...]:
        """The rules for *token*, of all its groups together, in the order of their lines."""
        unique = {rule.line: rule for _, rule in self._addressed_to(token).ranked}
        return tuple(unique[line] for line in sorted(unique))

    def extensions_for(self, token: str) -> tuple[Record, ...]:
        """The records beside the protocol that are for *token*; its own group does not inherit those of ``*``."""
        return self._addressed_to(token).extensions

    def crawl_delay(self, token: str) -> float | None:
        """Seconds between two requests that the last readable Crawl-delay for *token* asks for, or None."""
        delays = map(seconds, self._values(token, Kind.CRAWL_DELAY))
        return next((delay for delay in delays if delay is not None), None)

    def request_rate(self, token: str) -> RequestRate | None:
        """The last readable Request-rate for *token*, or None."""
        rates = map(request_rate, self._values(token, Kind.REQUEST_RATE))
        return next((rate for rate in rates if rate is not None), None)

    def _values(self, token: str, kind: Kind) -> Iterator[bytes]:
        """The values of the records of *kind* for *token*, the last first."""
        return (record.value for record in reversed(self.extensions_for(token)) if record.kind is kind)

    def _addressed_to(self, token: str) -> _Addressed:
        addressed = self._compiled.get(token)
        if addressed is None:
            if len(self._compiled) >= _TOKENS_KEPT:
                self._compiled.clear()
            addressed = self._compiled[token] = _address(tuple(self._read()), token, self.dialect)
        return addressed

    def __repr__(self) -> str:
        return f"<RobotsTxt {self.dialect.name} tokens={list(self._compiled)}>"


@dataclass(frozen=True, slots=True)
class _Addressed:
    """What a robots.txt says to one token: patterns in the order in which the first match decides."""

    by_name: bool
    ranked: tuple[tuple[Pattern, Rule], ...]
    extensions: tuple[Record, ...]


def _address(records: Sequence[Record], name: str, dialect: Dialect) -> _Addressed:
    token = Token.of(name, wide=dialect.wide_tokens)
    nameless = not token.name and not dialect.empty_token

    def names(agent: Record) -> bool:
        return not nameless and not is_global(agent.value) and token.is_named_by(agent.value)

    # RFC 9309 section 2.2.1: groups of one token are combined; "*" is for those nobody named.
    by_name = any(names(record) for record in records if record.kind is Kind.USER_AGENT)

    def addressed(agents: Iterable[Record]) -> bool:
        return any(names(agent) if by_name else is_global(agent.value) for agent in agents)

    rules = [rule for group in _groups(records) if addressed(group.agents) for rule in group.rules]
    return _Addressed(
        by_name,
        _ranked(rules, dialect),
        tuple(extension.record for extension in extensions(records) if addressed(extension.agents)),
    )


def _ranked(rules: Iterable[Rule], dialect: Dialect) -> tuple[tuple[Pattern, Rule], ...]:
    """Longest pattern first, among equals allow before disallow, then in the order of the lines."""
    candidates = [
        (Pattern.of(value, canonical_octets=dialect.canonical_octets), rule)
        for rule in rules
        for value in _spellings(rule)
    ]
    candidates.sort(key=lambda candidate: (-candidate[0].specificity, not candidate[1].allow))
    return tuple(candidates)


def _spellings(rule: Rule) -> Iterator[bytes]:
    """The pattern of *rule* and, as in Google's parser, for an allowed index page that of its folder."""
    yield rule.value
    folder, slash, page = rule.value.rpartition(b"/")
    if rule.allow and slash and page.startswith(b"index.htm"):
        yield folder + b"/$"


def _groups(records: Iterable[Record]) -> Iterator[Group]:
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
