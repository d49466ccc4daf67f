"""Storage of entries between requests, runs and machines: in SQLite, in a project's store, or nowhere.

A store gets and puts entries and grants leases on origins. Fetching robots.txt, and applying entries to requests,
happen elsewhere. An extra may put another store in front of the store in the settings.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, Protocol, cast

from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.utils.misc import build_from_crawler, load_object

from scrapy_rep.crawl.runtime.crawl import Crawl
from scrapy_rep.exceptions import InvalidSettingError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from scrapy.crawler import Crawler

    from scrapy_rep.protocol import Origin
    from scrapy_rep.protocol.freshness import Entry

_STORES: Final = {
    "memory": "scrapy_rep.crawl.robots.stores.NullStore",
    "sqlite": "scrapy_rep.crawl.robots.stores.sqlite.SqliteStore",
}


_FOR_CRAWLS: Final = ("get", "put", "acquire_lease", "release_lease", "close")
FOR_COMMANDS: Final = ("entries", "purge")


class Store(Protocol):
    """Keeps entries between requests, runs and machines, and grants leases on their origins.

    A class named by ``REP_STORE`` implements this; it may define ``from_crawler(crawler)``. A call may do I/O but
    must not block the event loop. A broken store raises no exceptions: it logs the problem and behaves as if it
    were empty.

    A crawl needs no `entries` and no `purge`. They are for ``scrapy robots cache`` and ``decide``, which have no
    event loop: these calls block, and raise ``OSError`` if the store cannot be used. A crawl needs `note` and
    `put_notes` only if ``REP_SITEMAP_SINCE`` is ``last run``.
    """

    async def get(self, origin: Origin) -> Entry | None:
        """Return the entry of *origin*, fresh or expired, or None if there is none."""

    async def put(self, entry: Entry) -> None:
        """Replace the entry of the origin of *entry*, and release this crawl's lease on that origin."""

    async def acquire_lease(self, origin: Origin, seconds: float) -> bool:
        """Try to get the lease on *origin*: for *seconds*, or until its release, no other crawl gets it.

        The crawl that holds the lease renews it with this call, every few seconds, during its fetch.
        """

    async def release_lease(self, origin: Origin) -> None:
        """Release the lease on *origin*, if this crawl holds it."""

    def close(self) -> None:
        """Free the store's resources; called once, at the end of the crawl."""

    async def note(self, key: str) -> str | None:
        """Return the text that `put_notes` last stored under *key*, or None if there is none."""

    async def put_notes(self, notes: Mapping[str, str], seconds: float) -> None:
        """Store *notes*, texts by key, for at least *seconds*."""

    def entries(self, origin: Origin | None = None) -> Iterator[Entry]:
        """Return all entries, sorted by origin, or only the entry of *origin*."""

    def purge(self, origin: Origin | None = None) -> int:
        """Delete all entries, leases and notes, or those of *origin*; return the number of deleted entries."""


class NullStore:
    """A store that keeps nothing: every `get` returns None, and every lease is granted.

    ``REP_STORE = "memory"`` selects it: entries then live only in the memory of the crawl, outside any store.
    """

    async def get(self, origin: Origin) -> Entry | None:  # noqa: ARG002
        return None

    async def put(self, entry: Entry) -> None: ...

    async def acquire_lease(self, origin: Origin, seconds: float) -> bool:  # noqa: ARG002
        return True

    async def claim(self, origin: Origin, seconds: float, seen: Entry | None) -> bool:  # noqa: ARG002
        return True

    async def release_lease(self, origin: Origin) -> None: ...

    async def note(self, key: str) -> str | None:  # noqa: ARG002
        return None

    async def put_notes(self, notes: Mapping[str, str], seconds: float) -> None: ...

    def close(self) -> None: ...

    def entries(self, origin: Origin | None = None) -> Iterator[Entry]:  # noqa: ARG002
        return iter(())

    def purge(self, origin: Origin | None = None) -> int:  # noqa: ARG002
        return 0


async def claim(store: Store, origin: Origin, seconds: float, seen: Entry | None) -> bool:
    """Try to get the lease on *origin*, as `Store.acquire_lease`, unless *store* has a newer entry than *seen*.

    Another crawl may have stored an entry between the `Store.get` that returned *seen* and the lease. A store with
    a method ``claim(origin, seconds, seen)`` does this in one step.
    """
    in_one_step = getattr(store, "claim", None)
    if in_one_step:
        return bool(await in_one_step(origin, seconds, seen))
    if not await store.acquire_lease(origin, seconds):
        return False
    found = await store.get(origin)
    if found is None or (seen is not None and found.dated_at <= seen.dated_at):
        return True
    await store.release_lease(origin)
    return False


def open_store(crawler: Crawler) -> Store:
    """Open the store that ``REP_STORE`` names, or an extra's replacement.

    ``scrapy check`` and ``scrapy shell`` store nothing, because their users want the current robots.txt.
    """
    if os.environ.get("SCRAPY_CHECK") or _is_shell(crawler):
        return NullStore()
    return named_store(Crawl.of(crawler))


def require(store: Store, name: str, methods: Sequence[str], user: str) -> None:
    """Raise `InvalidSettingError` if *store*, called *name* in ``REP_STORE``, lacks any of *methods*."""
    lacking = [f"{method}()" for method in methods if not hasattr(store, method)]
    if lacking:
        raise InvalidSettingError(
            f"REP_STORE: {name} has no {' and no '.join(lacking)}, which {user} needs;"
            " scrapy_rep.Store says what to add"
        )


def named_store(crawl: Crawl) -> Store:
    """Build the store in the settings of *crawl*. Raises `InvalidSettingError` if it lacks a method."""
    name = crawl.settings.store
    store: Store = build_from_crawler(load_object(_STORES.get(name, name)), crawl.crawler)
    require(store, name, _FOR_CRAWLS, "a crawl")
    return cast("Store", crawl.events.opening_store.change(store))


def _is_shell(crawler: Crawler) -> bool:
    """Whether this is ``scrapy shell``: only it and ``scrapy bench`` set these settings at command priority.

    Check both settings, because a project may override one.
    """
    priorities = map(crawler.settings.getpriority, ("DUPEFILTER_CLASS", "LOGSTATS_INTERVAL"))
    return SETTINGS_PRIORITIES["command"] in priorities
