"""Other records: Crawl-delay, Request-rate, Clean-param and the like. RFC 9309 section 2.2.4.

Knows which user-agent lines such a record applies to, and reads its value. Knows nothing of rules. Clean-param is
Yandex's (its help for webmasters, "Clean-param directive"), Host as it is here Esri Geoportal Server's.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from .dialect import Dialect
from .path_pattern import compared_path, octets, path_of, patterns_of
from .records import Kind, Record, as_text

_OF_THE_PROTOCOL: Final = frozenset({Kind.USER_AGENT, Kind.ALLOW, Kind.DISALLOW, Kind.SITEMAP, Kind.UNKNOWN})


@dataclass(frozen=True, slots=True)
class Extension:
    """Another record (Crawl-delay and the like) and the user-agent lines it applies to."""

    agents: tuple[Record, ...]
    record: Record


@dataclass(frozen=True, slots=True)
class RequestRate:
    """A Request-rate record: at most ``requests`` in ``seconds``.

    ``window`` is the time of day for which it holds, as written; empty when it always does.
    """

    requests: int
    seconds: float
    window: str


def extensions(records: Iterable[Record]) -> Iterator[Extension]:
    """The other records, each with the user-agent lines it applies to.

    They close no group of rules, but for them a run of user-agent lines ends at the first record that
    is neither user-agent nor Sitemap: in "a / delay 1 / b / delay 2" each has a delay of its own.
    """
    agents: list[Record] = []
    run: tuple[Record, ...] | None = None  # once it has ended: thousands of records may share it
    for record in records:
        if record.kind is Kind.USER_AGENT:
            if run is not None:
                agents, run = [], None
            agents.append(record)
        elif record.kind is not Kind.SITEMAP:
            if run is None:
                run = tuple(agents)
            if record.kind not in _OF_THE_PROTOCOL:
                yield Extension(run, record)


def extensions_for(records: Iterable[Record], is_for: Callable[[Record], bool]) -> Iterator[Record]:
    """The other records in whose run of user-agent lines one *is_for* a crawler."""
    run: tuple[Record, ...] | None = None
    is_run_for = False
    for extension in extensions(records):
        if extension.agents is not run:  # thousands of records may share thousands of lines
            run = extension.agents
            is_run_for = any(map(is_for, run))
        if is_run_for:
            yield extension.record


def outside_groups(found: Iterable[Extension]) -> list[Record]:
    """The records of the extensions *found* that stand before any user-agent line."""
    return [extension.record for extension in found if not extension.agents]


_SECONDS: Final = re.compile(rb"\d+(?:\.\d*)?|\.\d+")
_REQUEST_RATE: Final = re.compile(rb"(\d{1,9})\s*/\s*(\d{1,9})\s*([smhd]?)(?:\s+(.*))?", re.IGNORECASE | re.DOTALL)
_UNIT_SECONDS: Final = {b"": 1.0, b"s": 1.0, b"m": 60.0, b"h": 3600.0, b"d": 86_400.0}


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


MAX_CLEAN_PARAM: Final = 500
"""Octets of a Clean-param record that Yandex reads; a longer one is ignored."""

_HOST: Final = re.compile(r"(?:(https?)://)?([a-z0-9.-]+|\[[0-9a-f:.]+\])(:\d{1,5})?/?", re.IGNORECASE)
_START_OF_URL: Final = re.compile(r"(https?)://[^/?#]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CleanParam:
    """A Clean-param record: parameters with these ``names`` make no difference to what a URL shows.

    ``path`` is the pattern of the paths that it is about, empty for all.
    """

    names: tuple[str, ...]
    path: str


def clean_params_in(records: Iterable[Record]) -> Iterator[CleanParam]:
    """The Clean-param *records* that can be read, whatever their group."""
    for record in records:
        if record.kind is Kind.CLEAN_PARAM and len(record.value) <= MAX_CLEAN_PARAM:
            names, *path = record.value.split(None, 1)[:2] or [b""]
            found = tuple(as_text(name) for name in names.split(b"&") if name)
            if found:
                yield CleanParam(found, as_text(b"".join(path)))


def without_params(url: str, clean_params: Iterable[CleanParam], dialect: Dialect) -> str:
    """*url* without the parameters that make no difference; all else stays as written."""
    address, hash_sign, fragment = url.partition("#")
    base, _, query = address.partition("?")
    if not query:
        return url
    path = compared_path(path_of(url, canonical_octets=dialect.canonical_octets), dialect)
    names = {name for each in clean_params if _is_about(each, path, dialect) for name in each.names}
    given = query.split("&")
    kept = [each for each in given if each.partition("=")[0] not in names]
    if len(kept) == len(given):
        return url
    return f"{base}?{'&'.join(kept)}{hash_sign}{fragment}" if kept else f"{base}{hash_sign}{fragment}"


def _is_about(clean_param: CleanParam, path: bytes, dialect: Dialect) -> bool:
    patterns = patterns_of(octets(clean_param.path), False, dialect)
    return any(pattern.matches(path) for pattern in patterns)


def at_host(url: str, host: str) -> str:
    """*url* at *host*, the value of a Host record: a host, perhaps with a scheme before and a port behind it.

    The URL itself if the value is anything else, or if the URL is not one of http or https.
    """
    target, start = _HOST.fullmatch(host), _START_OF_URL.match(url)
    if not target or not start:
        return url
    scheme, name, port = target.groups()
    return f"{scheme or start[1]}://{name}{port or ''}{url[start.end() :]}"
