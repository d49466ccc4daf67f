"""Any number of pauses cost one timer, and end when the crawl begins to close."""

from __future__ import annotations

import asyncio

import pytest

from scrapy_rep.crawl.runtime.event_loop import CLOSING_CHECK, Closing
from tests.support.in_process import in_the_loop, settle
from tests.support.simulation import Simulation


class Crawl:
    is_closing = False

    def __init__(self) -> None:
        self.closing = Closing(lambda: self.is_closing)


@pytest.fixture
def crawl(clock: Simulation) -> Crawl:
    return Crawl()


@in_the_loop
async def test_a_pause_ends_at_its_time(crawl: Crawl, clock: Simulation) -> None:
    pauses = [asyncio.ensure_future(crawl.closing.pause(seconds)) for seconds in (2.0, 1.0)]
    await settle()
    clock.advance(1.5)
    await settle()
    assert [pause.done() for pause in pauses] == [False, True]
    clock.advance(1.0)
    assert await asyncio.gather(*pauses) == [True, True]


@in_the_loop
async def test_a_thousand_pauses_cost_one_timer_and_one_look_at_the_crawl(crawl: Crawl, clock: Simulation) -> None:
    pauses = [asyncio.ensure_future(crawl.closing.pause(10.0)) for _ in range(1_000)]
    await settle()
    assert clock.timers == 2
    clock.advance(11.0)
    await asyncio.gather(*pauses)
    clock.advance(CLOSING_CHECK)
    assert clock.timers == 0


@in_the_loop
async def test_all_pauses_end_early_when_the_crawl_closes(crawl: Crawl, clock: Simulation) -> None:
    pauses = [asyncio.ensure_future(crawl.closing.pause(300.0)) for _ in range(3)]
    await settle()
    crawl.is_closing = True
    clock.advance(CLOSING_CHECK)
    assert await asyncio.gather(*pauses) == [False, False, False]
    clock.advance(CLOSING_CHECK)
    assert clock.timers == 0


@in_the_loop
async def test_a_pause_that_is_cancelled_leaves_the_others(crawl: Crawl, clock: Simulation) -> None:
    gone, other = (asyncio.ensure_future(crawl.closing.pause(1.0)) for _ in range(2))
    await settle()
    gone.cancel()
    await settle()
    clock.advance(1.5)
    assert await other
    clock.advance(CLOSING_CHECK)
    assert clock.timers == 0


def test_listeners_hear_that_the_crawl_closes_until_they_are_removed(crawl: Crawl, clock: Simulation) -> None:
    heard: list[float] = []

    def listen() -> None:
        heard.append(clock.now)

    crawl.closing.add(listen)
    clock.advance(1.0)
    assert heard == []
    crawl.is_closing = True
    clock.advance(2 * CLOSING_CHECK)
    assert len(heard) == 2
    crawl.closing.remove(listen)
    clock.advance(1.0)
    assert (len(heard), clock.timers) == (2, 0)
