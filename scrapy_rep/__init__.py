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
    from .extras.fleet.host_queue import RedisHostDupeFilter, RedisHostQueue
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
    "Addon", "AuditRequiredError", "CrawlDelay", "CrawlDelayContract", "Entry", "Explanation", "FetchError",
    "Finding", "ForbiddenByRobots", "InvalidSettingError", "ItemStamp", "LinkFilter", "RateLimiterMiddleware",
    "RecoverableFifoDiskQueue", "RecoverableLifoDiskQueue", "RedisHostDupeFilter", "RedisHostQueue",
    "RedisRequiredError", "RepExtension", "RepMiddleware", "RepPriorityQueue", "RepRobotParser", "RepSettings",
    "RepSitemapSpider", "Robots", "RobotsAllowsContract", "RobotsDisallowsContract", "Severity", "SitemapFeed",
    "SitemapsContract", "Stamp", "Store", "TargetUrlError", "UnreachableError", "abort_forbidden", "explain",
    "link_filtered", "lint", "sitemaps_found", "stamp",
]  # fmt: skip

_HOMES = {
    name: home
    for home, names in {
        "addon": "Addon",
        "contracts": "CrawlDelayContract RobotsAllowsContract RobotsDisallowsContract SitemapsContract",
        "crawl.gate.extension": "RepExtension",
        "crawl.gate.middleware": "RepMiddleware",
        "crawl.pacing.crawl_delay": "CrawlDelay RateLimiterMiddleware",
        "crawl.pacing.disk_queue": "RecoverableFifoDiskQueue RecoverableLifoDiskQueue",
        "crawl.pacing.priority_queue": "RepPriorityQueue",
        "crawl.policy.meta": "Stamp stamp",
        "crawl.robots.parser": "RepRobotParser",
        "crawl.robots.robots": "Robots",
        "crawl.robots.stores": "Store",
        "crawl.sitemaps.spider": "RepSitemapSpider SitemapFeed",
        "exceptions": "AuditRequiredError FetchError ForbiddenByRobots InvalidSettingError RedisRequiredError"
        " TargetUrlError UnreachableError",
        "extras.fleet.host_queue": "RedisHostDupeFilter RedisHostQueue",
        "extras.pages.item_stamp": "ItemStamp",
        "extras.pages.link_filter": "LinkFilter",
        "extras.services.browser": "abort_forbidden",
        "protocol.freshness": "Entry",
        "settings": "RepSettings",
        "signals": "link_filtered sitemaps_found",
        "tools.explanation": "Explanation explain",
        "tools.lint": "Finding Severity lint",
    }.items()
    for name in names.split()
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
