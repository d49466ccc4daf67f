"""The rate limiter of the processes of one machine: permits through the SQLite file that they share.

Times are those of the machine's monotonic clock, which all processes share and no one can set. It restarts with
the machine: times in the file are then in the past or, at worst, one delay ahead.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from scrapy_rep.clock import clock
from scrapy_rep.pacing.rate_limiter import (
    FORGET,
    GRACE,
    LEAD,
    LONGEST_HOLD,
    LONGEST_WAIT,
    MICROSECONDS,
    Answer,
    Permit,
    RateLimiterAwayError,
    RoundTrips,
    microseconds,
)
from scrapy_rep.robots.stores.sqlite_connection import LONGEST_PAUSE, StoreAwayError

if TYPE_CHECKING:
    from scrapy_rep.robots.stores.sqlite_connection import SqliteConnection
    from scrapy_rep.robots.stores.sqlite_file import SqliteFile

T = TypeVar("T")

_SETTLING: Final = LONGEST_PAUSE + 2.0  # seconds until all processes have noticed that the file is back
_SELECT: Final = "SELECT last, holder, number, due, lapse FROM turns WHERE key = ?"
_AHEAD: Final = """
SELECT worker, expected FROM turn_queue WHERE key = :key AND (came, worker) <
    (SELECT came, worker FROM turn_queue WHERE key = :key AND worker = :worker)
