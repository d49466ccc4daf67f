"""Where entries live between requests, runs and machines."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.utils.misc import build_from_crawler, load_object

from scrapy_rep.settings import RepSettings

from .memory import MemoryStore

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from .base import Store

_STORES: Final = {
    "memory": "scrapy_rep.stores.memory.MemoryStore",
    "sqlite": "scrapy_rep.stores.sqlite.SqliteStore",
}


def open_store(crawler: Crawler) -> Store:
    """The store that ``REP_STORE`` names; none under ``scrapy check`` and ``scrapy shell``, which want to see
    the robots.txt of this minute.
    """
    if os.environ.get("SCRAPY_CHECK") or _is_shell(crawler):
        return MemoryStore()
    name = RepSettings.from_crawler(crawler).store
    store: Store = build_from_crawler(load_object(_STORES.get(name, name)), crawler)
    return store


def _is_shell(crawler: Crawler) -> bool:
    """No other command of Scrapy has both defaults, and a project may overrule one of them."""
    priorities = map(crawler.settings.getpriority, ("DUPEFILTER_CLASS", "LOGSTATS_INTERVAL"))
    return SETTINGS_PRIORITIES["command"] in priorities
