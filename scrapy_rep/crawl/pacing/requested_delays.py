"""The Crawl-delay that a robots.txt requests of one crawler, and what the settings make of it.

Reads a parser back-end. Knows no download slots. RFC 9309 does not define Crawl-delay; Request-rate and
Visit-time, of the draft "An Extended Standard for Robot Exclusion" of 1996, pace no crawl.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrapy_rep.crawl.robots.parser import RepRobotParser
from scrapy_rep.protocol import Kind
from scrapy_rep.protocol.dialect import Delay as DelayChoice
from scrapy_rep.protocol.robotstxt import seconds

if TYPE_CHECKING:
    from scrapy.robotstxt import RobotParser
    from scrapy.settings import BaseSettings

    from scrapy_rep.settings import RepSettings


@dataclass(frozen=True, slots=True)
class RequestedDelay:
    """``seconds`` between two requests, requested in ``line`` (0 when the parser back-end knows no lines)."""

    seconds: float
    line: int = 0


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

    def kept(self, delay: RequestedDelay) -> float:
        """The seconds of *delay* that are kept."""
        return min(delay.seconds, self.most) if self.over_most == "cap" else delay.seconds

    def forbids(self, key: str, delay: RequestedDelay) -> bool:
        """Whether *delay* is so long that the pages behind the download slot *key* are not requested."""
        return delay.seconds > self.most and self.over_most == "skip" and key not in self.own


def requested_delay(parser: RobotParser, tokens: Sequence[str]) -> RequestedDelay | None:
    """The delay that *parser* requests of the crawler that goes by *tokens*, the most specific first."""
    if not isinstance(parser, RepRobotParser):
        return _delay_of_other_parser(parser, tokens[0] or "*")
    robotstxt, token = parser.robotstxt, parser.addressed(tokens)
    if robotstxt.dialect.delay is DelayChoice.NONE:  # the one of its group counts: a crawl stays polite
        records = tuple(each for each in robotstxt.extensions_for(token) if each.kind is Kind.CRAWL_DELAY)
    elif robotstxt.crawl_delay(token) is None:  # saves most files the walk over all their lines
        return None
    else:
        records = robotstxt.crawl_delays(token)
    delays = (
        RequestedDelay(found, each.line) for each in records[::-1] if (found := seconds(each.value)) is not None
    )
    last = next(delays, None)
    return last if last and last.seconds else None


def _delay_of_other_parser(parser: RobotParser, token: str) -> RequestedDelay | None:
    crawl_delay = getattr(parser, "crawl_delay", None)  # Scrapy >= 2.18
    delay = crawl_delay(token) if crawl_delay else None
    return RequestedDelay(float(delay)) if delay and math.isfinite(delay) and delay > 0 else None
