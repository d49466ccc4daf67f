"""When to try again what has failed: not with every call, and then with one."""

from __future__ import annotations

from time import monotonic
from typing import Final

from scrapy_rep.protocol.freshness import Backoff

LONGEST_PAUSE: Final = 30.0
"""Seconds within which everybody who has given up tries again."""

_PAUSES: Final = Backoff(5.0, LONGEST_PAUSE)


class CircuitBreaker:
    """Closed while calls succeed. One that failed opens it: then a single call may try after each pause."""

    def __init__(self) -> None:
        self._failures = 0
        self._opened_at = self._retry_at = 0.0

    @property
    def is_open(self) -> bool:
        """Whether the last call has failed."""
        return self._failures > 0

    def allows(self) -> bool:
        """Whether to make a call now; after a pause the first who asks may."""
        if self._failures:
            if monotonic() < self._retry_at:
                return False
            self._retry_at = monotonic() + _PAUSES.distance(self._failures)
        return True

    def fail(self) -> None:
        """A call has failed."""
        if not self._failures:
            self._opened_at = monotonic()
        self._failures += 1
        self._retry_at = monotonic() + _PAUSES.distance(self._failures)

    def succeed(self) -> float:
        """A call has succeeded; the seconds for which there were none."""
        self._failures = 0
        return monotonic() - self._opened_at

    def __repr__(self) -> str:
        return f"<CircuitBreaker {'open' if self._failures else 'closed'}>"
