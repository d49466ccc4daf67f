"""The permits of one crawl at a download slot: acquired when they can be used, used once, or released."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import pairwise
from math import inf
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy.statscollectors import StatsCollector
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred

from scrapy_rep.clock import clock
from scrapy_rep.pacing.limiter import Permit, RateLimiterAwayError
from scrapy_rep.pacing.permits import Permits, SharedSlot, SlotPermits
from tests.support.in_process import crawler_at_rest, in_the_loop, settle
from tests.support.simulation import Simulation

KEY = "example.com"
BEGAN = Simulation().now
NOW = Permit(starts_at=BEGAN, ask_at=BEGAN, number=1, expires_at=BEGAN + 60, is_awaited=True)
ALONE = replace(NOW, is_awaited=False)
LATER = Permit(starts_at=inf, ask_at=BEGAN + 0.01, number=0, expires_at=BEGAN)


@pytest.fixture(autouse=True)
def _waiting_takes_no_time(clock: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    async def sleep(seconds: float) -> None:
        clock.now += seconds
        await asyncio.sleep(0)

    for module in ("pacing.permits", "runtime.event_loop"):
        monkeypatch.setattr(f"scrapy_rep.{module}.sleep", sleep)


class Limiter:
    """Gives one answer after another, and records questions and reports."""

    def __init__(self, *answers: Permit | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[dict[str, Any]] = []
        self.asked_at: list[float] = []
        self.reported: list[tuple[str, int]] = []
        self.ago: list[float] = []
        self.is_settling = False

    async def acquire(self, key: str, delay: float, **question: Any) -> Permit:
        self.asked.append({"delay": delay, **question})
        self.asked_at.append(clock.monotonic())
        await asyncio.sleep(0)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def close(self, key: str, number: int, ago: float | None) -> None:
        self.reported.append(("released" if ago is None else "started", number))
        if ago is not None:
            self.ago.append(ago)

    async def restart_delay(self, key: str, memory: float) -> None:
        self.reported.append(("marked", 0))


class Bench:
    """The permits at one download slot, which has room."""

    def __init__(self, *answers: Permit | Exception, delay: float = 0.05, workers: int = 1) -> None:
        self.limiter = Limiter(*answers)
        self.engine = SimpleNamespace(is_closing=False)
        self.has_permit = asyncio.Event()
        self.stats = StatsCollector(crawler_at_rest())
        self.last_start = float("-inf")
        download_slots: Any = SimpleNamespace(
            seconds_to_start=lambda *_: 0.0,
            end_delay=lambda _: None,
            last_start=lambda _: self.last_start,
        )
        settings = SimpleNamespace(workers=workers, crawl_delay_max=300.0)
        crawl: Any = SimpleNamespace(
            engine=self.engine, download_slots=download_slots, stats=self.stats, settings=settings
        )
        limiter: Any = self.limiter
        slot = SharedSlot(KEY)
        slot.floor = delay
        self.permits = SlotPermits(slot, Permits(crawl, limiter, self._ready))

    def _ready(self, slot: SharedSlot) -> None:
        assert slot.key == KEY
        self.has_permit.set()

    async def until_there_is_a_permit(self) -> None:
        while self.permits.seconds_to_start() is None:
            self.has_permit.clear()
            await asyncio.wait_for(self.has_permit.wait(), 10)

    def counted(self, stat: str) -> int:
        return self.stats.get_value(f"rep/rate_limiter/{stat}", 0)


@in_the_loop
async def test_the_queue_learns_of_its_permit_and_uses_it_once() -> None:
    bench = Bench(LATER, NOW)
    assert bench.permits.seconds_to_start() is None
    await bench.until_there_is_a_permit()
    assert bench.permits.use()
    assert not bench.permits.use()
    await settle()
    assert bench.limiter.reported == [("started", 1)]
    assert bench.counted("permit_count") == 1


@in_the_loop
async def test_the_delay_of_others_counts_from_the_start_and_not_from_the_use_of_the_permit_before_it(
    clock: Simulation,
) -> None:
    bench = Bench(NOW)
    await bench.until_there_is_a_permit()
    assert bench.permits.use()
    bench.permits.last_start = clock.now - 20
    bench.last_start = clock.now - 10
    await settle()
    await bench.until_there_is_a_permit()
    assert (bench.limiter.ago[0], bench.limiter.asked[-1]["since"]) == (10, 10)


@in_the_loop
async def test_the_permit_of_a_request_that_is_dropped_goes_to_the_next_one() -> None:
    bench = Bench(NOW)
    await bench.until_there_is_a_permit()
    assert bench.permits.seconds_to_start() == 0  # the first one was handed out, and dropped
    assert bench.permits.use()
    assert len(bench.limiter.asked) == 1


@in_the_loop
async def test_a_permit_that_no_request_needs_is_released() -> None:
    bench = Bench(NOW)
    await bench.until_there_is_a_permit()
    bench.permits.release()
    await settle()
    assert bench.limiter.reported == [("released", 1)]
    assert not bench.permits.use()


@in_the_loop
async def test_a_permit_that_has_expired_is_not_used_but_asked_for_anew() -> None:
    bench = Bench(Permit(BEGAN, BEGAN, 7, expires_at=BEGAN), Permit(BEGAN, BEGAN, 8, expires_at=BEGAN + 60))
    await bench.until_there_is_a_permit()
    assert bench.permits.use()
    assert [question["missed"] for question in bench.limiter.asked] == [-1, 7]
    assert bench.counted("expired_count") == 1


@in_the_loop
async def test_a_permit_is_not_used_before_its_time() -> None:
    bench = Bench(Permit(BEGAN + 60, BEGAN, 1, expires_at=BEGAN + 120))
    await bench.until_there_is_a_permit()
    assert bench.permits.seconds_to_start() == 60
    assert not bench.permits.use()


@in_the_loop
async def test_requests_from_elsewhere_take_permits_one_by_one_and_robots_txt_comes_first() -> None:
    bench = Bench(LATER, NOW)
    went: list[str] = []

    async def go(name: str, *, first: bool = False) -> None:
        assert await bench.permits.wait(first=first)
        went.append(name)

    await asyncio.wait_for(asyncio.gather(go("page"), go("other"), go("robots.txt", first=True)), 10)
    assert went == ["robots.txt", "page", "other"]
    assert bench.counted("permit_count") == 3


@pytest.fixture
def resumed_late(clock: Simulation, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds after which a busy event loop resumes the one that waits: of each that waits in turn."""
    late: list[float] = []

    async def resume_late(waiter: Deferred[Any]) -> Any:
        result = await maybe_deferred_to_future(waiter)
        clock.now += late.pop(0)
        return result

    monkeypatch.setattr("scrapy_rep.pacing.permits.maybe_deferred_to_future", resume_late)
    return late


