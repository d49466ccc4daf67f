"""One cached origin: how long its entry counts, and what stands in when the origin cannot be reached.

RFC 9309 sections 2.3.1.4 and 2.4, RFC 9111 for ``Cache-Control``, RFC 9110 for validators and
``Retry-After``. No clock inside: time comes in as ``now``, POSIX seconds.
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
"""Seconds an entry counts: RFC 9309 section 2.4, "SHOULD NOT use the cached version for more than 24 hours"."""

LONG_UNREACHABLE: Final = 30 * 86_400.0
"""Seconds after which an unreachable origin is treated as one without restrictions, or as it was last known.

RFC 9309 section 2.3.1.4: "after a reasonably long period of time (for example, 30 days)".
"""

CLOCK_SKEW: Final = 60.0
"""Seconds that the clock of another machine may be ahead; a time later than that comes from a wrong clock."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A cache entry: the robots.txt of one origin.

    ``body`` holds the bytes within ``REP_MAX_SIZE``; ``url`` answered, after the ``hops``; ``status`` is
    None when nothing did. ``fetched_at`` is when the origin last answered, ``fresh_until`` until when
    that counts; ``etag`` and ``last_modified`` are the validators of the answer.

    While the origin is unreachable, these fields keep its last answer, and ``failures`` counts the attempts that
    failed in a row; ``unreachable_since`` is when the first fetch failed, ``tried_at`` when the last one did, and
    before ``retry_at`` none is made. An origin that never answered has the access *unreachable*.
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
        """The SHA-256 of the body, in hexadecimal digits."""
        return sha256(self.body).hexdigest()

    @property
    def has_answered(self) -> bool:
        """Whether the origin ever said what holds."""
        return self.access is not Access.UNREACHABLE

    @property
    def dated_at(self) -> float:
        """When the origin was last asked, POSIX seconds by the clock of the process that did."""
        return max(self.fetched_at, self.tried_at)

    def is_ahead(self, now: float) -> bool:
        """Whether the times of the entry are in the future and mean nothing: a clock that was ahead set them."""
        return self.dated_at > now + CLOCK_SKEW

    def of_use_until(self, stale_max: float) -> float:
        """The time, in POSIX seconds, until which the entry may be served stale or revalidated.

        *stale_max* is the number of seconds for which an expired entry may be served.
        """
        longest = LONG_UNREACHABLE if self.failures else max(stale_max, LIFETIME)
        return max(self.fresh_until, self.retry_at) + longest


@dataclass(frozen=True, slots=True)
class Backoff:
    """The distance between attempts: ``first`` seconds, doubled each time, at most ``most``."""

    first: float
    most: float

    def distance(self, failures: int, retry_after: float | None = None) -> float:
        """Seconds from the start of an attempt to the next one, after *failures* in a row.

        A Retry-After of *retry_after* seconds lengthens it, within the bound (RFC 9110 section 10.2.3).
        """
        doublings = min(max(failures - 1, 0), 64)
        return min(max(self.first * 2.0**doublings, retry_after or 0.0), self.most)


@dataclass(frozen=True, slots=True)
class Freshness:
    """How long entries count: the policy of one crawl, in seconds.

    A successful or unavailable answer counts for 24 hours; ``max-age`` sets that within ``least`` and
    ``most``. For ``stale`` seconds after that it stands in while the origin is unreachable.
    """

    least: float
    most: float
    stale: float
    backoff: Backoff

    def lifetime(self, cache_control: str) -> float:
        """Seconds that an answer with this Cache-Control counts: RFC 9309 section 2.4, RFC 9111 section 5.2."""
        directives = cache_control.lower()
        if _NOT_STORED.search(directives):
            return self.least
        ages = [float(age[:12]) for age in _MAX_AGE.findall(directives)]
        return min(max(min(ages, default=LIFETIME), self.least), self.most)

    def answered(self, now: float, cache_control: str, **answer: Any) -> Entry:
        """The entry of an origin that has just given this *answer*: fresh from *now* on, and without failures."""
        return Entry(fetched_at=now, fresh_until=now + self.lifetime(cache_control), tried_at=now, **answer)

    def failed(self, entry: Entry, now: float, attempts: int, retry_after: float | None) -> Entry:
        """*entry* after *attempts* more that failed in a row; what the origin last said is kept."""
        failures = entry.failures + attempts
        since = now if entry.unreachable_since is None else min(entry.unreachable_since, now)
        if entry.is_ahead(now):  # the answer is older than now, by an unknown time
            entry = replace(entry, fetched_at=min(entry.fetched_at, now), fresh_until=min(entry.fresh_until, now))
        retry_at = now + self.backoff.distance(failures, retry_after)
        return replace(entry, failures=failures, unreachable_since=since, tried_at=now, retry_at=retry_at)

    def due_at(self, entry: Entry) -> float:
        """When the next fetch is due; an entry stored under a longer ``most`` counts no longer than this one's."""
        return max(min(entry.fresh_until, entry.fetched_at + self.most), entry.retry_at)

    def access(self, entry: Entry, now: float) -> Access:
        """What *entry* means at *now*: RFC 9309 section 2.3.1.4 while the origin is unreachable."""
        since = entry.unreachable_since
        if since is None or (entry.has_answered and now < entry.fresh_until + self.stale):
            return entry.access
        if now < since + LONG_UNREACHABLE:
            return Access.UNREACHABLE
        return entry.access if entry.has_answered else Access.UNAVAILABLE

    def usable_until(self, entry: Entry, now: float) -> float:
        """The time until which the answer of `access` holds; *now* when a fetch is due."""
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
    """The seconds that a Retry-After header asks for, given as seconds or as a date; None when unreadable.

    What would be more than 31 years is a time: POSIX seconds, or milliseconds, which many servers send.
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
