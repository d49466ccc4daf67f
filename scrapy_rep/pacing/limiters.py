"""The limiters of the processes of one machine, in the SQLite file that they share, and of a fleet, in Redis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

from scrapy_rep.clock import clock
from scrapy_rep.robots.stores.redis_connection import RedisAwayError
from scrapy_rep.robots.stores.sqlite_connection import LONGEST_PAUSE, StoreAwayError

from .limiter import HOLDS, HoldBook, RateLimiter, RateLimiterAwayError, State, state_in

if TYPE_CHECKING:
    from scrapy_rep.robots.stores.redis_connection import RedisConnection
    from scrapy_rep.robots.stores.sqlite_connection import SqliteConnection
    from scrapy_rep.robots.stores.sqlite_file import SqliteFile

T = TypeVar("T")

_SETTLING: Final = LONGEST_PAUSE + 2.0  # seconds until all processes have noticed that the file is back
_OLD: Final = "DELETE FROM notes WHERE until <= ?"
_SELECT: Final = "SELECT text FROM notes WHERE key = ?"
_INSERT: Final = "INSERT OR REPLACE INTO notes VALUES (?, ?, ?)"


class SqliteRateLimiter(RateLimiter):
    """A `RateLimiter` for one of several crawls on a machine, in the notes of their store.

    The clock of permits is the monotonic one of the machine, which all processes share and no one can set. It
    restarts with the machine: times in the file are then in the past or, at worst, one delay ahead.
    """

    def __init__(self, connection: SqliteConnection, worker: str) -> None:
        """*worker* is a name that no other crawl has."""
        super().__init__(worker)
        self._connection = connection
        self._has_cleaned = False

    @property
    def is_settling(self) -> bool:
        """Whether other crawls may still go by their own clocks."""
        return self._connection.seconds_since_recovery < _SETTLING

    async def _change(self, key: str, kind: type[State], work: Callable[[State, int], T]) -> T:
        def change(file: SqliteFile) -> T:
            with file.transaction() as connection:
                wall = clock.time()  # in the transaction: other processes may have held it up
                now = round(1e6 * (clock.monotonic() if kind.is_monotonic else wall))
                if not self._has_cleaned:  # once in a crawl
                    self._has_cleaned = True
                    connection.execute(_OLD, (wall,))
                row = connection.execute(_SELECT, (key,)).fetchone()
                state = state_in(kind, row[0] if row else None)
                result = work(state, now)
                if state.until:
                    connection.execute(_INSERT, (key, state.text, wall + (state.until - now) / 1e6))
                return result

        try:
            return await self._connection.write(change)
        except StoreAwayError as error:
            raise self._away() from error

    async def _look(self) -> tuple[HoldBook, int]:
        now = clock.time()
        if not self._connection.path.exists():  # a crawl that stores nothing makes no file
            return HoldBook(), 0
        try:
            text = await self._connection.read(lambda file: file.note(HOLDS, now))
        except StoreAwayError as error:
            raise self._away() from error
        return state_in(HoldBook, text), round(1e6 * now)

    def _away(self) -> RateLimiterAwayError:
        return RateLimiterAwayError(f"the store {self._connection.path} cannot be used")

    def __repr__(self) -> str:
        return f"<SqliteRateLimiter {self._connection!r}>"


# KEYS: a state. Returns the time of Redis, and the state as JSON, if there is one.
_READ: Final = "return {redis.call('TIME'), redis.call('GET', KEYS[1])}"
# KEYS: a state. ARGV: what was read, what replaces it, milliseconds that it lives. Fails if it has changed since.
_SWAP: Final = """
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1
"""


class RedisRateLimiter(RateLimiter):
    """A `RateLimiter` for one worker of a fleet, by the clock of Redis, which all workers share.

    With ``REP_REDIS_REQUIRED``, calls raise `RedisRequiredError` instead of `RateLimiterAwayError`.
    """

    def __init__(self, connection: RedisConnection, worker: str) -> None:
        """*worker* is a name that no other worker has."""
        super().__init__(worker)
        self._connection = connection
        self._read, self._swap = connection.script(_READ), connection.script(_SWAP)

    @property
    def is_settling(self) -> bool:
        """Whether other workers may still go by their own clocks."""
        return self._connection.is_settling

    async def _change(self, key: str, kind: type[State], work: Callable[[State, int], T]) -> T:
        def change(keys: Sequence[str], _: Sequence[Any]) -> T:
            while True:  # another worker may change it in between, which is then one step further
                time, text = self._read(keys, ())
                state, now = state_in(kind, text), _microseconds(time)
                result = work(state, now)
                life = max((state.until - now) // 1_000, 1)
                if not state.until or self._swap(keys, [text or b"", state.text, life]):
                    return result

        changed: T = await self._run(change, key)
        return changed

    async def _look(self) -> tuple[HoldBook, int]:
        def look(keys: Sequence[str], _: Sequence[Any]) -> Any:
            pipeline = self._connection.client.pipeline(transaction=False)  # cheaper than a script
            pipeline.time()
            pipeline.get(keys[0])
            return pipeline.execute()

        time, text = await self._run(look, HOLDS)
        return state_in(HoldBook, text), _microseconds(time)

    async def _run(self, work: Callable[..., Any], key: str) -> Any:
        try:
            return await self._connection.run(work, [key])
        except RedisAwayError as error:
            raise RateLimiterAwayError(str(error)) from error

    def __repr__(self) -> str:
        return f"<RedisRateLimiter {self._connection!r}>"


def _microseconds(time: Sequence[Any]) -> int:
    """The answer of TIME as one number."""
    return int(time[0]) * 1_000_000 + int(time[1])
