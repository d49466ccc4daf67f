"""How long the robots.txt of an origin applies, and how many a crawl keeps."""

from __future__ import annotations

from pathlib import Path

import pytest

from scrapy_rep.crawl.robots.parser import RepRobotParser
from scrapy_rep.crawl.robots.robots import Robots
from scrapy_rep.protocol import ENGINE, Access, Kind, Origin
from scrapy_rep.protocol.freshness import Entry
from scrapy_rep.protocol.records import kind_of
from tests.protocol.test_google_verdicts import FOLDER, bodies
from tests.support.memory import octets_kept

NOW = 1_800_000_000.0
A = Origin("https", "a.example", 443)


def robots_of(origin: Origin, body: bytes = b"") -> Robots:
    entry = Entry(origin, Access.SUCCESSFUL, origin.robots_url, 200, body, (), NOW, NOW + 100, tried_at=NOW)
    return Robots(entry, Access.SUCCESSFUL, NOW + 100, RepRobotParser(body))


def test_robots_are_current_until_their_time_is_over_or_the_clock_was_put_back() -> None:
    robots = robots_of(A)
    assert robots.is_current(NOW + 99)
    assert not robots.is_current(NOW + 100)
    assert robots.is_current(NOW - 30)
    assert not robots.is_current(NOW - 3_600)


@pytest.mark.skipif(ENGINE != "c", reason="plain Python keeps an object for each rule")
def test_ten_thousand_ordinary_origins_fit_in_the_default_memory() -> None:
    lines = (b"Disallow: /a/long/path/on/line/%d\n" % number for number in range(135))
    body = b"User-agent: *\n" + b"".join(lines)
    assert len(body) > 4_432  # octets and lines, the means of real files
    assert len(body) < robots_of(A, body).octets < 134_217_728 / 10_000


@pytest.mark.untraced
@pytest.mark.skipif(not FOLDER, reason="SCRAPY_REP_CORPUS names no folder")
def test_real_origins_take_about_the_memory_that_counts_towards_the_bound() -> None:
    def asked() -> list[Robots]:
        some = list(bodies(Path(FOLDER)).values())[::10]
        known = [robots_of(A, bytes(bytearray(body))) for body in some]
        for robots in known:
            robots.parser.allowed("https://a.example/x?y", "scrapy")
        return known

    said = sum(robots.octets for robots in asked())
    assert said / 1.5 < octets_kept(asked) < said * 1.5


@pytest.mark.parametrize("key", ["Crawl-delay", "crawl delay", "CRAWLDELAY"])
def test_robots_that_request_a_delay_of_any_crawler_may_request_delays(key: str) -> None:
    assert kind_of(key.encode()) is Kind.CRAWL_DELAY
    assert robots_of(A, f"User-agent: other\n{key}: 1/5\n".encode()).may_request_delays
    others = b"User-agent: *\nDisallow: /delicious\nRequest-rate: 1/5\nVisit-time: 0600-0845\n"
    assert not robots_of(A, others).may_request_delays
