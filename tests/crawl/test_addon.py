"""One line in ADDONS assembles everything and keeps what the user set."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.settings import Settings
from scrapy.utils.conf import build_component_list
from scrapy.utils.misc import load_object
from scrapy.utils.python import global_object_name

import scrapy_rep
from scrapy_rep import (
    Addon,
    CrawlDelay,
    ItemStamp,
    LinkFilter,
    RepExtension,
    RepMiddleware,
    RepPriorityQueue,
    RepRobotParser,
)
from scrapy_rep.contracts import CONTRACTS, SitemapsContract
from scrapy_rep.crawl.sitemaps.spider import SitemapFeed

BUILT_IN = global_object_name(RobotsTxtMiddleware)


def assembled(settings: dict[str, Any] | None = None) -> Settings:
    """The settings of a project with the add-on, as a crawler sees them."""
    crawler = Crawler(Spider, Settings({**(settings or {}), "ADDONS": {"scrapy_rep.Addon": 300}}))
    crawler.addons.load_settings(crawler.settings)
    return crawler.settings


def components(settings: Settings, name: str) -> list[type]:
    return [load_object(component) for component in build_component_list(settings.getwithbase(name))]


def test_it_switches_obeying_on_with_our_parser() -> None:
    settings = assembled()
    assert settings.getbool("ROBOTSTXT_OBEY")
    assert settings["ROBOTSTXT_PARSER"] is RepRobotParser


def test_our_gate_takes_the_place_of_scrapys() -> None:
    gates = components(assembled(), "DOWNLOADER_MIDDLEWARES")
    defaults = components(Settings(), "DOWNLOADER_MIDDLEWARES")
    assert gates.index(RepMiddleware) == defaults.index(RobotsTxtMiddleware)
    assert RobotsTxtMiddleware not in gates


@pytest.mark.parametrize("built_in", [BUILT_IN, RobotsTxtMiddleware], ids=["path", "class"])
def test_our_gate_goes_where_the_user_put_scrapys(built_in: Any) -> None:
    settings = assembled({"DOWNLOADER_MIDDLEWARES": {built_in: 543}})
    assert settings.getdict("DOWNLOADER_MIDDLEWARES") == {
        BUILT_IN: None,
        RepMiddleware: 543,
    }


@pytest.mark.parametrize("ours", ["scrapy_rep.RepMiddleware", RepMiddleware], ids=["path", "class"])
def test_a_place_that_the_user_gave_our_gate_is_kept(ours: Any) -> None:
    settings = assembled({"DOWNLOADER_MIDDLEWARES": {ours: 42}})
    assert settings.getdict("DOWNLOADER_MIDDLEWARES") == {
        BUILT_IN: None,
        ours: 42,
    }


@pytest.mark.parametrize("ours", ["scrapy_rep.RepMiddleware", RepMiddleware], ids=["path", "class"])
def test_a_gate_that_the_user_switched_off_leaves_scrapys_in_its_place(
    ours: Any, caplog: pytest.LogCaptureFixture
) -> None:
    gates = components(assembled({"DOWNLOADER_MIDDLEWARES": {ours: None}}), "DOWNLOADER_MIDDLEWARES")
    assert RepMiddleware not in gates
    assert RobotsTxtMiddleware in gates
    assert "so Scrapy's own middleware handles robots.txt" in caplog.text


def test_our_queue_takes_the_place_of_scrapys_unless_the_user_chose_one() -> None:
    assert load_object(assembled()["SCHEDULER_PRIORITY_QUEUE"]) is RepPriorityQueue
    chosen = "scrapy.pqueues.ScrapyPriorityQueue"
    assert assembled({"SCHEDULER_PRIORITY_QUEUE": chosen})["SCHEDULER_PRIORITY_QUEUE"] == chosen


def test_the_extensions_are_added_beside_those_of_the_user() -> None:
    own = "scrapy.extensions.closespider.CloseSpider"
    settings = assembled({"EXTENSIONS": {own: 5}})
    assert settings.getdict("EXTENSIONS") == {own: 5, RepExtension: 0, CrawlDelay: 900}


def test_the_feed_of_sitemaps_is_added() -> None:
    assert SitemapFeed in components(assembled(), "SPIDER_MIDDLEWARES")


def test_links_are_filtered_and_items_stamped_after_all_other_spider_middlewares_that_see_them() -> None:
    asked = {"REP_FILTER_LINKS": "known", "REP_ITEM_FIELD": "robots"}
    settings = assembled({**asked, "SPIDER_MIDDLEWARES": {"tests.crawl.output_spiders.Recovers": 50}})
    order = components(settings, "SPIDER_MIDDLEWARES")  # the first one is the last to see what a callback yields
    assert set(order[:2]) == {LinkFilter, ItemStamp}


def test_the_contracts_are_set_before_there_is_a_crawler_and_those_of_the_user_kept() -> None:
    settings = Settings({"SPIDER_CONTRACTS": {"scrapy_rep.contracts.SitemapsContract": None}})
    Addon.update_pre_crawler_settings(settings)
    own = [contract for contract in components(settings, "SPIDER_CONTRACTS") if contract in CONTRACTS]
    assert own == [contract for contract in CONTRACTS if contract is not SitemapsContract]


@pytest.mark.parametrize(
    ("name", "value"),
    [("ROBOTSTXT_OBEY", False), ("ROBOTSTXT_PARSER", "scrapy.robotstxt.ProtegoRobotParser")],
)
def test_a_setting_of_the_user_wins(name: str, value: Any) -> None:
    assert assembled({name: value})[name] == value


def test_the_add_on_is_the_same_by_both_of_its_names() -> None:
    assert load_object("scrapy_rep.Addon") is load_object("scrapy_rep.addon.Addon") is Addon


def test_a_name_that_the_package_lacks_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = scrapy_rep.Nothing
