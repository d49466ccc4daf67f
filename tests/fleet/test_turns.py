"""Whose turn it is at a download slot, as a real Redis says."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from time import sleep

import pytest

from scrapy_rep.fleet.turns import Turn, Turns
from tests.support.direct_link import DirectLink, at_once
from tests.support.redis_server import RedisServer

KEY = "example.com"
DELAY = 0.2
LEAD = 0.02


@pytest.fixture(scope="module")
def server() -> Iterator[RedisServer]:
    with RedisServer() as server:
        yield server


class Worker:
    def __init__(self, link: DirectLink, name: str) -> None:
        self._turns = Turns(link, name)  # type: ignore[arg-type]

    def ask(
        self, delay: float = DELAY, since: float | None = None, missed: int | None = None, more: bool = False
    ) -> Turn:
        return at_once(self._turns.take(KEY, delay, since=since, missed=missed, more=more))

    def take(self, **kwargs: float) -> Turn:
        """Ask as often as told, until the turn is given."""
        while (turn := self.ask(**kwargs)).starts_in is None:  # type: ignore[arg-type]
            sleep(turn.wait)
        return turn

    def mark(self, memory: float = 60.0) -> None:
        at_once(self._turns.mark(KEY, memory))


@pytest.fixture
def workers(server: RedisServer) -> Iterator[list[Worker]]:
    with server.client() as client:
        client.flushall()
        yield [Worker(DirectLink(client), name) for name in "abcd"]


def test_the_first_may_start_at_once_and_the_next_a_delay_later(workers: list[Worker]) -> None:
    a, b, *_ = workers
    first = a.ask()
    assert first.starts_in == 0
    told = b.ask()
    assert told.starts_in is None
    assert DELAY - LEAD - 0.05 < told.wait < DELAY
    second = b.take()
    assert second.starts_in is not None
    assert second.starts_in <= LEAD
    assert second.number - first.number >= DELAY * 1e6


def test_turns_do_not_drift(workers: list[Worker]) -> None:
    numbers = [workers[0].take().number for _ in range(6)]
    # A machine that stalls is late once, not each time.
    on_time = [after - before for before, after in pairwise(numbers)].count(DELAY * 1e6)
    assert on_time >= 3


def test_workers_take_turns_in_the_order_in_which_they_came(workers: list[Worker]) -> None:
    a, b, c, d = workers
    a.ask()
    waits = [worker.ask().wait for worker in (c, b, d)]
    assert waits == sorted(waits)
    assert waits[2] - waits[0] == pytest.approx(2 * DELAY, abs=0.05)
    assert b.ask().starts_in is None
    sleep(DELAY)
    assert b.ask().starts_in is None
    assert c.ask().starts_in is not None


def test_a_worker_that_wants_more_stands_behind_those_who_wait(workers: list[Worker]) -> None:
    a, b, *_ = workers
    a.ask()
    b.ask()
    a.ask(more=True)
    b.take(more=True)
    assert b.ask().wait > a.ask().wait


def test_one_that_does_not_come_for_its_turn_is_passed_over(workers: list[Worker]) -> None:
    a, killed, c, _ = workers
    first = a.ask()
    killed.ask()
    turn = c.take()
    # Its turn is lost, and the tenth of a second that a worker may be late.
    assert turn.number - first.number < (2 * DELAY + 0.3) * 1e6


def test_one_that_was_passed_over_comes_next(workers: list[Worker]) -> None:
    a, slow, c, d = workers
    a.ask()
    slow.ask()
    c.take()
    d.ask()
    assert slow.ask().wait < d.ask().wait


def test_the_queue_forgets_workers_that_stay_away(workers: list[Worker], server: RedisServer) -> None:
    a, b, *_ = workers
    a.ask(delay=1)
    b.ask(delay=1)
    with server.client() as client:
        assert 0 < client.pttl(f"rep:queue:{KEY}") <= 66_000
        assert 0 < client.pttl(f"rep:turns:{KEY}") <= 66_000


def test_a_delay_that_changes_counts_from_the_next_question_on(workers: list[Worker]) -> None:
    a, b, *_ = workers
    first = a.ask(delay=60)
    told = b.ask(delay=60)
    assert told.wait == 5  # nobody sleeps longer without a look
    second = b.take(delay=0.1)
    assert 0.1e6 <= second.number - first.number < 0.5e6
    assert a.ask(delay=60).starts_in is None


def test_a_turn_that_was_missed_is_given_anew_while_nobody_has_the_next(workers: list[Worker]) -> None:
    a, b, *_ = workers
    first = a.ask()
    sleep(0.05)
    again = a.ask(missed=first.number)
    assert again.starts_in == 0
    assert again.number - first.number >= 0.05e6
    assert b.take().number - again.number >= DELAY * 1e6


def test_one_whose_next_is_taken_comes_first_in_the_queue(workers: list[Worker]) -> None:
    a, b, c, _ = workers
    missed = a.ask()
    taken = b.take()
    c.ask()
    told = a.ask(missed=missed.number)
    assert told.starts_in is None
    assert told.wait < c.ask().wait
    assert a.take().number - taken.number >= DELAY * 1e6


def test_a_robots_txt_that_has_just_come_counts_as_a_turn(workers: list[Worker]) -> None:
    a, b, *_ = workers
    a.mark()
    assert b.ask().starts_in is None


def test_when_redis_has_lost_its_data_all_wait_a_delay(workers: list[Worker], server: RedisServer) -> None:
    a, b, *_ = workers
    a.take()
    with server.client() as client:
        client.flushall()
    told = b.ask(since=0.1)
    assert told.starts_in is None
    assert told.wait > DELAY - LEAD - 0.05
    assert b.take().starts_in is not None


def test_a_start_that_redis_has_not_seen_counts(workers: list[Worker]) -> None:
    a, b, *_ = workers
    a.take(delay=0.01)
    sleep(0.5)
    assert b.ask(delay=0.4, since=0.1).starts_in is None


def test_a_delay_without_end_is_no_error(workers: list[Worker]) -> None:
    a, b, *_ = workers
    assert a.ask(delay=1e30).starts_in == 0
    assert b.ask(delay=1e30).starts_in is None
    a.mark(memory=1e30)


def test_download_slots_and_prefixes_do_not_meet(workers: list[Worker], server: RedisServer) -> None:
    workers[0].ask()
    with server.client() as client:
        link = DirectLink(client)
        link.prefix = "other:"
        assert Worker(link, "a").ask().starts_in == 0


def test_a_clock_of_redis_that_was_put_back_stops_nobody(workers: list[Worker], server: RedisServer) -> None:
    far_ahead = 4e15
    with server.client() as client:
        client.hset(f"rep:turns:{KEY}", "last", f"{far_ahead:.0f}")
    assert workers[0].ask().wait < 2 * DELAY
