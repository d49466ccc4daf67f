"""The rate limiter of the processes of one machine: permits through the SQLite file that they share.

Times are those of the machine's monotonic clock, which all processes share and no one can set. It restarts with
the machine: times in the file are then in the past or, at worst, one delay ahead.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

from scrapy_rep.clock import clock
from scrapy_rep.pacing.limiter import (
    FORGET,
    GRACE,
    LEAD,
    LONGEST_HOLD,
    LONGEST_WAIT,
    Answer,
    Hold,
    Question,
    RateLimiter,
    RateLimiterAwayError,
    microseconds,
)
from scrapy_rep.protocol.freshness import CLOCK_SKEW
from scrapy_rep.robots.stores.sqlite_connection import LONGEST_PAUSE, StoreAwayError

if TYPE_CHECKING:
    from scrapy_rep.robots.stores.sqlite_connection import SqliteConnection
    from scrapy_rep.robots.stores.sqlite_file import SqliteFile

T = TypeVar("T")
_Row = tuple[int | None, str | None, int | None, int, int]

_SETTLING: Final = LONGEST_PAUSE + 2.0  # seconds until all processes have noticed that the file is back
_FURTHEST: Final = LONGEST_WAIT + GRACE  # microseconds until a process is expected to ask, at most
_HOLD: Final = "INSERT OR REPLACE INTO holds VALUES (?, ?, ?, ?, ?, ?)"
_OLD_HOLDS: Final = "DELETE FROM holds WHERE until < :now OR said_at > :latest"
_HOLDS: Final = """
SELECT key, worker, said_at, until - :now, delay, pace FROM holds
WHERE worker <> :worker AND until > :now AND said_at <= :latest
"""
_REPORT: Final = """
UPDATE turns SET last = max(ifnull(last, :at), ifnull(:at, last)), until = max(until, :until),
    holder = CASE WHEN holder = :worker AND number = :number THEN NULL ELSE holder END
