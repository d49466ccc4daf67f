"""What a robots.txt says: its groups, the verdict on a URL, and the records beside the rules.

RFC 9309 section 2.2 in Google's reading. Knows nothing of octets on lines: a `Reader` answers for
those, when a question needs it; a crawl, which asks for one token, keeps the rules of one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final

from .dialect import GOOGLE, Dialect
from .fast_reader import FastReader
from .other_records import Extension, RequestRate, extensions, extensions_for, request_rate, seconds
from .path_pattern import path_of
from .plain_reader import Group, Reader, agent_filter, groups_in
from .product_token import Token
from .records import Kind, Record, as_text
from .rule_index import RuleIndex, best_by_walk
from .verdict import Reason, Rule, Verdict

MAX_SIZE: Final = 512_000
"""Octets of a body that are read: 500 KiB, the least that RFC 9309 section 2.5 asks for, and Google's bound."""

_LINE_ENDS: Final = (b"\n", b"\r")

_TOKENS_KEPT: Final = 16  # compiled rules of so many tokens; a crawl under ever new names stays bounded


def parse(body: bytes, dialect: Dialect = GOOGLE, *, limit: int | None = MAX_SIZE) -> RobotsTxt:
    """The robots.txt in *body*, of which *limit* octets are read (None: all of them).

    It is read when a question is asked, not before. Raises `TypeError` for a *body* that is not ``bytes``,
    and nothing else, whatever the body holds.
    """
    require_octets(body)
    return RobotsTxt(FastReader(cut(body, limit)), dialect)


def require_octets(body: object) -> None:
    """Raise `TypeError` for a *body* that is not ``bytes``."""
    if not isinstance(body, bytes):
        kind = type(body).__name__
        raise TypeError(f"a robots.txt is read as bytes, not {kind}: pass response.body, or encode the text")


def cut(body: bytes, limit: int | None = MAX_SIZE) -> bytes:
    """*body* without what lies beyond *limit* octets, and without the line that the limit cuts."""
    if limit is None or len(body) <= limit:
        return body
    kept = body[:limit]
    if body.startswith(_LINE_ENDS, limit) or kept.endswith(_LINE_ENDS):
        return kept
    return kept[: max(map(kept.rfind, _LINE_ENDS)) + 1]


class RobotsTxt:
    """A parsed robots.txt, made by `scrapy_rep.protocol.parse`.

    Safe to share between threads: every question may be asked from several at once, and so may the line of a
    rule. Nothing is locked; what one thread works out and keeps is complete before another can see it, and at
    worst two threads do the same work.
    """

    __slots__ = ("_addressed", "_reading", "dialect")

    def __init__(self, reading: Reader, dialect: Dialect = GOOGLE) -> None:
        self.dialect = dialect
        self._reading = reading
        self._addressed: dict[str, _Addressed] = {}

    @property
    def records(self) -> tuple[Record, ...]:
        """Every line that has a key and a value, unknown keys included."""
        return tuple(self._reading.records())

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups in the order of their lines, those that name the same agent not yet merged."""
        return tuple(groups_in(self._reading.records()))

    @property
    def extensions(self) -> tuple[Extension, ...]:
        """The records beside the protocol, each with the user-agent lines it is for."""
        return tuple(extensions(self._reading.records()))

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """The values of the Sitemap lines as written, in order, without duplicates."""
        return tuple(dict.fromkeys(map(as_text, self._reading.sitemaps())))

    @property
    def host(self) -> str | None:
        """The value of the first Host line, Yandex's extension; None without one."""
        return next((record.text for record in self._reading.records() if record.kind is Kind.HOST), None)

    def verdict(self, token: str, url: str | bytes) -> Verdict:
        """Whether the crawler called *token* may request *url*.

        The longest pattern that matches wins, a tie goes to allow, no match allows (RFC 9309
        section 2.2.2). *token* is a product token, not a User-Agent header.
        """
        dialect = self.dialect
        path = path_of(url, canonical_octets=dialect.canonical_octets)
        if path == b"/robots.txt" and dialect.robots_txt_allowed:
            return _ROBOTS_TXT
        addressed = self._addressed.get(token) or self._addressed_to(token)
        rule = addressed.best(path)
        return addressed.verdicts.get(rule) or addressed.verdict(rule)

    def has_group(self, token: str) -> bool:
        """Whether a user-agent line names *token*; ``*`` names nobody."""
        return self._addressed_to(token).scan.by_name

    def agents_for(self, token: str) -> tuple[Record, ...]:
        """The user-agent lines that address *token*: those that name it, else those of ``*``."""
        addressed = self._addressed_to(token)
        is_for = agent_filter(addressed.token, by_name=addressed.scan.by_name)
        records = self._reading.records()
        return tuple(each for each in records if each.kind is Kind.USER_AGENT and is_for(each))

    def rules(self, token: str) -> tuple[Rule, ...]:
        """The rules for *token*, of all its groups together, in the order of their lines."""
        addressed = self._addressed_to(token)
        return tuple(Rule(*rule) for rule in self._reading.by_line(addressed.token, addressed.scan))

    def extensions_for(self, token: str) -> tuple[Record, ...]:
        """The records beside the protocol that are for *token*; its own group does not inherit those of ``*``."""
        addressed = self._addressed_to(token)
        is_for = agent_filter(addressed.token, by_name=addressed.scan.by_name)
        return tuple(extensions_for(self._reading.records(), is_for))

    def crawl_delay(self, token: str) -> float | None:
        """Seconds between two requests that the last readable Crawl-delay for *token* asks for, or None."""
        delays = map(seconds, self._values(token, Kind.CRAWL_DELAY))
        return next((delay for delay in delays if delay is not None), None)

    def request_rate(self, token: str) -> RequestRate | None:
        """The last readable Request-rate for *token*, or None."""
        rates = map(request_rate, self._values(token, Kind.REQUEST_RATE))
        return next((rate for rate in rates if rate is not None), None)

    def _values(self, name: str, kind: Kind) -> Iterator[bytes]:
        """The values of the records of *kind* for the token called *name*, the last first."""
        addressed = self._addressed_to(name)
        return reversed(self._reading.values(kind, addressed.token, by_name=addressed.scan.by_name))

    def _addressed_to(self, name: str) -> _Addressed:
        addressed = self._addressed.get(name)
        if addressed is None:
            if len(self._addressed) >= _TOKENS_KEPT:
                self._addressed.clear()
            token = _token_of(name, self.dialect)
            addressed = _Addressed(self._reading, token, self.dialect.canonical_octets)
            self._addressed[name] = addressed
        return addressed

    def __repr__(self) -> str:
        return f"<RobotsTxt {self.dialect.name} tokens={list(self._addressed)}>"


