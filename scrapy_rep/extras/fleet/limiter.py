"""Decide when a request may start on a site whose delay several processes share.

The right to start one request is a permit. Processes queue for a site, each at most once, and are served in order
of arrival. Only one permit per site is out at a time, until its holder reports the start, returns it, or lets it
expire. The delay counts from the reported start. Two starts are therefore never closer than the delay, however
late a permit or a report arrives, unless a process is stopped just between the use of its permit and the start. A
killed process costs the others at most one expired permit. If no other process waits, the next question reports
the start: a process that is alone asks once per start.

`PermitQueue` decides which process may start a request next, and when. It is pure; `limiters` store it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import Final, NamedTuple, TypeVar

from scrapy_rep.clock import clock

T = TypeVar("T")

# Microseconds:
LEAD: Final = 20_000  # maximum time by which a permit is granted before its start
LONGEST_LIFE: Final = 5_000_000  # maximum time from a permit's start to its expiry
_LONGEST_WAIT: Final = 5_000_000  # maximum time between two questions, because the delay may change
_GRACE: Final = 100_000  # time by which a process may ask late before others are served first
_FORGET: Final = 60_000_000  # time after which a process that did not ask as expected leaves the queue
_LONGEST_DELAY: Final = 1e9  # seconds; Redis does not accept longer time limits


class PermitQuestion(NamedTuple):
    """A process's question about a site; times are in microseconds, and -1 means none."""

    worker: str
    delay: int
    since: int
    missed: int
    more: bool
    life: int


class PermitAnswer(NamedTuple):
    """A limiter's answer, in microseconds from the time of the answer; ``number`` is 0 without a permit."""

    ask_in: int
    number: int
    starts_in: int
    expires_in: int
    awaited: int


