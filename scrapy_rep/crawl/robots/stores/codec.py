"""The stored form of an entry, the same in every store of this package.

A store keeps an entry under its origin, as *facts* (plain values named like the fields of `Entry`: columns in
SQLite, JSON in fleets) and as a compressed body, once per content under its SHA-256. This module checks all values
it reads back, because other programs and other versions may write to the same store.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import fields
from operator import attrgetter
from typing import Any, Final

from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.freshness import Entry

SCHEMA: Final = 2
"""Version of the stored form. Raise it with every change of the facts, or of the tables in `sqlite_file`.

A raise must still read entries of 1.0, and must rename the keys in a store that workers share: both versions may
use it at the same time.
"""

FACTS: Final = tuple(field.name for field in fields(Entry) if field.name not in {"origin", "body"})
"""The names of the facts."""

MAX_BODY: Final = 67_108_864
"""Maximum bytes of a body to read back; larger bodies, which only a large REP_MAX_SIZE allows, are refetched."""

_facts_of = attrgetter(*FACTS)
_TIMES: Final = ("fetched_at", "fresh_until", "unreachable_since", "tried_at", "retry_at")
_LEVEL: Final = 3  # of zlib: a tenth more bytes than the default, in 60 % of its time
_LARGEST: Final = 2**63 - 1  # that a column of SQLite holds
_LAST_TIME: Final = 253_402_300_799.0  # POSIX seconds: the end of the year 9999, the last that ``datetime`` knows


class UnreadableEntryError(ValueError):
    """A stored value is not an entry of this `SCHEMA`."""


def encode(entry: Entry) -> dict[str, Any]:
    """Return the facts of *entry*: strings, numbers and None, and the hops as a list of strings.

    A time that no date can show, as after a lifetime of 10,000 years, is capped to a time that `decode` accepts.
    """
    facts = dict(zip(FACTS, _facts_of(entry), strict=True))
    facts["access"] = entry.access.value
    facts["hops"] = list(entry.hops)
    for name in _TIMES:
        time = facts[name]
        if time is not None and not 0 <= time <= _LAST_TIME:
            facts[name] = min(max(time, 0.0), _LAST_TIME)
    return facts


def encode_body(entry: Entry) -> bytes:
    """Return the compressed body of *entry*.

    The window is as large as the body: clearing the largest window takes longer than compressing most bodies.
    """
    window = min(max(len(entry.body).bit_length(), 10), zlib.MAX_WBITS)
    deflater = zlib.compressobj(_LEVEL, zlib.DEFLATED, window, window - 7)
    return deflater.compress(entry.body) + deflater.flush()


def decode(origin: Origin, facts: Mapping[str, Any], body: bytes) -> Entry:
    """Return the entry of *origin* with these *facts* and this compressed *body*.

    Raises `UnreadableEntryError` for anything that `encode` and `encode_body` do not write.
    """
    try:
        values = {**facts, "access": Access(facts["access"]), "hops": tuple(facts["hops"])}
        inflater = zlib.decompressobj()  # other programs may write to the store: a small body may be a bomb
        entry = Entry(origin=origin, body=inflater.decompress(body, MAX_BODY), **values)
        if not inflater.eof:
            raise ValueError(f"its body is cut off, or longer than {MAX_BODY:,} bytes")
    except (zlib.error, ValueError, TypeError, KeyError) as error:
        raise UnreadableEntryError(str(error)) from error
    if not _is_valid(entry):
        raise UnreadableEntryError("a field has the wrong type or is out of range")
    return entry


def _is_valid(entry: Entry) -> bool:
    """Whether the fields have the types in `Entry`, which its constructor does not check."""
    times = (entry.fetched_at, entry.fresh_until, entry.tried_at, entry.retry_at)
    texts = (entry.url, entry.etag, entry.last_modified, *entry.hops)
    return (
        all(isinstance(text, str) for text in texts)
        and _is_count(entry.failures)
        and (entry.status is None or _is_count(entry.status))
        and all(map(_is_time, times))
        and (entry.unreachable_since is None or _is_time(entry.unreachable_since))
    )


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and 0 <= value <= _LARGEST


def _is_time(value: Any) -> bool:
    return isinstance(value, (int, float)) and 0 <= value <= _LAST_TIME
