"""When a download slot could start one more request: it has room, its delay has passed, and its turn has come."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from scrapy_rep.crawl.scrapy_internals import Downloader

from .crawl_delay import CrawlDelay

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

_LEAD: Final = 0.02
"""Seconds before a request could start at which its turn is asked for."""


class StartTimes:
    """The start times at the download slots of one crawl."""

    def __init__(self, crawler: Crawler, downloader: Downloader) -> None:
        self._downloader = downloader
        self._crawl_delay = crawler.get_extension(CrawlDelay)
        self._wait_for_room: OrderedDict[str, None] = OrderedDict()

    def seconds_to_start(self, key: str, handed_out: Collection[Request]) -> float | None:
        """Seconds until the next start in download slot *key*, 0 for now, None for not before something changes.

        *handed_out* as for `Downloader.seconds_to_start`.
        """
        crawl_delay = self._crawl_delay
        if crawl_delay is None:
            return self._downloader.seconds_to_start(key, handed_out)
        crawl_delay.hold(key)
        seconds = self._downloader.seconds_to_start(key, handed_out)
        if seconds is None or crawl_delay.turns is None or not crawl_delay.is_shared(key):
            return seconds
        if seconds > _LEAD:
            return seconds - _LEAD
        if self._downloader.is_full:
            self._wait_for_room[key] = None
            return None
        to_turn = crawl_delay.turns.of(key).seconds_to_start()
        return None if to_turn is None else max(seconds, to_turn)

    def next_for_room(self) -> str | None:
        """A download slot that asked for no turn because the downloader was full, which it is no longer."""
        return self._wait_for_room.popitem(last=False)[0] if self._wait_for_room else None

    def is_paced(self, key: str) -> bool:
        """Whether a robots.txt asks for a delay in download slot *key*."""
        return self._crawl_delay is not None and self._crawl_delay.floor(key) > 0

    def waited(self, key: str, seconds: float) -> None:
        """Requests have waited so long for the next start."""
        if self._crawl_delay is not None and self.is_paced(key):
            self._crawl_delay.report.waited += seconds

    def give_turn_back(self, key: str) -> None:
        """No request is left that could use the turn."""
        if self._crawl_delay is not None and self._crawl_delay.turns is not None:
            self._crawl_delay.turns.give_back(key)