"""
_QUEUE_UP: Final = "INSERT OR IGNORE INTO turn_queue VALUES (?, ?, ?, 0)"
_LEAVE: Final = "DELETE FROM turn_queue WHERE key = ? AND worker = ?"


@dataclass(frozen=True, slots=True)
class _Question:
    """The question of a process about a download slot; times are in microseconds."""

    key: str
    worker: str
    delay: int
    since: int | None
    missed: int | None
    more: bool
    hold: int


@dataclass(slots=True)
class _Slot:
    """The stored state of a download slot, in microseconds: the last start, and the permit that is out."""

    last: int | None = None
    holder: str | None = None
    number: int | None = None
    due: int = 0
    lapse: int = 0

    def settle(self, question: _Question, now: int) -> None:
        """Close the permit that is out if it has expired, and take over the last start of the process that asks.

        A process that asks has no permit any more. One that did not report may have started a request until its
        permit expired.
        """
        if self.last is not None:
            self.last = min(self.last, now)
        if self.holder == question.worker:
            self.holder = None
        elif self.holder and (self.lapse < now or self.lapse > now + LEAD + LONGEST_HOLD):
            self.started(min(self.lapse, now))
            self.holder = None
        if question.since is not None:
            self.started(now - question.since)

    def started(self, at: int) -> None:
        self.last = at if self.last is None else max(self.last, at)

    def is_missed(self, question: _Question) -> bool:
        """Whether the permit that is out is the one that expired unused in the process that asks."""
        return self.holder == question.worker and self.number == question.missed


class SqliteRateLimiter:
    """A `RateLimiter` for one of several crawls on a machine."""

    def __init__(self, connection: SqliteConnection, worker: str) -> None:
        """*worker* is a name that no other crawl has."""
        self._connection = connection
        self._worker = worker
        self._round_trips = RoundTrips()
        self._has_cleaned = False

    @property
    def is_settling(self) -> bool:
        """Whether other crawls may still go by their own clocks."""
        return self._connection.seconds_since_recovery < _SETTLING

    async def acquire(
        self, key: str, delay: float, *, since: float | None, missed: int | None, more: bool
    ) -> Permit:
        """As `RateLimiter.acquire`."""
        asked_at = clock.monotonic()
        ago = None if since is None else microseconds(since)
        question = _Question(key, self._worker, microseconds(delay), ago, missed, more, self._round_trips.hold)
        answer = await self._write(lambda connection: self._answer(connection, question))
        return self._round_trips.permit(asked_at, answer)

    async def report_start(self, key: str, number: int, ago: float) -> None:
        """As `RateLimiter.report_start`."""
        at = _now() - microseconds(ago)

        def report(connection: sqlite3.Connection) -> None:
            connection.execute("UPDATE turns SET last = max(ifnull(last, ?1), ?1) WHERE key = ?2", (at, key))
            self._close(connection, key, number)

        await self._write(report)

    async def release(self, key: str, number: int) -> None:
        """As `RateLimiter.release`."""
        await self._write(lambda connection: self._close(connection, key, number))

    async def restart_delay(self, key: str, memory: float) -> None:
        """As `RateLimiter.restart_delay`."""
        now = _now()
        until = now + microseconds(memory)
        await self._write(
            lambda connection: connection.execute(
                "INSERT INTO turns (key, last, due, lapse, until) VALUES (?1, ?2, 0, 0, ?3) ON CONFLICT (key)"
                " DO UPDATE SET last = max(ifnull(last, ?2), ?2), until = max(until, ?3)",
                (key, now, until),
            )
        )

    def _answer(self, connection: sqlite3.Connection, question: _Question) -> Answer:
        now = _now()  # after the transaction has begun: other processes may have held it up
        if not self._has_cleaned:  # once in a crawl
            self._has_cleaned = True
            connection.execute("DELETE FROM turns WHERE until < ?", (now,))
            connection.execute("DELETE FROM turn_queue WHERE key NOT IN (SELECT key FROM turns)")
        return _answer(connection, question, now)

    def _close(self, connection: sqlite3.Connection, key: str, number: int) -> None:
        connection.execute(
            "UPDATE turns SET holder = NULL WHERE key = ? AND holder = ? AND number = ?",
            (key, self._worker, number),
        )

    async def _write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        def write(file: SqliteFile) -> T:
            with file.transaction() as connection:
                return work(connection)

        try:
            return await self._connection.write(write)
        except StoreAwayError as error:
            raise RateLimiterAwayError(f"the store {self._connection.path} cannot be used") from error

    def __repr__(self) -> str:
        return f"<SqliteRateLimiter {self._connection!r}>"


def _answer(connection: sqlite3.Connection, question: _Question, now: int) -> Answer:
    """Grant a permit, or say when to ask again."""
    row = connection.execute(_SELECT, (question.key,)).fetchone()
    slot = _Slot(*row) if row else _Slot()
    if not row and question.since is not None and question.since < question.delay + FORGET:
        slot.last = now  # the file was replaced, and with it the starts of other processes
    is_missed = slot.is_missed(question)
    slot.settle(question, now)
    queue = _Queue(connection, question, now)
    queue.join(question.missed)
    count, passed_over = queue.ahead()
    start = now if slot.last is None else max(slot.last + question.delay, now)
    granted = not slot.holder and (is_missed or not count) and start - now <= LEAD
    wait = 0
    if granted:
        slot.holder, slot.number, slot.due, slot.lapse = question.worker, now, start, start + question.hold
        queue.leave()
        if question.more:
            queue.join(None)
            wait = queue.expect(start, *queue.ahead())
    elif slot.holder:
        wait = queue.expect(slot.due, count, passed_over, soonest=LEAD // 2)
    else:
        wait = queue.expect(now if slot.last is None else slot.last, count, passed_over)
    until = now + LONGEST_WAIT + LONGEST_HOLD + question.delay + FORGET
    connection.execute(
        "INSERT OR REPLACE INTO turns VALUES (?, ?, ?, ?, ?, ?, ?)", (question.key, *astuple(slot), until)
    )
    return Answer(int(granted), wait, slot.number or 0, start - now, slot.lapse - now)


class _Queue:
    """The queue of processes for one download slot, as seen by the process that asks; in microseconds."""

    def __init__(self, connection: sqlite3.Connection, question: _Question, now: int) -> None:
        self._connection = connection
        self._question = question
        self._me = (question.key, question.worker)
        self._now = now

    def join(self, missed: int | None) -> None:
        """Join at the end; after a permit that expired unused, at the position of that permit, *missed*."""
        if missed is not None:
            self.leave()
        self._connection.execute(_QUEUE_UP, (*self._me, self._now if missed is None else missed))

    def leave(self) -> None:
        self._connection.execute(_LEAVE, self._me)

    def ahead(self) -> tuple[int, int | None]:
        """How many processes come before me, and when the first of them is passed over."""
        key, worker = self._me
        expected = []
        for other, at in self._connection.execute(_AHEAD, {"key": key, "worker": worker}).fetchall():
            if self._now <= at <= self._now + LONGEST_WAIT + GRACE:
                expected.append(at)
            elif not self._now - FORGET <= at <= self._now:
                self._connection.execute(_LEAVE, (key, other))
        return len(expected), min(expected, default=None)

    def expect(self, before: int, count: int, passed_over: int | None, soonest: int = 1_000) -> int:
        """When I should ask again: shortly before my permit, which follows a start at *before*."""
        wait = before + self._question.delay * (count + 1) - LEAD // 2 - self._now
        if passed_over is not None:
            wait = max(wait, min(passed_over - self._now, LEAD // 2))
        wait = min(max(wait, soonest), LONGEST_WAIT)
        self._connection.execute(
            "UPDATE turn_queue SET expected = ? WHERE key = ? AND worker = ?",
            (self._now + wait + GRACE, *self._me),
        )
        return wait


def _now() -> int:
    return round(clock.monotonic() * MICROSECONDS)
