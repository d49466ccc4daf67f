"""Who gets the permit of a download slot: what every limiter promises."""

from __future__ import annotations

from itertools import pairwise
from math import inf
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scrapy_rep.extras.fleet.limiter import LEAD, LONGEST_LIFE
from tests.support.properties import fewer
from tests.support.simulation import Simulation

from .conftest import DELAY, KEY, Worker

HOLD = 0.25  # seconds, where nothing travels
EARLY = LEAD / 1e6


def test_the_first_may_start_at_once_and_the_next_a_delay_after_its_start(workers: list[Worker]) -> None:
    a, b, *_ = workers
    permit = a.ask()
    assert (permit.starts_in, permit.expires_in) == (0, HOLD)
    a.simulation.now += 0.2
    a.report(permit)
    started = a.simulation.now
    answer = b.ask()
    assert answer.starts_in is None
    assert DELAY - EARLY <= answer.retry_in < DELAY
    assert b.start() == pytest.approx(started + DELAY, abs=1e-5)


def test_permits_do_not_drift(workers: list[Worker]) -> None:
    starts = [workers[0].start() for _ in range(6)]
    assert [after - before for before, after in pairwise(starts)] == pytest.approx([DELAY] * 5, abs=1e-4)


def test_while_a_permit_is_out_nobody_gets_another(workers: list[Worker]) -> None:
    a, b, *_ = workers
    permit = a.ask(delay=0.01)
    a.simulation.now += 0.2
    assert b.ask(delay=0.01).starts_in is None
    a.report(permit)
    assert b.ask(delay=0.01).starts_in is not None


def test_the_delay_counts_from_the_start_that_was_reported_not_from_the_grant(workers: list[Worker]) -> None:
    a, b, *_ = workers
    permit = a.ask()
    a.simulation.now += 0.2
    a.report(permit, ago=0.15)
    assert b.start() == pytest.approx(a.simulation.now, abs=1e-5)
    assert b.simulation.now == pytest.approx(1_000_000 + 0.05 + DELAY, abs=1e-5)


def test_a_permit_that_expired_may_have_been_used_until_then(workers: list[Worker]) -> None:
    killed, b, *_ = workers
    killed.ask()
    assert b.start() == pytest.approx(1_000_000 + HOLD + DELAY, abs=1e-3)


def test_a_permit_whose_use_its_holder_has_forgotten_may_have_been_used_until_it_expired(
    workers: list[Worker],
) -> None:
    a, *_ = workers
    a.ask()
    a.simulation.now += HOLD + 0.1
    assert a.start() == pytest.approx(1_000_000 + HOLD + DELAY, abs=1e-3)


def test_a_start_need_not_be_reported_at_once_while_no_other_worker_waits(workers: list[Worker]) -> None:
    a, b, *_ = workers
    assert not a.take(more=True).is_awaited
    b.ask(more=True)
    a.simulation.now += DELAY - 0.01
    permit = a.ask(since=DELAY - 0.01, more=True)
    assert permit.starts_in == pytest.approx(0.01)
    assert permit.is_awaited


def test_one_that_joins_a_worker_alone_waits_for_nothing_but_the_delay(workers: list[Worker]) -> None:
    alone, joins, *_ = workers
    starts: list[float] = []
    simulation = alone.simulation
    simulation.start(work(alone, starts, 12))
    simulation.start(work(joins, starts, 3), after=4.3)
    simulation.run(60)
    assert [after - before for before, after in pairwise(starts)] == pytest.approx([DELAY] * 14, abs=1e-4)


def test_a_report_that_comes_after_the_expiry_still_counts(workers: list[Worker]) -> None:
    a, b, *_ = workers
    permit = a.ask(delay=0.1)
    a.simulation.now += 1
    a.report(permit)
    assert b.start(delay=0.1) == pytest.approx(1_000_000 + 1 + 0.1, abs=1e-5)


def test_a_permit_that_was_missed_is_given_anew_at_once_while_nobody_has_the_next(workers: list[Worker]) -> None:
    a, b, *_ = workers
    permit = a.ask(more=True)
    b.ask()
    a.simulation.now += HOLD + 0.1
    again = a.ask(missed=permit.number)
    assert again.starts_in == 0
    assert again.number != permit.number


