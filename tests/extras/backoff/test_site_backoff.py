"""The arithmetic of a back-off: how it doubles, holds, recovers and ends, by a clock that the test moves."""

from __future__ import annotations

import pytest
from scrapy.http import Response

from scrapy_rep.extras.backoff.site_backoff import QUIET, Plea, SiteBackoff, seconds_asked
from tests.support.simulation import Simulation

MOST = 300.0
NOW = 1_700_000_000.0  # 2023-11-14 22:13:20 UTC
BUSY = Plea("503", "HTTP status 503")
TOO_MANY = Plea("429", "HTTP status 429")


@pytest.fixture
def backoff(clock: Simulation) -> SiteBackoff:
    return SiteBackoff()


def asked(
    backoff: SiteBackoff,
    plea: Plea = BUSY,
    *,
    own: float = 0.0,
    accepted: int = 0,
    seconds: float | None = None,
) -> float:
    """What is left until the next start after a plea."""
    backoff.ask(plea._replace(seconds=seconds), own, accepted, MOST)
    return backoff.seconds_left()


def recovered(backoff: SiteBackoff, clock: Simulation) -> float:
    """The delay after a good answer to the next request."""
    clock.advance(max(backoff.seconds_left(), 0.0) + backoff.delay)
    backoff.recover(clock.now - 0.001)
    return backoff.delay


def recover(backoff: SiteBackoff, clock: Simulation) -> None:
    """Let good answers come until the delay is at its pace."""
    while backoff.delay > backoff.pace:
        recovered(backoff, clock)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "3"}, 3.0),
        ({"Retry-After": " 3 "}, 3.0),
        ({"Retry-After": "0"}, None),
        ({"Retry-After": "-3"}, None),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "3.5"}, None),
        ({"Retry-After": "Tue, 14 Nov 2023 22:14:20 GMT"}, 60.0),
        ({"Retry-After": "Tue, 14 Nov 2023 22:12:20 GMT"}, None),
        ({"Retry-After": "9" * 400}, 86_400.0),
        ({"Retry-After": "\N{SUPERSCRIPT TWO}"}, None),
        ({"Retry-After": "1700000042"}, 42.0),
        ({"Retry-After": "1700000042500"}, 42.5),
        ({"Retry-After": "1600000000"}, None),
        ({"Retry-After": "999999999"}, 86_400.0),
        ({"Retry-After": "1600000000", "RateLimit-Reset": "1700000042"}, 42.0),
        ({"Retry-After": "1700000030", "RateLimit-Reset": "42"}, 30.0),
        ({"RateLimit-Reset": "7"}, 7.0),
        ({"RateLimit-Reset": "1700000042"}, 42.0),
        ({"RateLimit-Reset": "1600000000"}, None),
        ({"RateLimit-Reset": "later"}, None),
        ({"RateLimit-Reset": "1700000042000"}, None),
        ({"RateLimit-Reset": "999999999"}, 86_400.0),
        ({"RateLimit-Reset": "9" * 400}, None),
        ({"Retry-After": "3", "RateLimit-Reset": "7"}, 3.0),
        ({"Retry-After": "0", "RateLimit-Reset": "7"}, 7.0),
    ],
    ids=str,
)
def test_rfc_9110_10_2_3_the_seconds_that_a_site_asks_for(headers: dict[str, str], seconds: float | None) -> None:
    assert seconds_asked(Response("http://a.example", 429, headers=headers), NOW) == seconds


def test_the_delay_doubles_from_one_second_to_the_most(backoff: SiteBackoff, clock: Simulation) -> None:
    delays = []
    for _ in range(12):
        held = asked(backoff)
        delays.append(backoff.delay)
        assert backoff.delay <= held <= 1.25 * backoff.delay
        clock.advance(held)
    assert delays == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]


def test_it_begins_at_twice_the_delay_of_the_slot_where_that_is_more(backoff: SiteBackoff) -> None:
    assert 10 <= asked(backoff, own=5.0) <= 12.5


def test_what_the_site_asks_for_is_held_to_the_letter(backoff: SiteBackoff) -> None:
    assert asked(backoff, own=5.0, seconds=3.0) == 3.0
    assert asked(backoff, own=5.0, seconds=2.0) == 3.0
    assert backoff.delay == 1.0


