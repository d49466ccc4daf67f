"""A part of the day, as Request-rate and Visit-time write it: ``0600-0845``, in UTC.

No clock inside: time comes in as ``now``, POSIX seconds. RFC 9309 is silent about both records; the
form is that of the draft "An Extended Standard for Robot Exclusion" of 1996.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_DAY: Final = 86_400.0
_WINDOW: Final = re.compile(r"(\d{1,2}):?(\d{2})\s*-\s*(\d{1,2}):?(\d{2})(?:\s*(?:UTC|GMT|Z))?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Window:
    """A part of every day: ``length`` seconds from ``begin``, seconds after midnight UTC."""

    begin: float
    length: float

    @classmethod
    def parse(cls, text: str) -> Window | None:
        """*text* such as ``1700-0459``, which spans midnight; None when it cannot be read.

        The last minute belongs to it: the draft tiles a day with 1300-1659 and 1700-0459.
        """
        found = _WINDOW.fullmatch(text.strip())
        if not found:
            return None
        first, last = _minutes(*found.group(1, 2)), _minutes(*found.group(3, 4))
        if first is None or last is None:
            return None
        span = last - first if last > first else last - first + 1_440
        return cls(first * 60.0, min((span + 1) * 60.0, _DAY))

    def opens_in(self, now: float) -> float:
        """Seconds from *now* until the window opens; 0 inside it."""
        into_window = (now - self.begin) % _DAY
        return 0.0 if into_window < self.length else _DAY - into_window


def _minutes(hours: str, minutes: str) -> int | None:
    """Minutes after midnight; 24:00 is the end of the day."""
    total = int(hours) * 60 + int(minutes)
    return total if int(minutes) < 60 and total <= 1_440 else None
