"""A parsed robots.txt: groups, verdicts on URLs, and other records. RFC 9309 sections 2.2 and 2.2.4."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final

from .dialect import GOOGLE, Dialect
from .path_pattern import compared_path, find_path, octets, path_of, patterns_of
from .product_token import ProductToken, is_global
from .reader import (
    MAX_SIZE,
    Extension,
    Group,
    cut,
    extensions,
    extensions_for,
    groups_in,
    lines_in,
    records_in,
)
from .records import Kind, Record, Rule, as_text, bom_length, kind_of, split_line
from .rules import NO_RULE, ROBOTS_TXT_ITSELF, Rules, Verdict, delays_in, verdict_by

try:
    from ._speedups import Rules as _Compiled
except ImportError:  # not built on this platform
    _Compiled = None  # type: ignore[assignment,misc]

ENGINE: Final = "python" if _Compiled is None else "c"
"""The engine for Google's dialects: ``c``, the compiled `_speedups`, or ``python``, which serves all others."""

_OCTETS_EMPTY: Final = 580  # measured with tracemalloc on real files
_OCTETS_PER_LINE: Final = {True: 12, False: 112}  # by is_compiled; hostile files take up to six times as much

_TOKENS_KEPT: Final = 16  # per file; bounds the memory of a crawl that keeps using new names

MAX_CLEAN_PARAM: Final = 500  # bytes; Yandex ignores a longer Clean-param record

# The value of a Host line in Esri Geoportal Server: a host, optionally with a scheme and a port.
_HOST: Final = re.compile(r"(?:(https?)://)?([a-z0-9.-]+|\[[0-9a-f:.]+\])(:\d{1,5})?/?", re.IGNORECASE)
_START_OF_URL: Final = re.compile(r"(https?)://[^/?#]*", re.IGNORECASE)
_SECONDS: Final = re.compile(rb"\d+(?:\.\d*)?|\.\d+")
_REQUEST_RATE: Final = re.compile(rb"(\d{1,9})\s*/\s*(\d{1,9})\s*([smhd]?)(?:\s+(.*))?", re.IGNORECASE | re.DOTALL)
_UNIT_SECONDS: Final = {b"": 1.0, b"s": 1.0, b"m": 60.0, b"h": 3600.0, b"d": 86_400.0}


def parse(body: bytes, dialect: Dialect = GOOGLE, *, limit: int | None = MAX_SIZE) -> RobotsTxt:
    """Parse the first *limit* bytes of *body* as a robots.txt; None means no limit.

    The body is read when it is first needed. Raises `TypeError` if *body* is not ``bytes``; no content of the body
    raises.
    """
    if not isinstance(body, bytes) or (limit is not None and len(body) > limit):  # hardly any body
        body = cut(body, limit)
    return RobotsTxt(body, dialect)


