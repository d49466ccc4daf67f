"""Where entries live between requests, runs and machines: in SQLite, in a store of the project, or nowhere.

A store gets and puts entries and grants leases on origins. It knows nothing of how robots.txt is fetched, nor of
what an entry means for a request. An extra may put another store before the one in the settings.
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
    must not block the event loop. No call raises because the store is broken: the store logs that, and behaves as
    if it were empty.

    A crawl does without `entries` and `purge`. They are for ``scrapy robots cache`` and ``decide``, which have no
    event loop: these calls block, and raise ``OSError`` if the store cannot be used. It does without `note` and
    `put_notes` unless ``REP_SITEMAP_SINCE`` is ``last run``.
    """

    async def get(self, origin: Origin) -> Entry | None:
        """Return the entry of *origin*, fresh or expired, or None if there is none."""

    async def put(self, entry: Entry) -> None:
        """Replace the entry of the origin of *entry*, and release this crawl's lease on that origin."""

    async def acquire_lease(self, origin: Origin, seconds: float) -> bool:
        """Try to get the lease on *origin*: for *seconds*, or until it is released, no other crawl gets it.

        The crawl that has it asks again, every few seconds, while its fetch lasts.
        """

    async def release_lease(self, origin: Origin) -> None:
        """Release the lease that this crawl holds on *origin*, if it holds one."""

    def close(self) -> None:
        """Free what the store holds; called once, at the end of the crawl."""

    async def note(self, key: str) -> str | None:
        """Return the text that `put_notes` last stored under *key*, or None if there is none."""

    async def put_notes(self, notes: Mapping[str, str], seconds: float) -> None:
        """Store *notes*, texts by key, for at least so many *seconds*."""

    def entries(self, origin: Origin | None = None) -> Iterator[Entry]:
        """Return all entries, sorted by origin, or that of *origin* alone."""

    def purge(self, origin: Origin | None = None) -> int:
        """Delete all entries, leases and notes, or what *origin* has; return the number of deleted entries."""


class NullStore:
    """The store that keeps nothing: every `get` finds nothing, and every lease is granted.

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

    Between the look into the store that found *seen* and the lease, another crawl may have stored one. A store
    with a method ``claim(origin, seconds, seen)`` does this in one step.
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
    """The store that ``REP_STORE`` names, or what an extra makes of it.

    Under ``scrapy check`` and ``scrapy shell`` nothing is stored: their users want the current robots.txt.
    """
    if os.environ.get("SCRAPY_CHECK") or _is_shell(crawler):
        return NullStore()
    return named_store(Crawl.of(crawler))


def require(store: Store, name: str, methods: Sequence[str], user: str) -> None:
    """Raise `InvalidSettingError` if *store*, which ``REP_STORE`` calls *name*, lacks one of *methods*."""
    lacking = [f"{method}()" for method in methods if not hasattr(store, method)]
    if lacking:
        raise InvalidSettingError(
            f"REP_STORE: {name} has no {' and no '.join(lacking)}, which {user} needs;"
            " scrapy_rep.Store says what to add"
        )


def named_store(crawl: Crawl) -> Store:
    """The store that the settings of *crawl* name. Raises `InvalidSettingError` for one that lacks a method."""
    name = crawl.settings.store
    store: Store = build_from_crawler(load_object(_STORES.get(name, name)), crawl.crawler)
    require(store, name, _FOR_CRAWLS, "a crawl")
    return cast("Store", crawl.events.opening_store.change(store))


def _is_shell(crawler: Crawler) -> bool:
    """Whether this is ``scrapy shell``: only it and ``scrapy bench`` set one of these at command priority.

    Both are looked at because a project may override one of them.
    """
    priorities = map(crawler.settings.getpriority, ("DUPEFILTER_CLASS", "LOGSTATS_INTERVAL"))
    return SETTINGS_PRIORITIES["command"] in priorities
