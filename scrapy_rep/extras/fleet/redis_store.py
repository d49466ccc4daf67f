"""Store entries in Redis: `RedisStore` for the crawls of a fleet.

The key ``entry:ORIGIN`` holds the SHA-256 of a body and the facts as JSON, ``body:SHA256`` a compressed body,
``lease:ORIGIN`` the holder of a lease, and ``note:KEY`` a note. An entry expires when no worker could still use
it, a body an hour after the last entry that needs it.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, fields
from itertools import islice
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from scrapy_rep.clock import clock
from scrapy_rep.crawl.robots.stores.codec import SCHEMA, UnreadableEntryError, decode, encode, encode_body
from scrapy_rep.directives.ai import origin_of
from scrapy_rep.extras.fleet.redis_connection import RedisAwayError
from scrapy_rep.protocol import Origin
from scrapy_rep.protocol.freshness import CLOCK_SKEW, Entry

if TYPE_CHECKING:
    from scrapy_rep.crawl.robots.stores import Store
    from scrapy_rep.extras.fleet.redis_connection import RedisConnection

logger = logging.getLogger(__name__)

_BODY_LIFE: Final = 3_600_000  # milliseconds by which a body outlives its entries
_SHA256_DIGITS: Final = 64  # before the JSON
_BATCH: Final = 500  # keys per call that reads or deletes
_DEFAULTS: Final = {"status": None, "hops": []} | {
    field.name: field.default for field in fields(Entry) if field.default is not MISSING
}

# KEYS: entry. ARGV: the prefix of the keys of bodies.
_GET: Final = f"""
local entry = redis.call('GET', KEYS[1])
if not entry then return false end
local body = redis.call('GET', ARGV[1] .. string.sub(entry, 1, {_SHA256_DIGITS}))
return body and {{entry, body}}
"""
# KEYS: entry, body, lease. ARGV: values of entry and body, the entry's lifetime in milliseconds, holder, the time
# of the fetch, and the latest plausible time of a fetch. An older answer does not replace a newer one, unless that
# lies in the future, dated by a wrong clock.
_PUT: Final = f"""
if redis.call('GET', KEYS[3]) == ARGV[4] then redis.call('DEL', KEYS[3]) end
local stored = redis.call('GET', KEYS[1])
local is_read, facts = pcall(cjson.decode, stored and string.sub(stored, {_SHA256_DIGITS + 1}) or '')
local fetched_at = is_read and type(facts) == 'table' and tonumber(facts.fetched_at) or 0
if fetched_at > tonumber(ARGV[5]) and fetched_at <= tonumber(ARGV[6]) then return 0 end
local life = ARGV[3] + {_BODY_LIFE}
redis.call('SET', KEYS[2], ARGV[2], 'PX', math.max(life, redis.call('PTTL', KEYS[2])))
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
return 1
"""
# KEYS: lease. ARGV: holder, milliseconds. Fails if another holder has the lease.
_LEASE: Final = """
if (redis.call('GET', KEYS[1]) or ARGV[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
"""
_GET_NOTE: Final = "return redis.call('GET', KEYS[1])"
# KEYS: notes. ARGV: lifetime in milliseconds, texts.
_PUT_NOTES: Final = """
for number, key in ipairs(KEYS) do redis.call('SET', key, ARGV[number + 1], 'PX', ARGV[1]) end
"""
_RELEASE: Final = "return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('DEL', KEYS[1]) or 0"


def encode_json(entry: Entry) -> str:
    """Return the facts of *entry* that differ from their defaults, and the `SCHEMA`, as a JSON object."""
    facts = {
        name: fact for name, fact in encode(entry).items() if name not in _DEFAULTS or fact != _DEFAULTS[name]
    }
    return json.dumps({"schema": SCHEMA, **facts}, separators=(",", ":"))


def decode_json(origin: Origin, text: bytes, body: bytes) -> Entry:
    """As `decode`, from a result of `encode_json`."""
    try:
        facts = {**_DEFAULTS, **json.loads(text)}
    except (ValueError, TypeError, RecursionError) as error:  # RecursionError for thousands of brackets
        raise UnreadableEntryError(str(error)) from error
    if (schema := facts.pop("schema", None)) != SCHEMA:
        raise UnreadableEntryError(f"another version of scrapy_rep wrote it: schema {schema}, not {SCHEMA}")
    return decode(origin, facts, body)


class RedisStore:
    """A `Store` in Redis, which falls back to the *local* store while Redis is away."""

    def __init__(self, connection: RedisConnection, local: Store, stale_max: float) -> None:
        """*stale_max*: seconds for which an expired entry is kept, because it may be served stale."""
        self._connection = connection
        self._local = local
        self._stale_max = stale_max
        self._holder = uuid4().hex
        self._has_warned = False
        self._get, self._put = connection.script(_GET), connection.script(_PUT)
        self._get_note, self._put_notes = connection.script(_GET_NOTE), connection.script(_PUT_NOTES)
        self._lease, self._release = connection.script(_LEASE), connection.script(_RELEASE)

    async def get(self, origin: Origin) -> Entry | None:
        try:
            found = await self._connection.run(self._get, [f"entry:{origin}"], [f"{self._connection.prefix}body:"])
        except RedisAwayError:
            return await self._local.get(origin)
        return self._decode(origin, *found) if found else None

    async def put(self, entry: Entry) -> None:
        sha256 = entry.sha256
        keys = [f"entry:{entry.origin}", f"body:{sha256}", f"lease:{entry.origin}"]
        life = int(1_000 * (entry.of_use_until(self._stale_max) - clock.time())) or 1  # milliseconds
        values = [sha256 + encode_json(entry), encode_body(entry), life]
        arguments = [*values, self._holder, entry.fetched_at, clock.time() + CLOCK_SKEW]
        try:
            await self._connection.run(self._put, keys, arguments)
        except RedisAwayError:
            await self._local.put(entry)

    async def acquire_lease(self, origin: Origin, seconds: float) -> bool:
        """As `Store.acquire_lease`, among all workers of the fleet."""
        arguments = [self._holder, int(seconds * 1_000)]
        try:
            return bool(await self._connection.run(self._lease, [f"lease:{origin}"], arguments))
        except RedisAwayError:
            return await self._local.acquire_lease(origin, seconds)

    async def release_lease(self, origin: Origin) -> None:
        try:
            await self._connection.run(self._release, [f"lease:{origin}"], [self._holder])
        except RedisAwayError:
            await self._local.release_lease(origin)

    async def note(self, key: str) -> str | None:
        try:
            found = await self._connection.run(self._get_note, [f"note:{key}"])
        except RedisAwayError:
            return await self._local.note(key)
        return found.decode(errors="replace") if found else None

    async def put_notes(self, notes: Mapping[str, str], seconds: float) -> None:
        items = iter(notes.items())
        try:
            while batch := dict(islice(items, _BATCH)):
                keys = [f"note:{key}" for key in batch]
                await self._connection.run(self._put_notes, keys, [int(seconds * 1_000), *batch.values()])
        except RedisAwayError:
            await self._local.put_notes(notes, seconds)

    def close(self) -> None:
        """Close the local store; other parts share the connection to Redis."""
        self._local.close()

    def entries(self, origin: Origin | None = None) -> Iterator[Entry]:
        """As `Store.entries`, for the entries of the fleet, except those that expire meanwhile."""
        call, client = self._connection.call_now, self._connection.client
        body_prefix = self._key("body")
        for keys in _batches([self._key("entry", origin)] if origin else sorted(self._keys("entry"))):
            values: list[bytes | None] = call(client.mget, keys)
            bodies: list[bytes | None] = call(
                client.mget, [body_prefix + (it or b"")[:_SHA256_DIGITS] for it in values]
            )
            yield from filter(None, map(self._entry, keys, values, bodies))

    def purge(self, origin: Origin | None = None) -> int:
        """As `Store.purge`. The body of a single origin stays until it expires: other origins may share it."""
        if origin:
            self._delete([self._key("lease", origin)])
            return self._delete([self._key("entry", origin)])
        deleted = self._delete(self._keys("entry"))
        self._delete({*self._keys("lease"), *self._keys("body"), *self._keys("note")})
        return deleted

    def _entry(self, key: bytes, value: bytes | None, body: bytes | None) -> Entry | None:
        try:
            origin = origin_of(key.removeprefix(self._key("entry")).decode())
        except ValueError:  # another program's key
            return None
        return self._decode(origin, value, body) if value and body else None

    def _decode(self, origin: Origin, value: bytes, body: bytes) -> Entry | None:
        """Return the entry, or None if another program or version wrote it; warn about the first such entry."""
        try:
            return decode_json(origin, value[_SHA256_DIGITS:], body)
        except UnreadableEntryError as error:
            if not self._has_warned:
                self._has_warned = True
                logger.warning(
                    "The Redis entry of %s cannot be read (%s): fetching its robots.txt again. More such entries"
                    " get no WARNING. Run one version of scrapy_rep on all workers.",
                    origin, error,
                )  # fmt: skip
        return None

    def _delete(self, keys: Iterable[bytes]) -> int:
        call, client = self._connection.call_now, self._connection.client
        return sum(int(call(client.unlink, *batch)) for batch in _batches(keys))

    def _keys(self, kind: str) -> set[bytes]:
        """Return the keys of a *kind* without duplicates: SCAN may return a key several times."""
        pattern = re.sub(rb"([*?\[\]\\^-])", rb"\\\1", self._key(kind)) + b"*"
        client = self._connection.client
        keys: set[bytes] = self._connection.call_now(lambda: set(client.scan_iter(pattern, count=_BATCH)))
        return keys

    def _key(self, kind: str, origin: Origin | str = "") -> bytes:
        return f"{self._connection.prefix}{kind}:{origin}".encode()

    def __repr__(self) -> str:
        return f"<RedisStore {self._connection!r} {self._local!r}>"


def _batches(keys: Iterable[bytes]) -> Iterator[list[bytes]]:
    rest = iter(keys)
    while batch := list(islice(rest, _BATCH)):
        yield batch
