"""The limiters: for the processes of one machine, in their shared SQLite file, and for a fleet, in Redis.

A permit is one step: read the queue of a site, decide, write it back. Holds are numbered in order of arrival; each
process reads only new holds.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

from scrapy_rep.clock import clock
from scrapy_rep.crawl.robots.stores.sqlite_connection import LONGEST_PAUSE, StoreAwayError
from scrapy_rep.extras.fleet.limiter import (
    MOST_HOLDS,
    Hold,
    PermitQueue,
    RateLimiter,
    RateLimiterAwayError,
    microseconds,
)
from scrapy_rep.extras.fleet.redis_connection import RedisAwayError, RedisConnection
from scrapy_rep.protocol.freshness import CLOCK_SKEW

if TYPE_CHECKING:
    from scrapy_rep.crawl.robots.stores.sqlite_connection import SqliteConnection
    from scrapy_rep.crawl.robots.stores.sqlite_file import SqliteFile

T = TypeVar("T")

_SETTLING: Final = LONGEST_PAUSE + 2.0  # seconds until all processes have noticed that the file is back
_OLD: Final = "DELETE FROM notes WHERE until <= ?"
_SELECT: Final = "SELECT text FROM notes WHERE key = ?"
_INSERT: Final = "INSERT OR REPLACE INTO notes VALUES (?, ?, ?)"
_PUT_HOLD: Final = """
INSERT OR REPLACE INTO holds (site, worker, told, until, delay, pace) VALUES (?, ?, ?, ?, ?, ?)
"""
_NEW_HOLDS: Final = "SELECT * FROM holds WHERE number > ?"
_DROP_HOLDS: Final = "DELETE FROM holds WHERE number IN (SELECT number FROM holds ORDER BY number LIMIT ?)"


class SqliteRateLimiter(RateLimiter):
    """A `RateLimiter` for one of several crawls on a machine, in the file of their store.

    Permits use the machine's monotonic clock, which all processes share and nobody can set. It restarts with the
    machine: times in the file are then in the past or, at worst, one delay ahead. Holds use the time of day,
    because they may outlast the machine's uptime.
    """

    def __init__(self, connection: SqliteConnection, worker: str) -> None:
        super().__init__(worker)
        self._connection = connection
        self._has_cleaned = False

    @property
    def is_settling(self) -> bool:
        return self._connection.seconds_since_recovery < _SETTLING

    async def _change(self, key: str, work: Callable[[PermitQueue, int], T]) -> T:
        note = f"permits:{key}"

        def change(file: SqliteFile) -> T:
            with file.transaction() as connection:
                wall, now = clock.time(), round(1e6 * clock.monotonic())  # read inside: others may delay it
                if not self._has_cleaned:  # once per crawl
                    self._has_cleaned = True
                    connection.execute(_OLD, (wall,))
                row = connection.execute(_SELECT, (note,)).fetchone()
                queue = PermitQueue.read(row[0] if row else None)
                result = work(queue, now)
                if queue.until:
                    connection.execute(_INSERT, (note, queue.text, wall + (queue.until - now) / 1e6))
                return result

        return await self._run(self._connection.write, change)

    async def hold(self, hold: Hold) -> int:
        return await self._run(self._connection.write, lambda file: self._keep(hold, file))

    def _keep(self, hold: Hold, file: SqliteFile) -> int:
        site, seconds, delay, pace = hold
        now = clock.time()
        with file.transaction() as connection:
            execute = connection.execute
            execute("DELETE FROM holds WHERE until <= ? OR (site = ? AND told > ?)", (now, site, now + CLOCK_SKEW))
            until = execute("SELECT until FROM holds WHERE site = ?", (site,)).fetchone()
            if until is not None and until[0] >= now + seconds:
                return 0
            execute(_PUT_HOLD, (site, self._worker, now, now + seconds, delay, pace))
            first, last = execute("SELECT min(number), max(number) FROM holds").fetchone()
            if last - first < MOST_HOLDS:  # a cheap bound; an exact count takes longer
                return 0
            excess = execute("SELECT count(*) FROM holds").fetchone()[0] - MOST_HOLDS
            return execute(_DROP_HOLDS, (excess,)).rowcount if excess > 0 else 0

    async def holds(self) -> list[Hold]:
        if not self._connection.path.exists():  # a crawl that stores nothing creates no file
            return []
        rows: list[Any] = await self._run(self._connection.read, lambda file: file.rows(_NEW_HOLDS, self._heard))
        now, found = clock.time(), []
        for number, site, worker, told, until, delay, pace in rows:
            self._heard = max(self._heard, number)
            if worker != self._worker and until > now and told <= now + CLOCK_SKEW:
                found.append(Hold(site, until - now, delay, pace))
        return found

    async def _run(self, call: Callable[..., Awaitable[T]], work: Callable[[SqliteFile], T]) -> T:
        try:
            return await call(work)
        except StoreAwayError as error:
            raise RateLimiterAwayError(f"the store {self._connection.path} cannot be used") from error

    def __repr__(self) -> str:
        return f"<SqliteRateLimiter {self._connection!r}>"


# KEYS: a state. Returns the time of Redis, and the state as JSON, if it exists.
_READ: Final = "return {redis.call('TIME'), redis.call('GET', KEYS[1])}"
# KEYS: a state. ARGV: the value read, its replacement, lifetime in milliseconds. Fails if the state has changed.
_SWAP: Final = """
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1
"""
# KEYS: the holds by site, and the sites by the number of their hold. ARGV: a hold, and the limit of holds. Numbers
# are times that never decrease. Each call deletes a few expired holds.
_TELL: Final = """
local holds, order, site = KEYS[1], KEYS[2], ARGV[1]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local function ends(name)
    local ok, hold = pcall(cjson.decode, redis.call('HGET', holds, name) or '[]')
    return ok and type(hold) == 'table' and tonumber(hold[2]) or 0
