"""What a robots.txt says: its groups, the verdict on a URL, and the records beside the rules.

RFC 9309 section 2.2 in Google's reading. Knows nothing of octets on lines: it is handed a way to the
records and a faster one to the rules for a product token. Both are used when a question needs them;
a crawl, which asks for one token, keeps the rules of one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from .agent import Token, is_global
from .dialect import GOOGLE, Dialect
from .extensions import Extension, RequestRate, extensions, request_rate, seconds
from .index import RawRule, RuleIndex, best_of
from .pattern import path_of
from .record import Kind, Record
from .scan import Scan
from .verdict import Reason, Rule, Verdict


@dataclass(frozen=True, slots=True)
class Group:
    """User-agent lines and the rules they share (RFC 9309 section 2.1)."""

    agents: tuple[Record, ...]
    rules: tuple[Rule, ...]


_TOKENS_KEPT: Final = 16  # compiled rules of so many tokens; a crawl under ever new names stays bounded
_RULES: Final = frozenset({Kind.ALLOW, Kind.DISALLOW})


class RobotsTxt:
    """A parsed robots.txt, made by `scrapy_rep.protocol.parse`.

    *read* yields its records in the order of their lines, every time it is called. *scan* finds the
    rules for a token without making records; it is a faster way to the same answers.
    """

    __slots__ = ("_compiled", "_read", "_scan", "dialect")

    def __init__(
        self,
        read: Callable[[], Iterable[Record]],
        dialect: Dialect = GOOGLE,
        scan: Callable[[Token], Scan] | None = None,
    ) -> None:
        self.dialect = dialect
        self._read = read
        self._scan = scan or self._read_rules
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
        dialect = self.dialect
        path = path_of(url, canonical_octets=dialect.canonical_octets)
        if path == b"/robots.txt" and dialect.robots_txt_allowed:
            return _ROBOTS_TXT
        return self._addressed_to(token).verdict(path)

    def has_group(self, token: str) -> bool:
        """Whether a user-agent line names *token*; ``*`` names nobody."""
        return self._addressed_to(token).scan.by_name

    def rules(self, token: str) -> tuple[Rule, ...]:
        """The rules for *token*, of all its groups together, in the order of their lines."""
        addressed = self._addressed_to(token)
        return tuple(addressed.rule(raw) for raw in addressed.scan.rules)

    def extensions_for(self, token: str) -> tuple[Record, ...]:
        """The records beside the protocol that are for *token*; its own group does not inherit those of ``*``."""
        addressed = self._addressed_to(token)
        if addressed.extensions is None:
            names = _whom(addressed.token, by_name=addressed.scan.by_name)
            found = extensions(self._read())
            addressed.extensions = tuple(each.record for each in found if any(map(names, each.agents)))
        return addressed.extensions

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

    def _addressed_to(self, name: str) -> _Addressed:
        addressed = self._compiled.get(name)
        if addressed is None:
            if len(self._compiled) >= _TOKENS_KEPT:
                self._compiled.clear()
            token = _token_of(name, self.dialect)
            addressed = _Addressed(token, self._scan(token), self.dialect.canonical_octets)
            self._compiled[name] = addressed
        return addressed

    def _read_rules(self, token: Token) -> Scan:
        """The rules for *token* from the records: the plain way, and the reference for the fast one."""
        records = tuple(self._read())
        # RFC 9309 section 2.2.1: groups of one token are combined; "*" is for those nobody named.
        by_name = any(token.is_named_by(record.value) for record in records if record.kind is Kind.USER_AGENT)
        names = _whom(token, by_name=by_name)
        groups = [group for group in _groups(records) if any(map(names, group.agents))]
        rules = [(rule.value, rule.allow, rule.line) for group in groups for rule in group.rules]
        return Scan(by_name, rules, line_at=int)

    def __repr__(self) -> str:
        return f"<RobotsTxt {self.dialect.name} tokens={list(self._compiled)}>"


class _Addressed:
    """What a robots.txt says to one token."""

    __slots__ = ("_asked", "_canonical_octets", "_index", "_verdicts", "extensions", "scan", "token")

    def __init__(self, token: Token, scan: Scan, canonical_octets: bool) -> None:
        self.token = token
        self.scan = scan
        self.extensions: tuple[Record, ...] | None = None
        self._canonical_octets = canonical_octets
        self._index: RuleIndex | None = None
        self._asked = False
        self._verdicts: dict[int, Verdict] = {}

    def verdict(self, path: bytes) -> Verdict:
        """Decide about *path*."""
        raw = self._index.best(path) if self._index else self._first(path)
        if raw is None:
            return _NO_RULE
        verdict = self._verdicts.get(raw[2])
        if verdict is None:
            value, allow, place = raw
            # An empty rule forbids nothing, though it matches.
            verdict = self._verdicts[place] = Verdict(allow or not value, self.rule(raw), Reason.RULE)
        return verdict

    def _first(self, path: bytes) -> RawRule | None:
        """The first decision walks over the rules: an index pays from the second one on."""
        rules, canonical_octets = self.scan.rules, self._canonical_octets
        if not self._asked:
            self._asked = True
            return best_of(rules, path, canonical_octets=canonical_octets)
        self._index = RuleIndex(rules, canonical_octets=canonical_octets)
        return self._index.best(path)

    def rule(self, raw: RawRule) -> Rule:
        value, allow, place = raw
        return Rule(allow, value, self.scan.line_at(place))


@lru_cache(maxsize=256)  # a crawl asks thousands of files about the same few
def _token_of(name: str, dialect: Dialect) -> Token:
    return Token.of(name, wide=dialect.wide_tokens, empty=dialect.empty_token)


_NO_RULE: Final = Verdict(allowed=True, rule=None, reason=Reason.NO_RULE)
_ROBOTS_TXT: Final = Verdict(allowed=True, rule=None, reason=Reason.ROBOTS_TXT)


def _whom(token: Token, *, by_name: bool) -> Callable[[Record], bool]:
    """Whether a user-agent line is for *token*: those that name it, or those for all when none does."""
    if by_name:
        return lambda agent: token.is_named_by(agent.value)
    return lambda agent: is_global(agent.value)


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
