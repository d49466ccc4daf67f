"""`CircuitBreaker`: stops calls to something that fails, and lets one through now and then."""

from __future__ import annotations

from typing import Final

from scrapy_rep.clock import clock
from scrapy_rep.protocol.freshness import Backoff

LONGEST_PAUSE: Final = 30.0
"""Seconds after which, at the latest, an open circuit breaker lets a call through."""

_PAUSES: Final = Backoff(5.0, LONGEST_PAUSE)


class CircuitBreaker:
    """Closed while calls succeed. A failed call opens it: then it allows a single call after each pause."""

    def __init__(self) -> None:
        self._failures = 0
        self._opened_at = self._retry_at = 0.0

    @property
    def is_open(self) -> bool:
        """Whether the last call failed."""
        return self._failures > 0

    def allows(self) -> bool:
        """Whether to make a call now. While open, True once after each pause."""
        if self._failures:
            if clock.monotonic() < self._retry_at:
                return False
            self._retry_at = clock.monotonic() + _PAUSES.distance(self._failures)
        return True

    def fail(self) -> None:
        """Record a failed call: open, and lengthen the pause."""
        if not self._failures:
            self._opened_at = clock.monotonic()
        self._failures += 1
        self._retry_at = clock.monotonic() + _PAUSES.distance(self._failures)

    def succeed(self) -> float:
        """Record a successful call: close. Returns the seconds since the breaker opened."""
        self._failures = 0
        return clock.monotonic() - self._opened_at

    def __repr__(self) -> str:
        return f"<CircuitBreaker {'open' if self._failures else 'closed'}>"
