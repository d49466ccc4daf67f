"""The state of each origin, and how many robots.txt files a crawl keeps in memory."""

from __future__ import annotations

import gc

import pytest

from scrapy_rep.clock import clock
from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.freshness import Entry
from scrapy_rep.robots.origins import Origins
from scrapy_rep.robots.parser import RepRobotParser
from scrapy_rep.robots.robots import Robots

A, B, C = (Origin("https", host, 443) for host in ("a.example", "b.example", "c.example"))


def robots_of(origin: Origin, body: bytes = b"") -> Robots:
    now = clock.time()
    entry = Entry(origin, Access.SUCCESSFUL, origin.robots_url, 200, body, (), now, now + 100, tried_at=now)
    return Robots(entry, Access.SUCCESSFUL, now + 100, RepRobotParser(body))


def current(origins: Origins, origin: Origin) -> Robots | None:
    return origins.current(origins.of(origin))


@pytest.mark.parametrize(
    "url",
    [
        "https://a.example",
        "https://a.example/x?y",
        "https://a.example:443/",
        "HTTPS://A.example/",
        "https://u:p@a.example/",
    ],
)
def test_every_spelling_of_an_origin_has_one_state(url: str) -> None:
    origins = Origins(2, 100)
    assert origins.at(url) is origins.at(url) is origins.of(A)
    assert origins.at("https://a.example:8443/") is not origins.of(A)


@pytest.mark.parametrize("url", ["data:,x", "https:///x", "https://a.example:99999/"])
def test_a_url_without_a_robots_txt_has_no_state(url: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        Origins(2, 100).at(url)


def test_a_state_that_somebody_holds_stays_the_one_of_its_origin() -> None:
    origins = Origins(1, 100)
    held = origins.at("https://a.example/")
    for number in range(10):
        origins.at(f"https://h{number}.example/")
    gc.collect()
    assert origins.of(A) is held
    assert len(origins._states) < 5


def test_robots_are_found_by_their_origin() -> None:
    origins, robots = Origins(2, 100), robots_of(A)
    origins.put(robots, 10)
    assert current(origins, A) is robots
    assert current(origins, B) is None


def test_the_least_recently_used_are_evicted_when_there_are_too_many() -> None:
    origins = Origins(2, 100)
    origins.put(robots_of(A), 1)
    origins.put(robots_of(B), 1)
    current(origins, A)
    origins.put(robots_of(C), 1)
    assert [current(origins, origin) is not None for origin in (A, B, C)] == [True, False, True]
    assert origins.evicted == 1


def test_the_least_recently_used_are_evicted_when_they_are_too_large() -> None:
    origins = Origins(10, 100)
    for origin, octets in ((A, 40), (B, 40), (C, 90)):
        origins.put(robots_of(origin), octets)
    assert [current(origins, origin) is not None for origin in (A, B, C)] == [False, False, True]


def test_new_robots_of_an_origin_free_the_octets_of_the_old_ones() -> None:
    origins = Origins(10, 100)
    for size in (90, 60, 30):
        origins.put(robots_of(A, b"#" * size), size)
    origins.put(robots_of(B), 70)
    kept = current(origins, A)
    assert kept is not None
    assert kept.entry.body == b"#" * 30
    assert current(origins, B) is not None


def test_robots_larger_than_the_bound_are_not_kept_and_evict_no_others() -> None:
    origins = Origins(10, 100)
    origins.put(robots_of(A), 10)
    origins.put(robots_of(B), 90)
    origins.put(robots_of(A), 101)
    assert current(origins, A) is None
    assert current(origins, B) is not None
    assert origins.evicted == 1
    origins.put(robots_of(C), 100)
    assert current(origins, B) is None
