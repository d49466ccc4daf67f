"""The line that says which robots.txt files a closing crawl still waits for, and until when."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from scrapy.utils.asyncio import call_later

from scrapy_rep.clock import clock
from scrapy_rep.protocol.display import number_of
from scrapy_rep.runtime.event_loop import CLOSING_CHECK

if TYPE_CHECKING:
    from scrapy.utils.asyncio import CallLaterResult

    from scrapy_rep.protocol import Origin
    from scrapy_rep.runtime.crawl import Crawl

logger = logging.getLogger(__name__)

_NAMED: Final = 5  # origins


class ClosingLog:
    """Logs that line once for *crawl*."""

    def __init__(self, crawl: Crawl) -> None:
        self._engine = crawl.engine
        self._until: dict[Origin, float] = {}  # when each answer times out, on the monotonic clock
        self._timer: CallLaterResult | None = None  # runs while answers are awaited
        self._is_logged = False

    @contextmanager
    def awaiting(self, origin: Origin, seconds: float) -> Iterator[None]:
        """Inside the ``with`` block an answer of *origin* is awaited, for at most *seconds*."""
        self._until[origin] = clock.monotonic() + seconds
        if self._timer is None and not self._is_logged:
            self._timer = call_later(CLOSING_CHECK, self._watch)
        try:
            yield
        finally:
            del self._until[origin]
            if self._timer is not None and not self._until:
                self._timer.cancel()
                self._timer = None

    def _watch(self) -> None:
        """Poll, because Scrapy has no signal for the moment when a crawl starts to close."""
        self._is_logged = self._engine.is_closing
        # Fetches without waiters are cancelled in the meantime, so look once more before logging.
        self._timer = call_later(CLOSING_CHECK, self._log if self._is_logged else self._watch)

    def _log(self) -> None:
        self._timer = None
        named = [str(origin) for origin in list(self._until)[:_NAMED]]
        if more := len(self._until) - len(named):
            named.append(number_of(more, "more origin", "more origins"))
        *others, last = named
        left = max(self._until.values()) - clock.monotonic()
        until = datetime.now().astimezone() + timedelta(seconds=max(left, 0.0))
        logger.info(
            "The crawl is closing; it still waits for the robots.txt of %s, until %s at the latest",
            f"{', '.join(others)} and {last}" if others else last, until.strftime("%H:%M:%S"),
        )  # fmt: skip