class RobotsTxt:
    """A parsed robots.txt, returned by `scrapy_rep.protocol.parse`; ``body`` holds the bytes within the limit.

    Threads may share an instance and call any method at once. No method takes a lock: cached results are complete
    before another thread sees them. At worst, two threads do the same work.
    """

    __slots__ = ("__weakref__", "_rules", "body", "dialect")

    def __init__(self, body: bytes, dialect: Dialect = GOOGLE) -> None:
        self.body = body
        self.dialect = dialect
        self._rules: dict[str, Rules | _Compiled] = {}

    @property
    def records(self) -> tuple[Record, ...]:
        """All lines with a key and a value, including unknown keys."""
        return tuple(records_in(self.body, self.dialect))

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups in line order; groups for the same agent are not merged."""
        return tuple(groups_in(lines_in(self.body, self.dialect), self.dialect.closing_kinds))

    @property
    def extensions(self) -> tuple[Extension, ...]:
        """The extension records, for example Crawl-delay, each with the user-agent lines it applies to."""
        return tuple(extensions(records_in(self.body, self.dialect)))

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """The values of the Sitemap lines as written, in line order, without duplicates."""
        lenient = self.dialect.lenient_keys
        # Split only lines with "map": every crawl reads the sitemaps of every file.
        lines = self.body[bom_length(self.body) :].splitlines()
        found = (split_line(line, lenient) for line in lines if line.lower().find(b"map") >= 0)
        values = (as_text(value) for key, value in found if key and kind_of(key, lenient) is Kind.SITEMAP)
        return tuple(dict.fromkeys(values))

    @property
    def host(self) -> str | None:
        """The value of the first Host line, an extension by Yandex, or None."""
        records = records_in(self.body, self.dialect)
        return next((record.text for record in records if record.kind is Kind.HOST), None)

    @property
    def clean_params(self) -> tuple[CleanParam, ...]:
        """The readable Clean-param records of all groups; empty in a dialect without them."""
        found = []
        for record in self.records if self.dialect.clean_params else ():
            if record.kind is Kind.CLEAN_PARAM and len(record.value) <= MAX_CLEAN_PARAM:
                names, *path = record.value.split(None, 1)[:2] or [b""]
                if read := tuple(as_text(name) for name in names.split(b"&") if name):
                    found.append(CleanParam(read, as_text(b"".join(path))))
        return tuple(found)

    def clean_param(self, url: str) -> str:
        """*url* without the parameters that Clean-param records name; the rest stays as written."""
        address, hash_sign, fragment = url.partition("#")
        base, _, query = address.partition("?")
        if not query:
            return url
        path = compared_path(path_of(url, canonical_octets=self.dialect.canonical_octets), self.dialect)
        names: set[str] = set()
        for each in self.clean_params:
            if any(pattern.matches(path) for pattern in patterns_of(octets(each.path), False, self.dialect)):
                names.update(each.names)
        given = query.split("&")
        kept = [each for each in given if each.partition("=")[0] not in names]
        if len(kept) == len(given):
            return url
        return f"{base}?{'&'.join(kept)}{hash_sign}{fragment}" if kept else f"{base}{hash_sign}{fragment}"

    def at_host(self, url: str) -> str:
        """*url* with the scheme, host and port of the first Host line, in a dialect with ``host_replaces``.

        Returns *url* unchanged if the line's value is not a host, or if *url* is neither http nor https.
        """
        target = _HOST.fullmatch(self.host or "") if self.dialect.host_replaces else None
        start = _START_OF_URL.match(url)
        if not target or not start:
            return url
        scheme, name, port = target.groups()
        return f"{scheme or start[1]}://{name}{port or ''}{url[start.end() :]}"

    def verdict(self, token: str, url: str | bytes) -> Verdict:
        """Decide whether the crawler *token* may request *url*.

        The longest matching pattern wins, allow wins a tie, and no match allows (RFC 9309 section 2.2.2), unless
        the dialect differs. *token* is a product token, not a User-Agent header.
        """
        path = find_path(url) or path_of(url, canonical_octets=self.dialect.canonical_octets)
        return (self._rules.get(token) or self._rules_for(token)).verdict(path)

    def verdict_on_path(self, token: str, path: bytes) -> Verdict:
        """As `verdict`, for a URL that is already split.

        *path* comes from `path_of` or `split_url` with the ``canonical_octets`` of this dialect: path, params and
        query as bytes, starting with a slash. Any other value is compared unchanged.
        """
        return (self._rules.get(token) or self._rules_for(token)).verdict(path)

    def has_group(self, token: str) -> bool:
        """Whether a user-agent line names *token*; ``*`` names no crawler."""
        return self._said_to(token).by_name

    def agents_for(self, token: str) -> tuple[Record, ...]:
        """The user-agent lines that apply to *token*: the lines that name it, else the lines with ``*``."""
        return self._read(token).agents

    def rules(self, token: str) -> tuple[Rule, ...]:
        """The rules for *token* from all its groups, in line order."""
        return self._read(token).rules

    def extensions_for(self, token: str) -> tuple[Record, ...]:
        """The extension records that apply to *token*; a named group inherits none from ``*``."""
        said = self._said_to(token)
        if isinstance(said, Rules):
            return said.extensions
        is_for = ProductToken.of(token, self.dialect).is_named_by if said.by_name else is_global
        return tuple(extensions_for(records_in(self.body), lambda agent: is_for(agent.value)))

    def crawl_delay(self, token: str) -> float | None:
        """The last readable Crawl-delay for *token*, in seconds between two requests, or None.

        The dialect decides which Crawl-delay applies to a crawler.
        """
        delays = (seconds(record.value) for record in reversed(self.crawl_delays(token)))
        return next((delay for delay in delays if delay is not None), None)

    def crawl_delays(self, token: str) -> tuple[Record, ...]:
        """The Crawl-delay records for *token* in line order; the last readable record applies."""
        if not self._may_hold(b"delay"):
            return ()
        said = self._said_to(token)
        return said.delays if isinstance(said, Rules) else delays_in(self.extensions_for(token))

    def request_rate(self, token: str) -> RequestRate | None:
        """The last readable Request-rate for *token*, or None."""
        records = reversed(self.extensions_for(token)) if self._may_hold(b"rate") else ()
        rates = (request_rate(record.value) for record in records if record.kind is Kind.REQUEST_RATE)
        return next((rate for rate in rates if rate is not None), None)

    def _may_hold(self, word: bytes) -> bool:
        """Whether the body contains *word*, a lower-case part of a key: a shortcut, as most files set no delay."""
        return word in self.body.lower()

    def _said_to(self, token: str) -> Rules | _Compiled:
        return self._rules.get(token) or self._rules_for(token)

    def _rules_for(self, token: str) -> Rules | _Compiled:
        """The rules for *token*, cached for the next verdict."""
        dialect, kept = self.dialect, self._rules
        if len(kept) >= _TOKENS_KEPT:
            kept.clear()
        if _Compiled is None or not dialect.is_googles:
            rules = kept[token] = self._read(token)
            return rules
        itself = ROBOTS_TXT_ITSELF if dialect.robots_txt_allowed else None
        name = ProductToken.of(token, dialect)
        compiled = kept[token] = _Compiled(self.body, name, dialect.canonical_octets, NO_RULE, itself, verdict_by)
        return compiled

    def _read(self, token: str) -> Rules:
        """The complete rules for *token*, which a crawl does not need."""
        rules = self._rules.get(token)
        return rules if isinstance(rules, Rules) else Rules(self.body, token, self.dialect)

    @property
    def octets(self) -> int:
        """An estimate of the memory in bytes after verdicts for one crawler, by the lines of the body.

        Each further crawler takes as much again; the rules of at most 16 crawlers are cached.
        """
        lines = self.body.count(b"\n") + self.body.count(b"\r")
        is_compiled = _Compiled is not None and self.dialect.is_googles
        return _OCTETS_EMPTY + len(self.body) + _OCTETS_PER_LINE[is_compiled] * lines

    def __repr__(self) -> str:
        return f"<RobotsTxt {self.dialect.name} tokens={list(self._rules)}>"


# The values of extension records.


@dataclass(frozen=True, slots=True)
class RequestRate:
    """A Request-rate record: at most ``requests`` in ``seconds``.

    ``window`` is the time of day in which the rate applies, as written; empty means always.
    """

    requests: int
    seconds: float
    window: str


@dataclass(frozen=True, slots=True)
class CleanParam:
    """A Clean-param record: the ``names`` of URL parameters that do not change the page.

    ``path`` is the pattern of the paths that the record covers; empty means all.
    """

    names: tuple[str, ...]
    path: str


def seconds(value: bytes) -> float | None:
    """Read the *value* of a Crawl-delay, a decimal number with a point; None unless it is finite."""
    if not _SECONDS.fullmatch(value):
        return None
    delay = float(value)
    return delay if math.isfinite(delay) else None


def request_rate(value: bytes) -> RequestRate | None:
    """Read the *value* of a Request-rate, for example ``1/5`` or ``10/1m``; None if unreadable."""
    found = _REQUEST_RATE.fullmatch(value)
    if not found:
        return None
    requests, count, unit, window = found.groups()
    length = int(count) * _UNIT_SECONDS[unit.lower()]
    if not int(requests) or not length:
        return None
    return RequestRate(int(requests), length, (window or b"").decode("utf-8", "surrogateescape"))
