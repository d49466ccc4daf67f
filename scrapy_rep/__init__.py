"""The Robots Exclusion Protocol (RFC 9309) for Scrapy.

The names in ``__all__`` are public: ``docs/reference/stability.md`` says what else is. They are loaded on first
use, so that ``import scrapy_rep.protocol``, `lint` and `explain` import no Scrapy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .addon import Addon
    from .contracts import CrawlDelayContract, RobotsAllowsContract, RobotsDisallowsContract, SitemapsContract
    from .crawl.gate.extension import RepExtension
    from .crawl.gate.middleware import RepMiddleware
    from .crawl.pacing.crawl_delay import CrawlDelay, RateLimiterMiddleware
    from .crawl.pacing.disk_queue import RecoverableFifoDiskQueue, RecoverableLifoDiskQueue
    from .crawl.pacing.priority_queue import RepPriorityQueue
    from .crawl.policy.meta import Stamp, stamp
    from .crawl.robots.parser import RepRobotParser
    from .crawl.robots.robots import Robots
    from .crawl.robots.stores import Store
    from .crawl.sitemaps.spider import RepSitemapSpider, SitemapFeed
    from .exceptions import (
        AuditRequiredError,
        FetchError,
        ForbiddenByRobots,
        InvalidSettingError,
        RedisRequiredError,
        TargetUrlError,
        UnreachableError,
    )
    from .extras.pages.item_stamp import ItemStamp
    from .extras.pages.link_filter import LinkFilter
    from .extras.services.browser import abort_forbidden
    from .protocol.freshness import Entry
    from .settings import RepSettings
    from .signals import link_filtered, sitemaps_found
    from .tools.explanation import Explanation, explain
    from .tools.lint import Finding, Severity, lint

__version__ = "1.0.0rc1"

__all__ = [
    "Addon",
    "AuditRequiredError",
    "CrawlDelay",
    "CrawlDelayContract",
    "Entry",
    "Explanation",
    "FetchError",
    "Finding",
    "ForbiddenByRobots",
    "InvalidSettingError",
    "ItemStamp",
    "LinkFilter",
    "RateLimiterMiddleware",
    "RecoverableFifoDiskQueue",
    "RecoverableLifoDiskQueue",
    "RedisRequiredError",
    "RepExtension",
    "RepMiddleware",
    "RepPriorityQueue",
    "RepRobotParser",
    "RepSettings",
    "RepSitemapSpider",
    "Robots",
    "RobotsAllowsContract",
    "RobotsDisallowsContract",
    "Severity",
    "SitemapFeed",
    "SitemapsContract",
    "Stamp",
    "Store",
    "TargetUrlError",
    "UnreachableError",
    "abort_forbidden",
    "explain",
    "link_filtered",
    "lint",
    "sitemaps_found",
    "stamp",
]

_HOMES = {
    "SitemapsContract": "contracts",
    "RobotsDisallowsContract": "contracts",
    "RobotsAllowsContract": "contracts",
    "CrawlDelayContract": "contracts",
    "Addon": "addon",
    "AuditRequiredError": "exceptions",
    "CrawlDelay": "crawl.pacing.crawl_delay",
    "Entry": "protocol.freshness",
    "Explanation": "tools.explanation",
    "FetchError": "exceptions",
    "Finding": "tools.lint",
    "ForbiddenByRobots": "exceptions",
    "InvalidSettingError": "exceptions",
    "ItemStamp": "extras.pages.item_stamp",
    "LinkFilter": "extras.pages.link_filter",
    "RateLimiterMiddleware": "crawl.pacing.crawl_delay",
    "RecoverableFifoDiskQueue": "crawl.pacing.disk_queue",
    "RecoverableLifoDiskQueue": "crawl.pacing.disk_queue",
    "RedisRequiredError": "exceptions",
    "RepExtension": "crawl.gate.extension",
    "RepMiddleware": "crawl.gate.middleware",
    "RepPriorityQueue": "crawl.pacing.priority_queue",
    "RepRobotParser": "crawl.robots.parser",
    "RepSettings": "settings",
    "RepSitemapSpider": "crawl.sitemaps.spider",
    "Robots": "crawl.robots.robots",
    "Severity": "tools.lint",
    "SitemapFeed": "crawl.sitemaps.spider",
    "Stamp": "crawl.policy.meta",
    "Store": "crawl.robots.stores",
    "TargetUrlError": "exceptions",
    "UnreachableError": "exceptions",
    "abort_forbidden": "extras.services.browser",
    "explain": "tools.explanation",
    "link_filtered": "signals",
    "lint": "tools.lint",
    "sitemaps_found": "signals",
    "stamp": "crawl.policy.meta",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
