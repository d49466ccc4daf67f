"""Where entries live between requests, runs and machines: in SQLite, in Redis, or nowhere. Private.

A store gets and puts entries and grants leases on origins. It knows nothing of how robots.txt is fetched, nor of
what an entry means for a request.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.utils.misc import build_from_crawler, load_object

from scrapy_rep.robots.stores.redis import RedisStore
from scrapy_rep.robots.stores.store import NullStore
from scrapy_rep.runtime.crawl import Crawl

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from scrapy_rep.robots.stores.redis_connection import RedisConnection
    from scrapy_rep.robots.stores.store import Store

_STORES: Final = {
    "memory": "scrapy_rep.robots.stores.store.NullStore",
    "sqlite": "scrapy_rep.robots.stores.sqlite.SqliteStore",
}


def open_store(crawler: Crawler, connection: RedisConnection | None = None) -> Store:
    """Return the store that ``REP_STORE`` names; with a *connection* it is the fallback of a store in Redis.

    Under ``scrapy check`` and ``scrapy shell`` nothing is stored: their users want the current robots.txt.
    """
    if os.environ.get("SCRAPY_CHECK") or _is_shell(crawler):
        return NullStore()
    settings = Crawl.of(crawler).settings
    name = settings.store
    store: Store = build_from_crawler(load_object(_STORES.get(name, name)), crawler)
    return RedisStore(connection, store, settings.stale_max) if connection else store


def _is_shell(crawler: Crawler) -> bool:
    """Whether this is ``scrapy shell``: only it and ``scrapy bench`` set one of these at command priority.

    Both are looked at because a project may override one of them.
    """
    priorities = map(crawler.settings.getpriority, ("DUPEFILTER_CLASS", "LOGSTATS_INTERVAL"))
    return SETTINGS_PRIORITIES["command"] in priorities
