"""A parsed robots.txt: its groups, its verdict on a URL, and its other records. RFC 9309 section 2.2.

Knows nothing of lines: a `Reader` reads them when a question needs them. A warm verdict passes
`RobotsTxt.verdict`, `path_pattern.path_of`, `CrawlerRules.verdict` and `RuleIndex.best`, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final
from weakref import ref

from .crawler_rules import CrawlerRules, RulesForCrawler, shared_memory
from .dialect import Dialect
from .dialects import GOOGLE
from .fast_reader import FastReader
from .other_records import Extension, RequestRate, extensions, request_rate, seconds
from .path_pattern import path_of
from .plain_reader import Group, PlainReader, Reader
from .plain_rules import PlainRules
from .product_token import Token
from .records import Kind, Record, as_text
from .url_records import CleanParam, at_host, clean_params_in, without_params
from .verdict import Reason, Rule, Verdict

MAX_SIZE: Final = 512_000
"""Octets of a body that are read: 500 KiB, the least that RFC 9309 section 2.5 asks for, and Google's bound."""

_LINE_ENDS: Final = (b"\n", b"\r")

_OCTETS_EMPTY: Final = 2_048  # measured with tracemalloc on CPython 3.11

_TOKENS_KEPT: Final = 16  # per file, so that a crawl under ever new names stays bounded


