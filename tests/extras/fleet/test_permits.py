"""What one crawl and the limiter say to each other about a site."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import pairwise
from math import inf
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy.statscollectors import StatsCollector

from scrapy_rep.clock import clock
from scrapy_rep.crawl.pacing.slots import Site
from scrapy_rep.extras.fleet.limiter import LEAD, Permit, RateLimiterAwayError
from scrapy_rep.extras.fleet.permits import Permits
from scrapy_rep.protocol import Origin
from tests.support.in_process import crawler_at_rest, in_the_loop, settle
from tests.support.simulation import Simulation

SOURCE = (Origin.from_url("http://example.com"), ("mybot",))
BEGAN = Simulation().now
NOW = Permit(starts_at=BEGAN, ask_at=BEGAN, number=1, expires_at=BEGAN + 60, is_awaited=True)
ALONE = replace(NOW, is_awaited=False)
LATER = Permit(starts_at=inf, ask_at=BEGAN + 0.01, number=0, expires_at=BEGAN)


@pytest.fixture(autouse=True)
def _waiting_takes_no_time(clock: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    async def sleep(seconds: float) -> None:
        await asyncio.sleep(0)

    monkeypatch.setattr("scrapy_rep.extras.fleet.permits.sleep", sleep)


class Engine:
    """Waits by moving the clock."""

    def __init__(self, simulation: Simulation) -> None:
        self.is_closing = False
        self._simulation = simulation

    async def pause(self, seconds: float) -> bool:
        self._simulation.now += max(seconds, 0.0)
        return not self.is_closing


class Limiter:
    """Gives one answer after another, and records questions and reports."""

    def __init__(self, *answers: Permit | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[dict[str, Any]] = []
        self.asked_at: list[float] = []
        self.reported: list[tuple[int, float | None]] = []
        self.marked: list[str] = []
        self.is_settling = False

    async def acquire(self, site: str, delay: float, **question: Any) -> Permit:
        self.asked.append({"site": site, "delay": delay, **question})
        self.asked_at.append(clock.monotonic())
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def close(self, site: str, number: int, ago: float | None) -> None:
        self.reported.append((number, ago))

    async def restart_delay(self, site: str, memory: float) -> None:
        self.marked.append(site)


class Bench:
    """The permits of one site, which asks for *delay* seconds."""

    def __init__(self, *answers: Permit | Exception, delay: float = 0.5, workers: int = 1) -> None:
        self.limiter = Limiter(*answers)
        self.engine = Engine(clock.monotonic.__self__)  # type: ignore[attr-defined]  # that of the test
        self.stats = StatsCollector(crawler_at_rest())
        settings = SimpleNamespace(workers=workers, crawl_delay_max=300.0)
        crawl: Any = SimpleNamespace(engine=self.engine, stats=self.stats, settings=settings)
        limiter: Any = self.limiter
        self.site = Site("example.com")
        self.site.require(SOURCE, delay)
        self.permits = Permits(crawl, limiter)

    async def start(self) -> float:
        """Start a request as the door does; when that was."""
        permit = await self.permits.acquire(self.site)
        assert permit is not None
        self.site.last_start = clock.monotonic()
        self.permits.use(self.site, permit)
        return self.site.last_start

    def counted(self, stat: str) -> int:
        return self.stats.get_value(f"rep/rate_limiter/{stat}", 0)


@in_the_loop
async def test_a_permit_is_asked_for_until_the_limiter_grants_one() -> None:
    bench = Bench(LATER, NOW)
    await bench.start()
    assert bench.limiter.asked_at == [BEGAN, LATER.ask_at]
    assert bench.counted("permit_count") == 1


@in_the_loop
async def test_the_limiter_is_asked_shortly_before_the_site_could_start_one() -> None:
    bench = Bench(replace(NOW, ask_at=0.0))
    bench.site.last_start = BEGAN - 0.1
    await bench.permits.acquire(bench.site)
    assert bench.limiter.asked_at == [pytest.approx(BEGAN + 0.4 - LEAD / 1e6)]


@in_the_loop
async def test_processes_share_the_name_of_the_site_and_its_delay_with_a_margin() -> None:
    bench = Bench(NOW, delay=2.0)
    await bench.start()
    assert bench.limiter.asked == [
        {"site": "example.com", "delay": 2.01, "since": None, "missed": -1, "more": False}
    ]


@in_the_loop
async def test_a_permit_that_has_expired_is_not_used_but_asked_for_anew() -> None:
    bench = Bench(Permit(BEGAN, BEGAN, 7, expires_at=BEGAN), Permit(BEGAN, BEGAN, 8, expires_at=BEGAN + 60))
    await bench.start()
    assert [question["missed"] for question in bench.limiter.asked] == [-1, 7]
    assert (bench.counted("expired_count"), bench.counted("permit_count")) == (1, 1)


@in_the_loop
async def test_a_permit_is_not_used_before_its_time() -> None:
    bench = Bench(replace(NOW, starts_at=BEGAN + 20))
    assert await bench.start() == BEGAN + 20


@in_the_loop
async def test_a_start_that_others_wait_for_is_reported_at_once() -> None:
    bench = Bench(NOW)
    await bench.start()
    await settle()
    assert bench.limiter.reported == [(1, 0.0)]


@in_the_loop
async def test_a_start_that_no_other_process_waits_for_is_reported_with_the_next_question(
    clock: Simulation,
) -> None:
    bench = Bench(replace(ALONE, ask_at=0.0))
    await bench.start()
    clock.now += 1
    await bench.start()
    assert [question["since"] for question in bench.limiter.asked] == [None, 1]
    assert bench.limiter.reported == []


@in_the_loop
async def test_more_requests_that_wait_queue_for_the_next_permit() -> None:
    bench = Bench(NOW)
    await bench.site.enter(first=False)
    waiting = asyncio.ensure_future(bench.site.enter(first=False))
    await settle()
    await bench.start()
    assert bench.limiter.asked[0]["more"]
    bench.site.leave()
    await waiting


@in_the_loop
async def test_when_the_crawl_closes_the_wait_ends_without_a_permit() -> None:
    bench = Bench(LATER)
    bench.engine.is_closing = True
    assert await bench.permits.acquire(bench.site) is None


@in_the_loop
async def test_without_the_limiter_the_crawl_keeps_as_many_times_the_delay_as_there_are_workers() -> None:
    bench = Bench(RateLimiterAwayError("away"), delay=0.05, workers=3)
    starts = [await bench.start() for _ in range(3)]
    assert [after - before for before, after in pairwise(starts)] == pytest.approx([3 * 0.05] * 2)
    assert bench.counted("local_permit_count") == 3


@in_the_loop
async def test_while_others_may_still_go_by_their_own_clocks_the_longer_delay_is_asked_for() -> None:
    bench = Bench(NOW, delay=2.0, workers=4)
    bench.limiter.is_settling = True
    await bench.start()
    assert bench.limiter.asked[0]["delay"] == pytest.approx(8.04)


@in_the_loop
async def test_an_error_of_the_limiter_reaches_the_request_that_waits() -> None:
    bench = Bench(LookupError("broken"))
    with pytest.raises(LookupError):
        await bench.permits.acquire(bench.site)


@in_the_loop
async def test_an_answer_of_robots_txt_counts_as_a_start_for_other_processes() -> None:
    bench = Bench(NOW)
    await bench.permits.restart_delay(bench.site)
    assert bench.limiter.marked == ["example.com"]
