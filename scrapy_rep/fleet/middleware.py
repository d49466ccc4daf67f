"""The last downloader middleware before the downloader: a request waits here for its turn in the fleet.

Behind it nothing holds a request back, so that a turn that was taken is used at once.
"""

from __future__ import annotations

import os
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Final
from uuid import uuid4
from weakref import WeakSet

from scrapy.exceptions import NotConfigured

from scrapy_rep.crawl_delay.extension import CrawlDelay
from scrapy_rep.extension import RepExtension
from scrapy_rep.robots_request import is_robots_txt
from scrapy_rep.settings import RepSettings
from scrapy_rep.stores.redis_client import RedisAwayError

from .lane import Lane, Pacing
from .turns import Turns

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

_SPARE: Final = 60.0  # seconds that a start is remembered beyond the longest delay


class FleetMiddleware:
    """Lets a request of a paced download slot go on when the fleet may start one there."""

    def __init__(self, crawler: Crawler) -> None:
        """Raises ``NotConfigured`` without ``REP_REDIS_URL``, or where no delays are kept."""
        self._settings = settings = RepSettings.from_crawler(crawler)
        extension = crawler.get_extension(RepExtension)
        crawl_delay = crawler.get_extension(CrawlDelay)
        if extension is None or extension.redis is None or crawl_delay is None:
            raise NotConfigured
        crawl_delay.by_turns()
        self._crawl_delay = crawl_delay
        self._turns = Turns(extension.redis, f"{os.getpid()}-{uuid4().hex}")
        self._pacing = Pacing(crawler, self._turns, crawl_delay.slots, crawl_delay.floor, settings.workers)
        self._lanes: dict[str, Lane] = {}
        self._most_lanes = settings.memory_entries
        self._room = extension.waiting_room
        self._robots_txt: WeakSet[Request] = WeakSet()  # asked for at the site

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_request(self, request: Request) -> Request | None:
        """Wait for the turn of *request*, if its download slot is paced.

        A page goes back to the scheduler when the crawl closes. Raises `RedisRequiredError` where turns
        come from Redis alone, and there is none.
        """
        key = self._crawl_delay.arrive(request)
        first = is_robots_txt(request)
        if first:
            self._robots_txt.add(request)
        if key is None:
            return None
        began = monotonic()
        with self._crawl_delay.slots.waiting_outside(key, request):
            goes_on = await self._lane(key).wait(first=first, stays=first or self._room.was_sent_back(request))
        self._crawl_delay.waited(monotonic() - began)
        return None if goes_on else self._room.for_later(request)

    async def process_response(self, request: Request, response: Response) -> Response:
        """The first page of any worker waits from the answer of robots.txt on, as it does in one process.

        An answer from a cache is nothing to the site.
        """
        if request in self._robots_txt:
            key = self._crawl_delay.slots.key(request)
            self._lane(key).last_start = monotonic()
            with suppress(RedisAwayError):
                await self._turns.mark(key, self._settings.crawl_delay_max + _SPARE)
        return response

    def _lane(self, key: str) -> Lane:
        lane = self._lanes.get(key)
        if lane is None:
            self._make_room()
            lane = self._lanes[key] = Lane(key, self._pacing)
        return lane

    def _make_room(self) -> None:
        """Forget idle lanes when there are too many; Redis remembers what they know."""
        if len(self._lanes) >= self._most_lanes:
            self._lanes = {key: lane for key, lane in self._lanes.items() if not lane.is_idle}
            self._most_lanes = max(self._settings.memory_entries, 2 * len(self._lanes))

    def __repr__(self) -> str:
        return f"<FleetMiddleware lanes={len(self._lanes)}>"