def test_one_that_missed_its_permit_comes_next_when_the_following_is_taken(workers: list[Worker]) -> None:
    a, b, c, _ = workers
    missed = a.ask()
    taken = b.start()
    c.ask()
    a.simulation.now += 0.001
    answer = a.ask(missed=missed.number)
    assert answer.starts_in is None
    assert answer.retry_in < c.ask().retry_in
    assert a.start() == pytest.approx(taken + DELAY, abs=1e-3)


def test_a_permit_that_is_released_costs_no_delay(workers: list[Worker]) -> None:
    a, b, *_ = workers
    before = a.start()
    permit = a.take()
    a.release(permit)
    assert b.start() == pytest.approx(before + DELAY, abs=1e-5)


def test_only_the_permit_that_is_out_can_be_released(workers: list[Worker]) -> None:
    a, b, c, _ = workers
    first = a.take()
    a.release(first)
    a.simulation.now += 0.001
    second = a.take()
    a.release(first)  # it was under way for a while
    b.release(second)
    assert c.ask().starts_in is None


def test_one_that_asks_again_has_no_permit_any_more(workers: list[Worker]) -> None:
    """Its answer was lost; what it has started since, it says."""
    a, *_ = workers
    a.ask()
    assert a.ask().starts_in == 0
    a.simulation.now += 0.1
    answer = a.ask(since=0.05)
    assert answer.starts_in is None
    assert answer.retry_in == pytest.approx(DELAY - 0.05 - EARLY / 2, abs=1e-5)


def test_workers_get_permits_in_the_order_in_which_they_came(workers: list[Worker]) -> None:
    a, b, c, d = workers
    a.start()
    waits = []
    for worker in (c, b, d):
        a.simulation.now += 0.001
        waits.append(worker.ask().retry_in)
    assert [after - before for before, after in pairwise(waits)] == pytest.approx([DELAY] * 2, abs=0.01)
    a.simulation.now += DELAY
    assert b.ask().starts_in is None
    assert c.ask().starts_in is not None


def test_a_worker_that_wants_more_stands_behind_those_who_wait(workers: list[Worker]) -> None:
    a, b, *_ = workers
    a.start()
    b.ask()
    a.simulation.now += 0.001
    a.ask(more=True)
    b.start(more=True)
    assert b.ask().retry_in > a.ask().retry_in


def test_one_that_does_not_come_for_its_permit_is_passed_over(workers: list[Worker]) -> None:
    a, killed, c, _ = workers
    first = a.start()
    killed.ask()
    a.simulation.now += 0.001
    assert c.start() - first <= 2 * DELAY


def test_one_that_was_passed_over_comes_next(workers: list[Worker]) -> None:
    a, slow, c, d = workers
    a.start()
    for worker in (slow, c, d):
        worker.ask()
        a.simulation.now += 0.001
    c.start()
    d.ask()
    assert slow.ask().retry_in < d.ask().retry_in


def test_a_delay_that_changes_counts_from_the_next_question_on(workers: list[Worker]) -> None:
    a, b, *_ = workers
    first = a.start(delay=60)
    assert b.ask(delay=60).retry_in == 5  # nobody sleeps longer without a look
    assert b.start(delay=0.1) - first == pytest.approx(0.1, abs=1e-5)
    assert a.ask(delay=60).starts_in is None


def test_a_robots_txt_that_has_just_come_counts_as_a_start(workers: list[Worker]) -> None:
    a, b, *_ = workers
    a.restart_delay()
    assert b.start() == pytest.approx(1_000_000 + DELAY, abs=1e-5)


def test_a_start_that_the_limiter_has_not_seen_counts(workers: list[Worker]) -> None:
    a, b, *_ = workers
    a.start(delay=0.01)
    a.simulation.now += 5
    assert b.ask(since=0.1).starts_in is None


def test_a_delay_without_end_is_no_error(workers: list[Worker]) -> None:
    a, b, *_ = workers
    a.start(delay=1e30)
    assert b.ask(delay=1e30).starts_in is None
    a.restart_delay(memory=1e30)


def test_a_clock_that_was_put_back_stops_nobody(workers: list[Worker]) -> None:
    a, b, *_ = workers
    a.start()
    b.take()
    a.simulation.now -= 5_000
    assert a.start() <= 1_000_000 - 5_000 + 2 * DELAY + HOLD


def test_an_answer_that_comes_too_late_to_be_used_is_asked_for_again(workers: list[Worker]) -> None:
    slow, *_ = workers
    simulation = slow.simulation
    slow.journey.up, slow.journey.down = 0.4, 0.5
    starts: list[float] = []
    simulation.start(work(slow, starts, 3))
    simulation.run(60)
    assert len(starts) == 3
    assert min(after - before for before, after in pairwise(starts)) >= DELAY


