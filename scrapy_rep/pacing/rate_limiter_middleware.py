"""The last downloader middleware before the downloader: where a request uses its permit.

After it, nothing delays a request or answers it in the server's place, so a permit is used exactly when the
request starts. For a request of the queue of hosts a permit is held already; one from elsewhere waits here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from uuid import uuid4

from scrapy import signals
from scrapy.exceptions import IgnoreRequest, NotConfigured

from scrapy_rep.clock import clock
from scrapy_rep.pacing.crawl_delay import CrawlDelay
from scrapy_rep.robots.request import is_robots_txt
from scrapy_rep.runtime.crawl import Crawl

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from typing_extensions import Self

_SENT_BACK: Final = "rep_sent_back"  # meta key: the crawl that was closing when it rescheduled the request


class RateLimiterMiddleware:
    """Holds a request until it has a permit, if its download slot shares its delay with other processes."""

    def __init__(self, crawler: Crawler) -> None:
        """Raises ``NotConfigured`` when no delay is shared."""
        crawl_delay = crawler.get_extension(CrawlDelay)
        if crawl_delay is None or crawl_delay.permits is None:
            raise NotConfigured
        self._crawl_delay = crawl_delay
        self._permits = crawl_delay.permits
        self._crawl = uuid4().hex
        self._downloader = Crawl.of(crawler).downloader
        crawl_delay.switched.append(self._switch)
        crawler.signals.connect(self._switch, signal=signals.spider_opened)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def _switch(self) -> None:
        """See requests only while there is a delay: a middleware costs each of them."""
        self._downloader.set_method(self.process_request, is_on=self._crawl_delay.has_delays)

    async def process_request(self, request: Request) -> Request | None:
        """Use the held permit, or wait for one; return *request* to the scheduler when the crawl closes."""
        slot = self._crawl_delay.shared_slot(request)
        if slot is None or self._permits.of(slot).use():
            return None
        is_first, began = is_robots_txt(request), clock.monotonic()
        has_permit = await self._permits.of(slot).wait(first=is_first)
        self._crawl_delay.report.waited_seconds += clock.monotonic() - began
        return None if has_permit else self._reschedule(request, is_first=is_first)

    def _reschedule(self, request: Request, *, is_first: bool) -> Request:
        """Return *request* for the scheduler, where a ``JOBDIR`` or a shared queue keeps it.

        Once per request: code that calls ``engine.download_async`` gets it as the result, and may call again. A
        robots.txt is no longer needed.
        """
        if is_first or request.meta.get(_SENT_BACK) == self._crawl:
            raise IgnoreRequest("the crawl is closing")
        return request.replace(dont_filter=True, meta={**request.meta, _SENT_BACK: self._crawl})

    def __repr__(self) -> str:
        return f"<RateLimiterMiddleware {self._permits!r}>"
