"""Messages per origin: the first ten, then one sum."""

from __future__ import annotations

import logging

import pytest

from scrapy_rep.runtime.log import OriginLog


def messages(count: int, caplog: pytest.LogCaptureFixture) -> list[str]:
    caplog.set_level(logging.INFO)
    log = OriginLog(logging.getLogger("origins"), logging.INFO, "%d more")
    for number in range(count):
        log.add("origin %d", number)
    log.close()
    return caplog.messages


def test_ten_messages_are_all_shown(caplog: pytest.LogCaptureFixture) -> None:
    assert messages(10, caplog) == [f"origin {number}" for number in range(10)]


def test_those_beyond_ten_become_one_sum(caplog: pytest.LogCaptureFixture) -> None:
    assert messages(13, caplog)[9:] == ["origin 9", "3 more"]


def test_a_sum_of_one_is_singular(caplog: pytest.LogCaptureFixture) -> None:
    log = OriginLog(logging.getLogger("origins"), logging.WARNING, "robots.txt of %d more origins is unreachable")
    for number in range(11):
        log.add("origin %d", number)
    log.close()
    assert caplog.messages[-1] == "robots.txt of 1 more origin is unreachable"
