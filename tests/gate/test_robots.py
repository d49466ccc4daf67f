"""How long an entry in memory is used."""

from __future__ import annotations

from scrapy_rep.crawl.robot_parser import RepRobotParser
from scrapy_rep.gate.robots import Robots
from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.freshness import Entry

NOW = 1_800_000_000.0
ORIGIN = Origin("https", "example.com", 443)


def test_an_entry_in_memory_holds_until_its_time_is_over_or_the_clock_was_put_back() -> None:
    entry = Entry(ORIGIN, Access.SUCCESSFUL, ORIGIN.robots_url, 200, b"", (), NOW, NOW + 100, tried_at=NOW)
    robots = Robots(entry, Access.SUCCESSFUL, NOW + 100, RepRobotParser(b""))
    assert robots.holds(NOW + 99)
    assert not robots.holds(NOW + 100)
    assert robots.holds(NOW - 30)
    assert not robots.holds(NOW - 3_600)


def test_ten_thousand_ordinary_entries_fit_in_the_default_memory() -> None:
    body = b"User-agent: *\n" + b"".join(b"Disallow: /a/%d\n" % number for number in range(300))
    entry = Entry(ORIGIN, Access.SUCCESSFUL, ORIGIN.robots_url, 200, body, (), NOW, NOW + 100, tried_at=NOW)
    robots = Robots(entry, Access.SUCCESSFUL, NOW + 100, RepRobotParser(body))
    assert len(body) > 5_000
    assert 3 * len(body) < robots.octets < 3 * len(body) + 5_200
    assert 10_000 * (3 * 1_385 + 5_200) < 134_217_728  # the mean of real files of 0.3 to 5 kB
