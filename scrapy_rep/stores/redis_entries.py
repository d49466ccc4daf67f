"""The entries that a fleet keeps in Redis: how they are written there, and all of them for a person at a shell.

An entry is the SHA-256 of its body and JSON; the body is kept by that name, compressed, once for all
entries that share it.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.freshness import Entry

from .redis_client import RedisAwayError, connect, place, what_it_says

if TYPE_CHECKING:
    from scrapy_rep.settings import RepSettings

DIGITS: Final = 64
"""Of a SHA-256, in front of what is kept of an entry."""

# KEYS: entry. ARGV: what comes before the name of a body.
GET: Final = f"""
local entry = redis.call('GET', KEYS[1])
if not entry then return false end
local body = redis.call('GET', ARGV[1] .. string.sub(entry, 1, {DIGITS}))
return body and {{entry, body}}
"""

_DEFAULTS: Final = {field.name: field.default for field in fields(Entry)}
_ELSEWHERE: Final = ("origin", "body")  # in the key, and kept once per content
_UNREADABLE: Final = (zlib.error, ValueError, TypeError, KeyError)
_LAST_DATE: Final = 253_402_300_800.0  # POSIX seconds: the year 10000
_BATCH: Final = 500  # keys that one call reads or deletes


def written(entry: Entry) -> str:
    """What is kept of *entry* beside its body: without what is as it is by default."""
    facts = {name: getattr(entry, name) for name in _DEFAULTS if name not in _ELSEWHERE}
    facts["access"] = entry.access.value
    facts["hops"] = entry.hops or None
    kept = {name: fact for name, fact in facts.items() if fact not in (None, _DEFAULTS[name])}
    return entry.sha256 + json.dumps(kept, separators=(",", ":"))


def read(origin: Origin, text: bytes, body: bytes) -> Entry | None:
    """The entry, or None for one that somebody else, or another version, has written there."""
    try:
        facts: dict[str, Any] = {"status": None, **json.loads(text[DIGITS:])}
        facts["access"] = Access(facts["access"])
        facts["hops"] = tuple(facts.get("hops", ()))
        entry = Entry(origin=origin, body=zlib.decompress(body), **facts)
    except _UNREADABLE:
        return None
    return entry if _is_sound(entry) else None


def _is_sound(entry: Entry) -> bool:
    times = [entry.fetched_at, entry.fresh_until, entry.tried_at, entry.retry_at, entry.unreachable_since or 0.0]
    texts = [entry.url, entry.etag, entry.last_modified, *entry.hops]
    return (
        all(isinstance(text, str) for text in texts)
        and all(isinstance(number, int) for number in (entry.status or 0, entry.failures))
        and all(isinstance(time, (int, float)) and 0 <= time < _LAST_DATE for time in times)
    )


class RedisEntries:
    """What the workers of a fleet have put into Redis. Calls raise `RedisAwayError` when it does not answer."""

    def __init__(self, settings: RepSettings) -> None:
        """Connects with the first call. Raises what `connect` raises."""
        self._client, self._errors = connect(settings)
        self._prefix = settings.redis_prefix
        self._get = self._client.register_script(GET)

    def get(self, origin: Origin) -> Entry | None:
        """The entry of *origin*, or None."""
        found = self._ask(self._get, [self._key("entry", origin)], [self._key("body", "")])
        return read(origin, *found) if found else None

    def entries(self) -> Iterator[Entry]:
        """All entries, in the order of their origins; one that expires meanwhile is left out."""
        body_of = self._key("body", "").encode()
        for keys in _batches(sorted(self._keys("entry"))):
            texts = self._ask(self._client.mget, keys)
            bodies = self._ask(self._client.mget, [body_of + (text or b"")[:DIGITS] for text in texts])
            entries = map(self._entry, keys, texts, bodies)
            yield from filter(None, entries)

    def _entry(self, key: bytes, text: bytes | None, body: bytes | None) -> Entry | None:
        try:
            origin = Origin.from_url(key.decode().removeprefix(self._key("entry", "")))
        except ValueError:  # no key of ours
            return None
        return read(origin, text, body) if text and body else None

    def purge(self, origin: Origin | None = None) -> int:
        """Forget *origin*, or all; the number of entries that are gone. A body of one origin expires by itself."""
        if origin:
            self._ask(self._client.unlink, self._key("lease", origin))
            return int(self._ask(self._client.unlink, self._key("entry", origin)))
        gone = self._unlink("entry")
        self._unlink("lease")
        self._unlink("body")
        return gone

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _unlink(self, kind: str) -> int:
        return sum(self._ask(self._client.unlink, *keys) for keys in _batches(self._keys(kind)))

    def _keys(self, kind: str) -> set[bytes]:
        """The keys of a *kind*, which Redis may name twice."""
        pattern = re.sub(r"([*?\[\]\\^-])", r"\\\1", self._key(kind, "")) + "*"
        keys: set[bytes] = self._ask(lambda: set(self._client.scan_iter(pattern, count=_BATCH)))
        return keys

    def _key(self, kind: str, name: Origin | str) -> str:
        return f"{self._prefix}{kind}:{name}"

    def _ask(self, question: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return question(*arguments)
        except self._errors as error:
            where, why = place(self._client), what_it_says(self._client, error)
            raise RedisAwayError(f"Redis at {where}, from REP_REDIS_URL, does not answer ({why})") from None


def _batches(keys: Iterable[bytes]) -> Iterator[list[bytes]]:
    rest = iter(keys)
    while batch := list(islice(rest, _BATCH)):
        yield batch
