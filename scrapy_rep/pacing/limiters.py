"""The limiters of the processes of one machine, in the SQLite file that they share, and of a fleet, in Redis."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import astuple
from typing import TYPE_CHECKING, Any, Final, TypeVar

from scrapy_rep.clock import clock
from scrapy_rep.protocol.freshness import CLOCK_SKEW
from scrapy_rep.robots.stores.redis_connection import RedisAwayError
from scrapy_rep.robots.stores.sqlite_connection import LONGEST_PAUSE, StoreAwayError

from .limiter import Hold, PermitQueue, RateLimiter, RateLimiterAwayError, microseconds

if TYPE_CHECKING:
    from scrapy_rep.robots.stores.redis_connection import RedisConnection, Script
    from scrapy_rep.robots.stores.sqlite_connection import SqliteConnection
    from scrapy_rep.robots.stores.sqlite_file import SqliteFile

T = TypeVar("T")

_SETTLING: Final = LONGEST_PAUSE + 2.0  # seconds until all processes have noticed that the file is back
_HOLD: Final = "INSERT OR REPLACE INTO holds VALUES (?, ?, ?, ?, ?, ?)"
_OLD_HOLDS: Final = "DELETE FROM holds WHERE until < :now OR said_at > :latest"
_HOLDS: Final = """
SELECT key, worker, said_at, until - :now, delay, pace FROM holds
WHERE worker <> :worker AND until > :now AND said_at <= :latest
"""


class SqliteRateLimiter(RateLimiter):
    """A `RateLimiter` for one of several crawls on a machine.

    Its clock is the monotonic one of the machine, which all processes share and no one can set. It restarts with
    the machine: times in the file are then in the past or, at worst, one delay ahead.
    """

    def __init__(self, connection: SqliteConnection, worker: str) -> None:
        """*worker* is a name that no other crawl has."""
        super().__init__(worker)
        self._connection = connection
        self._has_cleaned = False
        self._heard: set[tuple[str, str, float]] = set()  # the holds that were there at the last look

    @property
    def is_settling(self) -> bool:
        """Whether other crawls may still go by their own clocks."""
        return self._connection.seconds_since_recovery < _SETTLING

    async def _change(self, key: str, work: Callable[[PermitQueue, int], T]) -> T:
        def change(connection: sqlite3.Connection) -> T:
            now = microseconds(clock.monotonic())  # in the transaction: other processes may have held it up
            if not self._has_cleaned:  # once in a crawl
                self._has_cleaned = True
                connection.execute("DELETE FROM turns WHERE until < ?", (now,))
                connection.execute("DELETE FROM turn_queue WHERE key NOT IN (SELECT key FROM turns)")
            queue = _stored_queue(connection, key)
            result = work(queue, now)
            if queue.until:
                _store_queue(connection, key, queue)
            return result

        return await self._write(change)

    async def hold(self, hold: Hold) -> None:
        now = clock.time()
        row = (hold.key, self._worker, now, now + hold.seconds, hold.delay, hold.pace)

        def store(connection: sqlite3.Connection) -> None:
            connection.execute(_OLD_HOLDS, {"now": now, "latest": now + CLOCK_SKEW})
            connection.execute(_HOLD, row)

        await self._write(store)

    async def holds(self) -> list[Hold]:
        if not self._connection.path.exists():  # a crawl that stores nothing makes no file
            return []
        now = clock.time()
        names = {"worker": self._worker, "now": now, "latest": now + CLOCK_SKEW}
        try:
            rows = await self._connection.read(lambda file: file.select(_HOLDS, names))
        except StoreAwayError as error:
            raise self._away() from error
        heard, self._heard = self._heard, {row[:3] for row in rows}
        return [Hold(row[0], *row[3:]) for row in rows if row[:3] not in heard]

    async def _write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        def write(file: SqliteFile) -> T:
            with file.transaction() as connection:
                return work(connection)

        try:
            return await self._connection.write(write)
        except StoreAwayError as error:
            raise self._away() from error

    def _away(self) -> RateLimiterAwayError:
        return RateLimiterAwayError(f"the store {self._connection.path} cannot be used")

    def __repr__(self) -> str:
        return f"<SqliteRateLimiter {self._connection!r}>"


def _stored_queue(connection: sqlite3.Connection, key: str) -> PermitQueue:
    row = connection.execute(
        "SELECT last, holder, number, due, lapse, until FROM turns WHERE key = ?", (key,)
    ).fetchone()
    waiting = connection.execute("SELECT worker, came, expected FROM turn_queue WHERE key = ?", (key,))
    places = {worker: (came, expected) for worker, came, expected in waiting}
    last, holder, number, due, lapse, until = row or (None, None, None, 0, 0, 0)
    return PermitQueue(last, holder, number, due, lapse, until, places)


def _store_queue(connection: sqlite3.Connection, key: str, queue: PermitQueue) -> None:
    *row, places = astuple(queue)
    connection.execute("INSERT OR REPLACE INTO turns VALUES (?, ?, ?, ?, ?, ?, ?)", (key, *row))
    connection.execute("DELETE FROM turn_queue WHERE key = ?", (key,))
    rows = [(key, worker, *place) for worker, place in places.items()]
    connection.executemany("INSERT INTO turn_queue VALUES (?, ?, ?, ?)", rows)


# KEYS: a queue. Returns the time of Redis, and the queue as JSON, if there is one.
_READ: Final = "return {redis.call('TIME'), redis.call('GET', KEYS[1])}"
# KEYS: a queue. ARGV: what was read, what replaces it, milliseconds that it lives. Fails if it has changed since.
_SWAP: Final = """
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1
"""
_STREAM: Final = "holds"
_MOST_HOLDS: Final = 10_000  # in the stream
_LIFE: Final = 86_400  # seconds of a stream that gets no more: no hold is longer


class RedisRateLimiter(RateLimiter):
    """A `RateLimiter` for one worker of a fleet, by the clock of Redis, which all workers share.

    With ``REP_REDIS_REQUIRED``, calls raise `RedisRequiredError` instead of `RateLimiterAwayError`.
    """

    def __init__(self, connection: RedisConnection, worker: str) -> None:
        """*worker* is a name that no other worker has."""
        super().__init__(worker)
        self._connection = connection
        self._read, self._swap = connection.script(_READ), connection.script(_SWAP)
        self._last_hold: str | bytes = "-"

    @property
    def is_settling(self) -> bool:
        """Whether other workers may still go by their own clocks."""
        return self._connection.is_settling

    async def _change(self, key: str, work: Callable[[PermitQueue, int], T]) -> T:
        def change(keys: Sequence[str], _: Sequence[Any]) -> T:
            while True:  # another worker may change it in between, which is then one step further
                (seconds, micros), text = self._read(keys, ())
                now, queue = int(seconds) * 1_000_000 + int(micros), _queue_in(text or b"")
                result = work(queue, now)
                if not queue.until or self._swap(
                    keys, [text or b"", json.dumps(astuple(queue)), max((queue.until - now) // 1_000, 1)]
                ):
                    return result

        changed: T = await self._run(f"permits:{key}", change)
        return changed

    async def hold(self, hold: Hold) -> None:
        await self._run(_STREAM, self._write_stream, {"worker": self._worker, **hold._asdict()})

    async def holds(self) -> list[Hold]:
        (seconds, micros), items = await self._run(_STREAM, self._read_stream)
        later = [item for item in items if item[0] != self._last_hold]
        if later:
            self._last_hold = later[-1][0]
        holds = (_hold(name, fields, self._worker, seconds + micros / 1e6) for name, fields in later)
        return [hold for hold in holds if hold is not None and hold.seconds > 0]

    def _write_stream(self, keys: Sequence[str], arguments: Sequence[Any]) -> None:
        pipeline = self._connection.client.pipeline(transaction=False)
        pipeline.xadd(keys[0], arguments[0], maxlen=_MOST_HOLDS)
        pipeline.expire(keys[0], _LIFE)
        pipeline.execute(raise_on_error=False)

    def _read_stream(self, keys: Sequence[str], _: Sequence[Any]) -> Any:
        """The time of Redis, and the stream from the last item on that this worker has seen.

        A Redis that has or allows no streams is not away: it shares everything else.
        """
        pipeline = self._connection.client.pipeline(transaction=False)
        pipeline.time()
        pipeline.xrange(keys[0], min=self._last_hold)
        time, items = pipeline.execute(raise_on_error=False)
        return ((0, 0), []) if isinstance(time, Exception) or isinstance(items, Exception) else (time, items)

    async def _run(self, key: str, work: Script, *arguments: Any) -> Any:
        try:
            return await self._connection.run(work, [key], arguments)
        except RedisAwayError as error:
            raise RateLimiterAwayError(str(error)) from error

    def __repr__(self) -> str:
        return f"<RedisRateLimiter {self._connection!r}>"


def _queue_in(text: bytes) -> PermitQueue:
    """The queue in *text*; an empty one for what another program has put there."""
    try:
        last, holder, number, due, lapse, until, places = json.loads(text)
        places = {worker: (came, expected) for worker, (came, expected) in places.items()}
        return PermitQueue(last, holder, number, due, lapse, until, places)
    except (ValueError, TypeError, AttributeError):
        return PermitQueue()


def _hold(name: bytes, fields: dict[bytes, bytes], worker: str, now: float) -> Hold | None:
    """The item *name* of the stream at *now* by the clock of Redis; None for one of *worker*, or of nobody's."""
    try:
        if fields[b"worker"] == worker.encode():
            return None
        ago = now - int(name.partition(b"-")[0]) / 1e3
        left, delay, pace = (float(fields[field]) for field in (b"seconds", b"delay", b"pace"))
        return Hold(fields[b"key"].decode(), left - ago, delay, pace)
    except (KeyError, ValueError):
        return None