@in_the_loop
async def test_a_request_from_elsewhere_that_is_resumed_after_its_permit_has_expired_waits_for_another_one(
    resumed_late: list[float],
) -> None:
    bench = Bench(
        Permit(BEGAN, BEGAN, 7, expires_at=BEGAN + 0.25),
        Permit(BEGAN, BEGAN, 8, expires_at=BEGAN + 60, is_awaited=True),
    )
    resumed_late += [0.3, 0.0]
    assert await asyncio.wait_for(bench.permits.wait(first=False), 10)
    await settle()
    assert [question["missed"] for question in bench.limiter.asked] == [-1, 7]
    assert bench.limiter.reported == [("started", 8)]
    assert (bench.counted("expired_count"), bench.counted("permit_count")) == (1, 1)


@in_the_loop
async def test_the_limiter_is_asked_for_the_next_permit_after_the_start_before_it_however_late_that_is(
    clock: Simulation,
    resumed_late: list[float],
) -> None:
    bench = Bench(NOW)
    resumed_late += [0.2, 0.0]
    await asyncio.wait_for(asyncio.gather(*(bench.permits.wait(first=False) for _ in range(2))), 10)
    assert bench.limiter.asked_at == [BEGAN, BEGAN + 0.2]
    assert bench.limiter.asked[1]["since"] == 0
    assert clock.now == BEGAN + 0.2


