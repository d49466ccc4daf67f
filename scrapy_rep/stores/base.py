"""What a store of entries can do: the only thing the extension knows of SQLite, Redis or a dictionary.

Origins are few beside requests, so every call may be a journey; none may hold the event loop for long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from scrapy_rep.protocol import Origin
    from scrapy_rep.protocol.freshness import Entry


class Store(Protocol):
    """Where entries live between requests, runs and machines.

    A store that breaks says so in the log and goes on as if it were empty: no call raises for that. The
    class that ``REP_STORE`` names may have a ``from_crawler(crawler)``.
    """

    async def get(self, origin: Origin) -> Entry | None:
        """The entry of *origin*, fresh or not; None when there is none."""

    async def put(self, entry: Entry) -> None:
        """Keep *entry* in place of the one of its origin, and release the lease on that."""

    async def acquire_lease(self, origin: Origin, seconds: float) -> bool:
        """Whether this crawl may fetch *origin* now: nobody else may until the release, *seconds* at most."""

    async def release_lease(self, origin: Origin) -> None:
        """End what `acquire_lease` granted."""

    def close(self) -> None:
        """The crawl is over."""
