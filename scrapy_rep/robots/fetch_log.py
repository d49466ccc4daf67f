"""Log lines about fetches in progress: a first attempt that failed, and what a closing crawl still waits for."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from scrapy import signals
from scrapy.utils.asyncio import call_later

from scrapy_rep.clock import clock
from scrapy_rep.protocol.display import number_of
from scrapy_rep.runtime.event_loop import CLOSING_CHECK
from scrapy_rep.runtime.log import OriginLog
from scrapy_rep.runtime.scrapy_internals import Engine

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.utils.asyncio import CallLaterResult

    from scrapy_rep.protocol import Origin

logger = logging.getLogger(__name__)

_NAMED: Final = 5  # origins that the line of a closing crawl names


class FetchLog:
    """Logs the fetches of one crawl. *waiting* counts the requests that wait for an origin."""

    def __init__(self, crawler: Crawler, waiting: Callable[[Origin], int]) -> None:
        self._crawler = crawler
        self._waiting = waiting
        self._failed = OriginLog(logger, logging.INFO, "The first attempt at robots.txt of %d more origins failed")
        self._in_flight: dict[Origin, float] = {}  # when the answer times out, on the monotonic clock
        self._timer: CallLaterResult | None = None  # runs while answers are awaited
        self._is_logged = False
        crawler.signals.connect(self._failed.close, signal=signals.spider_closed)

    def failed(self, origin: Origin, why: str, seconds: float) -> None:
        """Log that the first attempt at *origin* failed; the next one starts in *seconds*."""
        self._failed.add(
            "robots.txt of %s: the first attempt failed (%s); the next one starts in %.1f s; %s",
            origin, why, seconds, number_of(self._waiting(origin), "request waits", "requests wait"),
        )  # fmt: skip

    @contextmanager
    def awaiting(self, origin: Origin, seconds: float) -> Iterator[None]:
        """Inside the ``with`` block an answer of *origin* is awaited, for at most *seconds*."""
        self._in_flight[origin] = clock.monotonic() + seconds
        if self._timer is None and not self._is_logged:
            self._timer = call_later(CLOSING_CHECK, self._watch)
        try:
            yield
        finally:
            del self._in_flight[origin]
            if self._timer is not None and not self._in_flight:
                self._timer.cancel()
                self._timer = None

    def _watch(self) -> None:
        """Poll, because Scrapy has no signal for the moment when a crawl starts to close."""
        self._is_logged = is_closing = Engine(self._crawler).is_closing
        # Fetches without waiters are cancelled in the meantime, so look once more before logging.
        self._timer = call_later(CLOSING_CHECK, self._log_closing if is_closing else self._watch)

    def _log_closing(self) -> None:
        self._timer = None
        named = [str(origin) for origin in list(self._in_flight)[:_NAMED]]
        if more := len(self._in_flight) - len(named):
            named.append(number_of(more, "more origin", "more origins"))
        *others, last = named
        left = max(self._in_flight.values()) - clock.monotonic()
        until = datetime.now().astimezone() + timedelta(seconds=max(left, 0.0))
        logger.info(
            "The crawl is closing; it still waits for the robots.txt of %s, until %s at the latest",
            f"{', '.join(others)} and {last}" if others else last, until.strftime("%H:%M:%S"),
        )  # fmt: skip
