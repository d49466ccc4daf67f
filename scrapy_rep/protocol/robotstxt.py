"""A parsed robots.txt: its groups, verdicts on URLs, and its other records. RFC 9309 sections 2.2 and 2.2.4."""

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
except ImportError:  # it was not built
    _Compiled = None  # type: ignore[assignment,misc]

ENGINE: Final = "python" if _Compiled is None else "c"
"""What decides in Google's dialects: ``c``, the compiled `_speedups`, or ``python``, `Rules` as in all others."""

_OCTETS_EMPTY: Final = 580  # as measured with tracemalloc on real files
_OCTETS_PER_LINE: Final = {True: 12, False: 112}  # compiled or not; hostile files take up to six times that

_TOKENS_KEPT: Final = 16  # per file, so that a crawl under ever new names stays bounded

MAX_CLEAN_PARAM: Final = 500  # bytes of a Clean-param record that Yandex reads; a longer one is ignored

# The value of a Host line, as Esri Geoportal Server reads it: a host, perhaps with a scheme and a port.
_HOST: Final = re.compile(r"(?:(https?)://)?([a-z0-9.-]+|\[[0-9a-f:.]+\])(:\d{1,5})?/?", re.IGNORECASE)
_START_OF_URL: Final = re.compile(r"(https?)://[^/?#]*", re.IGNORECASE)
_SECONDS: Final = re.compile(rb"\d+(?:\.\d*)?|\.\d+")
_REQUEST_RATE: Final = re.compile(rb"(\d{1,9})\s*/\s*(\d{1,9})\s*([smhd]?)(?:\s+(.*))?", re.IGNORECASE | re.DOTALL)
_UNIT_SECONDS: Final = {b"": 1.0, b"s": 1.0, b"m": 60.0, b"h": 3600.0, b"d": 86_400.0}


def parse(body: bytes, dialect: Dialect = GOOGLE, *, limit: int | None = MAX_SIZE) -> RobotsTxt:
    """The robots.txt in *body*, of which *limit* octets are read (None: all of them).

    Nothing is read before the first question. Raises `TypeError` for a *body* that is not ``bytes``,
    and nothing else, whatever the body holds.
    """
    if not isinstance(body, bytes) or (limit is not None and len(body) > limit):  # as is next to none
        body = cut(body, limit)
    return RobotsTxt(body, dialect)