def parse(body: bytes, dialect: Dialect = GOOGLE, *, limit: int | None = MAX_SIZE) -> RobotsTxt:
    """The robots.txt in *body*, of which *limit* octets are read (None: all of them).

    Nothing is read before the first question. Raises `TypeError` for a *body* that is not ``bytes``,
    and nothing else, whatever the body holds.
    """
    require_octets(body)
    text = cut(body, limit)
    return RobotsTxt(FastReader(text) if dialect.is_googles else PlainReader(text, dialect), dialect)


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

    Safe to share between threads: several may ask any question at once, and read the line of a rule. No
    question takes a lock: what one thread keeps is complete before another can see it, and at worst two threads
    do the same work. Only the count of `SHARED_MEMORY` is locked.
    """

    __slots__ = ("__weakref__", "_reader", "_rules", "dialect")

    def __init__(self, reader: Reader, dialect: Dialect = GOOGLE) -> None:
        self.dialect = dialect
        self._reader = reader
        self._rules: dict[str, RulesForCrawler] = {}

    @property
    def body(self) -> bytes:
        """The octets that are read, as they came."""
        return self._reader.body

    @property
    def records(self) -> tuple[Record, ...]:
        """Every line that has a key and a value, unknown keys included."""
        return tuple(self._reader.records())

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups in the order of their lines, those that name the same agent not yet merged."""
        return tuple(self._reader.groups())

    @property
    def extensions(self) -> tuple[Extension, ...]:
        """The other records (Crawl-delay and the like), each with the user-agent lines it applies to."""
        return tuple(extensions(self._reader.records()))

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """The values of the Sitemap lines as written, in order, without duplicates."""
        return tuple(dict.fromkeys(map(as_text, self._reader.sitemaps())))

    @property
    def host(self) -> str | None:
        """The value of the first Host line, Yandex's extension; None without one."""
        return next((record.text for record in self._reader.records() if record.kind is Kind.HOST), None)

    @property
    def clean_params(self) -> tuple[CleanParam, ...]:
        """The Clean-param records, whatever their group; empty in a dialect without them."""
        return tuple(clean_params_in(self._reader.records())) if self.dialect.clean_params else ()

    def clean_param(self, url: str) -> str:
        """*url* without the parameters that a Clean-param record names; all else stays as written."""
        return without_params(url, self.clean_params, self.dialect)

    def at_host(self, url: str) -> str:
        """*url* at the scheme, host and port of the first Host line, in a dialect where that replaces them."""
        host = self.host if self.dialect.host_replaces else None
        return url if host is None else at_host(url, host)

    def verdict(self, token: str, url: str | bytes) -> Verdict:
        """Whether the crawler called *token* may request *url*.

        The longest pattern that matches wins, a tie goes to allow, no match allows (RFC 9309 section 2.2.2),
        unless the dialect says otherwise. *token* is a product token, not a User-Agent header.
        """
        return self.verdict_on_path(token, path_of(url, canonical_octets=self.dialect.canonical_octets))

    def verdict_on_path(self, token: str, path: bytes) -> Verdict:
        """As `verdict`, for those who have split the URL already.

        *path* is what `path_of`, or `split_url`, answers with the ``canonical_octets`` of this dialect: path,
        params and query as octets, the first of them a slash. Anything else is compared as it is.
        """
        if path == b"/robots.txt" and self.dialect.robots_txt_allowed:
            return _ROBOTS_TXT
        return (self._rules.get(token) or self._rules_for(token)).verdict(path)

    def has_group(self, token: str) -> bool:
        """Whether a user-agent line names *token*; ``*`` names no crawler."""
        return self._rules_for(token).by_name

    def agents_for(self, token: str) -> tuple[Record, ...]:
        """The user-agent lines that address *token*: those that name it, else those of ``*``."""
        return self._rules_for(token).agents

    def rules(self, token: str) -> tuple[Rule, ...]:
        """The rules for *token*, of all its groups together, in the order of their lines."""
        return self._rules_for(token).rules

    def extensions_for(self, token: str) -> tuple[Record, ...]:
        """The other records that apply to *token*; its own group does not inherit those of ``*``."""
        return self._rules_for(token).extensions

    def crawl_delay(self, token: str) -> float | None:
        """Seconds between two requests that the last readable Crawl-delay for *token* asks for, or None.

        Which Crawl-delay is for a crawler, if any, depends on the dialect.
        """
        delays = map(seconds, self._values(token, Kind.CRAWL_DELAY))
        return next((delay for delay in delays if delay is not None), None)

    def crawl_delays(self, token: str) -> tuple[Record, ...]:
        """The Crawl-delay records for *token*, in the order of their lines; the last readable one counts."""
        return self._rules_for(token).delays

    def request_rate(self, token: str) -> RequestRate | None:
        """The last readable Request-rate for *token*, or None."""
        rates = map(request_rate, self._values(token, Kind.REQUEST_RATE))
        return next((rate for rate in rates if rate is not None), None)

    def _values(self, name: str, kind: Kind) -> Iterator[bytes]:
        """The values of the records of *kind* for the token called *name*, the last first."""
        return reversed(self._rules_for(name).values(kind))

    def _rules_for(self, name: str) -> RulesForCrawler:
        rules = self._rules.get(name)
        if rules is None:
            if len(self._rules) >= _TOKENS_KEPT:
                self._rules.clear()
            rules = self._rules[name] = self._read_fast(name) if self.dialect.is_googles else self._read(name)
        return rules

    def _read_fast(self, name: str) -> CrawlerRules:
        dialect = self.dialect
        token = _token_of(name, dialect.wide_tokens, dialect.empty_token)
        canonical, is_first = dialect.canonical_octets, not self._rules
        return CrawlerRules(self, name, self._reader, token, canonical_octets=canonical, is_first=is_first)

    def _read(self, name: str) -> PlainRules:
        rules = PlainRules(PlainReader(self.body, self.dialect), name)
        shared_memory.charge((ref(self), name), rules.octets)
        return rules

    def forget(self, token: str) -> None:
        """Drop what was worked out for *token*; the next question works it out again."""
        self._rules.pop(token, None)

    @property
    def octets(self) -> int:
        """The memory that this takes at most, in octets: the body, plus 2 KiB.

        That is the body and where the rules for the first crawler are. Rules for others, indexes, verdicts and
        line numbers count towards `SHARED_MEMORY`, one bound for all files of a process.
        """
        return self._reader.octets + _OCTETS_EMPTY

    def __repr__(self) -> str:
        return f"<RobotsTxt {self.dialect.name} tokens={list(self._rules)}>"


@lru_cache(maxsize=256)  # a crawl asks thousands of files about the same few tokens
def _token_of(name: str, wide: bool, empty: bool) -> Token:
    return Token.of(name, wide=wide, empty=empty)


_ROBOTS_TXT: Final = Verdict(allowed=True, rule=None, reason=Reason.ROBOTS_TXT)
