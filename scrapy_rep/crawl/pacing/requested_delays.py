"""The Crawl-delay that a robots.txt requests of a crawler, within the limits of the settings.

The delay comes from a parser back-end. RFC 9309 does not define Crawl-delay. Request-rate and Visit-time, from
the 1996 draft "An Extended Standard for Robot Exclusion", slow no crawl.
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
    """``seconds`` between two requests, requested in ``line`` (0 if the parser back-end has no lines)."""

    seconds: float
    line: int = 0


@dataclass(frozen=True, slots=True)
class DelayLimits:
    """Limits of requested delays (``REP_CRAWL_DELAY_MAX``, ``REP_CRAWL_DELAY_OVER_MAX``).

    ``own`` holds the delays of single download slots in ``DOWNLOAD_SLOTS``, which take precedence.
    """

    most: float
    over_most: str
    own: Mapping[str, float]

    @classmethod
    def of(cls, settings: RepSettings, of_scrapy: BaseSettings) -> DelayLimits:
        """Read the limits from *settings* and from Scrapy's settings, *of_scrapy*."""
        slots = of_scrapy.getdict("DOWNLOAD_SLOTS").items()
        own = {key: float(slot["delay"]) for key, slot in slots if "delay" in slot}
        return cls(settings.crawl_delay_max, settings.crawl_delay_over_max, own)

    def kept(self, delay: RequestedDelay) -> float:
        """Return the seconds of *delay* that apply."""
        return min(delay.seconds, self.most) if self.over_most == "cap" else delay.seconds

    def forbids(self, key: str, delay: RequestedDelay) -> bool:
        """Whether *delay* is too long to request pages through the download slot *key*."""
        return delay.seconds > self.most and self.over_most == "skip" and key not in self.own


def requested_delay(parser: RobotParser, tokens: Sequence[str]) -> RequestedDelay | None:
    """Return the delay that *parser* requests of a crawler with the product *tokens*, the most specific first."""
    if not isinstance(parser, RepRobotParser):
        return _delay_of_other_parser(parser, tokens[0] or "*")
    robotstxt, token = parser.robotstxt, parser.addressed(tokens)
    if robotstxt.dialect.delay is DelayChoice.NONE:  # use the delay of its group: a crawl stays polite
        records = tuple(each for each in robotstxt.extensions_for(token) if each.kind is Kind.CRAWL_DELAY)
    elif robotstxt.crawl_delay(token) is None:  # spares most files a scan of all lines
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
