"""Reports the delays that robots.txt files request: stats, log lines, and a summary at the end of the crawl."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from heapq import nlargest
from typing import TYPE_CHECKING, Final

from scrapy_rep.pacing.requested_delays import Delay
from scrapy_rep.protocol import Origin
from scrapy_rep.runtime.log import OriginLog

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from scrapy_rep.settings import RepSettings

logger = logging.getLogger(__name__)

_SLOWEST: Final = 5  # origins named in the summary


class DelayReport:
    """Logs each origin once; ``waited_seconds`` is the time for which hosts with requests waited."""

    def __init__(self, crawler: Crawler, settings: RepSettings) -> None:
        self.waited_seconds = 0.0
        self._crawler = crawler
        self._settings = settings
        self._reported: set[Origin | str] = set()
        self._slowest: dict[Origin, float] = {}
        self._obeyed = OriginLog(logger, logging.INFO, "robots.txt of %d more origins asks for a delay")
        self._over_max = OriginLog(
            logger, logging.WARNING, "robots.txt of %d more origins asks for a delay over REP_CRAWL_DELAY_MAX"
        )

    def obeyed(self, origin: Origin, delay: Delay) -> None:
        """Report that *delay* of *origin* is kept, in full or capped."""
        if not self._is_new(origin):
            return
        self._add_slowest(origin, delay)
        settings = self._settings
        if settings.crawl_delay_over_max == "cap" and delay.seconds > settings.crawl_delay_max:
            self._crawler.stats.inc_value("rep/crawl_delay/capped_count")
            self._log_over_max(origin, delay, f"the crawl keeps {settings.crawl_delay_max:g} s")
        else:
            self._obeyed.add("robots.txt of %s asks for %s", origin, _describe(delay))

    def skipped(self, origin: Origin, delay: Delay) -> None:
        """Report that a request of *origin* is forbidden because *delay* is too long."""
        self._crawler.stats.inc_value("rep/crawl_delay/skipped_count")
        if self._is_new(origin):
            self._add_slowest(origin, delay)
            self._log_over_max(origin, delay, "its pages are forbidden")

    def overridden(self, key: str, chosen: float, origin: Origin, delay: Delay) -> None:
        """Report that ``DOWNLOAD_SLOTS`` gives download slot *key* a delay of *chosen* seconds, which wins."""
        if chosen < delay.seconds and self._is_new(key):
            logger.warning(
                "DOWNLOAD_SLOTS gives download slot %s a delay of %g s, although robots.txt of %s asks for %s",
                key, chosen, origin, _describe(delay),
            )  # fmt: skip

    def _is_new(self, subject: Origin | str) -> bool:
        if subject in self._reported:
            return False
        if len(self._reported) >= self._settings.memory_entries:
            self._reported.clear()
        self._reported.add(subject)
        return True

    def _add_slowest(self, origin: Origin, delay: Delay) -> None:
        self._slowest[origin] = delay.seconds
        if len(self._slowest) > 2 * _SLOWEST:
            self._slowest = dict(_largest(self._slowest))

    def _log_over_max(self, origin: Origin, delay: Delay, consequence: str) -> None:
        self._over_max.add(
            "robots.txt of %s asks for %s, over REP_CRAWL_DELAY_MAX: %s", origin, _describe(delay), consequence
        )

    def close(self) -> None:
        """Log the totals and the origins that slowed the crawl down most."""
        self._obeyed.close()
        self._over_max.close()
        self._crawler.stats.set_value("rep/crawl_delay/waited_seconds", round(self.waited_seconds, 3))
        if self._slowest:
            slowest = ", ".join(f"{origin} {seconds:g} s" for origin, seconds in _largest(self._slowest))
            waited = f"; hosts with requests waited {self.waited_seconds:.1f} s in total, DOWNLOAD_DELAY included"
            logger.info(
                "Longest delays that robots.txt asked for: %s%s.", slowest, waited if self.waited_seconds else ""
            )


def _largest(delays: Mapping[Origin, float]) -> list[tuple[Origin, float]]:
    return nlargest(_SLOWEST, delays.items(), key=lambda item: item[1])


def _describe(delay: Delay) -> str:
    line = f" (line {delay.line})" if delay.line else ""
    return f"{delay.seconds:g} s between two requests{line}"
