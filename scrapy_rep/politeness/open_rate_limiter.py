"""Which rate limiter a crawl has."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from uuid import uuid4

from scrapy_rep.stores.sqlite import SqliteStore, connection_of

from .redis_rate_limiter import RedisRateLimiter
from .sqlite_rate_limiter import SqliteRateLimiter

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from scrapy_rep.stores.redis_connection import RedisConnection
    from scrapy_rep.stores.store import Store

    from .rate_limiter import RateLimiter


def open_rate_limiter(crawler: Crawler, store: Store, redis: RedisConnection | None) -> RateLimiter | None:
    """Through *redis*, else through the SQLite file of *store*; None where nothing is shared."""
    worker = f"{os.getpid()}-{uuid4().hex}"
    if redis is not None:
        return RedisRateLimiter(redis, worker)
    link = connection_of(crawler) if isinstance(store, SqliteStore) else None
    return SqliteRateLimiter(link, worker) if link is not None else None
