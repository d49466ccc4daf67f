"""What is said of fetches while they last: of a first attempt that failed, and of what a closing crawl awaits."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from time import monotonic
from typing import TYPE_CHECKING, Final

from scrapy import signals
from scrapy.utils.asyncio import call_later

from scrapy_rep.crawl.event_loop import CLOSING_CHECK
from scrapy_rep.crawl.origin_log import OriginLog
from scrapy_rep.crawl.scrapy_internals import Engine
from scrapy_rep.protocol.display import number_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from scrapy_rep.protocol import Origin

logger = logging.getLogger(__name__)

_NAMED: Final = 5  # origins that a closing crawl awaits


class FetchLog:
    """The news of the fetches of one crawl; *waiting* tells how many requests wait for an origin."""

    def __init__(self, crawler: Crawler, waiting: Callable[[Origin], int]) -> None:
        self._crawler = crawler
        self._waiting = waiting
        self._failed = OriginLog(logger, logging.INFO, "The first attempt at robots.txt of %d more origins failed")
        self._awaited: dict[Origin, float] = {}  # until when at the latest, on the monotonic clock
        self._is_watching = self._is_told = False
        crawler.signals.connect(self._failed.close, signal=signals.spider_closed)

    def failed(self, origin: Origin, why: str, seconds: float) -> None:
        """The first attempt at *origin* failed; the next one starts in so many *seconds*."""
        self._failed.add(
            "robots.txt of %s: the first attempt failed (%s); the next one starts in %.1f s, %s",
            origin, why, seconds, number_of(self._waiting(origin), "request waits", "requests wait"),
        )  # fmt: skip

    @contextmanager
    def awaiting(self, origin: Origin, seconds: float) -> Iterator[None]:
        """While entered, an answer of *origin* is awaited, for *seconds* at the most."""
        self._awaited[origin] = monotonic() + seconds
        if not self._is_watching and not self._is_told:
            self._is_watching = True
            call_later(CLOSING_CHECK, self._watch)
        try:
            yield
        finally:
            del self._awaited[origin]

    def _watch(self) -> None:
        """Scrapy has no signal that a crawl begins to close, so look while something is under way."""
        is_closing = Engine(self._crawler).is_closing
        self._is_watching = bool(self._awaited) and not is_closing
        if self._awaited:
            self._is_told = is_closing
            # Fetches that nobody awaits any more are cancelled meanwhile.
            call_later(CLOSING_CHECK, self._tell_awaited if is_closing else self._watch)

    def _tell_awaited(self) -> None:
        if not self._awaited:
            return
        named = [str(origin) for origin in list(self._awaited)[:_NAMED]]
        if more := len(self._awaited) - len(named):
            named.append(number_of(more, "more origin", "more origins"))
        *others, last = named
        left = max(self._awaited.values()) - monotonic()
        until = datetime.now().astimezone() + timedelta(seconds=max(left, 0.0))
        logger.info(
            "The crawl closes; it still waits for robots.txt of %s, until %s at the latest",
            f"{', '.join(others)} and {last}" if others else last, until.strftime("%H:%M:%S"),
        )  # fmt: skip
