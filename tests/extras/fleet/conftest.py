"""Limiters of several workers over one clock that the test moves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from scrapy_rep.crawl.robots.stores.sqlite_connection import SqliteConnection
from scrapy_rep.extras.fleet.limiter import RateLimiter, RateLimiterAwayError
from scrapy_rep.extras.fleet.limiters import RedisRateLimiter, SqliteRateLimiter
from scrapy_rep.extras.fleet.redis_connection import RedisAwayError
from tests.support.direct_connection import DirectConnection, at_once
from tests.support.simulation import Simulation

KEY = "example.com"
DELAY = 1.0
_CLOCK = "simulated-clock"


class Journey:
    """The way from one worker to the limiter and back: ``up`` and ``down`` are seconds."""

    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        self.up = self.down = 0.0


class NoConnection(DirectConnection):
    async def run(self, *_: object) -> None:
        raise RedisAwayError("Redis at home does not answer")


class SimulatedRedis(DirectConnection):
    """Scripts run by a real Redis that goes by the clock of the simulation."""

    def __init__(self, client: Redis, journey: Journey) -> None:
        super().__init__(client)
        self._journey = journey

    def script(self, lua: str) -> Any:
        return super().script(
            lua.replace("redis.call('TIME')", f"redis.call('MGET', '{_CLOCK}:s', '{_CLOCK}:us')")
        )

    async def run(self, script: Any, keys: Sequence[str], arguments: Sequence[Any] = ()) -> Any:
        journey = self._journey
        if journey.up:
            await journey.simulation.sleep(journey.up)
        micro = round(journey.simulation.now * 1e6)
        self.client.mset({f"{_CLOCK}:s": micro // 1_000_000, f"{_CLOCK}:us": micro % 1_000_000})
        answer = await super().run(script, keys, arguments)
        if journey.down:
            await journey.simulation.sleep(journey.down)
        return answer


@dataclass(frozen=True)
class Permit:
    """What a worker was answered; seconds from then on, and None where no permit was granted."""

    starts_in: float | None
    retry_in: float
    number: int
    expires_in: float
    is_awaited: bool


class Worker:
    """One process that shares the limiter."""

    def __init__(self, limiter: RateLimiter, journey: Journey) -> None:
        self.limiter = limiter
        self.journey = journey
        self.simulation = journey.simulation

    def ask(
        self, delay: float = DELAY, since: float | None = None, missed: int = -1, more: bool = False
    ) -> Permit:
        answer = at_once(self.limiter.acquire(KEY, delay, since=since, missed=missed, more=more))
        now, number = self.simulation.now, answer.number
        starts_in = answer.starts_at - now if answer.starts_at < inf else None
        return Permit(starts_in, answer.ask_at - now, number, answer.expires_at - now, answer.is_awaited)

    def take(self, **kwargs: Any) -> Permit:
        """Ask again as often as required, until the permit is granted and may be used."""
        while (permit := self.ask(**kwargs)).starts_in is None:
            self.simulation.now += permit.retry_in
        self.simulation.now += permit.starts_in
        return permit

    def start(self, **kwargs: Any) -> float:
        """Start a request as soon as possible, and report it; when that was."""
        permit = self.take(**kwargs)
        self.report(permit)
        return self.simulation.now

    def report(self, permit: Permit, ago: float = 0.0) -> None:
        at_once(self.limiter.close(KEY, permit.number, ago))

    def release(self, permit: Permit) -> None:
        at_once(self.limiter.close(KEY, permit.number, None))

    def restart_delay(self, memory: float = 60.0) -> None:
        at_once(self.limiter.restart_delay(KEY, memory))


def assert_is_away(limiter: RateLimiter, why: str) -> None:
    """Each call that a worker makes to *limiter* fails, and says *why*."""
    for call in (
        limiter.acquire(KEY, DELAY, since=None, missed=-1, more=False),
        limiter.close(KEY, 1, 0.0),
        limiter.restart_delay(KEY, 60.0),
    ):
        with pytest.raises(RateLimiterAwayError, match=why):
            at_once(call)


@pytest.fixture
def redis_workers(clock: Simulation, redis_client: Redis) -> list[Worker]:
    journeys = [Journey(clock) for _ in range(4)]
    links = [SimulatedRedis(redis_client, journey) for journey in journeys]
    return [
        Worker(RedisRateLimiter(link, name), journey)  # type: ignore[arg-type]
        for link, journey, name in zip(links, journeys, "abcd")
    ]


class SimulatedLink:
    """The file, written to when the clock of the simulation says so."""

    def __init__(self, link: SqliteConnection, journey: Journey) -> None:
        self.path = link.path
        self.seconds_since_recovery = float("inf")
        self._link = link
        self._journey = journey

    async def write(self, work: Any) -> Any:
        journey = self._journey
        if journey.up:
            await journey.simulation.sleep(journey.up)
        answer = self._link.write_now(work)
        if journey.down:
            await journey.simulation.sleep(journey.down)
        return answer


@pytest.fixture
def sqlite_workers(clock: Simulation, tmp_path: Path) -> Iterator[list[Worker]]:
    """Each with a connection of its own."""
    journeys = [Journey(clock) for _ in range(4)]
    links = [SqliteConnection(tmp_path / "robots.sqlite") for _ in journeys]
    yield [
        Worker(SqliteRateLimiter(SimulatedLink(link, journey), name), journey)  # type: ignore[arg-type]
        for link, journey, name in zip(links, journeys, "abcd")
    ]
    for link in links:
        link.close(lambda _: None)


@pytest.fixture(params=["redis", "sqlite"])
def workers(request: pytest.FixtureRequest) -> list[Worker]:
    found: list[Worker] = request.getfixturevalue(f"{request.param}_workers")
    return found
