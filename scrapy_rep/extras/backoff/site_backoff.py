"""Back-off: a download slot slows down when its site asks for it, or seems to be overloaded, and recovers.

It is one more reason for the floor of a download slot, beside what robots.txt requires. A site asks by 429 and 503
(RFC 6585 section 4, RFC 9110 section 15.6.4), and says how long by ``Retry-After`` (RFC 9110 section 10.2.3) or
``RateLimit-Reset`` (draft-ietf-httpapi-ratelimit-headers-07). Other errors of a server, and failures of the
connection, count when they repeat: a single broken page says nothing about a site.

The arithmetic alone: `outcomes` says when a site asks.
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
"""Statuses by which a site asks to slow down."""

FAILING: Final = frozenset({500, 502, 504, *range(520, 525)})
"""Statuses that count when they repeat; from 520 on those of Cloudflare, when the site gave no usable answer."""

FIRST: Final = 1.0
"""Seconds of the first back-off, at least."""

SPAN: Final = 1.0
"""Seconds before a site asked, in which its answers are counted."""

QUIET: Final = 30.0
"""Seconds after which a pace that the site took is raised by a step."""

_LONGEST: Final = 86_400.0  # seconds; of a longer Retry-After only so much is believed
_DIGITS_OF_EPOCH: Final = 10  # a longer RateLimit-Reset is neither seconds nor a time
_JITTER: Final = 1.25  # a back-off whose length is ours lasts up to so many times as long
_ENOUGH: Final = 5  # of them; fewer are no rate, until the site asks again
_MARGIN: Final = 1.1  # the pace is so many times slower than what the site took before it asked
_GROWTH: Final = 1.5  # of a pace, at most, each time that the site asks
_STEP: Final = 0.8
_LEAST: Final = 0.01  # seconds between two starts; a shorter delay is not worth keeping


class Plea(NamedTuple):
    """What an outcome asks of us.

    ``reason`` is the status or ``failure``, ``why`` the same in words; ``seconds`` are None where the site names
    none. One that ``counts_alone`` need not repeat.
    """

    reason: str
    why: str
    seconds: float | None = None
    counts_alone: bool = True

    @property
    def names_limit(self) -> bool:
        """Whether it says that there were too many requests: then the site takes no more than it took."""
        return self.reason == "429"


@dataclass(eq=False, slots=True)
class SiteBackoff(Pause):
    """The back-off of one site. Times are monotonic seconds.

    ``delay`` is kept between two starts. ``pace`` is what the delay falls to: a little slower than the site was
    when it asked, last ``asked_at``. It ``has_recovered`` when a good answer has come since; the last one came
    ``answered_at``.
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
        """The seconds that must lie between two starts now; 0 for hardly any."""
        return self.delay if self.delay >= _LEAST or self.seconds_left() > 0 else 0.0

    def is_new(self, began: float) -> bool:
        """Whether a request that *began* then was not under way when the site asked, or about to start."""
        return began > max(self.asked_at, (self.asked_at + self.until) / 2)

    def ask(self, plea: Plea, own: float, accepted: int, most: float) -> None:
        """Slow down for *plea*: a site with a delay of *own* seconds *accepted* so many requests in `SPAN`.

        Where the site does not say how long, the delay doubles, to *most* seconds.
        """
        if self.has_recovered:
            self._learn(plea, own, accepted, most)
        self.asked_at, self.has_recovered = clock.monotonic(), False
        if plea.seconds is None:
            self.delay = min(max(2 * self.delay, 2 * own, FIRST), most)
            self.hold(self.delay * uniform(1.0, _JITTER))  # noqa: S311  # so that hosts are not asked together
        else:
            self.delay = max(self.delay, FIRST)
            self.hold(plea.seconds)

    def _learn(self, plea: Plea, own: float, accepted: int, most: float) -> None:
        """Take the pace from what the site *accepted*, if that tells of the site and not of our recovery.

        The first time only where the site names a limit: one that is overloaded for a moment has none. A pace that
        is known grows by half at most: few answers in a second are a rough measure.
        """
        is_steady = clock.monotonic() >= self._fell_at + SPAN or (plea.names_limit and not self.pace)
        enough = 1 if self.delay else _ENOUGH if plea.names_limit else inf
        if is_steady and accepted >= enough:
            measured = max(_MARGIN * SPAN / accepted, own)
            self.pace = min(max(self.pace, min(measured, _GROWTH * self.pace or inf)), most)

    def adopt(self, seconds: float, delay: float, pace: float) -> None:
        """Slow down as another process did, which the site has asked."""
        self.delay, self.pace = max(self.delay, delay), max(self.pace, pace)
        self.asked_at, self.has_recovered = clock.monotonic(), False
        self.hold(seconds)

    def hold(self, seconds: float) -> None:
        """Start nothing for *seconds*."""
        self.until = max(self.until, clock.monotonic() + seconds)

    def recover(self, began: float) -> bool:
        """Halve the delay for a good answer to a request that *began* after the last change; whether it fell."""
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
        """Raise the pace a step if it has been quiet; whether there is still a back-off to keep."""
        now = clock.monotonic()
        if now < max(self.asked_at, self.until) + QUIET:
            return True
        if now >= self.answered_at + 2 * self.delay + QUIET:  # nobody asks any more
            return False
        if self.delay <= self.pace:
            self.pace = self.delay = self.pace * _STEP
        return self.delay >= max(own, _LEAST)


def seconds_asked(response: Response, now: float) -> float | None:
    """The seconds for which *response* asks for no request, None if it does not say; at most a day is believed.

    ``Retry-After`` takes precedence (section 6 of the draft). POSIX seconds, which many servers send, count
    from *now*.
    """
    seconds = retry_after(response.headers.get(b"Retry-After") or b"", now)
    reset = (response.headers.get(b"RateLimit-Reset") or b"").strip()
    if not seconds and reset.isdigit() and len(reset) <= _DIGITS_OF_EPOCH:
        seconds = retry_after(reset, now)
    return min(seconds, _LONGEST) if seconds else None
