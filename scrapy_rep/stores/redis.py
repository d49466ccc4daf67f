"""The fleet's store: entries in Redis, shared by all workers; in a local store while Redis is away.

Each entry expires by itself when nobody could use it any more. Bodies are compressed and kept once per
content, a little longer than the last entry that needs them. A claim is short and renewed while its fetch
goes on, so that a worker that dies holds nobody up for long.
"""

from __future__ import annotations

import os
import zlib
from contextlib import suppress
from time import monotonic, time
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from scrapy.utils.asyncio import call_later
from scrapy.utils.defer import deferred_from_coro

from .redis_client import RedisAwayError
from .redis_entries import DIGITS, GET, read, written
from .redis_link import RedisRequiredError

if TYPE_CHECKING:
    from scrapy.utils.asyncio import CallLaterResult

    from scrapy_rep.protocol import Origin
    from scrapy_rep.protocol.cache import Entry

    from .base import Store
    from .redis_link import RedisLink

_CLAIM_LIFE: Final = 9.0  # seconds that a claim outlives the worker that made it
_BODY_LIFE: Final = 3_600_000  # milliseconds that a body outlives its entries

# KEYS: entry, body, claim. ARGV: the two values, milliseconds that the entry lives, holder, fetched at.
# An answer is not replaced by what another worker knew before it.
_PUT: Final = f"""
if redis.call('GET', KEYS[3]) == ARGV[4] then redis.call('DEL', KEYS[3]) end
local kept = redis.call('GET', KEYS[1])
if kept and cjson.decode(string.sub(kept, {DIGITS + 1})).fetched_at > tonumber(ARGV[5]) then return 0 end
local life = ARGV[3] + {_BODY_LIFE}
redis.call('SET', KEYS[2], ARGV[2], 'PX', math.max(life, redis.call('PTTL', KEYS[2])))
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
return 1
"""
# KEYS: claim. ARGV: holder, milliseconds.
_CLAIM: Final = """
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
"""
_RELEASE: Final = "return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('DEL', KEYS[1]) or 0"


class RedisStore:
    """Entries in Redis; in the *local* store while there is none."""

    def __init__(self, link: RedisLink, local: Store, stale_max: float) -> None:
        """*stale_max* seconds an entry may stand in when it has expired; it is kept for so long."""
        self._link = link
        self._local = local
        self._stale_max = stale_max
        self._holder = f"{os.getpid()}-{uuid4().hex}"
        self._claimed: dict[Origin, float] = {}  # until when, monotonic
        self._renewal: CallLaterResult | None = None
        self._get, self._put = link.script(GET), link.script(_PUT)
        self._claim, self._release = link.script(_CLAIM), link.script(_RELEASE)

    async def get(self, origin: Origin) -> Entry | None:
        """The entry of *origin*, fresh or not; None when there is none."""
        try:
            found = await self._link.run(self._get, [f"entry:{origin}"], [f"{self._link.prefix}body:"])
        except RedisAwayError:
            return await self._local.get(origin)
        return read(origin, *found) if found else None

    async def put(self, entry: Entry) -> None:
        """Keep *entry* and give back the claim to its origin."""
        self._forget_claim(entry.origin)
        sha256 = entry.sha256
        keys = [f"entry:{entry.origin}", f"body:{sha256}", f"claim:{entry.origin}"]
        arguments = [written(entry), zlib.compress(entry.body), self._life(entry), self._holder]
        try:
            await self._link.run(self._put, keys, [*arguments, entry.fetched_at])
        except RedisAwayError:
            await self._local.put(entry)

    async def claim(self, origin: Origin, seconds: float) -> bool:
        """Whether this worker may fetch *origin* now, and no other of the fleet."""
        try:
            granted = await self._claim_for(origin, min(seconds, _CLAIM_LIFE))
        except RedisAwayError:
            return await self._local.claim(origin, seconds)
        if granted and seconds > _CLAIM_LIFE:
            self._claimed[origin] = monotonic() + seconds
            self._renewal = self._renewal or call_later(_CLAIM_LIFE / 3, self._renew_claims)
        return granted

    async def release(self, origin: Origin) -> None:
        """Give back the claim to *origin*."""
        self._forget_claim(origin)
        try:
            await self._link.run(self._release, [f"claim:{origin}"], [self._holder])
        except RedisAwayError:
            await self._local.release(origin)

    def close(self) -> None:
        """Close the local store; the link to Redis closes itself."""
        for origin in list(self._claimed):
            self._forget_claim(origin)
        self._local.close()

    async def _claim_for(self, origin: Origin, seconds: float) -> bool:
        arguments = [self._holder, int(seconds * 1_000)]
        return bool(await self._link.run(self._claim, [f"claim:{origin}"], arguments))

    def _forget_claim(self, origin: Origin) -> None:
        self._claimed.pop(origin, None)
        if self._renewal and not self._claimed:
            self._renewal.cancel()
            self._renewal = None

    def _renew_claims(self) -> None:
        self._renewal = call_later(_CLAIM_LIFE / 3, self._renew_claims)
        for origin, until in list(self._claimed.items()):
            if monotonic() < until:
                deferred_from_coro(self._renew_claim(origin))
            else:
                self._forget_claim(origin)

    async def _renew_claim(self, origin: Origin) -> None:
        with suppress(RedisAwayError, RedisRequiredError):
            await self._claim_for(origin, _CLAIM_LIFE)
            if origin not in self._claimed:  # given back meanwhile
                await self._link.run(self._release, [f"claim:{origin}"], [self._holder])

    def _life(self, entry: Entry) -> int:
        """Milliseconds for which somebody may use *entry*."""
        return int(1_000 * (entry.of_use_until(self._stale_max) - time())) or 1

    def __repr__(self) -> str:
        return f"<RedisStore {self._link!r} {self._local!r}>"
