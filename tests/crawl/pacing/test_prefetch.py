"""How many robots.txt are fetched ahead, and that a fetch that hangs keeps no other from starting."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request
from scrapy.statscollectors import StatsCollector

from scrapy_rep.clock import clock
from scrapy_rep.crawl.pacing import prefetch
from scrapy_rep.crawl.pacing.prefetch import Prefetcher
from scrapy_rep.crawl.robots.origins import Origins
from scrapy_rep.crawl.runtime.event_loop import Timer
from scrapy_rep.crawl.runtime.events import Events
from tests.support.in_process import crawler_at_rest
from tests.support.simulation import Simulation


class Robots:
    """Fetches that end when they are told to."""

    def __init__(self, origins: Origins, events: Events) -> None:
        self.ends: set[str] = set()
        self.downloads = 0
        self.registry = self
        self._origins, self._events = origins, events

    @property
    def is_fetching(self) -> bool:
        return bool(self.ends)

    def state_to_ask(self, request: Request) -> Any:
        return request.url

    def flight(self, _: Any, request: Request) -> None:
        self.downloads += 1
        self.ends.add(request.url)

    def end(self, url: str) -> None:
        self.downloads -= 1
        self.ends.remove(url)
        self._events.landed.send(self._origins.at(url))


class Waiting:
    """One request of one origin."""

    def __init__(self, origins: Origins, number: int, *, is_gone: bool = False) -> None:
        self.url = f"http://h{number}.example/"
        self.state = origins.at(self.url)
        self.is_gone = is_gone
        self.admitted = 0
        self.owner = self

    def peek_in(self, _: Waiting) -> Request | None:
        return None if self.is_gone else Request(self.url)

    def admit(self) -> None:
        self.admitted += 1

    def __len__(self) -> int:
        return 1


class Bench:
    def __init__(self, clock: Simulation) -> None:
        self.clock = clock
        self.origins, events = Origins(10_000, 1), Events()
        self.robots = Robots(self.origins, events)
        self.engine = SimpleNamespace(is_running=True, is_closing=False, wake=lambda: None)
        self.is_enough = False
        self.stats = StatsCollector(crawler_at_rest())
        robots: Any = self.robots
        crawl: Any = SimpleNamespace(engine=self.engine, stats=self.stats, events=events)
        admit: Any = Waiting.admit
        self.prefetcher = Prefetcher(crawl, robots, Timer(), lambda: self.is_enough, admit)

    def add(self, number: int, **kwargs: Any) -> Waiting:
        waiting = Waiting(self.origins, number, **kwargs)
        self.prefetcher.add(waiting)  # type: ignore[arg-type]
        return waiting


@pytest.fixture
def bench(clock: Simulation) -> Bench:
    return Bench(clock)


def test_so_many_are_fetched_at_once_and_the_others_when_one_has_come(bench: Bench) -> None:
    for number in range(200):
        bench.add(number)
    assert len(bench.robots.ends) == prefetch.MAX_RECENT
    bench.robots.end("http://h0.example/")
    assert len(bench.robots.ends) == prefetch.MAX_RECENT
    assert f"http://h{prefetch.MAX_RECENT}.example/" in bench.robots.ends


def test_those_that_hang_keep_no_others_from_being_fetched(bench: Bench) -> None:
    for number in range(200):
        bench.add(number)
    bench.clock.advance(prefetch.SLOW_AFTER + 0.3)
    assert len(bench.robots.ends) == 2 * prefetch.MAX_RECENT


def test_those_that_hang_are_bounded_too(bench: Bench) -> None:
    for number in range(2_000):
        bench.add(number)
    bench.clock.advance(60)
    assert len(bench.robots.ends) == prefetch.MAX_DOWNLOADS


def test_one_between_attempts_takes_no_download(bench: Bench) -> None:
    for number in range(2_000):
        bench.add(number)
    bench.clock.advance(60)
    bench.robots.downloads = 0  # all of them wait for their next attempt
    bench.clock.advance(60)
    assert len(bench.robots.ends) == 2 * prefetch.MAX_DOWNLOADS


def test_nothing_is_fetched_while_enough_requests_are_ready(bench: Bench) -> None:
    bench.is_enough = True
    bench.add(1)
    assert not bench.robots.ends
    bench.is_enough = False
    bench.prefetcher.start()
    assert len(bench.robots.ends) == 1


def test_all_who_wait_for_an_origin_are_admitted_by_one_fetch_and_counted(bench: Bench) -> None:
    both = [bench.add(1), bench.add(1)]
    assert len(bench.robots.ends) == 1
    bench.robots.end(both[0].url)
    assert [waiting.admitted for waiting in both] == [1, 1]
    assert bench.stats.get_value("rep/waited_count") == 2


def test_an_origin_without_requests_is_not_fetched(bench: Bench) -> None:
    bench.is_enough = True
    bench.add(1, is_gone=True)
    bench.is_enough = False
    bench.prefetcher.start()
    assert not bench.robots.ends


def test_nothing_is_fetched_before_the_crawl_runs(bench: Bench) -> None:
    bench.engine.is_running = False
    bench.add(1)
    bench.clock.advance(1)
    assert not bench.robots.ends
    bench.engine.is_running = True
    bench.clock.advance(1)
    assert len(bench.robots.ends) == 1


def test_when_the_crawl_closes_nobody_is_admitted(bench: Bench) -> None:
    waiting = bench.add(1)
    bench.engine.is_closing = True
    bench.clock.advance(0.3)
    bench.robots.end(waiting.url)
    assert (waiting.admitted, bench.clock.timers) == (0, 0)


def test_on_a_busy_cpu_healthy_fetches_do_not_count_as_hanging(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "process_time", lambda: 0.9 * bench.clock.now)
    for number in range(200):
        bench.add(number)
    bench.clock.advance(prefetch.SLOW_AFTER + 0.3)
    assert len(bench.robots.ends) == prefetch.MAX_RECENT
    bench.clock.advance(10 * prefetch.SLOW_AFTER)
    assert len(bench.robots.ends) == 2 * prefetch.MAX_RECENT
