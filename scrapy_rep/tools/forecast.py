"""How long a crawl takes: the requests of each origin times the delay between two of them.

The arithmetic alone. Knows nothing of Scrapy, of robots.txt files or of where the counts come from.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
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
    """What a crawl requests from one origin, and how long that takes.

    ``unread`` sitemaps are not requested: they are disallowed, or nested too deep. ``slot`` is the download slot:
    origins that share it share its delay. ``error`` says what could not be counted: then there are at least so
    many ``pages``, and it takes at least as long. For ``held`` seconds there is no request, because of a back-off.
    """

    origin: str
    slot: str
    pages: int = 0
    disallowed: int = 0
    sitemaps: int = 0
    unread: int = 0
    pace: Pace = Pace()
    error: str = ""
    held: float = 0.0
    slot_requests: int = 0
    """Requests of all origins in the download slot."""

    @property
    def is_known(self) -> bool:
        """Whether any of its pages could be counted, or all of them, which may be none."""
        return bool(self.pages or not self.error)

    @property
    def seconds(self) -> float | None:
        """Seconds until the last of its requests; None if nothing is known of them, or asks for a delay.

        Origins in one download slot end together: their requests alternate.
        """
        if not self.pace.seconds or not self.is_known:
            return None
        requests = max(self.slot_requests, self.pages + self.sitemaps)
        held = self.held if requests else 0.0
        return min(held + requests * self.pace.seconds, _FOREVER)

    def fitting(self, within: float) -> int:
        """The number of pages that fit in *within* seconds; all of them without a delay."""
        seconds = self.seconds
        if not seconds or seconds <= within:
            return self.pages
        return int(self.pages * max(within - self.held, 0.0) / (seconds - self.held))


@dataclass(frozen=True, slots=True)
class Forecast:
    """The forecast of a crawl of all ``origins``, side by side; see `side_by_side`."""

    origins: Sequence[OriginForecast]

    @property
    def error(self) -> str:
        """What could not be counted; empty if everything was."""
        return "; ".join(each.error for each in self.origins if each.error)

    @property
    def is_known(self) -> bool:
        """Whether the pages of any origin are known."""
        return any(each.is_known for each in self.origins)

    @property
    def seconds(self) -> float | None:
        """Seconds of the slowest origin; None where nothing is known, or asks for a delay."""
        return max((each.seconds for each in self.origins if each.seconds is not None), default=None)

    @property
    def pages(self) -> int:
        """The number of pages of all origins."""
        return sum(each.pages for each in self.origins)

    def fitting(self, within: float) -> int:
        """The number of pages that fit in *within* seconds."""
        return sum(each.fitting(within) for each in self.origins)


def side_by_side(origins: Iterable[OriginForecast]) -> Forecast:
    """Return the forecast for *origins*. Those in one download slot get the longest delay and back-off of all."""
    slots: defaultdict[str, list[OriginForecast]] = defaultdict(list)
    for origin in origins:
        slots[origin.slot].append(origin)
    found: list[OriginForecast] = []
    for sharing in slots.values():
        pace = max((each.pace for each in sharing), key=lambda pace: pace.seconds)
        held = max(each.held for each in sharing)
        requests = sum(each.pages + each.sitemaps for each in sharing)
        found += (replace(each, pace=pace, held=held, slot_requests=requests) for each in sharing)
    return Forecast(found)
