"""What is remembered of download slots: as much as is needed, however many a crawl meets."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from scrapy_rep.crawl.pacing.download_slots import SlotStates, Waits
from scrapy_rep.crawl.pacing.slots import SlotState
from scrapy_rep.protocol import Origin
from tests.support.simulation import Simulation


class Scrapys:
    """Download slots that Scrapy drops when it is told to."""

    def __init__(self) -> None:
        self.delays: dict[str, tuple[float, float]] = {}

    def join(self, keys: list[str]) -> None:
        self.delays.setdefault(keys[0], (0.0, 0.0))

    def delay(self, key: str) -> tuple[float, float] | None:
        return self.delays.get(key)

    def set_delay(self, key: str, delay: float, jitter: float) -> None:
        self.delays[key] = delay, jitter


def states(download_slots: Any, most_delayed: int) -> SlotStates:
    crawl: Any = SimpleNamespace(
        download_slots=download_slots, settings=SimpleNamespace(memory_entries=most_delayed)
    )
    return SlotStates(crawl)


def require(slots: SlotStates, number: int, seconds: float) -> bool:
    source = Origin.from_url(f"https://{number}.example"), ("mybot",)
    return slots.require(f"{number}.example", source, seconds)


def fill(most_delayed: int, *, is_dropped: bool) -> tuple[SlotStates, Scrapys]:
    downloader = Scrapys()
    slots = states(downloader, most_delayed)
    for number in range(1_000):
        assert require(slots, number, 2.0)
        if is_dropped:
            downloader.delays.clear()
    return slots, downloader


def test_a_delay_is_remembered_although_scrapy_has_dropped_the_slot() -> None:
    slots, downloader = fill(10_000, is_dropped=True)
    assert len(slots.delayed) == len(slots) == 1_000
    slots.apply("0.example")
    assert downloader.delays["0.example"] == (2.01, 0.0)


def test_of_too_many_those_that_scrapy_has_dropped_are_forgotten() -> None:
    slots, _ = fill(10, is_dropped=True)
    assert len(slots.delayed) == len(slots) <= 64
    assert require(slots, 0, 2.0)


def test_those_that_scrapy_has_are_never_forgotten() -> None:
    slots, _ = fill(10, is_dropped=False)
    assert len(slots.delayed) == 1_000


@pytest.mark.parametrize("used", ["queued", "handed_out"])
def test_one_with_requests_is_never_forgotten(used: str) -> None:
    slots = states(SimpleNamespace(), 10)
    state = slots.of("busy.example")
    setattr(state, used, {object()})
    for number in range(1_000):
        slots.of(f"{number}.example")
    assert slots.by_key.get("busy.example") is state
    assert len(slots) <= 64


def test_a_delay_that_is_no_longer_required_is_undone() -> None:
    slots, downloader = fill(10_000, is_dropped=False)
    downloader.delays["7.example"] = (3.0, 0.0)  # the project's own
    slots.apply("7.example")
    assert not require(slots, 7, 0.0)
    assert slots.delayed_at("7.example") is None
    assert downloader.delays["7.example"] == (3.0, 0.0)
    assert require(slots, 7, 2.0)


def test_ours_waits_of_one_download_slot_count_once_until_the_last_has_ended(clock: Simulation) -> None:
    waits, state, without_floor = Waits(), SlotState("a"), SlotState("b")
    state.floor = 1.0
    for what in (state, without_floor):
        waits.begin(what, "the queue")
    clock.now += 1
    waits.begin(state, "a request")
    clock.now += 1
    waits.end(state, "the queue")
    waits.end(without_floor, "the queue")
    clock.now += 1
    assert waits.seconds == 3
    waits.end(state, "a request")
    waits.end(state, "another one")
    clock.now += 1
    assert (waits.seconds, waits.now) == (3, {})


def test_ours_download_slots_that_become_one_wait_as_one(clock: Simulation) -> None:
    waits, first, second = Waits(), SlotState("a"), SlotState("b")
    first.floor = second.floor = 1.0
    waits.begin(second, "a request")
    clock.now += 1
    waits.begin(first, "the queue")
    clock.now += 1
    waits.join(first, second)
    clock.now += 1
    waits.end(first, "the queue")
    assert list(waits.now) == [first]
    waits.end(first, "a request")
    assert waits.seconds == 3
