"""Untrusted text made safe to show: on a terminal, in a log, in a message, on a page."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timezone
from enum import Enum
from typing import Final

_UNITS: Final = (  # from which number of seconds on: two units, and their seconds
    (172_800, 86_400, "d", 3_600, "h"),
    (3_600, 3_600, "h", 60, "min"),
    (60, 60, "min", 1, "s"),
)
_LONGEST: Final = 1e15  # seconds, which is longer than any crawl


class StringEnum(str, Enum):
    """Members that are strings, and are written as their values, as by ``enum.StrEnum`` of Python 3.11."""

    __str__ = str.__str__


def shown(text: str) -> str:
    r"""*text* on one line, with an escape such as ``\x1b`` for each character that is not printable.

    So it can neither steer a terminal (ESC, BEL, C1) nor reorder or break a line (bidi controls, U+2028).
    """
    return text if text.isprintable() else "".join(map(_shown, text))


def abridged(text: str, longest: int) -> str:
    """*text*, or its first *longest* characters."""
    return text if len(text) <= longest else f"{text[:longest]}…"


def number_of(number: int, one: str, many: str) -> str:
    """*number* with its noun, *one* or *many*."""
    return f"{number:,} {one if number == 1 else many}"


def perhaps(name: str, known: Iterable[str]) -> str:
    """The hint `` (perhaps NAME?)`` with the NAME of those *known* that *name* is like; empty without one."""
    from difflib import get_close_matches  # noqa: PLC0415  # only for what is misspelled

    close = get_close_matches(name, list(known), n=1)
    return f" (perhaps {close[0]}?)" if close else ""


def iso_time(seconds: float) -> str:
    """POSIX *seconds* as ISO 8601 in UTC, such as ``2026-11-22T12:00:00Z``; infinity is the end of time."""
    try:
        return datetime.fromtimestamp(seconds, timezone.utc).isoformat(timespec="seconds")[:19] + "Z"
    except (ValueError, OverflowError, OSError):
        return "9999-12-31T23:59:59Z"


def duration(seconds: float) -> str:
    """*seconds* in one or two units, such as ``33 h 20 min`` or ``2.5 s``."""
    for least, large, name_of_large, small, name_of_small in _UNITS:
        if seconds >= least:
            whole, rest = divmod(round(min(seconds, _LONGEST) / small), large // small)
            return f"{whole:,} {name_of_large}" + (f" {rest} {name_of_small}" if rest else "")
    return f"{max(seconds, 0.0):.3g} s"


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    # Surrogate escapes stand for octets that are no UTF-8.
    is_octet = "\udc80" <= character <= "\udcff"
    return f"\\x{ord(character) & 0xFF:02x}" if is_octet else ascii(character)[1:-1]
