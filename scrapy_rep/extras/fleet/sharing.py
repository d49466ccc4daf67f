"""Connect a crawl to what the processes of a machine or a fleet share: a store, delays and holds of sites."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property, partial
from socket import gethostname
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred

from scrapy_rep.crawl.pacing.door import Door
from scrapy_rep.crawl.pacing.slots import Slots
from scrapy_rep.crawl.robots.registry import Registry
from scrapy_rep.crawl.robots.stores import FOR_COMMANDS, named_store, require
from scrapy_rep.crawl.robots.stores.sqlite import SqliteStore
from scrapy_rep.crawl.runtime.crawl import Crawl
from scrapy_rep.crawl.runtime.event_loop import Timer, start
from scrapy_rep.extras.fleet.limiter import LEAD, MOST_HOLDS, Hold, RateLimiterAwayError
from scrapy_rep.extras.fleet.limiters import RedisRateLimiter, SqliteRateLimiter
from scrapy_rep.extras.fleet.permits import Permits
from scrapy_rep.extras.fleet.redis_connection import RedisConnection
from scrapy_rep.extras.topics import ExtraTopic

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from scrapy_rep.crawl.robots.stores import Store
    from scrapy_rep.extras.fleet.limiter import RateLimiter

_LOOK: Final = 0.2  # seconds between two checks for holds from other processes


class Sharing:
    """The shared state of one crawl: in Redis (``REP_REDIS_URL``), else in the SQLite file of its store."""

    def __init__(self, crawl: Crawl) -> None:
        self._crawl, self._events = crawl, crawl.events
        self._connection: RedisConnection | None = None
        if crawl.settings.redis_url:
            self._connection = RedisConnection(crawl)
            crawl.events.opening_store.subscribe(partial(self._in_redis, self._connection))
            crawl.events.closed.subscribe(self._connection.close)
        self.worker = f"{gethostname()}-{os.getpid()}-{uuid4().hex[:8]}"  # unique to this crawl
        # The `RedisHostQueue` of this crawl, if any, sets all three when the scheduler opens.
        self.host_queue: Any = None
        self.redis_limiter: Callable[[RedisConnection, str], RateLimiter] = RedisRateLimiter
        self.look_every = _LOOK
        self._timer = Timer()
        # Holds on their way to other processes; the crawl waits for them before it ends.
        self._telling: set[Deferred[None]] = set()
        crawl.events.opened.subscribe(self._opened)
        crawl.crawler.signals.connect(self._spider_opened, signal=signals.spider_opened)
        crawl.crawler.signals.connect(self._timer.stop, signal=signals.spider_closed)

    def _in_redis(self, connection: RedisConnection, store: Store) -> Store:
        """A store in Redis, with *store* as its fallback."""
        from scrapy_rep.extras.fleet.redis_store import RedisStore  # noqa: PLC0415  # only when used

        return RedisStore(connection, store, self._crawl.settings.stale_max)

    @cached_property
    def _limiter(self) -> RateLimiter | None:
        registry = self._crawl.find(Registry)
        if registry is None:
            return None
        if self._connection is not None:
            return self.redis_limiter(self._connection, self.worker)
        connection = registry.store.connection if isinstance(registry.store, SqliteStore) else None
        return None if connection is None else SqliteRateLimiter(connection, self.worker)

    def _opened(self) -> None:
        limiter = self._limiter
        if limiter is None:
            return
        permits = Permits(self._crawl, limiter)
        self._crawl.part(Slots).lead = LEAD / 1e6
        self._events.granting.subscribe(permits.acquire)
        self._events.started.subscribe(permits.use)
        self._events.restarted.subscribe(permits.restart_delay)
        self._events.slowed.subscribe(lambda *hold: self._slowed(limiter, Hold(*hold)))
        self._events.ending.subscribe(self._finish)

    async def _spider_opened(self) -> None:
        """Load the holds of earlier runs before the first request."""
        self._crawl.part(Door).open()
        if self._limiter is not None and self._events.told:
            await self._learn()

    def _slowed(self, limiter: RateLimiter, hold: Hold) -> None:
        telling = start(self._tell(limiter, hold))
        self._telling.add(telling)
        telling.addBoth(lambda _: self._telling.discard(telling))

    async def _finish(self, reason: str) -> None:  # noqa: ARG002
        for telling in [*self._telling]:
            await maybe_deferred_to_future(telling)

    async def _tell(self, limiter: RateLimiter, hold: Hold) -> None:
        with suppress(RateLimiterAwayError, IgnoreRequest):
            if dropped := await limiter.hold(hold):
                self._crawl.log.add(
                    ExtraTopic.HOLDS_DROPPED,
                    "More than %d sites ask to slow down: other processes forget %d of them", MOST_HOLDS, dropped,
                )  # fmt: skip

    async def holds(self) -> list[Hold]:
        """New holds from other processes since the last call; the first call returns all."""
        if self._limiter is not None:
            with suppress(RateLimiterAwayError, IgnoreRequest):
                return await self._limiter.holds()
        return []  # without a limiter, each process keeps only its own holds

    async def _learn(self) -> None:
        for hold in await self.holds():
            self._events.told.send(*hold)
        if not self._crawl.engine.is_closing:
            self._timer.call_after(self.look_every, self._look)

    def _look(self) -> None:
        start(self._learn())

    def __repr__(self) -> str:
        return f"<Sharing {self._connection or 'in SQLite'!r}>"


def store_of(settings: BaseSettings) -> Store:
    """The store of crawls with these *settings*, for commands, with all methods of `Store`.

    Raises `InvalidSettingError`.
    """
    crawl = Crawl.of(Crawler(Spider, settings))  # type: ignore[arg-type]
    crawl.part(Sharing)
    store = named_store(crawl)
    require(store, crawl.settings.store, FOR_COMMANDS, "this command")
    return store
