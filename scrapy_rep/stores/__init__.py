"""Where entries live between requests, runs and machines."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.utils.misc import build_from_crawler, load_object

from scrapy_rep.settings import RepSettings

from .memory import MemoryStore
from .redis import RedisStore

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from .base import Store
    from .redis_link import RedisLink

_STORES: Final = {
    "memory": "scrapy_rep.stores.memory.MemoryStore",
    "sqlite": "scrapy_rep.stores.sqlite.SqliteStore",
}


def open_store(crawler: Crawler, link: RedisLink | None = None) -> Store:
    """The store that ``REP_STORE`` names, behind Redis where there is a *link*.

    One that keeps nothing under ``scrapy check`` and ``scrapy shell``, which want the robots.txt of this minute.
    """
    if os.environ.get("SCRAPY_CHECK") or _is_shell(crawler):
        return MemoryStore()
    settings = RepSettings.from_crawler(crawler)
    name = settings.store
    store: Store = build_from_crawler(load_object(_STORES.get(name, name)), crawler)
    return RedisStore(link, store, settings.stale_max) if link else store


def _is_shell(crawler: Crawler) -> bool:
    """Beside it ``scrapy bench`` alone has one of these defaults; a project may overrule the other."""
    priorities = map(crawler.settings.getpriority, ("DUPEFILTER_CLASS", "LOGSTATS_INTERVAL"))
    return SETTINGS_PRIORITIES["command"] in priorities
