"""The rate limiter of the processes of one machine: turns through the SQLite file of entries that they share.

Times are those of the machine's monotonic clock, which all of its processes share and nobody can set. After a
restart of the machine it begins anew: what the file holds from before is then in the past or, at worst, a
delay ahead.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import astuple, dataclass
from time import monotonic
from typing import TYPE_CHECKING, Final, TypeVar

from scrapy_rep.stores.circuit_breaker import LONGEST_PAUSE
from scrapy_rep.stores.sqlite_connection import StoreAwayError

from .rate_limiter import (
    FORGET,
    GRACE,
    LEAD,
    LONGEST_HOLD,
    LONGEST_WAIT,
    MICROSECONDS,
    Answer,
    RateLimiterAwayError,
    RoundTrips,
    Turn,
    microseconds,
)

if TYPE_CHECKING:
    from scrapy_rep.stores.sqlite_connection import SqliteConnection
    from scrapy_rep.stores.sqlite_file import SqliteFile

T = TypeVar("T")

_SETTLING: Final = LONGEST_PAUSE + 2.0  # seconds within which all processes notice that the file is back
_SELECT: Final = "SELECT last, holder, number, due, lapse FROM turns WHERE key = ?"
_AHEAD: Final = """
SELECT worker, expected FROM turn_queue WHERE key = :key AND (came, worker) <
    (SELECT came, worker FROM turn_queue WHERE key = :key AND worker = :worker)
"""
_QUEUE_UP: Final = "INSERT OR IGNORE INTO turn_queue VALUES (?, ?, ?, 0)"
_LEAVE: Final = "DELETE FROM turn_queue WHERE key = ? AND worker = ?"


@dataclass(frozen=True, slots=True)
class _Question:
    """What a process asks of a download slot, in microseconds."""

    key: str
    worker: str
    delay: int
    since: int | None
    missed: int | None
    more: bool
    hold: int


@dataclass(slots=True)
class _Slot:
    """What is known of a download slot, in microseconds: the last start, and the turn that is out."""

    last: int | None = None
    holder: str | None = None
    number: int | None = None
    due: int = 0
    lapse: int = 0

    def settle(self, question: _Question, now: int) -> None:
        """Close the turn that is out if it is over, and take in what the process says of its last start.

        A process that asks has no turn any more. One that let its turn lapse may have started until then.
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
        """Whether the turn that is out is the one that the process has missed."""
        return self.holder == question.worker and self.number == question.missed


class SqliteRateLimiter:
    """A `RateLimiter` for one crawl of several on a machine."""

    def __init__(self, link: SqliteConnection, worker: str) -> None:
        """*worker* is a name that no other has."""
        self._link = link
        self._worker = worker
        self._round_trips = RoundTrips()
        self._has_tidied = False

    @property
    def is_settling(self) -> bool:
        """Whether others may still go by clocks of their own."""
        return self._link.seconds_since_recovery < _SETTLING

    async def acquire(
        self, key: str, delay: float, *, since: float | None, missed: int | None, more: bool
    ) -> Turn:
        """As `RateLimiter.acquire`."""
        asked_at = monotonic()
        ago = None if since is None else microseconds(since)
        question = _Question(key, self._worker, microseconds(delay), ago, missed, more, self._round_trips.hold)
        answer = await self._write(lambda connection: self._answer(connection, question))
        return self._round_trips.turn(asked_at, answer)

    async def started(self, key: str, number: int, ago: float) -> None:
        """As `RateLimiter.started`."""
        at = _now() - microseconds(ago)

        def report(connection: sqlite3.Connection) -> None:
            connection.execute("UPDATE turns SET last = max(ifnull(last, ?1), ?1) WHERE key = ?2", (at, key))
            self._close(connection, key, number)

        await self._write(report)

    async def give_back(self, key: str, number: int) -> None:
        """As `RateLimiter.give_back`."""
        await self._write(lambda connection: self._close(connection, key, number))

    async def mark(self, key: str, memory: float) -> None:
        """As `RateLimiter.mark`."""
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
        now = _now()  # others may have written meanwhile
        if not self._has_tidied:  # once in a crawl
            self._has_tidied = True
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
            return await self._link.write(write)
        except StoreAwayError as error:
            raise RateLimiterAwayError(f"the store {self._link.path} cannot be used") from error

    def __repr__(self) -> str:
        return f"<SqliteRateLimiter {self._link!r}>"


def _answer(connection: sqlite3.Connection, question: _Question, now: int) -> Answer:
    """Grant the turn, or say when to ask again."""
    row = connection.execute(_SELECT, (question.key,)).fetchone()
    slot = _Slot(*row) if row else _Slot()
    if not row and question.since is not None and question.since < question.delay + FORGET:
        slot.last = now  # the file was replaced: nobody knows of the starts of others
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
    """Those who wait at the download slot of a question, as its process sees it; in microseconds."""

    def __init__(self, connection: sqlite3.Connection, question: _Question, now: int) -> None:
        self._connection = connection
        self._question = question
        self._me = (question.key, question.worker)
        self._now = now

    def join(self, missed: int | None) -> None:
        """Take a place at the end; one that has *missed* its turn had a place before those who came since."""
        if missed is not None:
            self.leave()
        self._connection.execute(_QUEUE_UP, (*self._me, self._now if missed is None else missed))

    def leave(self) -> None:
        self._connection.execute(_LEAVE, self._me)

    def ahead(self) -> tuple[int, int | None]:
        """How many come before me, and when the first of them is passed over."""
        key, worker = self._me
        expected = []
        for other, at in self._connection.execute(_AHEAD, {"key": key, "worker": worker}).fetchall():
            if self._now <= at <= self._now + LONGEST_WAIT + GRACE:
                expected.append(at)
            elif not self._now - FORGET <= at <= self._now:
                self._connection.execute(_LEAVE, (key, other))
        return len(expected), min(expected, default=None)

    def expect(self, before: int, count: int, passed_over: int | None, soonest: int = 1_000) -> int:
        """When I should ask again: a moment before my turn, which follows a start at *before*."""
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
    return round(monotonic() * MICROSECONDS)
