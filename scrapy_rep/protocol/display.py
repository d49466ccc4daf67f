"""Make untrusted text safe to show on a terminal, in a log, in a message or on a page."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timezone
from enum import Enum
from typing import Final

_UNITS: Final = (  # lower limit in seconds, then two units, each after its length in seconds
    (172_800, 86_400, "d", 3_600, "h"),
    (3_600, 3_600, "h", 60, "min"),
    (60, 60, "min", 1, "s"),
)
_LONGEST: Final = 1e15  # seconds, longer than any crawl


class StringEnum(str, Enum):
    """An enum of strings that prints its values, like ``enum.StrEnum`` of Python 3.11."""

    __str__ = str.__str__


def shown(text: str) -> str:
    r"""*text* on one line, with each unprintable character escaped, for example as ``\x1b``.

    The result can neither control a terminal (ESC, BEL, C1) nor reorder or break a line (bidi controls, U+2028).
    """
    return text if text.isprintable() else "".join(map(_shown, text))


def abridged(text: str, longest: int) -> str:
    """*text*, or its first *longest* characters and an ellipsis."""
    return text if len(text) <= longest else f"{text[:longest]}…"


def number_of(number: int, one: str, many: str) -> str:
    """*number* followed by its noun: *one* if it is 1, else *many*."""
    return f"{number:,} {one if number == 1 else many}"


def perhaps(name: str, known: Iterable[str]) -> str:
    """The hint `` (perhaps NAME?)`` with the *known* name closest to *name*, or an empty string."""
    from difflib import get_close_matches  # noqa: PLC0415  # needed only for misspelled names

    close = get_close_matches(name, list(known), n=1)
    return f" (perhaps {close[0]}?)" if close else ""


def iso_time(seconds: float) -> str:
    """POSIX *seconds* as ISO 8601 in UTC, like ``2026-11-22T12:00:00Z``; infinity becomes the year 9999."""
    try:
        return datetime.fromtimestamp(seconds, timezone.utc).isoformat(timespec="seconds")[:19] + "Z"
    except (ValueError, OverflowError, OSError):
        return "9999-12-31T23:59:59Z"


def duration(seconds: float) -> str:
    """*seconds* in one or two units, like ``33 h 20 min`` or ``2.5 s``."""
    for least, large, name_of_large, small, name_of_small in _UNITS:
        if seconds >= least:
            whole, rest = divmod(round(min(seconds, _LONGEST) / small), large // small)
            return f"{whole:,} {name_of_large}" + (f" {rest} {name_of_small}" if rest else "")
    return f"{max(seconds, 0.0):.3g} s"


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    # Surrogate escapes stand for bytes that are not UTF-8.
    is_octet = "\udc80" <= character <= "\udcff"
    return f"\\x{ord(character) & 0xFF:02x}" if is_octet else ascii(character)[1:-1]
