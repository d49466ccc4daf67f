"""How long a crawl takes: the requests of each origin times the delay between two of them.

The arithmetic alone. Knows nothing of Scrapy, of robots.txt files or of where the counts come from.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

_DURATION: Final = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)\s*([smhd]?)", re.IGNORECASE)
_UNIT_SECONDS: Final = {"": 1, "s": 1, "m": 60, "h": 3_600, "d": 86_400}
_FOREVER: Final = 1e15  # seconds: a product must not become infinite, which JSON cannot say


def seconds_of(text: str) -> float:
    """Return the seconds in *text*, such as ``24h``, ``90m``, ``2d`` or ``3600``. Raises ``ValueError``."""
    found = _DURATION.fullmatch(text.strip())
    seconds = float(found[1]) * _UNIT_SECONDS[found[2].lower()] if found else 0.0
    if not seconds:
        raise ValueError(f"{text!r} is not a duration: write one such as 90s, 90m, 24h or 2d")
    return seconds


@dataclass(frozen=True, slots=True)
class Pace:
    """The ``seconds`` between two requests of an origin, 0 for none, and what asks for them.

    ``source`` is a record of the robots.txt of ``origin``, in ``line``, or the name of a setting. ``asked`` is the
    delay in that line or setting; it differs from ``seconds`` when it is cut.
    """

    seconds: float = 0.0
    source: str = ""
    line: int = 0
    origin: str = ""
    asked: float = 0.0


@dataclass(slots=True)
class OriginForecast:
    """What a crawl requests from one origin, or from all of them, and how long that takes.

    ``unread`` sitemaps are not requested: they are disallowed, or nested too deep. ``slot`` is the download slot:
    origins that share it share its delay. ``error`` says what could not be counted: then there are at least so
    many ``pages``, and it takes at least as long. For ``held`` seconds there is no request, because of a back-off.
    """

    origin: str
    slot: str = ""
    pages: int = 0
    disallowed: int = 0
    sitemaps: int = 0
    unread: int = 0
    pace: Pace = Pace()
    error: str = ""
    held: float = 0.0
    is_known: bool = True
    """Whether any of the pages could be counted, or all of them, which may be none."""
    seconds: float | None = None
    """Until the last of the requests, as `side_by_side` finds; None if nothing is known, or asks for a delay."""
    fitting: int = 0
    """The number of pages that fit in the time that there is; all of them without a delay."""


def side_by_side(origins: Iterable[OriginForecast], within: float | None = None) -> list[OriginForecast]:
    """Return *origins* with what they take, and last all together, of which the slowest one decides.

    Those in one download slot get the longest delay and back-off of all, and end together: their requests
    alternate. *within* are the seconds that there are, None for any number.
    """
    slots: defaultdict[str, list[OriginForecast]] = defaultdict(list)
    for origin in origins:
        slots[origin.slot].append(origin)
    limit = _FOREVER if within is None else within
    found = [one for sharing in slots.values() for one in _in_one_slot(sharing, limit)]
    return [*found, _together(found)]


def _in_one_slot(sharing: list[OriginForecast], within: float) -> Iterator[OriginForecast]:
    pace = max((each.pace for each in sharing), key=lambda pace: pace.seconds)
    requests = sum(each.pages + each.sitemaps for each in sharing)
    held = max(each.held for each in sharing)
    wait = held if requests else 0.0
    seconds = min(wait + requests * pace.seconds, _FOREVER)
    for each in sharing:
        is_known = bool(each.pages or not each.error)
        fitting = each.pages
        if pace.seconds and seconds > within:
            fitting = int(each.pages * max(within - held, 0.0) / (seconds - held))
        takes = seconds if is_known and pace.seconds else None
        yield replace(each, pace=pace, held=held, is_known=is_known, seconds=takes, fitting=fitting)


def _together(origins: list[OriginForecast]) -> OriginForecast:
    return OriginForecast(
        "",
        pages=sum(each.pages for each in origins),
        error="; ".join(each.error for each in origins if each.error),
        is_known=any(each.is_known for each in origins),
        seconds=max((each.seconds for each in origins if each.seconds is not None), default=None),
        fitting=sum(each.fitting for each in origins),
    )
