"""The dates in sitemaps: W3C Datetime in all its precisions, and what sites write instead of it."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from email.utils import parsedate_to_datetime
from typing import Final, NamedTuple

_LONGEST: Final = 64  # characters of a date
# https://www.w3.org/TR/NOTE-datetime; a blank for the T, no separators and a zone without its colon do occur.
_W3C: Final = re.compile(
    r"(\d{4})(?:[-/.]?(\d\d?)(?:[-/.]?(\d\d?)(?:(?:T|\s+)(\d\d?):?(\d\d)(?::?(\d\d)(?:[.,](\d+))?)?)?)?)?"
    r"\s*(?:(Z|UTC|GMT)|([+-])(\d\d):?(\d\d)?)?",
    re.ASCII | re.IGNORECASE,
)
_NO_ZONE: Final = timedelta(hours=12)  # how much later a local time may be than the same time in UTC
_DAY: Final = timedelta(days=1)
_PRECISIONS: Final = (_DAY, timedelta(hours=1), timedelta(minutes=1), timedelta(seconds=1))


class SitemapDate(NamedTuple):
    """A date as a sitemap states it: ``at``, the first moment that it may mean, and ``until``, the last one.

    Both are aware. A date without a time zone is read as UTC, and may mean a moment 12 hours later.
    """

    at: datetime
    until: datetime


def read_date(text: str) -> SitemapDate | None:
    """The date that *text* states, None if that cannot be read.

    W3C Datetime, as https://www.sitemaps.org/protocol.html asks, or the format of RFC 5322, as in RSS.
    """
    text = text.strip()
    if not text or len(text) > _LONGEST:
        return None
    found = _W3C.fullmatch(text)
    try:
        return _of_w3c(found) if found else _of_rfc5322(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _of_w3c(found: re.Match[str]) -> SitemapDate:
    year, month, day, hour, minute, second, fraction, utc, sign, hours, minutes = found.groups()
    zone = timezone.utc
    if sign:
        offset = timedelta(hours=int(hours), minutes=int(minutes or 0))
        zone = timezone(offset if sign == "+" else -offset)
    parts = [int(part) for part in (year, month, day, hour, minute, second) if part]
    filled = [*parts, 1, 1][:3] if len(parts) < 3 else parts
    microsecond = int(f"{fraction or 0:0<6}"[:6])
    at = datetime(*filled, tzinfo=zone).replace(microsecond=microsecond)  # type: ignore[arg-type, misc]
    end = at + _PRECISIONS[max(len(parts) - 3, 0)]
    if len(parts) == 1:
        end = at.replace(year=at.year + 1)
    elif len(parts) == 2:
        end = (at + 31 * _DAY).replace(day=1)
    return SitemapDate(at, end if utc or sign else end + _NO_ZONE)


def _of_rfc5322(text: str) -> SitemapDate:
    at = parsedate_to_datetime(text)
    slack = _PRECISIONS[-1] if at.tzinfo is not None else _NO_ZONE
    at = at if at.tzinfo is not None else at.replace(tzinfo=timezone.utc)
    return SitemapDate(at, at + slack)