@dataclass(slots=True)
class PermitQueue:
    """The state of a site at a limiter; times are in microseconds of a clock that all processes share.

    ``last`` is the last start. ``holder`` has the outstanding permit: its ``number`` is the time of the grant, it
    is valid from ``due``, and it expires at ``lapse``. ``places`` are the waiting processes, with the arrival of
    each (after a permit that expired unused, the time of its grant), and the time when it should ask. After
    ``until``, the state is obsolete.
    """

    last: int | None = None
    holder: str | None = None
    number: int | None = None
    due: int = 0
    lapse: int = 0
    until: int = 0
    places: dict[str, tuple[int, int]] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str | bytes | None) -> PermitQueue:
        """Restore the queue from its `text`; an empty queue if another program wrote *text*."""
        try:
            last, holder, number, due, lapse, until, places = json.loads(text or "")
            places = {str(worker): (int(came), int(end)) for worker, (came, end) in places.items()}
        except (ValueError, TypeError, AttributeError):
            return cls()
        return cls(last, holder, number, due, lapse, until, places)

    @property
    def text(self) -> str:
        """The state as JSON."""
        return json.dumps([self.last, self.holder, self.number, self.due, self.lapse, self.until, self.places])

    def answer(self, question: PermitQuestion, now: int) -> PermitAnswer:
        """Grant a permit, or say when to ask again."""
        me, delay = question.worker, question.delay
        is_late = (self.holder, self.number) == (me, question.missed)
        self._settle(question, now, is_late=is_late)
        self._forget(now)
        came = question.missed if question.missed >= 0 else self.places.get(me, (now, 0))[0]
        ahead = self._ahead(me, came, now)
        begin = now if self.last is None else max(self.last + delay, now)
        before, soonest = now if self.last is None else self.last, 1_000
        granted = not self.holder and (is_late or not ahead) and begin - now <= LEAD
        if granted:
            self.holder, self.number, self.due, self.lapse = me, now, begin, begin + question.life
            before, came, ahead = begin, now, self._ahead(me, now, now)
        elif self.holder:
            before, soonest = self.due, LEAD // 2
        ask_in = 0
        if granted and not question.more:
            self.places.pop(me, None)
        else:
            wait = before + delay * (len(ahead) + 1) - LEAD // 2 - now  # until shortly before its next permit
            wait = max(wait, min(min(ahead, default=now) - now, LEAD // 2))  # the first process may be skipped
            ask_in = min(max(wait, soonest), _LONGEST_WAIT)
            self.places[me] = came, now + ask_in + _GRACE
        self.until = now + _LONGEST_WAIT + LONGEST_LIFE + delay + _FORGET
        return PermitAnswer(ask_in, now if granted else 0, begin - now, self.lapse - now, len(ahead))

    def report(self, worker: str, number: int, ago: int, memory: int, now: int) -> None:
        """Close permit *number* of *worker*, -1 for none; *ago* is -1 for an unused permit.

        The start is remembered for *memory*, or as long as the state; a forgotten state is not recreated.
        """
        if not (self.until or memory):
            return
        if ago >= 0:
            self.last = max(self.last or 0, now - ago)
        self.until = max(self.until, now + memory)
        if (self.holder, self.number) == (worker, number):
            self.holder = None

    def _settle(self, question: PermitQuestion, now: int, *, is_late: bool) -> None:
        """Close the outstanding permit if it has expired, and record the last start of the asking process.

        An asking process has no permit. A process that did not report may have started a request until its permit
        expired. If the data was lost, and with it the starts of others, every process waits a full delay.
        """
        starts = [] if self.last is None else [min(self.last, now)]  # the clock may have been set back
        is_lost = not self.holder and not starts and question.since < question.delay + _FORGET
        is_mine = self.holder == question.worker
        is_told = is_mine and (is_late or question.since >= 0)
        if self.holder and not is_told and not now <= self.lapse <= now + LEAD + LONGEST_LIFE:
            starts.append(min(self.lapse, now))
            self.holder = None
        if is_mine:
            self.holder = None
        if question.since >= 0:
            starts.append(now if is_lost else now - question.since)
        self.last = max(starts, default=None)

    def _forget(self, now: int) -> None:
        for worker, (_, expected) in [*self.places.items()]:
            if not now - _FORGET <= expected <= now + _LONGEST_WAIT + _GRACE:
                del self.places[worker]

    def _ahead(self, me: str, came: int, now: int) -> list[int]:
        """When the processes before *me*, which *came* then, should ask; late processes are skipped."""
        others = ((each, *place) for each, place in self.places.items() if each != me)
        return [expected for each, arrived, expected in others if (arrived, each) < (came, me) and expected >= now]


def microseconds(seconds: float | None) -> int:
    """Whole microseconds, limited to values that limiters can store; -1 for None."""
    return -1 if seconds is None else round(min(seconds, _LONGEST_DELAY) * 1e6)


_LIFE: Final = 250_000  # microseconds from a permit's start to its expiry, if the limiter answers immediately
_SOONEST: Final = 0.001  # minimum seconds until the next question
_DECAY: Final = 0.9  # factor for the longest round trip after each shorter one

MOST_HOLDS: Final = 100_000
"""Maximum number of holds for all processes together: some ten megabytes."""


class RateLimiterAwayError(Exception):
    """The limiter cannot be reached: follow the process's own clock."""


@dataclass(frozen=True, slots=True)
class Permit:
    """The answer of a limiter. Times are in seconds of this process's monotonic clock.

    Start a request after ``starts_at`` and before ``expires_at``. If ``starts_at`` is infinite, no permit was
    granted: ask again at ``ask_at``. Otherwise ``ask_at`` is the time to ask for the next permit. ``number``
    identifies a permit of a site; it is -1 for a permit by this crawl's own clock. If it ``is_awaited`` by other
    processes, report the start immediately; otherwise the next question reports it.
    """

    starts_at: float
    ask_at: float
    number: int
    expires_at: float
    is_awaited: bool = False


class Hold(NamedTuple):
    """A request of ``site`` to one process, for the others: no start for ``seconds``.

    After that, starts are ``delay`` seconds apart, and later ``pace`` seconds; see `SiteBackoff`.
    """

    site: str
    seconds: float
    delay: float
    pace: float


class RateLimiter:
    """Grants permits to one of several processes that share sites, and keeps holds for all of them.

    Every call may raise `RateLimiterAwayError`; its permit then expires.
    """

    def __init__(self, worker: str) -> None:
        """*worker* is a name that no other process has."""
        self._worker = worker
        self._round_trip = 0.0  # the longest recent round trip, in seconds
        self._heard = 0  # the number of the last hold that `holds` has returned

    @property
    def is_settling(self) -> bool:
        """Whether the limiter has just come back, while others may still follow their own clocks."""
        raise NotImplementedError

    async def acquire(self, key: str, delay: float, *, since: float | None, missed: int, more: bool) -> Permit:
        """Acquire a permit for the site *key*, whose starts are *delay* seconds apart.

        *since* is the seconds since this process last started a request there, None before the first. *missed* is
        the number of its last permit if that expired unused, and this process is then served next; otherwise -1.
        With *more*, the process immediately queues for the next permit.

        The start of a permit counts from the arrival of the answer, its expiry from the question. The start is
        never too early and the expiry never too late, whatever share of the round trip the way back took.
        """
        asked_at = clock.monotonic()
        life = min(_LIFE + round(2e6 * self._round_trip), LONGEST_LIFE)
        question = PermitQuestion(self._worker, microseconds(delay), microseconds(since), missed, more, life)
        answer = await self._change(key, lambda queue, now: queue.answer(question, now))
        now = clock.monotonic()
        self._round_trip = max(now - asked_at, self._round_trip * _DECAY)
        return Permit(
            now + answer.starts_in / 1e6 if answer.number else inf,
            max(asked_at + answer.ask_in / 1e6, now + _SOONEST),  # too early is harmless
            answer.number,
            asked_at + answer.expires_in / 1e6,
            bool(answer.awaited),
        )

    async def close(self, key: str, number: int, ago: float | None) -> None:
        """Report that the request of permit *number* started *ago* seconds ago: the delay counts from then.

        None returns the permit unused, without a delay.
        """
        await self._report(key, number, microseconds(ago), 0)

    async def restart_delay(self, key: str, memory: float) -> None:
        """Count the next delay of *key* from now, because robots.txt was requested there without a permit.

        The limiter remembers that for *memory* seconds, which should exceed the longest delay.
        """
        await self._report(key, -1, 0, microseconds(memory))

    async def _report(self, key: str, number: int, ago: int, memory: int) -> None:
        name = self._worker
        await self._change(key, lambda queue, now: queue.report(name, number, ago, memory, now))

    async def hold(self, hold: Hold) -> int:
        """Tell other processes about *hold*, unless they know a hold of that site that ends later.

        Returns the number of holds dropped for it: the latest `MOST_HOLDS` are kept.
        """
        raise NotImplementedError

    async def holds(self) -> list[Hold]:
        """New and unexpired holds from other processes since the last call; the first call returns all."""
        raise NotImplementedError

    async def _change(self, key: str, work: Callable[[PermitQueue, int], T]) -> T:
        """Call *work* with the queue of the site *key* and the time, possibly repeatedly; return its result."""
        raise NotImplementedError