def test_a_good_answer_halves_the_delay_once_for_each_request_that_began_after_it(
    backoff: SiteBackoff, clock: Simulation
) -> None:
    asked(backoff)
    asked(backoff)
    asked(backoff)
    assert backoff.delay == 4
    assert not backoff.recover(clock.now - 0.1)  # it was under way
    assert recovered(backoff, clock) == 2
    assert not backoff.recover(clock.now - 0.1)  # so was this one
    assert [recovered(backoff, clock) for _ in range(3)] == [1, 0.5, 0.25]


def test_it_falls_to_a_little_less_than_the_site_took(backoff: SiteBackoff, clock: Simulation) -> None:
    asked(backoff, TOO_MANY, accepted=10)
    assert [recovered(backoff, clock) for _ in range(4)] == [0.5, 0.25, 0.125, pytest.approx(0.11)]
    assert recovered(backoff, clock) == pytest.approx(0.11)


def test_a_pace_that_was_still_too_fast_is_measured_again(backoff: SiteBackoff, clock: Simulation) -> None:
    asked(backoff, TOO_MANY, accepted=10)
    recover(backoff, clock)
    asked(backoff, TOO_MANY, accepted=2)  # in the second before, the delay was still falling
    assert backoff.pace == pytest.approx(0.11)
    recover(backoff, clock)
    clock.advance(1)
    asked(backoff, TOO_MANY, accepted=8)
    assert backoff.pace == pytest.approx(0.1375)
    asked(backoff, TOO_MANY, accepted=1)  # it has not been at its pace since
    assert backoff.pace == pytest.approx(0.1375)


def test_a_pace_grows_by_half_at_most(backoff: SiteBackoff, clock: Simulation) -> None:
    asked(backoff, TOO_MANY, accepted=10)
    recover(backoff, clock)
    clock.advance(1)
    asked(backoff, TOO_MANY, accepted=1)
    assert backoff.pace == pytest.approx(0.165)


@pytest.mark.parametrize(
    ("plea", "accepted"), [(TOO_MANY, 2), (BUSY, 10)], ids=["a few answers", "no limit named"]
)
def test_the_first_time_that_says_nothing_of_a_pace(
    backoff: SiteBackoff, clock: Simulation, plea: Plea, accepted: int
) -> None:
    asked(backoff, plea, accepted=accepted)
    assert recovered(backoff, clock) == 0.5
    assert backoff.pace == 0
    clock.advance(1)
    asked(backoff, plea, accepted=2)
    assert backoff.pace == pytest.approx(0.55)


def test_after_quiet_the_pace_rises_step_by_step_and_the_back_off_ends(
    backoff: SiteBackoff, clock: Simulation
) -> None:
    asked(backoff, TOO_MANY, accepted=10)
    recover(backoff, clock)
    assert backoff.relax(0.0)
    assert backoff.delay == pytest.approx(0.11)  # it has not been quiet for long
    steps = 0
    while True:
        steps += 1
        clock.advance(QUIET)
        backoff.recover(clock.now - 0.1)
        if not backoff.relax(0.0):
            break
        assert backoff.delay == pytest.approx(0.11 * 0.8**steps)
    assert steps == 11


def test_it_ends_where_the_slot_has_a_longer_delay_of_its_own(backoff: SiteBackoff, clock: Simulation) -> None:
    asked(backoff, TOO_MANY, accepted=10)
    recover(backoff, clock)
    clock.advance(QUIET)
    backoff.recover(clock.now - 0.1)
    assert not backoff.relax(1.0)


def test_it_ends_where_no_request_is_left(backoff: SiteBackoff, clock: Simulation) -> None:
    held = asked(backoff)
    clock.advance(held + QUIET - 1)
    assert backoff.relax(0.0)
    clock.advance(4)
    assert not backoff.relax(0.0)


def test_a_delay_that_is_hardly_one_is_none(backoff: SiteBackoff, clock: Simulation) -> None:
    asked(backoff)
    floors = [backoff.floor]
    while floors[-1]:
        recovered(backoff, clock)
        floors.append(backoff.floor)
    assert floors == [1, 0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0]
    assert backoff.relax(0.0)  # until it has been quiet, what was learned is kept


def test_what_another_process_was_asked_counts_if_it_is_more(backoff: SiteBackoff) -> None:
    asked(backoff, seconds=5.0)
    backoff.adopt(3.0, 4.0, 0.2)
    assert (backoff.seconds_left(), backoff.delay, backoff.pace) == (5.0, 4.0, 0.2)
    backoff.adopt(9.0, 1.0, 0.1)
    assert (backoff.seconds_left(), backoff.delay, backoff.pace) == (9.0, 4.0, 0.2)
