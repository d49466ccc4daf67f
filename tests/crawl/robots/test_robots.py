"""How long the robots.txt of an origin applies, and how many a crawl keeps."""

from __future__ import annotations

import pytest

from scrapy_rep.protocol import Access, Kind, Origin
from scrapy_rep.protocol.freshness import Entry
from scrapy_rep.protocol.records import kind_of
from scrapy_rep.robots.parser import RepRobotParser
from scrapy_rep.robots.robots import Robots, RobotsCache

NOW = 1_800_000_000.0
A, B, C = (Origin("https", host, 443) for host in ("a.example", "b.example", "c.example"))


def robots_of(origin: Origin, body: bytes = b"") -> Robots:
    entry = Entry(origin, Access.SUCCESSFUL, origin.robots_url, 200, body, (), NOW, NOW + 100, tried_at=NOW)
    return Robots(entry, Access.SUCCESSFUL, NOW + 100, RepRobotParser(body))


def test_robots_are_current_until_their_time_is_over_or_the_clock_was_put_back() -> None:
    robots = robots_of(A)
    assert robots.is_current(NOW + 99)
    assert not robots.is_current(NOW + 100)
    assert robots.is_current(NOW - 30)
    assert not robots.is_current(NOW - 3_600)


def test_robots_are_found_by_their_origin() -> None:
    cache, robots = RobotsCache(2, 100), robots_of(A)
    cache.put(robots, 10)
    assert cache.get(A) is robots
    assert cache.get(B) is None


def test_the_least_recently_used_are_evicted_when_there_are_too_many() -> None:
    cache = RobotsCache(2, 100)
    cache.put(robots_of(A), 1)
    cache.put(robots_of(B), 1)
    cache.get(A)
    cache.put(robots_of(C), 1)
    assert [cache.get(origin) is not None for origin in (A, B, C)] == [True, False, True]
    assert cache.evicted == 1


def test_the_least_recently_used_are_evicted_when_they_are_too_large() -> None:
    cache = RobotsCache(10, 100)
    for origin, octets in ((A, 40), (B, 40), (C, 90)):
        cache.put(robots_of(origin), octets)
    assert [cache.get(origin) is not None for origin in (A, B, C)] == [False, False, True]


def test_new_robots_of_an_origin_free_the_octets_of_the_old_ones() -> None:
    cache = RobotsCache(10, 100)
    for size in (90, 60, 30):
        cache.put(robots_of(A, b"#" * size), size)
    cache.put(robots_of(B), 70)
    kept = cache.get(A)
    assert kept is not None
    assert kept.entry.body == b"#" * 30
    assert cache.get(B) is not None


def test_robots_larger_than_the_bound_are_not_kept_and_evict_no_others() -> None:
    cache = RobotsCache(10, 100)
    cache.put(robots_of(A), 10)
    cache.put(robots_of(B), 90)
    cache.put(robots_of(A), 101)
    assert cache.get(A) is None
    assert cache.get(B) is not None
    assert cache.evicted == 1
    cache.put(robots_of(C), 100)
    assert cache.get(B) is None


def test_ten_thousand_ordinary_origins_fit_in_the_default_memory() -> None:
    body = b"User-agent: *\n" + b"".join(b"Disallow: /a/%d\n" % number for number in range(300))
    assert len(body) > 5_000
    assert len(body) < robots_of(A, body).octets < len(body) + 5_200
    assert 10_000 * (4_165 + 5_200) < 134_217_728  # octets, the mean of real files


@pytest.mark.parametrize("key", ["Crawl-delay", "crawl delay", "CRAWLDELAY", "Request-rate", "visit-TIME"])
def test_robots_that_request_a_delay_of_any_crawler_may_request_delays(key: str) -> None:
    assert kind_of(key.encode()) in {Kind.CRAWL_DELAY, Kind.REQUEST_RATE, Kind.VISIT_TIME}
    assert robots_of(A, f"User-agent: other\n{key}: 1/5\n".encode()).may_request_delays
    assert not robots_of(A, b"User-agent: *\nDisallow: /delicious\nSitemap: /sitemap.xml\n").may_request_delays
