"""What this room needs to know about robots.txt, as interfaces that the gate implements."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy import Request

    from scrapy_rep.pacing.limiter import RateLimiter
    from scrapy_rep.protocol import Origin
    from scrapy_rep.runtime.product_tokens import ProductTokens


class RobotsSource(ABC):
    """The robots.txt files of one crawl: an extension, found by ``crawler.get_extension(RobotsSource)``."""

    product_tokens: ProductTokens
    limiter: RateLimiter | None

    @abstractmethod
    def origin_to_ask(self, request: Request) -> Origin | None:
        """The origin whose robots.txt must be cached before *request* starts; None when none is needed."""

    @abstractmethod
    def is_cached(self, origin: Origin) -> bool:
        """Whether the robots.txt of *origin* is cached and may be used now."""

    @abstractmethod
    def has_delays(self, origin: Origin) -> bool:
        """Whether `prepare` may have something to do for requests of *origin*."""

    @abstractmethod
    def forbids(self, request: Request) -> bool:
        """Whether the cached robots.txt forbids *request*; False when none is cached. Never raises."""

    @abstractmethod
    def prepare(self, request: Request) -> None:
        """Apply what the cached robots.txt requests to the download slot of *request*. Never raises."""

    @abstractmethod
    def prefetch(self, request: Request, ended: Callable[[], None], waiting: Callable[[], int]) -> None:
        """Fetch the robots.txt for *request*, or join the fetch that is under way.

        *ended* is called when the fetch is over, however it ends, perhaps before this returns. *waiting* returns
        the number of requests that wait for it.
        """

    @abstractmethod
    def cancel_prefetches(self) -> None:
        """Cancel the fetches that only the queue waits for: the crawl is closing."""

    @property
    @abstractmethod
    def downloads(self) -> int:
        """The number of requests for robots.txt under way now; a fetch between two attempts does not count."""


class Gate(ABC):  # noqa: B024  # only its type is used
    """The downloader middleware that judges requests, found by ``crawler.get_downloader_middleware(Gate)``."""
