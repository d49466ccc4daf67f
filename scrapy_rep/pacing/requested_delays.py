"""What a robots.txt requests of one crawler's timing: Crawl-delay, Request-rate and Visit-time.

Reads a parser back-end. Knows neither download slots nor a clock: ``now`` is POSIX seconds. RFC 9309 defines
none of the three records; Request-rate and Visit-time follow the draft "An Extended Standard for Robot
Exclusion" of 1996.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scrapy_rep.protocol import Kind, Record
from scrapy_rep.protocol.dialect import Delay as DelayChoice
from scrapy_rep.protocol.other_records import request_rate, seconds
from scrapy_rep.robots.parser import RepRobotParser

if TYPE_CHECKING:
    from scrapy.robotstxt import RobotParser
    from scrapy.settings import BaseSettings

    from scrapy_rep.protocol import RobotsTxt
    from scrapy_rep.settings import RepSettings

_DAY: Final = 86_400.0
_WINDOW: Final = re.compile(r"(\d{1,2}):?(\d{2})\s*-\s*(\d{1,2}):?(\d{2})(?:\s*(?:UTC|GMT|Z))?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class DailyWindow:
    """A part of every day: ``length`` seconds from ``begin``, which is seconds after midnight UTC."""

    begin: float
    length: float

    @classmethod
    def parse(cls, text: str) -> DailyWindow | None:
        """Parse *text* such as ``0600-0845`` or ``1700-0459``, which spans midnight; None if it is malformed.

        The last minute is included: the draft tiles a day with 1300-1659 and 1700-0459.
        """
        match = _WINDOW.fullmatch(text.strip())
        if not match:
            return None
        first, last = _minutes(*match.group(1, 2)), _minutes(*match.group(3, 4))
        if first is None or last is None:
            return None
        span = last - first if last > first else last - first + 1_440
        return cls(first * 60.0, min((span + 1) * 60.0, _DAY))

    def opens_in(self, now: float) -> float:
        """Seconds from *now* until the window opens; 0 inside it."""
        into_window = (now - self.begin) % _DAY
        return 0.0 if into_window < self.length else _DAY - into_window


def _minutes(hours: str, minutes: str) -> int | None:
    """Minutes after midnight, None if there is no such time; 24:00 is the end of the day."""
    total = int(hours) * 60 + int(minutes)
    return total if int(minutes) < 60 and total <= 1_440 else None


@dataclass(frozen=True, slots=True)
class Delay:
    """``seconds`` between two requests, requested in ``line`` (0 when the parser back-end knows no lines).

    It applies inside its ``window`` only, or always when it has none.
    """

    seconds: float
    line: int = 0
    window: DailyWindow | None = None

    def applies(self, now: float) -> bool:
        """Whether the delay applies at *now*."""
        return self.window is None or not self.window.opens_in(now)


@dataclass(frozen=True, slots=True)
class VisitTime:
    """A part of the day to crawl in, requested in ``line``."""

    window: DailyWindow
    line: int


@dataclass(frozen=True, slots=True)
class RequestedDelays:
    """The Crawl-delay, the Request-rates (the last one first) and the Visit-times that apply to one crawler."""

    crawl_delay: Delay | None = None
    rates: tuple[Delay, ...] = ()
    visit_times: tuple[VisitTime, ...] = ()

    def delay(self, now: float) -> Delay | None:
        """The delay at *now*: the longer of Crawl-delay and the last Request-rate that applies."""
        rate = next((rate for rate in self.rates if rate.applies(now)), None)
        delays = [delay for delay in (self.crawl_delay, rate) if delay and delay.seconds]
        return max(delays, key=lambda delay: delay.seconds, default=None)

    @property
    def longest(self) -> Delay | None:
        """The longest delay that applies at some time of the day: a rate without a window hides those after it."""
        end = next((number for number, rate in enumerate(self.rates, 1) if rate.window is None), None)
        delays = [delay for delay in (self.crawl_delay, *self.rates[:end]) if delay and delay.seconds]
        return max(delays, key=lambda delay: delay.seconds, default=None)

    def next_visit_time(self, now: float) -> VisitTime | None:
        """The Visit-time that opens next; None when one is open at *now*, or there are none."""
        first = min(self.visit_times, key=lambda visit: visit.window.opens_in(now), default=None)
        return first if first and first.window.opens_in(now) else None


@dataclass(frozen=True, slots=True)
class DelayLimits:
    """What the settings make of a requested delay (``REP_CRAWL_DELAY_MAX``, ``REP_CRAWL_DELAY_OVER_MAX``).

    ``own`` are the delays that ``DOWNLOAD_SLOTS`` gives to single download slots; they win.
    """

    most: float
    over_most: str
    own: Mapping[str, float]

    @classmethod
    def of(cls, settings: RepSettings, of_scrapy: BaseSettings) -> DelayLimits:
        """Those in *settings*, and in the ones *of_scrapy*."""
        slots = of_scrapy.getdict("DOWNLOAD_SLOTS").items()
        own = {key: float(slot["delay"]) for key, slot in slots if "delay" in slot}
        return cls(settings.crawl_delay_max, settings.crawl_delay_over_max, own)

    def kept(self, delay: Delay) -> float:
        """The seconds of *delay* that are kept."""
        return min(delay.seconds, self.most) if self.over_most == "cap" else delay.seconds

    def forbids(self, key: str, delay: Delay) -> bool:
        """Whether *delay* is so long that the pages behind the download slot *key* are not requested."""
        return delay.seconds > self.most and self.over_most == "skip" and key not in self.own


NO_DELAYS: Final = RequestedDelays()


def requested_delays(
    parser: RobotParser, tokens: Sequence[str], *, crawl_delay: bool = True, times: bool = False
) -> RequestedDelays:
    """Return what *parser* requests of the crawler that goes by *tokens*, the most specific first.

    Crawl-delay is read only with *crawl_delay*, Request-rate and Visit-time only with *times*. A parser back-end
    other than ours can give a Crawl-delay at most.
    """
    if not isinstance(parser, RepRobotParser):
        return RequestedDelays(_delay_of_other_parser(parser, tokens[0] or "*") if crawl_delay else None)
    robotstxt, token = parser.robotstxt, parser.addressed(tokens)
    delay = _crawl_delay(robotstxt, token) if crawl_delay else None
    if not times:
        return RequestedDelays(delay) if delay else NO_DELAYS
    records = robotstxt.extensions_for(token)[::-1]
    return RequestedDelays(delay, tuple(_request_rates(records)), tuple(_visit_times(records)))


def _crawl_delay(robotstxt: RobotsTxt, token: str) -> Delay | None:
    """The Crawl-delay for *token*; where the dialect reads none, the one of its group: a crawl stays polite."""
    if robotstxt.dialect.delay is DelayChoice.NONE:
        records = tuple(each for each in robotstxt.extensions_for(token) if each.kind is Kind.CRAWL_DELAY)
    elif robotstxt.crawl_delay(token) is None:  # saves most files the walk over all their lines
        return None
    else:
        records = robotstxt.crawl_delays(token)
    delays = (Delay(found, each.line) for each in records[::-1] if (found := seconds(each.value)) is not None)
    return next(delays, None)


def _delay_of_other_parser(parser: RobotParser, token: str) -> Delay | None:
    crawl_delay = getattr(parser, "crawl_delay", None)  # Scrapy >= 2.18
    delay = crawl_delay(token) if crawl_delay else None
    return Delay(float(delay)) if delay and math.isfinite(delay) and delay > 0 else None


def _request_rates(records: Sequence[Record]) -> Iterator[Delay]:
    """A rate with a malformed window always applies: slower is the safe side."""
    for record in records:
        rate = request_rate(record.value) if record.kind is Kind.REQUEST_RATE else None
        if rate is not None:
            yield Delay(rate.seconds / rate.requests, record.line, DailyWindow.parse(rate.window))


def _visit_times(records: Sequence[Record]) -> Iterator[VisitTime]:
    for record in records:
        window = DailyWindow.parse(record.text) if record.kind is Kind.VISIT_TIME else None
        if window is not None:
            yield VisitTime(window, record.line)
