"""Reports the delays that robots.txt files request: stats, log lines, and a summary at the end of the crawl."""

from __future__ import annotations

import logging
from heapq import nlargest
from typing import TYPE_CHECKING, Final

from scrapy_rep.runtime.crawl import Crawl
from scrapy_rep.runtime.log import Line

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from scrapy_rep.pacing.requested_delays import Delay
    from scrapy_rep.protocol import Origin
    from scrapy_rep.settings import RepSettings

logger = logging.getLogger(__name__)

_SLOWEST: Final = 5  # origins named in the summary


class DelayReport:
    """Logs each origin once; ``waited_seconds`` is the time for which hosts with requests waited."""

    def __init__(self, crawler: Crawler, settings: RepSettings) -> None:
        self.waited_seconds = 0.0
        self._stats = crawler.stats
        self._settings = settings
        self._log = Crawl.of(crawler).log
        self._asked: dict[Origin | str, float] = {}
        """The delays that were reported; 0 for one that the user overrides."""

    def obeyed(self, origin: Origin, delay: Delay) -> None:
        """Report that *delay* of *origin* is kept, in full or capped."""
        settings = self._settings
        if not self._is_new(origin, delay.seconds):
            return
        if settings.crawl_delay_over_max == "cap" and delay.seconds > settings.crawl_delay_max:
            self._stats.inc_value("rep/crawl_delay/capped_count")
            self._log_over_max(origin, delay, f"the crawl keeps {settings.crawl_delay_max:g} s")
        else:
            self._log.add(Line.DELAY, "robots.txt of %s asks for %s", origin, _describe(delay))

    def skipped(self, origin: Origin, delay: Delay) -> None:
        """Report that a request of *origin* is forbidden because *delay* is too long."""
        self._stats.inc_value("rep/crawl_delay/skipped_count")
        if self._is_new(origin, delay.seconds):
            self._log_over_max(origin, delay, "its pages are forbidden")

    def overridden(self, key: str, chosen: float, origin: Origin, delay: Delay) -> None:
        """Report that ``DOWNLOAD_SLOTS`` gives download slot *key* a delay of *chosen* seconds, which wins."""
        if chosen < delay.seconds and self._is_new(key, 0.0):
            logger.warning(
                "DOWNLOAD_SLOTS gives download slot %s a delay of %g s, although robots.txt of %s asks for %s",
                key, chosen, origin, _describe(delay),
            )  # fmt: skip

    def _is_new(self, subject: Origin | str, seconds: float) -> bool:
        if subject in self._asked:
            return False
        if len(self._asked) >= self._settings.memory_entries:
            self._asked = self._slowest
        self._asked[subject] = seconds
        return True

    @property
    def _slowest(self) -> dict[Origin | str, float]:
        asked = self._asked
        return {one: asked[one] for one in nlargest(_SLOWEST, asked, key=asked.__getitem__) if asked[one]}

    def _log_over_max(self, origin: Origin, delay: Delay, consequence: str) -> None:
        text = "robots.txt of %s asks for %s, over REP_CRAWL_DELAY_MAX: %s"
        self._log.add(Line.LONG_DELAY, text, origin, _describe(delay), consequence)

    def close(self) -> None:
        """Log the totals and the origins that slowed the crawl down most."""
        self._stats.set_value("rep/crawl_delay/waited_seconds", round(self.waited_seconds, 3))
        if slowest := ", ".join(f"{origin} {seconds:g} s" for origin, seconds in self._slowest.items()):
            waited = f"; hosts with requests waited {self.waited_seconds:.1f} s in total, DOWNLOAD_DELAY included"
            more = waited if self.waited_seconds else ""
            logger.info("Longest delays that robots.txt asked for: %s%s.", slowest, more)


def _describe(delay: Delay) -> str:
    line = f" (line {delay.line})" if delay.line else ""
    return f"{delay.seconds:g} s between two requests{line}"
