"""The arithmetic of back-off: how a download slot slows down for an asking or overloaded site, and recovers.

A back-off raises the floor of a download slot, like robots.txt. A site asks with 429 and 503 (RFC 6585 section 4,
RFC 9110 section 15.6.4), and names a time with ``Retry-After`` (RFC 9110 section 10.2.3) or ``RateLimit-Reset``
(draft-ietf-httpapi-ratelimit-headers-07). Other server errors, and failures of the connection, count when they
repeat: a single broken page says nothing about a site.

`outcomes` decides when a site asks.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from random import uniform
from typing import TYPE_CHECKING, Final, NamedTuple

from scrapy_rep.clock import clock
from scrapy_rep.crawl.pacing.slots import Pause
from scrapy_rep.protocol.freshness import retry_after

if TYPE_CHECKING:
    from scrapy.http import Response

SLOW_DOWN: Final = frozenset({429, 503})
"""Statuses with which a site asks to slow down."""

FAILING: Final = frozenset({500, 502, 504, *range(520, 525)})
"""Statuses that count when they repeat; from 520 on, Cloudflare's for a site without a usable answer."""

FIRST: Final = 1.0
"""Minimum length of the first back-off in seconds."""

SPAN: Final = 1.0
"""Seconds before a site's plea in which its answers are counted."""

QUIET: Final = 30.0
"""Seconds without a plea after which the pace gets shorter by a step."""

_LONGEST: Final = 86_400.0  # seconds; the limit for a longer Retry-After
_DIGITS_OF_EPOCH: Final = 10  # a longer RateLimit-Reset is neither seconds nor a time
_JITTER: Final = 1.25  # maximum factor for a back-off whose length the site did not name
_ENOUGH: Final = 5  # good answers; fewer do not show a rate until the site asks again
_MARGIN: Final = 1.1  # the pace is slower by this factor than the rate that the site accepted
_GROWTH: Final = 1.5  # maximum factor by which a pace grows each time the site asks
_STEP: Final = 0.8
_LEAST: Final = 0.01  # seconds between two starts; a shorter delay is not worth keeping


class Plea(NamedTuple):
    """A request to slow down, derived from an outcome.

    ``reason`` is the status or ``failure``, ``why`` the same in words; ``seconds`` is None if the site names no
    time. A plea that ``counts_alone`` need not repeat.
    """

    reason: str
    why: str
    seconds: float | None = None
    counts_alone: bool = True

    @property
    def names_limit(self) -> bool:
        """Whether the site reported too many requests: it accepts no higher rate than before."""
        return self.reason == "429"


@dataclass(eq=False, slots=True)
class SiteBackoff(Pause):
    """The back-off of one site. Times are monotonic seconds.

    ``delay`` is kept between two starts. ``pace`` is the lower limit of the delay: a little slower than the rate
    when the site asked, last at ``asked_at``. The site ``has_recovered`` after the next good answer; the last good
    answer came at ``answered_at``.
    """

    delay: float = 0.0
    pace: float = 0.0
    until: float = -inf
    asked_at: float = -inf
    answered_at: float = -inf
    has_recovered: bool = True
    _fell_at: float = -inf

    def seconds_left(self) -> float:
        """Seconds for which nothing starts."""
        return max(self.until - clock.monotonic(), 0.0)

    @property
    def floor(self) -> float:  # type: ignore[override]
        """The minimum seconds between two starts now; 0 if negligible."""
        return self.delay if self.delay >= _LEAST or self.seconds_left() > 0 else 0.0

    def is_new(self, began: float) -> bool:
        """Whether a request that *began* then started after the last plea, and was not about to start then."""
        return began > max(self.asked_at, (self.asked_at + self.until) / 2)

    def ask(self, plea: Plea, own: float, accepted: int, most: float) -> None:
        """Slow down for *plea* by a site with an *own* delay in seconds, which *accepted* requests within `SPAN`.

        If the site names no time, the delay doubles, up to *most* seconds.
        """
        if self.has_recovered:
            self._learn(plea, own, accepted, most)
        self.asked_at, self.has_recovered = clock.monotonic(), False
        if plea.seconds is None:
            self.delay = min(max(2 * self.delay, 2 * own, FIRST), most)
            self.hold(self.delay * uniform(1.0, _JITTER))  # noqa: S311  # spreads hosts over time
        else:
            self.delay = max(self.delay, FIRST)
            self.hold(plea.seconds)

    def _learn(self, plea: Plea, own: float, accepted: int, most: float) -> None:
        """Derive the pace from the requests *accepted*, if these show the site's limit, not our recovery.

        The first pace requires a site that names a limit: a momentary overload has no limit. A known pace grows by
        at most half, because few answers in a second are a rough measure.
        """
        is_steady = clock.monotonic() >= self._fell_at + SPAN or (plea.names_limit and not self.pace)
        enough = 1 if self.delay else _ENOUGH if plea.names_limit else inf
        if is_steady and accepted >= enough:
            measured = max(_MARGIN * SPAN / accepted, own)
            self.pace = min(max(self.pace, min(measured, _GROWTH * self.pace or inf)), most)

    def adopt(self, seconds: float, delay: float, pace: float) -> None:
        """Slow down like another process, which the site asked."""
        self.delay, self.pace = max(self.delay, delay), max(self.pace, pace)
        self.asked_at, self.has_recovered = clock.monotonic(), False
        self.hold(seconds)

    def hold(self, seconds: float) -> None:
        """Start nothing for *seconds*."""
        self.until = max(self.until, clock.monotonic() + seconds)

    def recover(self, began: float) -> bool:
        """Halve the delay after a good answer to a request that *began* after the last change; True if it fell."""
        self.answered_at = clock.monotonic()
        if not self.is_new(began):
            return False
        self.has_recovered = True
        if began <= self._fell_at or self.delay <= self.pace:
            return False
        self._fell_at = self.answered_at
        self.delay = max(self.delay / 2, self.pace)
        return True

    def relax(self, own: float) -> bool:
        """Shorten the pace by a step after a quiet time; return whether the back-off still matters."""
        now = clock.monotonic()
        if now < max(self.asked_at, self.until) + QUIET:
            return True
        if now >= self.answered_at + 2 * self.delay + QUIET:  # the crawl no longer requests the site
            return False
        if self.delay <= self.pace:
            self.pace = self.delay = self.pace * _STEP
        return self.delay >= max(own, _LEAST)


def seconds_asked(response: Response, now: float) -> float | None:
    """The seconds without requests that *response* asks for, at most a day; None if it names none.

    ``Retry-After`` takes precedence (section 6 of the draft). POSIX seconds, which many servers send, are relative
    to *now*.
    """
    seconds = retry_after(response.headers.get(b"Retry-After") or b"", now)
    reset = (response.headers.get(b"RateLimit-Reset") or b"").strip()
    if not seconds and reset.isdigit() and len(reset) <= _DIGITS_OF_EPOCH:
        seconds = retry_after(reset, now)
    return min(seconds, _LONGEST) if seconds else None
