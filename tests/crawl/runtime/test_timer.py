"""Any number of calls by one timer."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count, islice
from types import SimpleNamespace
from typing import Any

import pytest

from scrapy_rep.crawl.runtime.event_loop import Timer
from tests.support.simulation import Simulation


@pytest.fixture
def timer(clock: Simulation) -> Timer:
    return Timer()


def test_calls_come_in_the_order_of_their_times(timer: Timer, clock: Simulation) -> None:
    calls: list[str] = []
    timer.call_after(2, lambda: calls.append("second"))
    timer.call_after(1, lambda: calls.append("first"))
    timer.call_after(3, lambda: calls.append("third"))
    clock.advance(2.5)
    assert calls == ["first", "second"]
    clock.advance(1)
    assert calls == ["first", "second", "third"]


def test_a_thousand_calls_take_one_timer(timer: Timer, clock: Simulation) -> None:
    for number in range(1_000):
        timer.call_after(number + 1, lambda: None)
    assert (len(timer), clock.timers) == (1_000, 1)


def test_a_call_may_ask_for_another(timer: Timer, clock: Simulation) -> None:
    times, began = list[float](), clock.now

    def again() -> None:
        times.append(clock.now)
        if len(times) < 3:
            timer.call_after(1, again)

    timer.call_after(1, again)
    clock.advance(10)
    assert times == [began + 1, began + 2, began + 3]


def test_a_call_that_is_due_again_at_once_lets_the_loop_run_before(
    timer: Timer, clock: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks, turns, calls = count(clock.now), list[Callable[[], None]](), list[float]()

    def call_later(_: float, fire: Callable[[], None]) -> Any:
        turns.append(fire)
        return SimpleNamespace(cancel=lambda: None)

    def again() -> None:
        calls.append(clock.now)
        assert len(calls) <= len(turns), "the loop has no turn"
        timer.call_after(1e-7, again)

    monkeypatch.setattr("scrapy_rep.clock.clock.monotonic", lambda: float(next(ticks)))
    monkeypatch.setattr("scrapy_rep.crawl.runtime.event_loop.call_later", call_later)
    timer.call_after(1, again)
    for fire in islice(turns, 3):
        fire()
    assert (len(calls), len(turns)) == (3, 4)


def test_a_call_that_fails_takes_no_other_along(timer: Timer, clock: Simulation) -> None:
    calls: list[str] = []

    def fail() -> None:
        raise LookupError

    timer.call_after(1, fail)
    timer.call_after(1, lambda: calls.append("next"))
    with pytest.raises(LookupError):
        clock.advance(1)
    clock.advance(1)
    assert calls == ["next"]


def test_nothing_is_called_after_the_stop(timer: Timer, clock: Simulation) -> None:
    timer.call_after(1, lambda: pytest.fail("called"))
    timer.stop()
    clock.advance(2)
    assert (len(timer), clock.timers) == (0, 0)
