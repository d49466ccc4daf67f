"""The turns of one crawl at a download slot: asked for when they can be used, used once, or given back."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy.statscollectors import StatsCollector

from scrapy_rep.politeness.rate_limiter import RateLimiterAwayError, Turn
from scrapy_rep.politeness.turns import Sharing, SlotTurns
from tests.support.in_process import crawler_at_rest, in_the_loop

KEY = "example.com"
NOW = Turn(starts_in=0.0, wait=0.0, number=1, lapses_in=60.0)
LATER = Turn(starts_in=None, wait=0.01, number=0, lapses_in=0.0)


class Limiter:
    """Answers as it is told, one answer after another, and notes what it is asked and told."""

    def __init__(self, *answers: Turn | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[dict[str, Any]] = []
        self.told: list[tuple[str, int]] = []
        self.is_settling = False

    async def acquire(self, key: str, delay: float, **question: Any) -> Turn:
        self.asked.append({"delay": delay, **question})
        await asyncio.sleep(0)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def started(self, key: str, number: int, ago: float) -> None:
        self.told.append(("started", number))

    async def give_back(self, key: str, number: int) -> None:
        self.told.append(("given back", number))

    async def mark(self, key: str, memory: float) -> None:
        self.told.append(("marked", 0))


class Bench:
    """The turns at one download slot, which has room."""

    def __init__(self, *answers: Turn | Exception, delay: float = 0.05, workers: int = 1) -> None:
        self.limiter = Limiter(*answers)
        self.engine = SimpleNamespace(is_closing=False)
        self.has_turn = asyncio.Event()
        self.stats = StatsCollector(crawler_at_rest())
        downloader: Any = SimpleNamespace(seconds_to_start=lambda *_: 0.0, end_pause=lambda _: None)
        limiter: Any = self.limiter
        engine: Any = self.engine
        self.turns = SlotTurns(
            KEY,
            Sharing(limiter, engine, downloader, self.stats, lambda _: delay, self._ready, workers, longest=300.0),
        )

    def _ready(self, key: str) -> None:
        assert key == KEY
        self.has_turn.set()

    async def until_there_is_a_turn(self) -> None:
        while self.turns.seconds_to_start() is None:
            self.has_turn.clear()
            await asyncio.wait_for(self.has_turn.wait(), 10)

    def counted(self, stat: str) -> int:
        return self.stats.get_value(f"rep/rate_limiter/{stat}", 0)


@in_the_loop
async def test_the_queue_is_told_when_its_turn_has_come_and_uses_it_once() -> None:
    bench = Bench(LATER, NOW)
    assert bench.turns.seconds_to_start() is None
    await bench.until_there_is_a_turn()
    assert bench.turns.use()
    assert not bench.turns.use()
    await asyncio.sleep(0.01)
    assert bench.limiter.told == [("started", 1)]
    assert bench.counted("turn_count") == 1


@in_the_loop
async def test_the_turn_of_a_request_that_is_dropped_goes_to_the_next_one() -> None:
    bench = Bench(NOW)
    await bench.until_there_is_a_turn()
    assert bench.turns.seconds_to_start() == 0  # the first one was handed out, and dropped
    assert bench.turns.use()
    assert len(bench.limiter.asked) == 1


@in_the_loop
async def test_a_turn_that_nobody_needs_is_given_back() -> None:
    bench = Bench(NOW)
    await bench.until_there_is_a_turn()
    bench.turns.give_back()
    await asyncio.sleep(0.01)
    assert bench.limiter.told == [("given back", 1)]
    assert not bench.turns.use()


@in_the_loop
async def test_a_turn_that_has_lapsed_is_not_used_but_asked_for_anew() -> None:
    bench = Bench(Turn(0.0, 0.0, 7, lapses_in=0.0), Turn(0.0, 0.0, 8, lapses_in=60.0))
    await bench.until_there_is_a_turn()
    assert bench.turns.use()
    assert [question["missed"] for question in bench.limiter.asked] == [None, 7]
    assert bench.counted("lapsed_count") == 1


@in_the_loop
async def test_a_turn_is_not_used_before_its_time() -> None:
    bench = Bench(Turn(60.0, 0.0, 1, lapses_in=120.0))
    await bench.until_there_is_a_turn()
    assert 50 < (bench.turns.seconds_to_start() or 0) <= 60
    assert not bench.turns.use()


@in_the_loop
async def test_requests_from_elsewhere_take_turns_one_by_one_and_robots_txt_comes_first() -> None:
    bench = Bench(LATER, NOW)
    went: list[str] = []

    async def go(name: str, *, first: bool = False) -> None:
        assert await bench.turns.wait(first=first)
        went.append(name)

    await asyncio.wait_for(asyncio.gather(go("page"), go("other"), go("robots.txt", first=True)), 10)
    assert went == ["robots.txt", "page", "other"]
    assert bench.counted("turn_count") == 3


@in_the_loop
async def test_when_the_crawl_closes_those_who_wait_are_let_go_without_a_turn() -> None:
    bench = Bench(Turn(None, 60.0, 0, 0.0))
    waiting = asyncio.gather(bench.turns.wait(first=False), bench.turns.wait(first=False))
    await asyncio.sleep(0.05)
    bench.engine.is_closing = True
    assert list(await asyncio.wait_for(waiting, 10)) == [False, False]


@in_the_loop
async def test_without_the_limiter_the_crawl_keeps_as_many_times_the_delay_as_there_are_workers() -> None:
    bench = Bench(RateLimiterAwayError("away"), delay=0.05, workers=3)
    loop = asyncio.get_running_loop()
    starts = []
    for _ in range(3):
        assert await asyncio.wait_for(bench.turns.wait(first=False), 10)
        starts.append(loop.time())
    assert starts[2] - starts[0] >= 2 * 3 * 0.05
    assert bench.counted("own_turn_count") == 3


@in_the_loop
async def test_while_others_may_still_go_by_their_own_clocks_the_longer_delay_is_asked_for() -> None:
    bench = Bench(NOW, delay=2.0, workers=4)
    bench.limiter.is_settling = True
    await bench.until_there_is_a_turn()
    assert bench.limiter.asked[0]["delay"] == 8.0


@in_the_loop
async def test_an_error_of_the_limiter_reaches_those_who_wait_and_is_not_asked_for_again_at_once() -> None:
    bench = Bench(LookupError("broken"))
    with pytest.raises(LookupError):
        await asyncio.wait_for(bench.turns.wait(first=False), 10)
    assert bench.turns.seconds_to_start() is None
    await asyncio.sleep(0.1)
    assert len(bench.limiter.asked) == 1


@in_the_loop
async def test_the_start_that_it_knows_of_is_told_with_the_next_question() -> None:
    bench = Bench(NOW)
    await bench.turns.mark()
    await bench.until_there_is_a_turn()
    assert bench.limiter.told == [("marked", 0)]
    assert bench.limiter.asked[0]["since"] is not None
