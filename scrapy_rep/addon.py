"""The add-on: one line in ``ADDONS`` enables every component, and keeps what the user set."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.utils.misc import load_object
from scrapy.utils.python import global_object_name

from scrapy_rep.contracts import CONTRACTS
from scrapy_rep.crawl.gate.extension import RepExtension
from scrapy_rep.crawl.gate.middleware import RepMiddleware
from scrapy_rep.crawl.pacing.crawl_delay import CrawlDelay
from scrapy_rep.crawl.pacing.priority_queue import RepPriorityQueue
from scrapy_rep.crawl.robots.parser import RepRobotParser
from scrapy_rep.crawl.sitemaps.spider import SitemapFeed
from scrapy_rep.settings import ABORT_REQUEST, asks_for_backoff, asks_robots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings
    from typing_extensions import Self

logger = logging.getLogger(__name__)

_GATE: Final = 100  # the order of Scrapy's own robots.txt middleware among the downloader middlewares
_AFTER_AUTOTHROTTLE: Final = 900
_AFTER_SCRAPYS_CONTRACTS: Final = 10
_NEXT_TO_SPIDER: Final = 950
_NEXT_TO_ENGINE: Final = 10  # after every spider middleware that may still drop or change what a callback yields
_AFTER_HTTP_ERROR: Final = 600  # between Scrapy's middleware that drops error pages, and the one for the Referer


class Addon:
    """``ADDONS = {"scrapy_rep.Addon": 300}``: obey robots.txt, with `RepMiddleware` instead of Scrapy's."""

    def __init__(self, crawler: Crawler | None = None) -> None:
        """*crawler* is the one whose settings are updated; Scrapy passes it."""
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Add the contracts: ``scrapy check`` reads them before there is a crawler."""
        for order, contract in enumerate(CONTRACTS, start=_AFTER_SCRAPYS_CONTRACTS):
            settings.setdefault_in_component_priority_dict("SPIDER_CONTRACTS", contract, order)

    def update_settings(self, settings: BaseSettings) -> None:
        """Enable the components. Settings of the project, the spider or the command line take precedence."""
        settings.set("ROBOTSTXT_OBEY", value=True, priority="addon")
        settings.set("ROBOTSTXT_PARSER", RepRobotParser, priority="addon")
        settings.setdefault_in_component_priority_dict("EXTENSIONS", RepExtension, 0)
        settings.setdefault_in_component_priority_dict("EXTENSIONS", CrawlDelay, _AFTER_AUTOTHROTTLE)
        settings.setdefault_in_component_priority_dict("SPIDER_MIDDLEWARES", SitemapFeed, _NEXT_TO_SPIDER)
        for path, order in _extras(settings):
            settings.setdefault_in_component_priority_dict("SPIDER_MIDDLEWARES", load_object(path), order)
        has_queue = bool(settings.get("JOBDIR"))  # a job goes on with the queue that it began with
        if has_queue or asks_robots(settings) or asks_for_backoff(settings):
            settings.set("SCHEDULER_PRIORITY_QUEUE", RepPriorityQueue, priority="addon")
        if asks_for_backoff(settings):  # else a retried page gets the recorded answer again, until it is lost
            from scrapy_rep.extras.backoff.site_backoff import SLOW_DOWN  # noqa: PLC0415  # if it is used

            settings.set("HTTPCACHE_IGNORE_HTTP_CODES", sorted(SLOW_DOWN), priority="addon")
        if settings.get(ABORT_REQUEST):
            self._bind_browser_gate(settings)
        if _is_disabled(settings, RepMiddleware):
            logger.warning(
                "DOWNLOADER_MIDDLEWARES disables scrapy_rep.RepMiddleware, so Scrapy's own middleware handles"
                " robots.txt. To ignore robots.txt, set ROBOTSTXT_OBEY = False."
            )
        else:
            order = _disable_builtin(settings)
            settings.setdefault_in_component_priority_dict("DOWNLOADER_MIDDLEWARES", RepMiddleware, order)

    def _bind_browser_gate(self, settings: BaseSettings) -> None:
        """Put the gate of this crawl in the place of `abort_forbidden`, which has to look for its crawl."""
        from scrapy_rep.extras.services.browser import BrowserGate, abort_forbidden  # noqa: PLC0415  # if it is used

        name = settings.get(ABORT_REQUEST)
        if self._crawler is not None and (name is abort_forbidden or name == "scrapy_rep.abort_forbidden"):
            settings.set(ABORT_REQUEST, BrowserGate(self._crawler), settings.getpriority(ABORT_REQUEST) or 0)


def _extras(settings: BaseSettings) -> Iterator[tuple[str, int]]:
    """The spider middlewares that *settings* ask for, with their orders. Others are not even imported."""
    reads_links = settings.get("REP_REL_NOFOLLOW") not in {None, "ignore"}
    if reads_links or settings.get("REP_PAGE_DIRECTIVES") != "ignore":
        yield "scrapy_rep.extras.pages.page_directives.PageDirectivesMiddleware", _AFTER_HTTP_ERROR
    if settings.get("REP_PURPOSES"):
        yield "scrapy_rep.extras.ai.ai_signals.AiSignalsMiddleware", _AFTER_HTTP_ERROR
    if settings.get("REP_FILTER_LINKS") not in {None, "off"}:
        yield "scrapy_rep.extras.pages.link_filter.LinkFilter", _NEXT_TO_ENGINE
    if settings.get("REP_ITEM_FIELD"):
        yield "scrapy_rep.extras.pages.item_stamp.ItemStamp", _NEXT_TO_ENGINE


def _is_disabled(settings: BaseSettings, component: type) -> bool:
    chosen = settings.getdict("DOWNLOADER_MIDDLEWARES").items()
    return any(order is None and load_object(key) is component for key, order in chosen)


def _disable_builtin(settings: BaseSettings) -> int:
    """Disable Scrapy's middleware; return its order, which ours takes: the one that the user set, or the default.

    ``replace_in_component_priority_dict`` raises KeyError for built-in components, and Scrapy 2.14 lists a
    component twice if it is named by its class here and by its import path in the defaults.
    """
    order = _GATE
    components = settings.getdict("DOWNLOADER_MIDDLEWARES")
    for component in [key for key in components if load_object(key) is RobotsTxtMiddleware]:
        chosen = components.pop(component)
        order = order if chosen is None else int(chosen)
    components[global_object_name(RobotsTxtMiddleware)] = None
    settings.set("DOWNLOADER_MIDDLEWARES", components, settings.getpriority("DOWNLOADER_MIDDLEWARES") or 0)
    return order
