"""The date of ``unavailable_after``: RFC 822, RFC 850 and ISO 8601, as Google's documentation lists them."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from email.utils import parsedate_tz
from typing import Final

_LONGEST: Final = 100  # characters
_ISO: Final = re.compile(
    r"(\d{4})-?(\d\d)-?(\d\d)"
    r"(?:[T ]+(\d\d):?(\d\d)(?::?(\d\d)(?:[.,]\d{1,9})?)?\s*([A-Z]{1,4}|[+-]\d\d(?::?\d\d)?)?)?",
    re.IGNORECASE,
)
_RFC_850: Final = re.compile(r"(\d)-([A-Z]{3})-(\d)", re.IGNORECASE)


def parse_date(text: str) -> float | None:
    """The moment that *text* names, POSIX seconds, or None.

    Without a zone it is in UTC. A date alone is its first moment.
    """
    text = " ".join(text[:_LONGEST].split())
    try:
        found = _ISO.fullmatch(text)
        moment = _iso(found) if found else _rfc_822(text)
        # A year that only the zone puts out of range fails here, not when the moment is shown.
        return moment.astimezone(timezone.utc).timestamp() if moment else None
    except (ValueError, OverflowError):
        return None


def _iso(found: re.Match[str]) -> datetime:
    *numbers, zone = found.groups(default="0")
    year, month, day, hour, minute, second = map(int, numbers)
    return datetime(year, month, day, hour, minute, min(second, 59), tzinfo=_zone(zone))


def _zone(text: str) -> timezone:
    if text.isalpha():  # a name of RFC 822
        parsed = parsedate_tz(f"1 Jan 2000 00:00:00 {text}")
        return timezone(timedelta(seconds=(parsed and parsed[9]) or 0))
    if text[0] not in "+-":
        return timezone.utc
    digits = text[1:].replace(":", "").ljust(4, "0")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-offset if text[0] == "-" else offset)


def _rfc_822(text: str) -> datetime | None:
    """RFC 822 and RFC 850; a zone has the offset of RFC 822, whatever the season."""
    text = _RFC_850.sub(r"\1 \2 \3", text)
    parsed = parsedate_tz(text if ":" in text else f"{text} 00:00:00")
    if parsed is None:
        return None
    year, month, day, hour, minute, second = parsed[:6]
    zone = timezone(timedelta(seconds=parsed[9] or 0))
    return datetime(year, month, day, hour, minute, min(second, 59), tzinfo=zone)
