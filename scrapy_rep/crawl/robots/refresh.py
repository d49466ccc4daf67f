"""Sources of an origin's current entry: the store, another process, or our own fetch."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from scrapy import signals
from scrapy.exceptions import IgnoreRequest

from scrapy_rep.clock import clock
from scrapy_rep.crawl.robots.fetch import Fetcher, FetchResult
from scrapy_rep.crawl.robots.request import client_of
from scrapy_rep.crawl.robots.robots import REFUSALS
from scrapy_rep.crawl.robots.stores import NullStore, claim
from scrapy_rep.crawl.runtime.event_loop import Timer, start
from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.freshness import Backoff, Entry, Freshness

if TYPE_CHECKING:
    from scrapy import Request

    from scrapy_rep.crawl.robots.origins import Origins
    from scrapy_rep.crawl.robots.stores import Store
    from scrapy_rep.crawl.runtime.crawl import Crawl

_FIRST_POLL: Final = 0.05  # seconds until a process without the lease looks in the store for the other's result
_LAST_POLL: Final = 1.0
_LEASE_LIFE: Final = 9.0  # seconds that a lease outlives the process that holds it


class Refresher:
    """Refreshes the entries of a crawl.

    Only the process that holds the lease on an origin fetches it. The others wait for its entry. A lease is short
    and is renewed during the fetch, so a process that dies delays the others only by seconds.
    """

    def __init__(self, crawl: Crawl, store: Store, origins: Origins) -> None:
        self._engine = crawl.engine
        self._settings = settings = crawl.settings
        self._store = store
        self._no_store = NullStore()
        self._leased: set[Origin] = set()
        self._renewal = Timer()
        crawl.crawler.signals.connect(self._renewal.stop, signal=signals.spider_closed)
        backoff = Backoff(settings.retry_delay, settings.retry_max_delay)
        self.fetcher = Fetcher(crawl, backoff, origins)
        self.freshness = Freshness(settings.min_ttl, settings.max_ttl, settings.stale_max, backoff)

    async def refresh(
        self,
        origin: Origin,
        cause: Request,
        known: Entry | None,
        *,
        forbids: Callable[[str], Awaitable[bool]],
        retries: bool = True,
        is_live: bool = False,
    ) -> tuple[Entry, FetchResult | None]:
        """Return the current entry of *origin* and the result of its fetch, None if the store had the entry.

        *known* is the entry in memory; other arguments are as in `Fetcher.fetch`.

        *retries* says whether requests wait for further attempts while the origin is unreachable.
        """
        store, began = self._store_of(origin), clock.time()
        latest, interval = known, _FIRST_POLL
        while True:
            stored = await store.get(origin)
            latest = self._latest(stored, latest)
            if latest is not None and self._is_current(latest, began, cause):
                return latest, None
            if await claim(store, origin, _LEASE_LIFE, stored):
                self._leased.add(origin)
                self._renew_later()
                break
            if not await self._engine.pause(interval):  # a crawl that is closing fetches once, lease or not
                break
            interval = min(2 * interval, _LAST_POLL)
        is_worth_it = retries and self._is_worth_retrying(known, latest)
        wait = self._settings.unreachable_wait if is_worth_it else 0.0
        try:
            result = await self.fetcher.fetch(
                origin, cause, latest, forbids=forbids, retry_for=wait, is_live=is_live
            )
        finally:
            self._leased.discard(origin)
        return self._entry(origin, result, latest), result

    def _renew_later(self) -> None:
        if not self._renewal:
            self._renewal.call_after(_LEASE_LIFE / 3, self._renew_all)

    def _renew_all(self) -> None:
        for origin in [*self._leased]:
            start(self._renew(origin))
        if self._leased:
            self._renew_later()

    async def _renew(self, origin: Origin) -> None:
        store = self._store_of(origin)
        with suppress(IgnoreRequest):  # raised by a store that is required to answer
            is_ours = await store.acquire_lease(origin, _LEASE_LIFE)
            if is_ours and origin not in self._leased:  # the fetch has ended meanwhile
                await store.release_lease(origin)

    async def save(self, entry: Entry) -> None:
        """Store the fetched *entry*, and release the lease on its origin."""
        await self._store_of(entry.origin).put(entry)

    async def give_up(self, origin: Origin) -> None:
        """Release the lease on *origin* after a fetch without an entry to store."""
        await self._store_of(origin).release_lease(origin)

    @staticmethod
    def _latest(stored: Entry | None, known: Entry | None) -> Entry | None:
        if stored is None or (known and (known.tried_at >= stored.tried_at or stored.is_ahead(clock.time()))):
            return known
        return stored

    def _is_current(self, entry: Entry, began: float, cause: Request) -> bool:
        """Whether *entry* needs no fetch for *cause*.

        An entry from an earlier crawl is fetched again at once if the origin was unreachable, refused its client,
        or answered with an HTTP status that means something else under this crawl's settings.
        """
        now = clock.time()
        if self.freshness.usable_until(entry, now) <= now:
            return False
        meaning = self._settings.status_access.get(entry.status or 0, entry.access)
        is_refused = not entry.failures and entry.status in REFUSALS
        if is_refused and any(client_of(entry.origin.robots_url, cause, self._settings)):
            return False  # another process may have stored this just now, with a client that lacks these headers
        return meaning is entry.access and (entry.tried_at >= began or not (entry.failures or is_refused))

    def _is_worth_retrying(self, known: Entry | None, stored: Entry | None) -> bool:
        """Whether requests wait for further attempts if the first attempt fails.

        They do not if the origin was unreachable a moment ago, or if a stale copy can be served at once.
        """
        if known is not None and known.failures:
            return False
        if stored is None:
            return True
        now = clock.time()
        return self.freshness.access(self.freshness.failed(stored, now, 1, None), now) is Access.UNREACHABLE

    def _entry(self, origin: Origin, result: FetchResult, known: Entry | None) -> Entry:
        now, access, url, status = clock.time(), result.access, result.url, result.status
        if access is not Access.UNREACHABLE:
            return self.freshness.answered(
                now, result.cache_control, origin=origin, access=access, url=url, status=status, body=result.body,
                hops=result.hops, etag=result.etag, last_modified=result.last_modified,
            )  # fmt: skip
        entry = known  # a stale copy may be served
        if entry is None or status in self._settings.status_access:
            entry = Entry(origin, access, url, status, result.body, result.hops, now, now)
        return self.freshness.failed(entry, now, result.attempts, result.retry_after)

    def _store_of(self, origin: Origin) -> Store:
        """Return the store for *origin*: none for a loopback site, unless the user configured a store.

        A developer's own site changes by the minute.
        """
        return self._store if self._settings.shares(origin) else self._no_store
