"""When a robots.txt lets one crawler request: Crawl-delay, Request-rate and Visit-time.

Reads a parser back-end; knows nothing of download slots, and no clock: ``now`` is POSIX seconds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scrapy_rep.crawl.robot_parser import RepRobotParser
from scrapy_rep.protocol import Kind, Record
from scrapy_rep.protocol.other_records import request_rate, seconds

from .time_of_day import Window

if TYPE_CHECKING:
    from scrapy.robotstxt import RobotParser


@dataclass(frozen=True, slots=True)
class Delay:
    """``seconds`` between two requests, asked for in ``line`` (0 when a parser back-end tells no lines).

    It holds inside its ``window`` alone, always without one.
    """

    seconds: float
    line: int = 0
    window: Window | None = None

    def holds(self, now: float) -> bool:
        """Whether it counts at *now*."""
        return self.window is None or not self.window.opens_in(now)


@dataclass(frozen=True, slots=True)
class Visit:
    """A time of day to crawl at, asked for in ``line``."""

    window: Window
    line: int


@dataclass(frozen=True, slots=True)
class Timing:
    """What one robots.txt asks of one crawler: a Crawl-delay, Request-rates (the last first), Visit-times."""

    crawl_delay: Delay | None = None
    rates: tuple[Delay, ...] = ()
    visits: tuple[Visit, ...] = ()

    def delay(self, now: float) -> Delay | None:
        """The delay that counts at *now*: the longer one of Crawl-delay and the last Request-rate that holds."""
        rate = next((rate for rate in self.rates if rate.holds(now)), None)
        asked = [delay for delay in (self.crawl_delay, rate) if delay and delay.seconds]
        return max(asked, key=lambda delay: delay.seconds, default=None)

    def next_visit(self, now: float) -> Visit | None:
        """The Visit-time that opens first when none is open at *now*."""
        first = min(self.visits, key=lambda visit: visit.window.opens_in(now), default=None)
        return first if first and first.window.opens_in(now) else None


NOTHING: Final = Timing()


def timing_of(
    parser: RobotParser, tokens: Sequence[str], *, crawl_delay: bool = True, times: bool = False
) -> Timing:
    """What *parser* asks of the crawler called by one of *tokens*, the most specific first.

    Without *crawl_delay* no Crawl-delay counts, without *times* neither Request-rate nor Visit-time.
    Another parser back-end than ours is asked for a Crawl-delay alone, when it can tell one.
    """
    if not isinstance(parser, RepRobotParser):
        return Timing(_foreign_delay(parser, tokens[0] or "*") if crawl_delay else None)
    robotstxt, token = parser.robotstxt, parser.addressed(tokens)
    asked = crawl_delay and robotstxt.crawl_delay(token) is not None
    if not asked and not times:  # spares most files the walk over all their lines
        return NOTHING
    records = robotstxt.extensions_for(token)[::-1]
    return Timing(
        next(_delays(records), None) if asked else None,
        tuple(_rates(records)) if times else (),
        tuple(_visits(records)) if times else (),
    )


def _foreign_delay(parser: RobotParser, token: str) -> Delay | None:
    ask = getattr(parser, "crawl_delay", None)  # Scrapy >= 2.18
    delay = ask(token) if ask else None
    return Delay(float(delay)) if delay and math.isfinite(delay) and delay > 0 else None


def _delays(records: Sequence[Record]) -> Iterator[Delay]:
    for record in records:
        delay = seconds(record.value) if record.kind is Kind.CRAWL_DELAY else None
        if delay is not None:
            yield Delay(delay, record.line)


def _rates(records: Sequence[Record]) -> Iterator[Delay]:
    """A rate whose window cannot be read holds always: slower is the safe side."""
    for record in records:
        rate = request_rate(record.value) if record.kind is Kind.REQUEST_RATE else None
        if rate is not None:
            yield Delay(rate.seconds / rate.requests, record.line, Window.parse(rate.window))


def _visits(records: Sequence[Record]) -> Iterator[Visit]:
    for record in records:
        window = Window.parse(record.text) if record.kind is Kind.VISIT_TIME else None
        if window is not None:
            yield Visit(window, record.line)
