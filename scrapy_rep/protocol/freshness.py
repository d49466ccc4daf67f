"""Cache entries: how long an entry is fresh, and what applies while its origin is unreachable.

Follows RFC 9309 sections 2.3.1.4 and 2.4, RFC 9111 for ``Cache-Control``, and RFC 9110 for validators and
``Retry-After``. This module reads no clock: callers pass ``now`` in POSIX seconds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import timezone
from email.utils import parsedate_to_datetime
from hashlib import sha256
from typing import Any, Final

from .access import Access
from .origin import Origin

LIFETIME: Final = 86_400.0
"""Seconds an entry is fresh: RFC 9309 section 2.4, "SHOULD NOT use the cached version for more than 24 hours"."""

LONG_UNREACHABLE: Final = 30 * 86_400.0
"""Seconds after which the last known rules of an unreachable origin apply again, or none if it never answered.

RFC 9309 section 2.3.1.4: "after a reasonably long period of time (for example, 30 days)".
"""

CLOCK_SKEW: Final = 60.0
"""Seconds by which another machine's clock may be ahead; a later time comes from a wrong clock."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A cache entry: the robots.txt of one origin.

    ``body`` holds the bytes within ``REP_MAX_SIZE``. ``url`` is the URL that answered, after the redirects in
    ``hops``; ``status`` is None if there was no response. ``fetched_at`` is the time of the last answer, which is
    fresh until ``fresh_until``; ``etag`` and ``last_modified`` are its validators.

    While the origin is unreachable, these fields keep its last answer. ``failures`` counts the failed attempts in
    a row. ``unreachable_since`` is the time of the first failed fetch, ``tried_at`` of the last; the next starts
    no earlier than ``retry_at``. An origin that never answered has the access *unreachable*.
    """

    origin: Origin
    access: Access
    url: str
    status: int | None
    body: bytes
    hops: tuple[str, ...]
    fetched_at: float
    fresh_until: float
    etag: str = ""
    last_modified: str = ""
    failures: int = 0
    unreachable_since: float | None = None
    tried_at: float = 0.0
    retry_at: float = 0.0

    @property
    def sha256(self) -> str:
        """The SHA-256 digest of the body in hexadecimal."""
        return sha256(self.body).hexdigest()

    @property
    def has_answered(self) -> bool:
        """Whether the origin ever gave a usable answer."""
        return self.access is not Access.UNREACHABLE

    @property
    def dated_at(self) -> float:
        """The time of the last fetch, in POSIX seconds by the clock of the process that made it."""
        return max(self.fetched_at, self.tried_at)

    def is_ahead(self, now: float) -> bool:
        """Whether the entry's times are in the future, set by a wrong clock, and must be ignored."""
        return self.dated_at > now + CLOCK_SKEW

    def of_use_until(self, stale_max: float) -> float:
        """The time in POSIX seconds until which the entry may be served stale or revalidated.

        *stale_max* is how many seconds an expired entry may be served.
        """
        longest = LONG_UNREACHABLE if self.failures else max(stale_max, LIFETIME)
        return max(self.fresh_until, self.retry_at) + longest


@dataclass(frozen=True, slots=True)
class Backoff:
    """The delay between attempts: ``first`` seconds, doubled after each failure, up to ``most``."""

    first: float
    most: float

    def distance(self, failures: int, retry_after: float | None = None) -> float:
        """Seconds between the starts of two attempts, after *failures* in a row.

        A Retry-After of *retry_after* seconds extends the delay, up to ``most`` (RFC 9110 section 10.2.3).
        """
        doublings = min(max(failures - 1, 0), 64)
        return min(max(self.first * 2.0**doublings, retry_after or 0.0), self.most)


@dataclass(frozen=True, slots=True)
class Freshness:
    """The caching policy of one crawl, in seconds.

    A successful or unavailable answer is fresh for 24 hours; ``max-age`` changes that, within ``least`` and
    ``most``. If the origin is unreachable, the expired answer applies for another ``stale`` seconds.
    """

    least: float
    most: float
    stale: float
    backoff: Backoff

    def lifetime(self, cache_control: str) -> float:
        """Seconds that an answer with this Cache-Control is fresh: RFC 9309 section 2.4, RFC 9111 section 5.2."""
        directives = cache_control.lower()
        if _NOT_STORED.search(directives):
            return self.least
        ages = [float(age[:12]) for age in _MAX_AGE.findall(directives)]
        return min(max(min(ages, default=LIFETIME), self.least), self.most)

    def answered(self, now: float, cache_control: str, **answer: Any) -> Entry:
        """The entry for a new *answer*, fresh from *now* on and without failures."""
        return Entry(fetched_at=now, fresh_until=now + self.lifetime(cache_control), tried_at=now, **answer)

    def failed(self, entry: Entry, now: float, attempts: int, retry_after: float | None) -> Entry:
        """*entry* after *attempts* more failed attempts; the origin's last answer is kept."""
        failures = entry.failures + attempts
        since = now if entry.unreachable_since is None else min(entry.unreachable_since, now)
        if entry.is_ahead(now):  # the answer is from before now; how long before is unknown
            entry = replace(entry, fetched_at=min(entry.fetched_at, now), fresh_until=min(entry.fresh_until, now))
        retry_at = now + self.backoff.distance(failures, retry_after)
        return replace(entry, failures=failures, unreachable_since=since, tried_at=now, retry_at=retry_at)

    def due_at(self, entry: Entry) -> float:
        """The time of the next fetch; the ``most`` of this crawl also limits entries stored under a longer one."""
        return max(min(entry.fresh_until, entry.fetched_at + self.most), entry.retry_at)

    def access(self, entry: Entry, now: float) -> Access:
        """The access that *entry* grants at *now*; RFC 9309 section 2.3.1.4 applies to an unreachable origin."""
        since = entry.unreachable_since
        if since is None or (entry.has_answered and now < entry.fresh_until + self.stale):
            return entry.access
        if now < since + LONG_UNREACHABLE:
            return Access.UNREACHABLE
        return entry.access if entry.has_answered else Access.UNAVAILABLE

    def usable_until(self, entry: Entry, now: float) -> float:
        """The time until which the result of `access` is valid; *now* if a fetch is due."""
        due_at = self.due_at(entry)
        if due_at <= now or entry.is_ahead(now):
            return now
        changes = [due_at]
        if entry.unreachable_since is not None:
            changes += [entry.fresh_until + self.stale, entry.unreachable_since + LONG_UNREACHABLE]
        return min(change for change in changes if change > now)


_NOT_STORED: Final = re.compile(r"(?:^|[\s,])no-(?:cache|store)\b")
_MAX_AGE: Final = re.compile(r'(?:^|[\s,])max-age\s*=\s*"?(\d+)')
_POSIX: Final = 1e9
_MILLISECONDS: Final = 1e12


def retry_after(value: bytes, now: float) -> float | None:
    """The wait in seconds that a Retry-After header, in seconds or as a date, asks for; None if unreadable.

    A number that would be more than 31 years is a time in POSIX seconds or milliseconds, which many servers send.
    """
    text = value.decode("latin-1").strip()
    if text.isascii() and text.isdigit():
        number = float(text[:13])
        when = number / 1_000 if number >= _MILLISECONDS else number
        return number if number < _POSIX or len(text) > len("1700000000000") else max(when - now, 0.0)
    try:
        date = parsedate_to_datetime(text)
        if date.tzinfo is None:
            date = date.replace(tzinfo=timezone.utc)
        return max(date.timestamp() - now, 0.0)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