WHERE key = :key
"""
_FORGOTTEN: Final = """
DELETE FROM turn_queue WHERE key = :key AND worker <> :worker AND expected NOT BETWEEN :now - :forget AND :latest
"""
_CAME: Final = "SELECT ifnull(min(came), :now) FROM turn_queue WHERE key = :key AND worker = :worker"
_AHEAD: Final = """
SELECT count(*), min(expected) FROM turn_queue WHERE key = :key AND worker <> :worker
AND expected BETWEEN :now AND :latest AND (came, worker) < (:came, :worker)
"""


class SqliteRateLimiter(RateLimiter):
    """A `RateLimiter` for one of several crawls on a machine."""

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

    async def _answer(self, key: str, question: Question) -> Answer:
        def answer(connection: sqlite3.Connection) -> Answer:
            now = _now()  # after the transaction has begun: other processes may have held it up
            if not self._has_cleaned:  # once in a crawl
                self._has_cleaned = True
                connection.execute("DELETE FROM turns WHERE until < ?", (now,))
                connection.execute("DELETE FROM turn_queue WHERE key NOT IN (SELECT key FROM turns)")
            return _Slot(connection, key, question, now).answer()

        return await self._write(answer)

    async def _report(self, key: str, number: int, ago: int, memory: int) -> None:
        now = _now()
        row = {"key": key, "worker": self._worker, "number": number, "until": now + memory}
        row["at"] = now - ago if ago >= 0 else None

        def report(connection: sqlite3.Connection) -> None:
            if memory:
                connection.execute(
                    "INSERT OR IGNORE INTO turns (key, due, lapse, until) VALUES (:key, 0, 0, 0)", row
                )
            connection.execute(_REPORT, row)

        await self._write(report)

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


class _Slot:
    """A download slot as stored, and a question about it; times are in microseconds.

    ``last`` is the last start; ``holder`` has the permit that is out, if any. A process keeps its place, the time
    when it ``came``; after a permit that expired unused, that is when this was granted.
    """

    def __init__(self, connection: sqlite3.Connection, key: str, question: Question, now: int) -> None:
        self.connection = connection
        self.question = question
        self.now = now
        self.names = {
            "key": key, "worker": question.worker, "now": now, "latest": now + _FURTHEST, "forget": FORGET,
        }  # fmt: skip
        row: _Row | None = self._run(
            "SELECT last, holder, number, due, lapse FROM turns WHERE key = :key"
        ).fetchone()
        self.last, self.holder, self.number, self.due, self.lapse = row or (None, None, None, 0, 0)

    def _run(self, statement: str, **values: Any) -> sqlite3.Cursor:
        return self.connection.execute(statement, {**self.names, **values})

    def answer(self) -> Answer:
        """Grant a permit, or say when to ask again."""
        question, now = self.question, self.now
        is_late = (self.holder, self.number) == (question.worker, question.missed)
        self._settle(is_late=is_late)
        self._run(_FORGOTTEN)
        came = question.missed if question.missed >= 0 else self._run(_CAME).fetchone()[0]
        count, passed_over = self._run(_AHEAD, came=came).fetchone()
        start = now if self.last is None else max(self.last + question.delay, now)
        before, soonest = now if self.last is None else self.last, 1_000
        granted = not self.holder and (is_late or not count) and start - now <= LEAD
        if granted:
            self.holder, self.number, self.due, self.lapse = question.worker, now, start, start + question.hold
            before, came = start, now
            count, passed_over = self._run(_AHEAD, came=now).fetchone()
        elif self.holder:
            before, soonest = self.due, LEAD // 2
        ask_in = 0
        if granted and not question.more:
            self._run("DELETE FROM turn_queue WHERE key = :key AND worker = :worker")
        else:
            ask_in = self._queue_up(came, before + question.delay * (count + 1), passed_over, soonest)
        self._store()
        return Answer(ask_in, now if granted else 0, start - now, self.lapse - now, count)

    def _settle(self, *, is_late: bool) -> None:
        """Close the permit that is out if it has expired, and take over the last start of the process that asks.

        A process that asks has no permit any more. One that did not report may have started a request until its
        permit expired. Where the file was replaced, and with it the starts of others, all wait a full delay.
        """
        question, now = self.question, self.now
        starts = [] if self.last is None else [min(self.last, now)]
        is_lost = not self.holder and not starts and question.since < question.delay + FORGET
        is_mine = self.holder == question.worker
        is_told = is_mine and (is_late or question.since >= 0)
        if self.holder and not is_told and not now <= self.lapse <= now + LEAD + LONGEST_HOLD:
            starts.append(min(self.lapse, now))
            self.holder = None
        if is_mine:
            self.holder = None
        if question.since >= 0:
            starts.append(now if is_lost else now - question.since)
        self.last = max(starts, default=None)

    def _queue_up(self, came: int, start: int, passed_over: int | None, soonest: int) -> int:
        """Queue for the permit that starts at *start*; return when I should ask for it: shortly before."""
        wait = start - LEAD // 2 - self.now
        if passed_over is not None:
            wait = max(wait, min(passed_over - self.now, LEAD // 2))
        wait = min(max(wait, soonest), LONGEST_WAIT)
        values = {"came": came, "expected": self.now + wait + GRACE}
        self._run("INSERT OR REPLACE INTO turn_queue VALUES (:key, :worker, :came, :expected)", **values)
        return wait

    def _store(self) -> None:
        until = self.now + LONGEST_WAIT + LONGEST_HOLD + self.question.delay + FORGET
        values = (self.names["key"], self.last, self.holder, self.number, self.due, self.lapse, until)
        self.connection.execute("INSERT OR REPLACE INTO turns VALUES (?, ?, ?, ?, ?, ?, ?)", values)


def _now() -> int:
    return microseconds(clock.monotonic())
