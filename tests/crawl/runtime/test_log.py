"""Messages per origin: the first ten, then one sum."""

from __future__ import annotations

import logging

import pytest
from scrapy import signals
from scrapy.utils.test import get_crawler

from scrapy_rep.crawl.runtime.crawl import Crawl
from scrapy_rep.crawl.runtime.log import Topic


def messages(count: int, caplog: pytest.LogCaptureFixture) -> list[str]:
    caplog.set_level(logging.INFO, "scrapy_rep")
    crawler = get_crawler()
    for number in range(count):
        Crawl.of(crawler).log.add(Topic.UNREACHABLE, "origin %d", number)
    Crawl.of(crawler).log.add(Topic.READ, "another kind")
    crawler.signals.send_catch_log(signals.spider_closed)
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


def test_ten_messages_are_all_shown(caplog: pytest.LogCaptureFixture) -> None:
    assert messages(10, caplog) == [f"origin {number}" for number in range(10)]


def test_each_kind_is_counted_for_itself(caplog: pytest.LogCaptureFixture) -> None:
    messages(10, caplog)
    assert "another kind" in caplog.messages


def test_those_beyond_ten_become_one_sum(caplog: pytest.LogCaptureFixture) -> None:
    assert messages(13, caplog)[9:] == ["origin 9", "robots.txt of 3 more origins is unreachable"]


def test_a_sum_of_one_is_singular(caplog: pytest.LogCaptureFixture) -> None:
    assert messages(11, caplog)[-1] == "robots.txt of 1 more origin is unreachable"


def test_each_crawl_has_a_log_of_its_own() -> None:
    first, second = get_crawler(), get_crawler()
    assert Crawl.of(first).log is Crawl.of(first).log is not Crawl.of(second).log
