"""When a site lets a request start, and whose turn it is at the door."""

from __future__ import annotations

import asyncio

import pytest

from scrapy_rep.crawl.pacing.slots import Site, Slot, with_margin
from scrapy_rep.extras.backoff.site_backoff import SiteBackoff
from scrapy_rep.protocol import Origin
from tests.support.in_process import in_the_loop, settle
from tests.support.simulation import Simulation

HTTP, HTTPS = ((Origin.from_url(f"{scheme}://a.example"), ("mybot",)) for scheme in ("http", "https"))


@pytest.fixture
def site() -> Site:
    return Site("a.example")


def test_the_largest_delay_of_its_robots_txt_files_wins(site: Site) -> None:
    site.require(HTTP, 2.0)
    site.require(HTTPS, 5.0)
    assert site.floor == 5.0
    site.require(HTTPS, 0.0)
    assert site.floor == 2.0
    site.require(HTTP, 0.0)
    assert site.floor == 0.0


def test_a_request_may_start_a_delay_after_the_last_one(site: Site, clock: Simulation) -> None:
    site.require(HTTP, 2.0)
    assert site.start_in(clock.now) == 0.0
    site.last_start = clock.now - 0.5
    assert site.start_in(clock.now) == 1.5
    assert site.start_in(clock.now + 2.0) == 0.0


def test_a_hold_is_waited_for_even_if_nothing_has_started(site: Site, clock: Simulation) -> None:
    site.backoff = SiteBackoff(delay=1.0)
    site.backoff.hold(30.0)
    assert site.start_in(clock.now) == 30.0
    assert (site.floor, site.held_for) == (1.0, 30.0)


@pytest.mark.parametrize(("seconds", "kept"), [(0.0, 0.0), (0.1, 0.102), (1.0, 1.01), (30.0, 30.01)])
def test_what_is_kept_leaves_room_for_the_noise_of_arrivals(seconds: float, kept: float) -> None:
    assert with_margin(seconds) == pytest.approx(kept)


@in_the_loop
async def test_requests_take_turns_and_robots_txt_comes_first(site: Site) -> None:
    went: list[str] = []

    async def go(name: str, *, first: bool = False) -> None:
        await site.enter(first=first)
        went.append(name)
        await asyncio.sleep(0)
        site.leave()

    await asyncio.gather(go("1"), go("2"), go("3"), go("robots.txt", first=True))
    assert went == ["1", "robots.txt", "2", "3"]
    assert not site.is_waited_for


@in_the_loop
async def test_a_request_that_is_cancelled_holds_nobody_up(site: Site) -> None:
    await site.enter(first=False)
    behind, last = (asyncio.ensure_future(site.enter(first=False)) for _ in range(2))
    await settle()
    behind.cancel()
    await settle()
    site.leave()
    await asyncio.wait_for(last, 1)
    site.leave()
    assert not site.is_waited_for


@in_the_loop
async def test_a_request_that_is_cancelled_when_its_turn_has_come_passes_it_on(site: Site) -> None:
    await site.enter(first=False)
    next_one, last = (asyncio.ensure_future(site.enter(first=False)) for _ in range(2))
    await settle()
    site.leave()
    next_one.cancel()  # it has not resumed yet
    await asyncio.wait_for(last, 1)
    assert site.is_waited_for
    site.leave()
    assert not site.is_waited_for


@in_the_loop
async def test_its_download_slot_knows_that_one_waits_at_the_door(site: Site) -> None:
    site.require(HTTP, 2.0)
    slot = Slot("a.example")
    site.places[slot] = None
    await site.enter(first=False)
    assert slot.at_door == {site}
    site.leave()
    assert slot.at_door == set()
