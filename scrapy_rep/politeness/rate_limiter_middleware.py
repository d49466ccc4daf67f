"""The last downloader middleware before the downloader: where a request uses its turn.

Behind it nothing holds a request back or answers it, so that a turn counts from the start itself. The queue of
hosts has a turn in hand when it hands out a request; one from elsewhere waits for its turn here.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from scrapy.exceptions import IgnoreRequest, NotConfigured

from scrapy_rep.crawl.robots_request import is_robots_txt

from .crawl_delay import CrawlDelay

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from typing_extensions import Self

_SENT_BACK: Final = "rep_sent_back"  # meta key: which crawl was closing when the request went back


class RateLimiterMiddleware:
    """Lets a request of a download slot that shares its delay start in a turn."""

    def __init__(self, crawler: Crawler) -> None:
        """Raises ``NotConfigured`` where no delay is shared."""
        crawl_delay = crawler.get_extension(CrawlDelay)
        if crawl_delay is None or crawl_delay.turns is None:
            raise NotConfigured
        self._crawl_delay = crawl_delay
        self._turns = crawl_delay.turns
        self._crawl = uuid4().hex

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_request(self, request: Request) -> Request | None:
        """Use the turn in hand, or wait for one; when the crawl closes, *request* goes back to the scheduler."""
        key = self._crawl_delay.shared_slot(request)
        if key is None or self._turns.of(key).use():
            return None
        is_first, began = is_robots_txt(request), monotonic()
        has_turn = await self._turns.of(key).wait(first=is_first)
        self._crawl_delay.report.waited += monotonic() - began
        return None if has_turn else self._send_back(request, is_first=is_first)

    def _send_back(self, request: Request, *, is_first: bool) -> Request:
        """*request* for the scheduler, where a ``JOBDIR`` or a shared queue keeps it; once.

        Who calls the engine directly is answered with it, and calls again. Nobody waits for robots.txt then.
        """
        if is_first or request.meta.get(_SENT_BACK) == self._crawl:
            raise IgnoreRequest("the crawl is closing")
        return request.replace(dont_filter=True, meta={**request.meta, _SENT_BACK: self._crawl})

    def __repr__(self) -> str:
        return f"<RateLimiterMiddleware {self._turns!r}>"
