"""The interface of a store of entries, and the store that keeps none.

`Store` is all that the rest of the package knows of SQLite and Redis.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from scrapy_rep.protocol import Origin
    from scrapy_rep.protocol.freshness import Entry


class Store(Protocol):
    """Keeps entries between requests, runs and machines, and grants leases on their origins.

    A class named by ``REP_STORE`` implements this; it may define ``from_crawler(crawler)``. A call may do I/O but
    must not block the event loop. No call raises because the store is broken: the store logs that, and behaves as
    if it were empty.
    """

    async def get(self, origin: Origin) -> Entry | None:
        """Return the entry of *origin*, fresh or expired, or None if there is none."""

    async def put(self, entry: Entry) -> None:
        """Replace the entry of the origin of *entry*, and release this crawl's lease on that origin."""

    async def acquire_lease(self, origin: Origin, seconds: float) -> bool:
        """Try to get the lease on *origin*: for *seconds*, or until it is released, no other crawl gets it."""

    async def release_lease(self, origin: Origin) -> None:
        """Release the lease that this crawl holds on *origin*, if it holds one."""

    def close(self) -> None:
        """Free what the store holds; called once, at the end of the crawl."""


class NullStore:
    """The store that keeps nothing: every `get` finds nothing, and every lease is granted.

    ``REP_STORE = "memory"`` selects it: entries then live only in the memory of the crawl, outside any store.
    """

    async def get(self, origin: Origin) -> Entry | None:  # noqa: ARG002
        return None

    async def put(self, entry: Entry) -> None:
        """Do nothing."""

    async def acquire_lease(self, origin: Origin, seconds: float) -> bool:  # noqa: ARG002
        return True

    async def release_lease(self, origin: Origin) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""
