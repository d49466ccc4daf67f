"""When a request may start in a download slot whose delay several processes share.

The right to start one request is a permit. Processes queue for a download slot, each at most once, and are
served in the order in which they came. At most one permit per download slot is out at a time: until its holder
reports the start, returns it, or lets it expire. The delay counts from the start that was reported. So two
starts are never closer than the delay, however late a permit or a report arrives, unless a process is stopped
just between the use of its permit and the start. A process that is killed costs the others one expired permit at
most. A start that no other process waits for is reported with the next question: a process that is alone asks
once for each start.

`PermitQueue` decides; `limiters` keep it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from math import inf
from typing import ClassVar, Final, NamedTuple, TypeVar

from scrapy_rep.clock import clock
from scrapy_rep.protocol.freshness import CLOCK_SKEW

from .permit_queue import LONGEST_HOLD, PermitQueue, Question, microseconds

T = TypeVar("T")
State = TypeVar("State", "PermitQueue", "HoldBook")

HOLDS: Final = "holds"
"""The key of the `HoldBook`."""

_HOLD: Final = 250_000  # microseconds after its start at which a permit expires, if the limiter answers at once
_SOONEST: Final = 0.001  # seconds until the next question
_MOST_HOLDS: Final = 1_000  # of all processes
_DECAY: Final = 0.9  # of the longest round trip, with each one that is shorter


class RateLimiterAwayError(Exception):
    """The limiter cannot be reached: go by the process's own clock."""


@dataclass(frozen=True, slots=True)
class Permit:
    """The answer of a limiter. Times are those of this process's monotonic clock, in seconds.

    Start a request after ``starts_at`` and before ``expires_at``. When ``starts_at`` is infinite, no permit was
    granted: ask again at ``ask_at``. When one was granted, ``ask_at`` is for the next permit. ``number`` tells
    permits of a download slot apart; it is -1 for one by this crawl's own clock. Report the start at once if it
    ``is_awaited`` by other processes; otherwise the next question reports it.
    """

    starts_at: float
    ask_at: float
    number: int
    expires_at: float
    is_awaited: bool = False


class Hold(NamedTuple):
    """What a site asked one process, for the others: no start at download slot ``key`` for so many ``seconds``.

    After that they are ``delay`` seconds apart, and later ``pace`` seconds; see `SlotBackoff`.
    """

    key: str
    seconds: float
    delay: float
    pace: float


@dataclass(slots=True)
class HoldBook:
    """The holds of all processes, as a limiter keeps them; times are in microseconds since 1970.

    A row has the key of a download slot, the process, when it told and until when, the delay and the pace.
    """

    is_monotonic: ClassVar = False
    rows: list[tuple[str, str, int, int, float, float]] = field(default_factory=list)

    @classmethod
    def read(cls, text: str | bytes) -> HoldBook:
        """What `text` gave; raises one of several errors for anything else."""
        rows = json.loads(text)
        return cls([(str(k), str(w), int(at), int(end), float(d), float(p)) for k, w, at, end, d, p in rows])

    @property
    def text(self) -> str:
        """What is kept, as JSON."""
        return json.dumps(self.rows)

    @property
    def until(self) -> int:
        """From when on nobody needs this any more."""
        return max((row[3] for row in self.rows), default=0)

    def tell(self, worker: str, hold: Hold, now: int) -> None:
        """Take *hold* of *worker* in, instead of an earlier one."""
        left = [row for row in self._valid(now) if row[:2] != (hold.key, worker)]
        until = now + microseconds(hold.seconds)
        self.rows = [*left, (hold.key, worker, now, until, hold.delay, hold.pace)][-_MOST_HOLDS:]

    def of_others(self, worker: str, now: int) -> dict[tuple[str, str, int], Hold]:
        """The holds of other processes than *worker*, by what tells them apart."""
        return {
            (key, other, at): Hold(key, (until - now) / 1e6, delay, pace)
            for key, other, at, until, delay, pace in self._valid(now)
            if other != worker
        }

    def _valid(self, now: int) -> list[tuple[str, str, int, int, float, float]]:
        """Those that are not over, and were not dated by a wrong clock."""
        return [row for row in self.rows if row[3] > now and row[2] <= now + microseconds(CLOCK_SKEW)]


class RateLimiter:
    """Grants permits to one process of several that share download slots.

    Every call may raise `RateLimiterAwayError`. The permit in question then expires by itself.
    """

    def __init__(self, worker: str) -> None:
        """*worker* is a name that no other process has."""
        self._worker = worker
        self._round_trip = 0.0  # the longest one lately, in seconds
        self._heard: Collection[tuple[str, str, int]] = ()  # the holds that were there at the last look

    @property
    def is_settling(self) -> bool:
        """Whether the limiter has just come back, so that others may still go by their own clocks."""
        raise NotImplementedError

    async def acquire(self, key: str, delay: float, *, since: float | None, missed: int, more: bool) -> Permit:
        """Acquire a permit for download slot *key*, whose starts are *delay* seconds apart.

        *since* is the seconds since this process last started a request there, None before the first. *missed* is
        the number of its last permit if that expired unused, else -1: this process is then served next. With
        *more* it queues for the next permit at once.

        A permit starts so long after now as the limiter says, and expires so long after the question. So neither
        is too early or too late, whatever share of the round trip the way back took.
        """
        asked_at = clock.monotonic()
        hold = min(_HOLD + round(2e6 * self._round_trip), LONGEST_HOLD)
        question = Question(self._worker, microseconds(delay), microseconds(since), missed, more, hold)
        answer = await self._change(f"permits:{key}", PermitQueue, lambda queue, now: queue.answer(question, now))
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

        None returns the permit unused: it costs no delay.
        """
        await self._report(key, number, microseconds(ago), 0)

    async def restart_delay(self, key: str, memory: float) -> None:
        """Count the next delay of *key* from now: robots.txt was requested there without a permit.

        The limiter remembers that for *memory* seconds, which should exceed the longest delay.
        """
        await self._report(key, -1, 0, microseconds(memory))

    async def _report(self, key: str, number: int, ago: int, memory: int) -> None:
        name = self._worker
        await self._change(
            f"permits:{key}", PermitQueue, lambda queue, now: queue.report(name, number, ago, memory, now)
        )

    async def hold(self, hold: Hold) -> None:
        """Tell other processes of *hold*."""
        await self._change(HOLDS, HoldBook, lambda book, now: book.tell(self._worker, hold, now))

    async def holds(self) -> list[Hold]:
        """What other processes told since the last call and still holds; at the first call since ever."""
        book, now = await self._look()
        found = book.of_others(self._worker, now)
        heard, self._heard = self._heard, found.keys()
        return [hold for name, hold in found.items() if name not in heard]

    async def _change(self, key: str, kind: type[State], work: Callable[[State, int], T]) -> T:
        """What *work* returns, called with what is kept under *key* and the time: a step that may be repeated."""
        raise NotImplementedError

    async def _look(self) -> tuple[HoldBook, int]:
        """The holds, and the time."""
        raise NotImplementedError


def state_in(kind: type[State], text: str | bytes | None) -> State:
    """The state in *text*; an empty one for what another program has put there."""
    try:
        return kind.read(text) if text else kind()
    except (ValueError, TypeError, AttributeError):
        return kind()
