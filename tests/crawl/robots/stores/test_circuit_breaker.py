"""The circuit breaker opens, pauses and closes."""

from __future__ import annotations

from scrapy_rep.robots.stores.circuit_breaker import CircuitBreaker
from tests.support.simulation import Simulation


def test_a_closed_breaker_allows_every_call() -> None:
    breaker = CircuitBreaker()
    assert breaker.allows()
    assert breaker.allows()


def test_an_open_breaker_allows_one_call_after_each_pause(clock: Simulation) -> None:
    breaker = CircuitBreaker()
    breaker.fail()
    assert not breaker.allows()
    clock.now += 5
    assert breaker.allows()
    assert not breaker.allows()


def test_pauses_grow_to_half_a_minute(clock: Simulation) -> None:
    breaker = CircuitBreaker()
    began = clock.now
    for _ in range(10):
        breaker.fail()
    clock.now += 29
    assert not breaker.allows()
    clock.now += 1
    assert breaker.allows()
    assert breaker.succeed() == clock.now - began
    assert breaker.allows()
    assert not breaker.is_open
