"""The fleet's store: entries in Redis, shared by all workers; in a local store while Redis is away.

Each entry expires by itself when nobody could use it any more. Bodies are compressed and kept once per
content, a little longer than the last entry that needs them. A lease is short and renewed while its fetch
goes on, so that a worker that dies holds nobody up for long, and one of this machine not at all.
"""

from __future__ import annotations

import zlib
from contextlib import suppress
from time import monotonic, time
from typing import TYPE_CHECKING, Final

from scrapy.utils.asyncio import call_later
from scrapy.utils.defer import deferred_from_coro

from scrapy_rep.exceptions import RedisRequiredError
from scrapy_rep.protocol.freshness import CLOCK_SKEW

from .lease import LeaseHolder, has_died
from .redis_client import RedisAwayError
from .redis_entries import DIGITS, GET, read, written

if TYPE_CHECKING:
    from scrapy.utils.asyncio import CallLaterResult

    from scrapy_rep.protocol import Origin
    from scrapy_rep.protocol.freshness import Entry

    from .base import Store
    from .redis_link import RedisLink

_LEASE_LIFE: Final = 9.0  # seconds that a lease outlives the worker that has it
_BODY_LIFE: Final = 3_600_000  # milliseconds that a body outlives its entries

# KEYS: entry, body, lease. ARGV: the two values, milliseconds that the entry lives, holder, fetched at, and the
# latest time at which an entry can have been fetched.
# An answer is not replaced by what another worker knew before it, unless a clock that was ahead has dated it.
_PUT: Final = f"""
if redis.call('GET', KEYS[3]) == ARGV[4] then redis.call('DEL', KEYS[3]) end
local kept = redis.call('GET', KEYS[1])
local is_read, facts = pcall(cjson.decode, kept and string.sub(kept, {DIGITS + 1}) or '')
local known = is_read and type(facts) == 'table' and tonumber(facts.fetched_at) or 0
if known > tonumber(ARGV[5]) and known <= tonumber(ARGV[6]) then return 0 end
local life = ARGV[3] + {_BODY_LIFE}
redis.call('SET', KEYS[2], ARGV[2], 'PX', math.max(life, redis.call('PTTL', KEYS[2])))
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
return 1
"""
# KEYS: lease. ARGV: holder, milliseconds. Returns who else holds it.
_LEASE: Final = """
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return holder end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return false
"""
_RELEASE: Final = "return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('DEL', KEYS[1]) or 0"


class RedisStore:
    """Entries in Redis; in the *local* store while there is none."""

    def __init__(self, link: RedisLink, local: Store, stale_max: float) -> None:
        """*stale_max* seconds an entry may stand in when it has expired; it is kept for so long."""
        self._link = link
        self._local = local
        self._stale_max = stale_max
        self._holder = LeaseHolder.new()
        self._leased: dict[Origin, float] = {}  # until when, monotonic
        self._renewal: CallLaterResult | None = None
        self._get, self._put = link.script(GET), link.script(_PUT)
        self._lease, self._release = link.script(_LEASE), link.script(_RELEASE)

    async def get(self, origin: Origin) -> Entry | None:
        """The entry of *origin*, fresh or not; None when there is none."""
        try:
            found = await self._link.run(self._get, [f"entry:{origin}"], [f"{self._link.prefix}body:"])
        except RedisAwayError:
            return await self._local.get(origin)
        return read(origin, *found) if found else None

    async def put(self, entry: Entry) -> None:
        """Keep *entry* and release the lease on its origin."""
        self._forget_lease(entry.origin)
        sha256 = entry.sha256
        keys = [f"entry:{entry.origin}", f"body:{sha256}", f"lease:{entry.origin}"]
        arguments = [written(entry), zlib.compress(entry.body), self._life(entry), str(self._holder)]
        try:
            await self._link.run(self._put, keys, [*arguments, entry.fetched_at, time() + CLOCK_SKEW])
        except RedisAwayError:
            await self._local.put(entry)

    async def acquire_lease(self, origin: Origin, seconds: float) -> bool:
        """Whether this worker may fetch *origin* now, and no other of the fleet."""
        try:
            granted = await self._lease_for(origin, min(seconds, _LEASE_LIFE))
        except RedisAwayError:
            return await self._local.acquire_lease(origin, seconds)
        if granted and seconds > _LEASE_LIFE:
            self._leased[origin] = monotonic() + seconds
            self._renewal = self._renewal or call_later(_LEASE_LIFE / 3, self._renew_leases)
        return granted

    async def release_lease(self, origin: Origin) -> None:
        """Release the lease on *origin*."""
        self._forget_lease(origin)
        try:
            await self._link.run(self._release, [f"lease:{origin}"], [str(self._holder)])
        except RedisAwayError:
            await self._local.release_lease(origin)

    def close(self) -> None:
        """Close the local store; the link to Redis closes itself."""
        for origin in list(self._leased):
            self._forget_lease(origin)
        self._holder.retire()
        self._local.close()

    async def _lease_for(self, origin: Origin, seconds: float) -> bool:
        keys, arguments = [f"lease:{origin}"], [str(self._holder), int(seconds * 1_000)]
        other = await self._link.run(self._lease, keys, arguments)
        if other and has_died(other.decode(errors="replace")):
            await self._link.run(self._release, keys, [other])
            other = await self._link.run(self._lease, keys, arguments)
        return not other

    def _forget_lease(self, origin: Origin) -> None:
        self._leased.pop(origin, None)
        if self._renewal and not self._leased:
            self._renewal.cancel()
            self._renewal = None

    def _renew_leases(self) -> None:
        self._renewal = call_later(_LEASE_LIFE / 3, self._renew_leases)
        for origin, until in list(self._leased.items()):
            if monotonic() < until:
                deferred_from_coro(self._renew_lease(origin))
            else:
                self._forget_lease(origin)

    async def _renew_lease(self, origin: Origin) -> None:
        with suppress(RedisAwayError, RedisRequiredError):
            await self._lease_for(origin, _LEASE_LIFE)
            if origin not in self._leased:  # given back meanwhile
                await self._link.run(self._release, [f"lease:{origin}"], [str(self._holder)])

    def _life(self, entry: Entry) -> int:
        """Milliseconds for which somebody may use *entry*."""
        return int(1_000 * (entry.of_use_until(self._stale_max) - time())) or 1

    def __repr__(self) -> str:
        return f"<RedisStore {self._link!r} {self._local!r}>"
