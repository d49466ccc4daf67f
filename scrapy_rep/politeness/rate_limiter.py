"""Turns at a download slot for several processes: who may start a request next, and when.

Processes queue for a download slot, each at most once, and are served in the order in which they came. One
turn at a time is out. It is held until its owner reports the start, gives it back or lets it lapse, and the
delay counts from the start that was reported. So two starts are never closer than the delay, however late a
turn, or the report of a start, arrives. A process that is killed costs the others one lapsed turn at the most.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from typing import Final, NamedTuple, Protocol

MICROSECONDS: Final = 1_000_000
"""In a second: limiters count in whole microseconds."""

LEAD: Final = 20_000
"""Microseconds before its start at which a turn is granted at the earliest."""

LONGEST_WAIT: Final = 5_000_000
"""Microseconds after which a process asks again at the latest: the delay may have changed."""

GRACE: Final = 100_000
"""Microseconds that a process may be late with its question before others are served first."""

FORGET: Final = 60_000_000
"""Microseconds after which one that was expected loses its place in the queue."""

LONGEST_HOLD: Final = 5_000_000
"""Microseconds for which a turn is held at the most."""

_HOLD: Final = 250_000  # microseconds for which a turn is held, where the limiter answers at once
_LONGEST_DELAY: Final = 1e9  # seconds: more does not fit into the numbers of Lua and the time limits of Redis
_DECAY: Final = 0.9  # of the longest round trip, with each one that is shorter
_SOONEST: Final = 0.001  # seconds until the next question


class RateLimiterAwayError(Exception):
    """The limiter cannot be asked now: go by a clock of your own."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The answer of a limiter. All times are in seconds from the moment it was given.

    Start a request after ``starts_in`` and before ``lapses_in``, then report it. When ``starts_in`` is None
    there is no turn yet: ask again after ``wait``, which counts for the next turn when this one was granted.
    ``number`` tells the turns of a download slot apart.
    """

    starts_in: float | None
    wait: float
    number: int
    lapses_in: float


class RateLimiter(Protocol):
    """Grants the starts at download slots to one process of several that share them.

    Every call may raise `RateLimiterAwayError`; what has become of the turn is then nobody's concern, for it
    lapses by itself.
    """

    @property
    def is_settling(self) -> bool:
        """Whether the limiter has just come back, so that others may still go by clocks of their own."""

    async def acquire(
        self, key: str, delay: float, *, since: float | None, missed: int | None, more: bool
    ) -> Turn:
        """A turn at download slot *key*, whose starts are *delay* seconds apart, or when to ask again.

        *since* are the seconds since this process last started a request there, None before the first.
        *missed* is the number of the last turn, if it lapsed before anything was started: then this process
        comes next. With *more* it queues for the turn after this one at once.
        """

    async def started(self, key: str, number: int, ago: float) -> None:
        """Report that the request of turn *number* was started *ago* seconds ago: the delay counts from then."""

    async def give_back(self, key: str, number: int) -> None:
        """Return turn *number*, with which nothing was started: it costs no delay."""

    async def mark(self, key: str, memory: float) -> None:
        """Let the next delay of *key* count from now: the site was just asked for its robots.txt, out of turn.

        It is remembered for *memory* seconds, which should exceed the longest delay.
        """


class Answer(NamedTuple):
    """What a limiter says, in microseconds from the moment at which it does; as `Turn`."""

    granted: int
    wait: int
    number: int
    starts_in: int
    lapses_in: int


class RoundTrips:
    """How long the limiter takes to answer, and what that means for its answers."""

    def __init__(self) -> None:
        self._longest = 0.0  # seconds, lately

    @property
    def hold(self) -> int:
        """Microseconds that a turn must be held for this process, whose answers travel."""
        return min(_HOLD + round(2 * self._longest * MICROSECONDS), LONGEST_HOLD)

    def turn(self, asked_at: float, answer: Answer) -> Turn:
        """The turn from an *answer* that was given after *asked_at* (monotonic seconds) and before now.

        What may start counts from now, what must be over from *asked_at*: neither can be too early or too
        late, whatever part of the time the way back took. A question may be early, it is only asked again.
        """
        took = monotonic() - asked_at
        self._longest = max(took, self._longest * _DECAY)
        return Turn(
            answer.starts_in / MICROSECONDS if answer.granted else None,
            max(answer.wait / MICROSECONDS - took, _SOONEST),
            answer.number,
            answer.lapses_in / MICROSECONDS - took,
        )


def microseconds(seconds: float) -> int:
    """Whole microseconds, within what limiters can hold."""
    return round(min(seconds, _LONGEST_DELAY) * MICROSECONDS)
