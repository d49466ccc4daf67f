"""One fetch, many waiters, and all of them are released."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from scrapy_rep.robots.single_flight import SingleFlight
from tests.support.in_process import run


class Endings:
    """Counts how often the work ended."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> None:
        self.count += 1


async def outcomes(work: Coroutine[Any, Any, str], ended: Endings) -> list[Any]:
    """What three waiters get, one of which joins late."""
    flight: SingleFlight[str] = SingleFlight(ended)
    flight.start(work)
    waiters = [asyncio.ensure_future(flight.join()) for _ in range(2)]
    early = await asyncio.gather(*waiters, return_exceptions=True)
    return [*early, *await asyncio.gather(flight.join(), return_exceptions=True)]


async def slowly(result: str) -> str:
    await asyncio.sleep(0.01)
    return result


async def failing() -> str:
    await asyncio.sleep(0.01)
    raise LookupError("no such thing")


async def cancelled() -> str:
    raise asyncio.CancelledError


def test_every_waiter_gets_the_result_the_late_one_too() -> None:
    ended = Endings()
    assert run(outcomes(slowly("rules"), ended)) == ["rules"] * 3
    assert ended.count == 1


def test_every_waiter_gets_the_error() -> None:
    results = run(outcomes(failing(), Endings()))
    assert [repr(result) for result in results] == ["LookupError('no such thing')"] * 3


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_no_waiter_hangs_when_the_fetch_is_cancelled() -> None:
    results = run(asyncio.wait_for(outcomes(cancelled(), Endings()), timeout=5))
    assert [type(result) for result in results] == [RuntimeError] * 3


def test_a_waiter_that_is_cancelled_affects_no_other() -> None:
    async def one_gives_up() -> tuple[bool, str]:
        flight: SingleFlight[str] = SingleFlight(Endings())
        flight.start(slowly("rules"))
        impatient, patient = asyncio.ensure_future(flight.join()), asyncio.ensure_future(flight.join())
        await asyncio.sleep(0)
        impatient.cancel()
        result = await patient
        return impatient.cancelled(), result

    assert run(one_gives_up()) == (True, "rules")


def test_its_repr_shows_its_state() -> None:
    async def states() -> list[str]:
        flight: SingleFlight[str] = SingleFlight(Endings())
        flight.start(slowly("rules"))
        waiter = asyncio.ensure_future(flight.join())
        await asyncio.sleep(0)
        before = repr(flight)
        await waiter
        return [before, repr(flight)]

    assert run(states()) == ["<SingleFlight running waiters=1>", "<SingleFlight ended waiters=0>"]
