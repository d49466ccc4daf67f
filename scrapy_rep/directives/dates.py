"""Read the dates that sites write: W3C Datetime in all precisions, RFC 5322, RFC 850, and near misses."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from email.utils import parsedate_tz
from functools import lru_cache
from typing import Final, NamedTuple

_LONGEST: Final = 100  # characters of a date
# https://www.w3.org/TR/NOTE-datetime; sites also write a space for the T, no separators, and other zone names.
_W3C: Final = re.compile(
    r"(\d{4})(?:[-/.]?(\d\d?)(?:[-/.]?(\d\d?)(?:(?:T|\s+)(\d\d?):?(\d\d)(?::?(\d\d)(?:[.,](\d+))?)?)?)?)?"
    r"\s*(?:([A-Z]{1,4})|([+-])(\d\d):?(\d\d)?)?",
    re.ASCII | re.IGNORECASE,
)
_RFC_850: Final = re.compile(r"(\d)-([A-Z]{3})-(\d)", re.IGNORECASE)
_NO_ZONE: Final = timedelta(hours=12)  # a local time may be up to this much later than the same time in UTC
_DAY: Final = timedelta(days=1)
_PRECISIONS: Final = (_DAY, timedelta(hours=1), timedelta(minutes=1), timedelta(seconds=1))


class SiteDate(NamedTuple):
    """A date as a site states it: ``at`` is the first moment that it may mean, ``until`` the last.

    Both are aware datetimes. A date without a time zone is read as UTC, and may mean a moment 12 hours later.
    """

    at: datetime
    until: datetime


def read_date(text: str) -> SiteDate | None:
    """Read the date in *text*; None if unreadable.

    Zone names have the offsets of RFC 822, in every season.
    """
    text = " ".join(text[: _LONGEST + 1].split())
    if not text or len(text) > _LONGEST:
        return None
    found = _W3C.fullmatch(text)
    try:
        date = _of_w3c(found) if found else _of_rfc5322(text)
        date.at.astimezone(timezone.utc)  # raises for a year that the zone puts out of range
        return date
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def read_moment(text: str) -> float | None:
    """The moment that *text* names, or the start of its day, in POSIX seconds; None without a day."""
    date = read_date(text)
    return date.at.timestamp() if date is not None and date.until - date.at < 2 * _DAY else None


def _of_w3c(found: re.Match[str]) -> SiteDate:
    year, month, day, hour, minute, second, fraction, name, sign, hours, minutes = found.groups()
    seconds = 3_600 * int(hours or 0) + 60 * int(minutes or 0)
    offset = _offset_of(name) if not sign else -seconds if sign == "-" else seconds
    parts = [int(part) for part in (year, month, day, hour, minute, second) if part]
    zone, micro = timezone(timedelta(seconds=offset or 0)), int(f"{fraction or 0:0<6}"[:6])
    at = datetime(
        int(year), int(month or 1), int(day or 1), int(hour or 0), int(minute or 0), min(int(second or 0), 59),
        micro, tzinfo=zone,
    )  # fmt: skip
    end = at + _PRECISIONS[max(len(parts) - 3, 0)]
    if len(parts) == 1:
        end = at.replace(year=at.year + 1)
    elif len(parts) == 2:
        end = (at + 31 * _DAY).replace(day=1)
    return SiteDate(at, end if offset is not None else end + _NO_ZONE)


@lru_cache
def _offset_of(name: str | None) -> int | None:
    """The offset from UTC of the zone *name*, in seconds; None for an unknown zone."""
    parsed = parsedate_tz(f"1 Jan 2000 00:00:00 {name}") if name else None
    return parsed[9] if parsed else None


def _of_rfc5322(text: str) -> SiteDate:
    text = _RFC_850.sub(r"\1 \2 \3", text)
    parsed = parsedate_tz(text if ":" in text else f"{text} 00:00:00")
    if parsed is None:
        raise ValueError("no date")
    year, month, day, hour, minute, second, offset = *parsed[:6], parsed[9]
    zone = timezone(timedelta(seconds=offset or 0))
    at = datetime(year, month, day, hour, minute, min(second, 59), tzinfo=zone)
    end = at + _PRECISIONS[-1 if ":" in text else 0]
    return SiteDate(at, end if offset is not None else end + _NO_ZONE)