@in_the_loop
async def test_when_the_crawl_closes_those_who_wait_are_let_go_without_a_permit() -> None:
    bench = Bench(Permit(inf, BEGAN + 60, 0, BEGAN))
    waiting = asyncio.gather(bench.permits.wait(first=False), bench.permits.wait(first=False))
    await settle()
    bench.engine.is_closing = True
    assert list(await asyncio.wait_for(waiting, 10)) == [False, False]


@in_the_loop
async def test_without_the_limiter_the_crawl_keeps_as_many_times_the_delay_as_there_are_workers(
    clock: Simulation,
) -> None:
    bench = Bench(RateLimiterAwayError("away"), delay=0.05, workers=3)
    starts = []
    for _ in range(3):
        assert await asyncio.wait_for(bench.permits.wait(first=False), 10)
        starts.append(clock.now)
    assert [after - before for before, after in pairwise(starts)] == pytest.approx([3 * 0.05] * 2)
    assert bench.counted("local_permit_count") == 3


@in_the_loop
async def test_while_others_may_still_go_by_their_own_clocks_the_longer_delay_is_asked_for() -> None:
    bench = Bench(NOW, delay=2.0, workers=4)
    bench.limiter.is_settling = True
    await bench.until_there_is_a_permit()
    assert bench.limiter.asked[0]["delay"] == 8.0


@in_the_loop
async def test_an_error_of_the_limiter_reaches_those_who_wait_and_is_not_asked_for_again_at_once(
    clock: Simulation,
) -> None:
    bench = Bench(LookupError("broken"))
    with pytest.raises(LookupError):
        await asyncio.wait_for(bench.permits.wait(first=False), 10)
    began = clock.now
    assert bench.permits.seconds_to_start() is None
    await settle()
    assert len(bench.limiter.asked) == 2
    assert clock.now >= began + 0.5


@in_the_loop
async def test_a_start_that_no_other_process_waits_for_is_reported_with_the_next_question(
    clock: Simulation,
) -> None:
    bench = Bench(ALONE)
    await bench.until_there_is_a_permit()
    assert bench.permits.use()
    await settle()
    clock.now += 1
    await bench.until_there_is_a_permit()
    bench.permits.release()
    await settle()
    assert [question["since"] for question in bench.limiter.asked] == [None, 1]
    assert bench.limiter.reported == [("released", 1)]


@in_the_loop
async def test_when_no_request_is_left_the_last_start_is_reported_once(clock: Simulation) -> None:
    bench = Bench(ALONE)
    await bench.until_there_is_a_permit()
    assert bench.permits.use()
    clock.now += 3
    for _ in range(2):
        bench.permits.release()
        await settle()
    assert (bench.limiter.reported, bench.limiter.ago) == ([("started", 1)], [3])


@in_the_loop
async def test_a_start_that_was_not_reported_is_remembered_until_its_permit_has_long_expired(
    clock: Simulation,
) -> None:
    bench = Bench(ALONE)
    await bench.until_there_is_a_permit()
    assert bench.permits.use()
    await settle()
    assert not bench.permits.is_idle
    clock.now += 200
    assert bench.permits.is_idle


@in_the_loop
async def test_the_last_start_is_reported_with_the_next_question() -> None:
    bench = Bench(NOW)
    await bench.permits.restart_delay()
    await bench.until_there_is_a_permit()
    assert bench.limiter.reported == [("marked", 0)]
    assert bench.limiter.asked[0]["since"] is not None
