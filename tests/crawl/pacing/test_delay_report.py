"""What is said of delays: once for each origin, with the slowest at the end, however many there are."""

from __future__ import annotations

import logging

import pytest

from scrapy_rep.crawl.pacing.delay_report import DelayReport
from scrapy_rep.crawl.pacing.requested_delays import RequestedDelay
from scrapy_rep.crawl.runtime.crawl import Crawl
from scrapy_rep.protocol import Origin
from tests.support.in_process import crawler_at_rest


def report_of(memory_entries: int) -> DelayReport:
    return DelayReport(Crawl.of(crawler_at_rest({"REP_MEMORY_ENTRIES": memory_entries})))


def test_an_origin_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "scrapy_rep")
    report, origin = report_of(10), Origin.from_url("https://a.example")
    for _ in range(3):
        report.obeyed(origin, RequestedDelay(2.0, 3))
    assert caplog.messages == ["robots.txt of https://a.example asks for 2 s between two requests (line 3)"]


@pytest.mark.parametrize("memory_entries", [1, 7, 100])
def test_the_slowest_are_named_although_memory_is_short(
    memory_entries: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "scrapy_rep")
    report = report_of(memory_entries)
    for seconds in [*range(20, 0, -1), 30]:
        report.obeyed(Origin.from_url(f"https://{seconds}.example"), RequestedDelay(float(seconds)))
    report.overridden("slot", 0.0, Origin.from_url("https://slot.example"), RequestedDelay(60.0))
    assert len(report._asked) <= max(memory_entries, 6)
    report.close()
    named = ", ".join(f"https://{seconds}.example {seconds} s" for seconds in (30, 20, 19, 18, 17))
    assert caplog.messages[-1] == f"Longest delays that robots.txt asked for: {named}."
