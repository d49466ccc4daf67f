"""One line in ``ADDONS`` assembles everything, and keeps whatever the user set."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.utils.misc import load_object
from scrapy.utils.python import global_object_name

from scrapy_rep.crawl.robot_parser import RepRobotParser
from scrapy_rep.gate.extension import RepExtension
from scrapy_rep.gate.middleware import RepMiddleware
from scrapy_rep.politeness.crawl_delay import CrawlDelay
from scrapy_rep.politeness.priority_queue import RepPriorityQueue
from scrapy_rep.politeness.rate_limiter_middleware import RateLimiterMiddleware
from scrapy_rep.sitemaps.feed import SitemapFeed

from .contracts import CONTRACTS

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

_GATE: Final = 100
"""Where Scrapy's own robots.txt middleware stands among the downloader middlewares."""

_BEHIND_AUTOTHROTTLE: Final = 900
_BEHIND_SCRAPYS_CONTRACTS: Final = 10
_NEAR_SPIDER: Final = 950

_BEFORE_DOWNLOADER: Final = 10_000
"""Behind every middleware that may still answer a request, or hold it back."""


class Addon:
    """``ADDONS = {"scrapy_rep.Addon": 300}``: obey robots.txt, with our gate in the place of Scrapy's."""

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Called by Scrapy before there is a crawler: ``scrapy check`` reads its contracts then."""
        for place, contract in enumerate(CONTRACTS, start=_BEHIND_SCRAPYS_CONTRACTS):
            settings.setdefault_in_component_priority_dict("SPIDER_CONTRACTS", contract, place)

    def update_settings(self, settings: BaseSettings) -> None:
        """Called by Scrapy before the crawl; settings of the project, spider or command line win."""
        settings.set("ROBOTSTXT_OBEY", value=True, priority="addon")
        settings.set("ROBOTSTXT_PARSER", RepRobotParser, priority="addon")
        settings.setdefault_in_component_priority_dict("EXTENSIONS", RepExtension, 0)
        settings.setdefault_in_component_priority_dict("EXTENSIONS", CrawlDelay, _BEHIND_AUTOTHROTTLE)
        settings.setdefault_in_component_priority_dict("SPIDER_MIDDLEWARES", SitemapFeed, _NEAR_SPIDER)
        settings.setdefault_in_component_priority_dict(
            "DOWNLOADER_MIDDLEWARES", RateLimiterMiddleware, _BEFORE_DOWNLOADER
        )
        settings.set("SCHEDULER_PRIORITY_QUEUE", RepPriorityQueue, priority="addon")
        if _is_switched_off(settings, RepMiddleware):
            logger.warning(
                "DOWNLOADER_MIDDLEWARES switches scrapy_rep.RepMiddleware off: robots.txt is left to Scrapy's own"
                " middleware. To crawl without robots.txt set ROBOTSTXT_OBEY = False."
            )
        else:
            place = _retire_builtin(settings)
            settings.setdefault_in_component_priority_dict("DOWNLOADER_MIDDLEWARES", RepMiddleware, place)


def _is_switched_off(settings: BaseSettings, component: type) -> bool:
    chosen = settings.getdict("DOWNLOADER_MIDDLEWARES").items()
    return any(place is None and load_object(key) is component for key, place in chosen)


def _retire_builtin(settings: BaseSettings) -> int:
    """Switch Scrapy's middleware off; returns the place that ours takes: the user's for it, or its default.

    ``replace_in_component_priority_dict`` does not know the built-in components, and Scrapy 2.14 lists
    one twice that is named by its class here and by its import path among the defaults.
    """
    place = _GATE
    components = settings.getdict("DOWNLOADER_MIDDLEWARES")
    for component in [key for key in components if load_object(key) is RobotsTxtMiddleware]:
        chosen = components.pop(component)
        place = place if chosen is None else int(chosen)
    components[global_object_name(RobotsTxtMiddleware)] = None
    settings.set("DOWNLOADER_MIDDLEWARES", components, settings.getpriority("DOWNLOADER_MIDDLEWARES") or 0)
    return place
