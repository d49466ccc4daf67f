"""What a crawl tells of the delays that robots.txt files ask for: stats, log, and a sum at the end."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from heapq import nlargest
from typing import TYPE_CHECKING, Final

from scrapy_rep.crawl.origin_log import OriginLog
from scrapy_rep.protocol import Origin

from .timing import Delay

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from scrapy_rep.settings import RepSettings

logger = logging.getLogger(__name__)

_NAMED: Final = 5  # of the slowest origins


class DelayReport:
    """Tells once of every origin, and counts; ``waited`` are the seconds that hosts with requests waited."""

    def __init__(self, crawler: Crawler, settings: RepSettings) -> None:
        self.waited = 0.0
        self._crawler = crawler
        self._settings = settings
        self._told: set[Origin | str] = set()
        self._slowest: dict[Origin, float] = {}
        self._paced = OriginLog(logger, logging.INFO, "robots.txt of %d more origins asks for a delay")
        self._over = OriginLog(
            logger, logging.WARNING, "robots.txt of %d more origins asks for a delay over REP_CRAWL_DELAY_MAX"
        )

    def paced(self, origin: Origin, delay: Delay) -> None:
        """*delay* is obeyed for *origin*, or capped."""
        if not self._is_news(origin):
            return
        self._note(origin, delay)
        settings = self._settings
        if settings.crawl_delay_over_max == "cap" and delay.seconds > settings.crawl_delay_max:
            self._crawler.stats.inc_value("rep/crawl_delay/capped_count")
            self._tell_over(origin, delay, f"{settings.crawl_delay_max:g} s are kept")
        else:
            self._paced.add("robots.txt of %s asks for %s", origin, _describe(delay))

    def skipped(self, origin: Origin, delay: Delay) -> None:
        """A request of *origin* is forbidden, because *delay* is too long."""
        self._crawler.stats.inc_value("rep/crawl_delay/skipped_count")
        if self._is_news(origin):
            self._note(origin, delay)
            self._tell_over(origin, delay, "its pages are forbidden")

    def overruled(self, key: str, chosen: float, origin: Origin, delay: Delay) -> None:
        """``DOWNLOAD_SLOTS`` gives download slot *key* a delay of *chosen* seconds, and that wins."""
        if chosen < delay.seconds and self._is_news(key):
            logger.warning(
                "DOWNLOAD_SLOTS keeps download slot %s to %g s, though robots.txt of %s asks for %s",
                key, chosen, origin, _describe(delay),
            )  # fmt: skip

    def _is_news(self, subject: Origin | str) -> bool:
        if subject in self._told:
            return False
        if len(self._told) >= self._settings.memory_entries:
            self._told.clear()
        self._told.add(subject)
        return True

    def _note(self, origin: Origin, delay: Delay) -> None:
        self._slowest[origin] = delay.seconds
        if len(self._slowest) > 2 * _NAMED:
            self._slowest = dict(_first(self._slowest))

    def _tell_over(self, origin: Origin, delay: Delay, fate: str) -> None:
        self._over.add(
            "robots.txt of %s asks for %s, over REP_CRAWL_DELAY_MAX: %s", origin, _describe(delay), fate
        )

    def close(self) -> None:
        """Log the sums, and the origins that made the crawl slow."""
        self._paced.close()
        self._over.close()
        self._crawler.stats.set_value("rep/crawl_delay/waited_seconds", round(self.waited, 3))
        if self._slowest:
            named = ", ".join(f"{origin} {seconds:g} s" for origin, seconds in _first(self._slowest))
            logger.info(
                "Longest delays that robots.txt asked for: %s. Hosts with requests waited %.1f s for them in all.",
                named, self.waited,
            )  # fmt: skip


def _first(delays: Mapping[Origin, float]) -> list[tuple[Origin, float]]:
    return nlargest(_NAMED, delays.items(), key=lambda item: item[1])


def _describe(delay: Delay) -> str:
    line = f" (line {delay.line})" if delay.line else ""
    return f"{delay.seconds:g} s between two requests{line}"
