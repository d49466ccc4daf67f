"""The Robots Exclusion Protocol (RFC 9309) for Scrapy.

The names below are loaded when asked for, so that ``scrapy_rep.protocol`` imports no Scrapy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .addon import Addon
    from .extension import RepExtension
    from .middleware import ForbiddenByRobots, RepMiddleware
    from .politeness.crawl_delay import CrawlDelay
    from .politeness.priority_queue import RepPriorityQueue
    from .politeness.rate_limiter_middleware import RateLimiterMiddleware
    from .robotparser import RepRobotParser
    from .sitemaps.feed import SitemapFeed
    from .spiders import RepSitemapSpider
    from .stores.redis_link import RedisRequiredError

__version__ = "0.1.0"

__all__ = [
    "Addon",
    "CrawlDelay",
    "ForbiddenByRobots",
    "RateLimiterMiddleware",
    "RedisRequiredError",
    "RepExtension",
    "RepMiddleware",
    "RepPriorityQueue",
    "RepRobotParser",
    "RepSitemapSpider",
    "SitemapFeed",
]

_HOMES = {
    "Addon": "addon",
    "CrawlDelay": "politeness.crawl_delay",
    "ForbiddenByRobots": "middleware",
    "RateLimiterMiddleware": "politeness.rate_limiter_middleware",
    "RedisRequiredError": "stores.redis_link",
    "RepExtension": "extension",
    "RepMiddleware": "middleware",
    "RepPriorityQueue": "politeness.priority_queue",
    "RepRobotParser": "robotparser",
    "RepSitemapSpider": "spiders",
    "SitemapFeed": "sitemaps.feed",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
