"""What the components of one crawl share."""

from __future__ import annotations

import gc
from weakref import ref

import pytest
from scrapy.crawler import Crawler

from scrapy_rep import InvalidSettingError
from scrapy_rep.crawl.robots.registry import Registry
from scrapy_rep.crawl.runtime.crawl import Crawl
from tests.support.in_process import Quiet, crawler_at_rest


def test_there_is_one_for_each_crawler() -> None:
    first, second = crawler_at_rest(), crawler_at_rest()
    assert Crawl.of(first) is Crawl.of(first) is not Crawl.of(second)


def test_it_finds_the_part_that_was_added_and_no_other() -> None:
    crawl = Crawl.of(crawler_at_rest())
    registry = crawl.find(Registry)
    assert registry is not None
    assert crawl.find(int) is None
    crawl.add(7)
    assert crawl.find(int) == 7


def test_it_is_freed_with_its_crawler() -> None:
    crawler = Crawler(Quiet)  # Scrapy 2.14 keeps one with an engine
    crawl, crawler_ref = ref(Crawl.of(crawler)), ref(crawler)
    del crawler
    gc.collect()
    assert (crawl(), crawler_ref()) == (None, None)


def test_a_bad_setting_is_logged_and_raised_by_the_first_who_asks(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(InvalidSettingError, match="REP_MAX_SIZE"):
        crawler_at_rest({"REP_MAX_SIZE": "much"})
    assert sum("REP_MAX_SIZE" in record.getMessage() for record in caplog.records) == 1
