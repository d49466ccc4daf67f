"""One line in ``ADDONS`` assembles everything, and keeps whatever the user set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.utils.misc import load_object
from scrapy.utils.python import global_object_name

from .contracts import CONTRACTS
from .crawl_delay.extension import CrawlDelay
from .extension import RepExtension
from .fleet.middleware import FleetMiddleware
from .middleware import RepMiddleware
from .robotparser import RepRobotParser
from .sitemaps.feed import SitemapFeed

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

_GATE: Final = 100
"""Where Scrapy's own robots.txt middleware stands among the downloader middlewares."""

_BEHIND_AUTOTHROTTLE: Final = 900
_BEHIND_SCRAPYS_CONTRACTS: Final = 10
_NEAR_SPIDER: Final = 950

_BEFORE_DOWNLOADER: Final = 10_000
"""Behind every middleware that may still answer a request, or delay it."""


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
        place = _retire_builtin(settings)
        settings.setdefault_in_component_priority_dict("DOWNLOADER_MIDDLEWARES", RepMiddleware, place)
        settings.setdefault_in_component_priority_dict(
            "DOWNLOADER_MIDDLEWARES", FleetMiddleware, _BEFORE_DOWNLOADER
        )


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