end
local function drop(name) redis.call('HDEL', holds, name) redis.call('ZREM', order, name) end
local over = now + ARGV[3]
if ends(site) >= over then return 0 end
local last = redis.call('ZREVRANGE', order, 0, 0, 'WITHSCORES')[2] or 0
redis.call('ZADD', order, string.format('%.0f', math.max(last + 1, now)), site)
redis.call('HSET', holds, site, cjson.encode({ARGV[2], over, tonumber(ARGV[4]), tonumber(ARGV[5])}))
for _, name in ipairs(redis.call('ZRANGE', order, 0, 9)) do if ends(name) <= now then drop(name) end end
local dropped = 0
while redis.call('ZCARD', order) > tonumber(ARGV[6]) do
    drop(redis.call('ZRANGE', order, 0, 0)[1])
    dropped = dropped + 1
end
for _, key in ipairs(KEYS) do
    local life = math.ceil(ARGV[3] / 1000)
    if redis.call('PTTL', key) < life then redis.call('PEXPIRE', key, life) end
end
return dropped
"""


class RedisRateLimiter(RateLimiter):
    """A `RateLimiter` for one worker of a fleet, by the clock of Redis, which all workers share.

    With ``REP_REDIS_REQUIRED``, calls raise `RedisRequiredError` instead of `RateLimiterAwayError`.
    """

    def __init__(self, connection: RedisConnection, worker: str) -> None:
        super().__init__(worker)
        self._connection = connection
        self._read, self._swap, self._tell = map(connection.script, (_READ, _SWAP, _TELL))

    @property
    def is_settling(self) -> bool:
        return self._connection.is_settling

    async def _change(self, key: str, work: Callable[[PermitQueue, int], T]) -> T:
        def change(keys: Sequence[str], _: Sequence[Any]) -> T:
            while True:  # retry if another worker changed the state in between; that worker has then made progress
                time, text = self._read(keys, ())
                queue, now = PermitQueue.read(text), _microseconds(time)
                result = work(queue, now)
                life = max((queue.until - now) // 1_000, 1)
                if not queue.until or self._swap(keys, [text or b"", queue.text, life]):
                    return result

        changed: T = await self._run(change, f"permits:{key}")
        return changed

    async def hold(self, hold: Hold) -> int:
        values = [hold.site, self._worker, microseconds(hold.seconds), hold.delay, hold.pace, MOST_HOLDS]
        return int(await self._run(lambda keys, _: self._tell(keys, values), *_HOLDS))

    async def holds(self) -> list[Hold]:
        def look(keys: Sequence[str], _: Sequence[Any]) -> Any:
            holds, order = keys
            pipeline = self._connection.client.pipeline(transaction=False)  # cheaper than a script
            pipeline.time()
            pipeline.zrangebyscore(order, f"({self._heard}", "+inf", withscores=True)
            time, news = pipeline.execute()
            return time, news, self._connection.client.hmget(holds, [site for site, _ in news]) if news else []

        time, news, texts = await self._run(look, *_HOLDS)
        found = []
        for (site, number), text in zip(news, texts, strict=True):
            self._heard = max(self._heard, int(number))
            with suppress(ValueError, TypeError):  # from another program, or expired between the two calls
                worker, until, delay, pace = json.loads(text)
                seconds = (until - _microseconds(time)) / 1e6
                if worker != self._worker and seconds > 0:
                    found.append(Hold(site.decode(), seconds, float(delay), float(pace)))
        return found

    async def _run(self, work: Callable[..., Any], *keys: str) -> Any:
        try:
            return await self._connection.run(work, keys)
        except RedisAwayError as error:
            raise RateLimiterAwayError(str(error)) from error

    def __repr__(self) -> str:
        return f"<RedisRateLimiter {self._connection!r}>"


_HOLDS: Final = ("held", "held:order")
"""The holds by site, and the sites by the number of their hold."""


def _microseconds(time: Sequence[Any]) -> int:
    """The result of TIME as one number."""
    return int(time[0]) * 1_000_000 + int(time[1])
