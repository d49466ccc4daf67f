"""What the queue of hosts asks about robots.txt; `RepExtension` answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy import Request

    from scrapy_rep.crawl.product_tokens import ProductTokens
    from scrapy_rep.protocol import Origin

    from .rate_limiter import RateLimiter


class RobotsSource(ABC):
    """The robots.txt files of one crawl; an extension, found by ``crawler.get_extension(RobotsSource)``."""

    identity: ProductTokens
    limiter: RateLimiter | None

    @abstractmethod
    def origin_to_ask(self, request: Request) -> Origin | None:
        """The origin whose robots.txt has to be in hand before *request* starts; None when nobody asks it."""

    @abstractmethod
    def is_in_hand(self, origin: Origin) -> bool:
        """Whether its robots.txt is known and may be used now."""

    @abstractmethod
    def forbids(self, request: Request) -> bool:
        """Whether the robots.txt in hand forbids *request*; False when none is in hand."""

    @abstractmethod
    def prepare(self, request: Request) -> None:
        """Put what the robots.txt in hand asks for on the download slot of *request*. Never raises."""

    @abstractmethod
    def opens_in(self, origin: Origin) -> float:
        """Seconds until the Visit-time of *origin* opens; 0 when it is open, or too far away to wait for."""

    @abstractmethod
    def prefetch(self, request: Request, ended: Callable[[], None], waiting: Callable[[], int]) -> None:
        """Fetch the robots.txt that speaks for *request*, or join the fetch that is under way.

        *ended* is called when that is over, however it ends; perhaps before this returns. *waiting* tells
        how many requests wait for that.
        """

    @abstractmethod
    def cancel_prefetches(self) -> None:
        """End the fetches that nobody else waits for: the crawl is closing."""

    @property
    @abstractmethod
    def downloads(self) -> int:
        """How many requests for robots.txt are under way now; further attempts that are not due do not count."""


class Gate(ABC):  # noqa: B024  # nothing is asked of it
    """The downloader middleware that judges requests, found by ``crawler.get_downloader_middleware(Gate)``."""
