"""What is remembered of download slots: as much as is needed, however many a crawl meets."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from scrapy_rep.crawl.pacing.slots import Slot, Slots, Waits
from scrapy_rep.protocol import Origin
from tests.support.simulation import Simulation


class Scrapys:
    """Download slots that Scrapy drops when it is told to."""

    def __init__(self) -> None:
        self.delays: dict[str, tuple[float, float]] = {}

    def create(self, key: str) -> None:
        self.delays[key] = 0.0, 0.0

    def delay(self, key: str) -> tuple[float, float] | None:
        return self.delays.get(key)

    def set_delay(self, key: str, delay: float, jitter: float) -> None:
        self.delays[key] = delay, jitter


def states(download_slots: Any, most_delayed: int) -> Slots:
    crawl: Any = SimpleNamespace(
        download_slots=download_slots, settings=SimpleNamespace(memory_entries=most_delayed)
    )
    return Slots(crawl)


def require(slots: Slots, number: int, seconds: float) -> bool:
    source = Origin.from_url(f"https://{number}.example"), ("mybot",)
    return slots.require(f"{number}.example", source, seconds)


def fill(most_delayed: int, *, is_dropped: bool) -> tuple[Slots, Scrapys]:
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
    slots.apply(slots.by_key["0.example"])
    assert downloader.delays["0.example"] == (2.01, 0.0)


def test_of_too_many_those_that_scrapy_has_dropped_are_forgotten() -> None:
    slots, _ = fill(10, is_dropped=True)
    assert len(slots.delayed) == len(slots) <= 64
    assert require(slots, 0, 2.0)


def test_those_that_scrapy_has_are_never_forgotten() -> None:
    slots, _ = fill(10, is_dropped=False)
    assert len(slots.delayed) == 1_000


@pytest.mark.parametrize("used", ["size", "handed_out"])
def test_one_with_requests_is_never_forgotten(used: str) -> None:
    slots = states(SimpleNamespace(), 10)
    state = slots.of("busy.example")
    setattr(state, used, 1 if used == "size" else {object()})
    for number in range(1_000):
        slots.of(f"{number}.example")
    assert slots.by_key.get("busy.example") is state
    assert len(slots) <= 64


def test_a_delay_that_is_no_longer_required_is_undone() -> None:
    slots, downloader = fill(10_000, is_dropped=False)
    downloader.delays["7.example"] = (3.0, 0.0)  # the project's own
    slots.apply(slots.by_key["7.example"])
    assert not require(slots, 7, 0.0)
    assert slots.delayed_at("7.example") is None
    assert downloader.delays["7.example"] == (3.0, 0.0)
    assert require(slots, 7, 2.0)


def test_waits_of_one_download_slot_count_once_until_the_last_has_ended(clock: Simulation) -> None:
    waits, state, without_floor = Waits(), Slot("a"), Slot("b")
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


def test_each_download_slot_of_a_site_keeps_its_delay_and_loses_it_with_the_site() -> None:
    slots, downloader = fill(10_000, is_dropped=False)
    source = Origin.from_url("https://7.example"), ("mybot",)
    assert slots.require("another", source, 2.0)
    assert downloader.delays["another"] == downloader.delays["7.example"] == (2.01, 0.0)
    assert slots.place("a third", "7.example") in slots.delayed
    assert not require(slots, 7, 0.0)
    assert not any(map(slots.delayed_at, ("7.example", "another", "a third")))


def test_download_slots_are_looked_at_again_when_their_site_asks_for_no_pause_any_more() -> None:
    slots, _ = fill(10_000, is_dropped=False)
    another = slots.place("another", "7.example")
    assert another is not None
    another.at_door.add(slots.sites["7.example"])  # so it waits for no time
    updated: list[tuple[str, bool]] = []
    slots.update = lambda slot: updated.append((slot.key, bool(slot.at_door)))
    require(slots, 7, 0.0)
    assert sorted(updated) == [("7.example", False), ("another", False)]