class RobotsTxt:
    """A parsed robots.txt, made by `scrapy_rep.protocol.parse`; ``body`` are the octets that are read.

    Safe to share between threads: several may ask any question at once. No question takes a lock: what one thread
    keeps is complete before another can see it, and at worst two threads do the same work.
    """

    __slots__ = ("__weakref__", "_rules", "body", "dialect")

    def __init__(self, body: bytes, dialect: Dialect = GOOGLE) -> None:
        self.body = body
        self.dialect = dialect
        self._rules: dict[str, Rules | _Compiled] = {}

    @property
    def records(self) -> tuple[Record, ...]:
        """Every line that has a key and a value, unknown keys included."""
        return tuple(records_in(self.body, self.dialect))

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups in the order of their lines, those that name the same agent not yet merged."""
        return tuple(groups_in(lines_in(self.body, self.dialect), self.dialect.closing_kinds))

    @property
    def extensions(self) -> tuple[Extension, ...]:
        """The other records (Crawl-delay and the like), each with the user-agent lines it applies to."""
        return tuple(extensions(records_in(self.body, self.dialect)))

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """The values of the Sitemap lines as written, in order, without duplicates."""
        lenient = self.dialect.lenient_keys
        # Few lines are looked at closely, since each crawl asks this of each file.
        lines = self.body[bom_length(self.body) :].splitlines()
        found = (split_line(line, lenient) for line in lines if line.lower().find(b"map") >= 0)
        values = (as_text(value) for key, value in found if key and kind_of(key, lenient) is Kind.SITEMAP)
        return tuple(dict.fromkeys(values))

    @property
    def host(self) -> str | None:
        """The value of the first Host line, Yandex's extension; None without one."""
        records = records_in(self.body, self.dialect)
        return next((record.text for record in records if record.kind is Kind.HOST), None)

    @property
    def clean_params(self) -> tuple[CleanParam, ...]:
        """The Clean-param records that can be read, whatever their group; empty in a dialect without them."""
        found = []
        for record in self.records if self.dialect.clean_params else ():
            if record.kind is Kind.CLEAN_PARAM and len(record.value) <= MAX_CLEAN_PARAM:
                names, *path = record.value.split(None, 1)[:2] or [b""]
                if read := tuple(as_text(name) for name in names.split(b"&") if name):
                    found.append(CleanParam(read, as_text(b"".join(path))))
        return tuple(found)

    def clean_param(self, url: str) -> str:
        """*url* without the parameters that a Clean-param record names; all else stays as written."""
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
        """*url* at the scheme, host and port of the first Host line, in a dialect where that replaces them.

        The URL itself if the line holds anything else, or if the URL is not one of http or https.
        """
        target = _HOST.fullmatch(self.host or "") if self.dialect.host_replaces else None
        start = _START_OF_URL.match(url)
        if not target or not start:
            return url
        scheme, name, port = target.groups()
        return f"{scheme or start[1]}://{name}{port or ''}{url[start.end() :]}"

    def verdict(self, token: str, url: str | bytes) -> Verdict:
        """Whether the crawler called *token* may request *url*.

        The longest pattern that matches wins, a tie goes to allow, no match allows (RFC 9309 section 2.2.2),
        unless the dialect says otherwise. *token* is a product token, not a User-Agent header.
        """
        path = find_path(url) or path_of(url, canonical_octets=self.dialect.canonical_octets)
        return (self._rules.get(token) or self._rules_for(token)).verdict(path)

    def verdict_on_path(self, token: str, path: bytes) -> Verdict:
        """As `verdict`, for those who have split the URL already.

        *path* is what `path_of`, or `split_url`, answers with the ``canonical_octets`` of this dialect: path,
        params and query as octets, the first of them a slash. Anything else is compared as it is.
        """
        return (self._rules.get(token) or self._rules_for(token)).verdict(path)

    def has_group(self, token: str) -> bool:
        """Whether a user-agent line names *token*; ``*`` names no crawler."""
        return self._said_to(token).by_name

    def agents_for(self, token: str) -> tuple[Record, ...]:
        """The user-agent lines that address *token*: those that name it, else those of ``*``."""
        return self._read(token).agents

    def rules(self, token: str) -> tuple[Rule, ...]:
        """The rules for *token*, of all its groups together, in the order of their lines."""
        return self._read(token).rules

    def extensions_for(self, token: str) -> tuple[Record, ...]:
        """The other records that apply to *token*; its own group does not inherit those of ``*``."""
        said = self._said_to(token)
        if isinstance(said, Rules):
            return said.extensions
        is_for = ProductToken.of(token, self.dialect).is_named_by if said.by_name else is_global
        return tuple(extensions_for(records_in(self.body), lambda agent: is_for(agent.value)))

    def crawl_delay(self, token: str) -> float | None:
        """Seconds between two requests that the last readable Crawl-delay for *token* asks for, or None.

        Which Crawl-delay is for a crawler, if any, depends on the dialect.
        """
        delays = (seconds(record.value) for record in reversed(self.crawl_delays(token)))
        return next((delay for delay in delays if delay is not None), None)

    def crawl_delays(self, token: str) -> tuple[Record, ...]:
        """The Crawl-delay records for *token*, in the order of their lines; the last readable one counts."""
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
        """Whether *word*, a part of a key in lower case, is anywhere in the body: most files ask for no delay."""
        return word in self.body.lower()

    def _said_to(self, token: str) -> Rules | _Compiled:
        return self._rules.get(token) or self._rules_for(token)

    def _rules_for(self, token: str) -> Rules | _Compiled:
        """What is said to *token*, kept for the next question."""
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
        """All that is said to *token*, which a crawl does not ask for."""
        rules = self._rules.get(token)
        return rules if isinstance(rules, Rules) else Rules(self.body, token, self.dialect)

    @property
    def octets(self) -> int:
        """About the memory that this takes once it has decided for one crawler, by the lines of the body.

        The rules for each further crawler take as much again; those of at most 16 are kept.
        """
        lines = self.body.count(b"\n") + self.body.count(b"\r")
        is_compiled = _Compiled is not None and self.dialect.is_googles
        return _OCTETS_EMPTY + len(self.body) + _OCTETS_PER_LINE[is_compiled] * lines

    def __repr__(self) -> str:
        return f"<RobotsTxt {self.dialect.name} tokens={list(self._rules)}>"


# The values of other records.


@dataclass(frozen=True, slots=True)
class RequestRate:
    """A Request-rate record: at most ``requests`` in ``seconds``.

    ``window`` is the time of day for which it holds, as written; empty when it always does.
    """

    requests: int
    seconds: float
    window: str


@dataclass(frozen=True, slots=True)
class CleanParam:
    """A Clean-param record: parameters with these ``names`` make no difference to what a URL shows.

    ``path`` is the pattern of the paths that it is about, empty for all.
    """

    names: tuple[str, ...]
    path: str


def seconds(value: bytes) -> float | None:
    """The *value* of a Crawl-delay: decimals with a point; None when it is not a finite number of seconds."""
    if not _SECONDS.fullmatch(value):
        return None
    delay = float(value)
    return delay if math.isfinite(delay) else None


def request_rate(value: bytes) -> RequestRate | None:
    """The *value* of a Request-rate, such as ``1/5`` or ``10/1m``; None when it cannot be read."""
    found = _REQUEST_RATE.fullmatch(value)
    if not found:
        return None
    requests, count, unit, window = found.groups()
    length = int(count) * _UNIT_SECONDS[unit.lower()]
    if not int(requests) or not length:
        return None
    return RequestRate(int(requests), length, (window or b"").decode("utf-8", "surrogateescape"))
