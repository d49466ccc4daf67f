"""One cached origin: what a fetch brought, how long it may be used, when the next attempt is due.

No clock inside: time comes in as ``now``, POSIX seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timezone
from email.utils import parsedate_to_datetime
from typing import Final

from .access import Access
from .origin import Origin

LIFETIME: Final = 86_400.0
"""Seconds an entry is used: RFC 9309 section 2.4, "SHOULD NOT use the cached version for more than 24 hours"."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of the robots.txt of one origin.

    ``body`` holds the octets within ``REP_MAX_SIZE``; ``url`` answered, after the ``hops``; ``status``
    is None when nothing did. From ``expires_at`` on a new fetch is due; for an unreachable origin that
    is the time of the next attempt, and ``failures`` counts the attempts that failed in a row.
    """

    origin: Origin
    access: Access
    url: str
    status: int | None
    body: bytes
    hops: tuple[str, ...]
    fetched_at: float
    expires_at: float
    failures: int = 0

    def is_fresh(self, now: float) -> bool:
        """Whether the entry may be used at *now*."""
        return now < self.expires_at


@dataclass(frozen=True, slots=True)
class Backoff:
    """The distance between attempts: ``first`` seconds, doubled each time, ``most`` at the most."""

    first: float
    most: float

    def distance(self, failures: int, retry_after: float | None = None) -> float:
        """Seconds from the start of an attempt to the next one, after *failures* in a row.

        A Retry-After of *retry_after* seconds lengthens it, within the bound (RFC 9110 section 10.2.3).
        """
        doublings = min(max(failures - 1, 0), 64)
        return min(max(self.first * 2.0**doublings, retry_after or 0.0), self.most)


def retry_after(value: bytes, now: float) -> float | None:
    """The seconds that a Retry-After header asks for, given as seconds or as a date; None when unreadable."""
    text = value.decode("latin-1").strip()
    if text.isascii() and text.isdigit():
        return float(text[:12])
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError):
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=timezone.utc)
    return max(date.timestamp() - now, 0.0)
