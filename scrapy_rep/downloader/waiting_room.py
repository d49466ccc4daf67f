"""Requests that wait for a robots.txt, and the requests for the robots.txt files themselves."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from .door import Door
from .places import Places, wider_pool

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

_SENT_BACK: Final = "rep_sent_back"  # meta key: which crawl was closing when the request went back


class WaitingRoom:
    """Lends a place to each of them while it is here, so that none is taken from others.

    Those that waited leave through the `Door`, so that the loan never becomes a burst.
    """

    def __init__(self, crawler: Crawler, seats: int) -> None:
        """*seats* requests at most are lent a place; those beyond wait at the cost of others."""
        self._crawler = crawler
        self._places = Places(crawler, seats)
        self._door = Door(crawler, self._places)
        self._crawl = uuid4().hex

    def seat(self) -> AbstractContextManager[None]:
        """While entered, the waiting request takes no place."""
        return self._places.for_wait()

    def is_passed_by(self, request: Request) -> bool:
        """Whether *request*, which has not waited, would overtake others of its download slot."""
        return self._door.has_queue(request)

    async def leave(self, request: Request, *, waited: bool = True) -> bool:
        """Wait for a free place; who *waited* in a seat keeps it until then.

        False when the crawl closes and *request* ought not to go on.
        """
        return await self._door.pass_through(request, seated=waited)

    def was_sent_back(self, request: Request) -> bool:
        """Whether this crawl has had *request* back already: who calls the engine is answered with it."""
        return bool(request.meta.get(_SENT_BACK) == self._crawl)

    def for_later(self, request: Request) -> Request | None:
        """*request* for the scheduler, where a JOBDIR keeps it, or other workers find it; once, else None."""
        if self.was_sent_back(request):
            return None
        return request.replace(dont_filter=True, meta={**request.meta, _SENT_BACK: self._crawl})

    async def fetch(self, request: Request) -> Response:
        """The response to *request* for a robots.txt, past the scheduler, through all downloader middlewares."""
        with self._places.for_fetch(request), wider_pool(self._crawler, request):
            return await self._crawler.engine.download_async(request)
