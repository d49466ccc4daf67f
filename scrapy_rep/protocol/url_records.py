"""Clean-param and Host: records that say how a URL of the site is written. Knows nothing of groups.

Clean-param is Yandex's (its help for webmasters, "Clean-param directive"), Host as it is here
Esri Geoportal Server's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from .dialect import Dialect
from .path_pattern import octets, path_of
from .plain_pattern import compared_path, patterns_of
from .records import Kind, Record, as_text

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
    patterns = patterns_of(octets(clean_param.path), allow=False, dialect=dialect)
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
