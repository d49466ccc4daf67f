"""When a request may start on a site whose delay several processes share.

The right to start one request is a permit. Processes queue for a site, each at most once, and are served in the
order in which they came. One permit per site is out at a time, until its holder reports the start, returns it,
or lets it expire. The delay counts from the start that was reported. So two starts are never closer than the
delay, however late a permit or a report arrives, unless a process is stopped just between the use of its permit
and the start. A process that is killed costs the others one expired permit at most. A start that no other
process waits for is reported with the next question: a process that is alone asks once for each start.

`PermitQueue` decides; `limiters` keep it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Final, NamedTuple, TypeVar

from scrapy_rep.clock import clock
from scrapy_rep.extras.fleet.permit_queue import LONGEST_LIFE, PermitQuestion, PermitQueue, microseconds

T = TypeVar("T")

_LIFE: Final = 250_000  # microseconds after its start at which a permit expires, if the limiter answers at once
_SOONEST: Final = 0.001  # seconds until the next question
_DECAY: Final = 0.9  # of the longest round trip, with each one that is shorter

MOST_HOLDS: Final = 100_000
"""Sites whose holds are kept, for all processes together: some ten megabytes."""


class RateLimiterAwayError(Exception):
    """The limiter cannot be reached: go by the process's own clock."""


@dataclass(frozen=True, slots=True)
class Permit:
    """The answer of a limiter. Times are those of this process's monotonic clock, in seconds.

    Start a request after ``starts_at`` and before ``expires_at``. When ``starts_at`` is infinite, no permit was
    granted: ask again at ``ask_at``. When one was granted, ``ask_at`` is for the next permit. ``number`` tells
    permits of a site apart; it is -1 for one by this crawl's own clock. Report the start at once if it
    ``is_awaited`` by other processes; otherwise the next question reports it.
    """

    starts_at: float
    ask_at: float
    number: int
    expires_at: float
    is_awaited: bool = False


class Hold(NamedTuple):
    """What ``site`` asked one process, for the others: no start for so many ``seconds``.

    After that they are ``delay`` seconds apart, and later ``pace`` seconds; see `SiteBackoff`.
    """

    site: str
    seconds: float
    delay: float
    pace: float


class RateLimiter:
    """Grants permits to one process of several that share sites, and keeps what sites ask, for all of them.

    Every call may raise `RateLimiterAwayError`. The permit in question then expires by itself.
    """

    def __init__(self, worker: str) -> None:
        """*worker* is a name that no other process has."""
        self._worker = worker
        self._round_trip = 0.0  # the longest one lately, in seconds
        self._heard = 0  # the number of the last hold that `holds` has returned

    @property
    def is_settling(self) -> bool:
        """Whether the limiter has just come back, so that others may still go by their own clocks."""
        raise NotImplementedError

    async def acquire(self, key: str, delay: float, *, since: float | None, missed: int, more: bool) -> Permit:
        """Acquire a permit for the site *key*, whose starts are *delay* seconds apart.

        *since* is the seconds since this process last started a request there, None before the first. *missed* is
        the number of its last permit if that expired unused, else -1: this process is then served next. With
        *more* it queues for the next permit at once.

        A permit starts so long after now as the limiter says, and expires so long after the question. So neither
        is too early or too late, whatever share of the round trip the way back took.
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
        await self._change(key, lambda queue, now: queue.report(name, number, ago, memory, now))

    async def hold(self, hold: Hold) -> int:
        """Tell other processes of *hold*, unless they know of one for that site which ends later.

        Returns how many holds were dropped for it: `MOST_HOLDS` are kept, the latest.
        """
        raise NotImplementedError

    async def holds(self) -> list[Hold]:
        """What other processes told since the last call and still holds; at the first call since ever."""
        raise NotImplementedError

    async def _change(self, key: str, work: Callable[[PermitQueue, int], T]) -> T:
        """What *work* returns for the queue of the site *key* and the time; it may be called more than once."""
        raise NotImplementedError


def queue_in(text: str | bytes | None) -> PermitQueue:
    """The queue in *text*; an empty one for what another program has put there."""
    try:
        return PermitQueue.read(text) if text else PermitQueue()
    except (ValueError, TypeError, AttributeError):
        return PermitQueue()
