"""How an entry comes to be current: from the store, from another process, or by a fetch of our own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import time
from typing import TYPE_CHECKING, Final

from scrapy_rep.crawl.event_loop import pause
from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.freshness import Backoff, Entry, Freshness
from scrapy_rep.settings import RepSettings
from scrapy_rep.stores.store import NullStore

from .fetch import MAX_HOPS, Fetcher, FetchResult

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from scrapy_rep.stores.store import Store

_FIRST_LOOK: Final = 0.05  # seconds until a process that may not fetch looks whether the other one has
_LAST_LOOK: Final = 1.0
_SPARE: Final = 5.0  # seconds that a lease outlives the longest fetch it is made for


@dataclass(frozen=True, slots=True)
class Refreshed:
    """A current entry, and the fetch that brought it; None when it was in the store."""

    entry: Entry
    result: FetchResult | None = None


class Refresher:
    """Renews the entries of one crawl. One process at a time fetches an origin; the others wait for its entry."""

    def __init__(self, crawler: Crawler, fetcher: Fetcher, store: Store) -> None:
        self._crawler = crawler
        self._fetcher = fetcher
        self._settings = settings = RepSettings.from_crawler(crawler)
        self._store = store
        self._nowhere = NullStore()
        backoff = Backoff(settings.retry_delay, settings.retry_max_delay)
        self.freshness = Freshness(settings.min_ttl, settings.max_ttl, settings.stale_max, backoff)

    async def renew(
        self, origin: Origin, cause: Request, known: Entry | None, forbids: Callable[[str], bool]
    ) -> Refreshed:
        """The current entry of *origin*; *known* is the one in hand. The rest as for `Fetcher.fetch`."""
        store, began = self._store_of(origin), time()
        stored, granted = await self._await_turn(store, origin, known, began)
        if stored is not None and not granted:
            return Refreshed(stored)
        patience = 0.0 if self._is_patience_spent(known, stored) else self._settings.unreachable_wait
        result = await self._fetcher.fetch(origin, cause, stored, forbids=forbids, patience=patience)
        return Refreshed(self._entry(origin, result, stored), result)

    async def keep(self, renewal: Refreshed) -> None:
        """Keep the entry that a fetch has brought, where others find it; they may fetch it again from now on."""
        if renewal.result is not None:
            await self._store_of(renewal.entry.origin).put(renewal.entry)

    async def _await_turn(
        self, store: Store, origin: Origin, known: Entry | None, began: float
    ) -> tuple[Entry | None, bool]:
        """The latest entry, and whether it is for us to renew it; another process may be at it."""
        pace = _FIRST_LOOK
        while True:
            known = await self._latest(store, origin, known)
            if self._is_current(known, began):
                return known, False
            if await store.acquire_lease(origin, self._longest_fetch):
                break
            if not await pause(self._crawler, pace):  # the crawl is closing: one attempt, with a lease or without
                return known, True
            pace = min(2 * pace, _LAST_LOOK)
        known = await self._latest(store, origin, known)  # it may have been renewed between the look and the lease
        if not self._is_current(known, began):
            return known, True
        await store.release_lease(origin)
        return known, False

    async def _latest(self, store: Store, origin: Origin, known: Entry | None) -> Entry | None:
        stored = await store.get(origin)
        if stored is None or (known and (known.tried_at >= stored.tried_at or stored.is_ahead(time()))):
            return known
        return stored

    def _is_current(self, entry: Entry | None, began: float) -> bool:
        """Whether no fetch is due.

        What an earlier run could not reach is tried again at once, and a status that the settings now
        read otherwise is asked for again.
        """
        now = time()
        if entry is None or self.freshness.usable_until(entry, now) <= now:
            return False
        meaning = self._settings.status_access.get(entry.status or 0, entry.access)
        return meaning is entry.access and (not entry.failures or entry.tried_at >= began)

    def _is_patience_spent(self, known: Entry | None, stored: Entry | None) -> bool:
        """Whether waiting requests get one attempt: an origin that was unreachable a moment ago has had its
        patience, and where a copy stands in nobody need wait.
        """
        if known is not None and known.failures:
            return True
        if stored is None:
            return False
        now = time()
        return self.freshness.access(self.freshness.failed(stored, now, 1, None), now) is not Access.UNREACHABLE

    def _entry(self, origin: Origin, result: FetchResult, known: Entry | None) -> Entry:
        now = time()
        blank = Entry(origin, result.access, result.url, result.status, result.body, result.hops, now, now)
        if result.access is Access.UNREACHABLE:
            if known is None or result.status in self._settings.status_access:  # then no copy stands in
                known = blank
            return self.freshness.failed(known, now, result.attempts, result.retry_after)
        entry = replace(blank, etag=result.etag, last_modified=result.last_modified)
        return self.freshness.answered(entry, now, result.cache_control)

    @property
    def _longest_fetch(self) -> float:
        """Seconds: the last attempt starts within the patience, and may follow redirects."""
        return self._settings.unreachable_wait + (1 + MAX_HOPS) * self._settings.timeout + _SPARE

    def _store_of(self, origin: Origin) -> Store:
        """The store; one that keeps nothing for a developer's own site, unless a store was set.

        Such a site changes by the minute.
        """
        return self._nowhere if origin.is_loopback and not self._settings.shares_loopback else self._store
