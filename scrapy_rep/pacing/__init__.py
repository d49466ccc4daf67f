"""When a request may start: the queue of hosts, the delays of download slots, the rate limiter. Private.

Knows download slots, and asks the registry of robots.txt files below. Must not know how one is fetched or what
becomes of a request: that is the gate's.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from uuid import uuid4

from scrapy_rep.pacing.redis_limiter import RedisRateLimiter
from scrapy_rep.pacing.sqlite_limiter import SqliteRateLimiter
from scrapy_rep.robots.stores.sqlite import SqliteStore

if TYPE_CHECKING:
    from scrapy_rep.pacing.limiter import RateLimiter
    from scrapy_rep.robots.stores import Store
    from scrapy_rep.robots.stores.redis_connection import RedisConnection


def open_rate_limiter(store: Store, redis: RedisConnection | None) -> RateLimiter | None:
    """Return the rate limiter in *redis*, else the one in the SQLite file of *store*, else None."""
    worker = f"{os.getpid()}-{uuid4().hex}"
    if redis is not None:
        return RedisRateLimiter(redis, worker)
    connection = store.connection if isinstance(store, SqliteStore) else None
    return SqliteRateLimiter(connection, worker) if connection is not None else None