def test_a_late_answer_tells_what_is_left(workers: list[Worker]) -> None:
    """What may begin counts from when the answer arrives, what must be over from when it was asked for."""
    a, *_ = workers
    a.journey.up, a.journey.down = 0.03, 0.04
    permits = []

    async def ask() -> None:
        permits.append(await a.limiter.acquire(KEY, DELAY, since=None, missed=-1, more=False))

    a.simulation.start(ask())
    a.simulation.run()
    assert permits[0].starts_at == a.simulation.now
    assert permits[0].expires_at - a.simulation.now == pytest.approx(HOLD - 0.07)


async def work(worker: Worker, starts: list[float], pages: int, stall: Random | None = None) -> None:
    """What a crawl does, with a machine that stalls now and then."""
    simulation, limiter = worker.simulation, worker.limiter
    last: float | None = None
    missed: int = -1
    while pages:
        since = None if last is None else simulation.now - last
        permit = await limiter.acquire(KEY, DELAY, since=since, missed=missed, more=pages > 1)
        if permit.starts_at == inf:
            missed = -1
            await simulation.sleep(permit.ask_at - simulation.now)
            continue
        stalled = stall.choice([0, 0, 0.01, 0.2, 0.4]) if stall else 0
        await simulation.sleep(permit.starts_at - simulation.now + stalled)
        if simulation.now >= permit.expires_at:
            missed = permit.number
            continue
        last, missed, pages = simulation.now, -1, pages - 1
        starts.append(last)
        await simulation.sleep(stall.choice([0, 0, 0.3]) if stall else 0)
        if permit.is_awaited or not pages:
            await limiter.close(KEY, permit.number, simulation.now - last)


@pytest.mark.parametrize("latency", [0.0, 0.15, 0.6, 2.0])
def test_the_delay_holds_whatever_the_latency_of_one_worker_is(workers: list[Worker], latency: float) -> None:
    starts: list[float] = []
    workers[0].journey.up = workers[0].journey.down = latency / 2
    for worker in workers:
        worker.simulation.start(work(worker, starts, 6))
    workers[0].simulation.run(200)
    gaps = [after - before for before, after in pairwise(sorted(starts))]
    assert len(starts) == 24
    assert min(gaps) >= DELAY - 1e-5
    if not latency:
        assert max(gaps) <= 1.02 * DELAY


journeys = st.sampled_from([0.0, 0.001, 0.05, 0.3, 1.0])


@given(st.lists(st.tuples(journeys, journeys), min_size=4, max_size=4), st.integers(0, 2**32))
@settings(fewer(4), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_delay_holds_for_any_latency_and_any_stall(
    workers: list[Worker], latencies: list[tuple[float, float]], seed: int
) -> None:
    simulation = workers[0].simulation
    simulation.now += 1_000  # whatever an example before this one has left
    starts: list[float] = []
    for number, (worker, (up, down)) in enumerate(zip(workers, latencies)):
        worker.journey.up, worker.journey.down = up, down
        simulation.start(work(worker, starts, 4, Random(seed + number)))  # noqa: S311
    simulation.run(400)
    assert len(starts) == 16
    assert min(after - before for before, after in pairwise(sorted(starts))) >= DELAY - 1e-5


def test_a_worker_that_is_killed_costs_the_others_one_expired_permit(workers: list[Worker]) -> None:
    simulation: Simulation = workers[0].simulation
    starts: list[float] = []
    workers[3].ask(more=True)  # and is heard of no more
    for worker in workers[:3]:
        simulation.start(work(worker, starts, 5), after=0.01)
    simulation.run(60)
    assert len(starts) == 15
    assert starts[0] <= 1_000_000 + HOLD + 2 * DELAY
    assert max(after - before for before, after in pairwise(starts)) <= DELAY + 0.15


def test_no_permit_is_held_for_longer_than_the_bound(workers: list[Worker]) -> None:
    a, *_ = workers
    a.journey.up = a.journey.down = 20.0
    starts: list[float] = []
    a.simulation.start(work(a, starts, 1))
    a.simulation.run(300)
    assert not starts  # it never hears of a permit that it could use
    a.journey.up = a.journey.down = 0.0
    assert a.ask().expires_in <= LONGEST_LIFE / 1e6 + EARLY
