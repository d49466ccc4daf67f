"""A rate limiter for several processes: who may start the next request in a download slot, and when.

The right to start one request is a permit. Processes queue for a download slot, each at most once, and are
served in the order in which they came. At most one permit per download slot is out at a time: until its holder
reports the start, releases it, or lets it expire. The delay counts from the start that was reported. So two
starts are never closer than the delay, however late a permit or a report arrives. A process that is killed
costs the others one expired permit at most.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from scrapy_rep.clock import clock

MICROSECONDS: Final = 1_000_000
"""Microseconds per second: limiters count in whole microseconds."""

LEAD: Final = 20_000
"""A permit is granted at most this many microseconds before its start."""

LONGEST_WAIT: Final = 5_000_000
"""Microseconds after which a process asks again at the latest: the delay may have changed."""

GRACE: Final = 100_000
"""Microseconds that a process may ask late before others are served first."""

FORGET: Final = 60_000_000
"""Microseconds after which a process that did not ask as expected leaves the queue."""

LONGEST_HOLD: Final = 5_000_000
"""Microseconds after its start at which a permit expires at the latest."""

_HOLD: Final = 250_000  # microseconds after its start at which a permit expires, if the limiter answers at once
_LONGEST_DELAY: Final = 1e9  # seconds: more does not fit into the numbers of Lua and the time limits of Redis
_DECAY: Final = 0.9  # of the longest round trip, with each one that is shorter
_SOONEST: Final = 0.001  # seconds until the next question


class RateLimiterAwayError(Exception):
    """The limiter cannot be reached: go by the process's own clock."""


@dataclass(frozen=True, slots=True)
class Permit:
    """The answer of a limiter. All times are in seconds from the moment the process has it.

    Start a request after ``starts_in`` and before ``expires_in``, then report it. When ``starts_in`` is None,
    no permit was granted: ask again after ``retry_in``. When one was granted, ``retry_in`` is for the next
    permit. ``number`` identifies a permit within its download slot.
    """

    starts_in: float | None
    retry_in: float
    number: int
    expires_in: float


class RateLimiter(Protocol):
    """Grants permits to one process of several that share download slots.

    Every call may raise `RateLimiterAwayError`. The permit in question then expires by itself.
    """

    @property
    def is_settling(self) -> bool:
        """Whether the limiter has just come back, so that others may still go by their own clocks."""

    async def acquire(
        self, key: str, delay: float, *, since: float | None, missed: int | None, more: bool
    ) -> Permit:
        """Acquire a permit for download slot *key*, whose starts are *delay* seconds apart.

        *since* is the seconds since this process last started a request there, None before the first. *missed* is
        the number of its last permit if that expired unused: this process is then served next. With *more* it
        queues for the next permit at once.
        """

    async def report_start(self, key: str, number: int, ago: float) -> None:
        """Report that the request of permit *number* started *ago* seconds ago: the delay counts from then."""

    async def release(self, key: str, number: int) -> None:
        """Return permit *number* unused: it costs no delay."""

    async def restart_delay(self, key: str, memory: float) -> None:
        """Count the next delay of *key* from now: robots.txt was requested there without a permit.

        The limiter remembers that for *memory* seconds, which should exceed the longest delay.
        """


class Answer(NamedTuple):
    """What a limiter answers, in microseconds from the moment it does; otherwise as `Permit`."""

    granted: int
    retry_in: int
    number: int
    starts_in: int
    expires_in: int


class RoundTrips:
    """How long the limiter takes to answer, and what follows for its answers."""

    def __init__(self) -> None:
        self._longest = 0.0  # seconds, lately

    @property
    def hold(self) -> int:
        """Microseconds after its start for which a permit must stay valid, given the time that answers take."""
        return min(_HOLD + round(2 * self._longest * MICROSECONDS), LONGEST_HOLD)

    def permit(self, asked_at: float, answer: Answer) -> Permit:
        """The permit of an *answer* that was given after *asked_at* (monotonic seconds) and before now.

        The start counts from now and the expiry from *asked_at*: so neither is too early or too late, whatever
        share of the round trip the way back took. Asking again too early is harmless.
        """
        took = clock.monotonic() - asked_at
        self._longest = max(took, self._longest * _DECAY)
        return Permit(
            answer.starts_in / MICROSECONDS if answer.granted else None,
            max(answer.retry_in / MICROSECONDS - took, _SOONEST),
            answer.number,
            answer.expires_in / MICROSECONDS - took,
        )


def microseconds(seconds: float) -> int:
    """Whole microseconds, bounded to what limiters can store."""
    return round(min(seconds, _LONGEST_DELAY) * MICROSECONDS)