class _Addressed:
    """What a robots.txt says to one token."""

    __slots__ = ("_canonical_octets", "_lines", "_reading", "best", "scan", "token", "verdicts")

    def __init__(self, reading: Reader, token: Token, canonical_octets: bool) -> None:
        self.token = token
        self.scan = reading.scan(token)
        self.best: Callable[[bytes], bytes | None] = self._best_by_walk
        self.verdicts: dict[bytes | None, Verdict] = {}
        self._reading = reading
        self._canonical_octets = canonical_octets
        self._lines: dict[tuple[bool, bytes], int] = {}

    def verdict(self, rule: bytes | None) -> Verdict:
        """The verdict when *rule* decides; each is made once."""
        if rule is None:
            verdict = _NO_RULE
        else:
            allow = self.scan.rules.has_allow(rule)
            # An empty rule forbids nothing, though it matches.
            verdict = Verdict(allow or not rule, Rule(allow, rule, self), Reason.RULE)
        self.verdicts[rule] = verdict
        return verdict

    def _best_by_walk(self, path: bytes) -> bytes | None:
        """The first decision walks over the rules: an index pays from the second one on."""
        if not self.verdicts:
            return best_by_walk(self.scan.rules, path, canonical_octets=self._canonical_octets)
        self.best = RuleIndex(self.scan.rules, canonical_octets=self._canonical_octets).best
        return self.best(path)

    def line(self, allow: bool, path: bytes) -> int:
        """The first line of a rule; once all have been read by line, those are kept."""
        line = None if self._lines else self._reading.line(allow, path, self.scan)
        if line is None:
            lines = self._lines or self._first_lines()
            self._lines = lines  # only when it is complete: other threads look into it
            line = lines[allow, path]
        return line

    def _first_lines(self) -> dict[tuple[bool, bytes], int]:
        lines: dict[tuple[bool, bytes], int] = {}
        for allow, path, number in self._reading.by_line(self.token, self.scan):
            lines.setdefault((allow, path), number)
        return lines


@lru_cache(maxsize=256)  # a crawl asks thousands of files about the same few
def _token_of(name: str, dialect: Dialect) -> Token:
    return Token.of(name, wide=dialect.wide_tokens, empty=dialect.empty_token)


_NO_RULE: Final = Verdict(allowed=True, rule=None, reason=Reason.NO_RULE)
_ROBOTS_TXT: Final = Verdict(allowed=True, rule=None, reason=Reason.ROBOTS_TXT)
