"""The state of each origin, how many robots.txt files stay in memory; one fetch, many waiters, all released."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Coroutine
from typing import Any

import pytest

from scrapy_rep.clock import clock
from scrapy_rep.crawl.robots.origins import Origins, SingleFlight
from scrapy_rep.crawl.robots.parser import RepRobotParser
from scrapy_rep.crawl.robots.registry import Registry
from scrapy_rep.crawl.robots.robots import Robots
from scrapy_rep.crawl.runtime.crawl import Crawl
from scrapy_rep.extras.ai.signals import AiSignals
from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.freshness import Entry
from tests.support.in_process import crawler_at_rest, run
from tests.support.memory import octets_kept

A, B, C = (Origin("https", host, 443) for host in ("a.example", "b.example", "c.example"))


def robots_of(origin: Origin, body: bytes = b"") -> Robots:
    now = clock.time()
    entry = Entry(origin, Access.SUCCESSFUL, origin.robots_url, 200, body, (), now, now + 100, tried_at=now)
    return Robots(entry, Access.SUCCESSFUL, now + 100, RepRobotParser(body))


def put(origins: Origins, robots: Robots, octets: int) -> None:
    origins.put(origins.of(robots.entry.origin), robots, octets)


def current(origins: Origins, origin: Origin) -> Robots | None:
    return origins.current(origins.of(origin))


@pytest.mark.parametrize(
    "url",
    [
        "https://a.example",
        "https://a.example/x?y",
        "https://a.example:443/",
        "HTTPS://A.example/",
        "https://u:p@a.example/",
    ],
)
def test_every_spelling_of_an_origin_has_one_state(url: str) -> None:
    origins = Origins(2, 100)
    assert origins.at(url) is origins.at(url) is origins.of(A)
    assert origins.at("https://a.example:8443/") is not origins.of(A)


@pytest.mark.parametrize("url", ["data:,x", "https:///x", "https://a.example:99999/"])
def test_a_url_without_a_robots_txt_has_no_state(url: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        Origins(2, 100).at(url)


def test_a_state_that_somebody_holds_stays_the_one_of_its_origin() -> None:
    origins = Origins(1, 100)
    held = origins.at("https://a.example/")
    for number in range(10):
        origins.at(f"https://h{number}.example/")
    gc.collect()
    assert origins.of(A) is held
    assert len(origins._states) < 5


def test_robots_are_found_by_their_origin() -> None:
    origins, robots = Origins(2, 100), robots_of(A)
    put(origins, robots, 10)
    assert current(origins, A) is robots
    assert current(origins, B) is None


def test_the_least_recently_used_are_evicted_when_there_are_too_many() -> None:
    origins = Origins(2, 100)
    put(origins, robots_of(A), 1)
    put(origins, robots_of(B), 1)
    current(origins, A)
    put(origins, robots_of(C), 1)
    assert [current(origins, origin) is not None for origin in (A, B, C)] == [True, False, True]
    assert origins.evicted == 1


def test_the_least_recently_used_are_evicted_when_they_are_too_large() -> None:
    origins = Origins(10, 100)
    for origin, octets in ((A, 40), (B, 40), (C, 90)):
        put(origins, robots_of(origin), octets)
    assert [current(origins, origin) is not None for origin in (A, B, C)] == [False, False, True]


def test_new_robots_of_an_origin_free_the_octets_of_the_old_ones() -> None:
    origins = Origins(10, 100)
    for size in (90, 60, 30):
        put(origins, robots_of(A, b"#" * size), size)
    put(origins, robots_of(B), 70)
    kept = current(origins, A)
    assert kept is not None
    assert kept.entry.body == b"#" * 30
    assert current(origins, B) is not None


def test_robots_larger_than_the_bound_are_not_kept_and_evict_no_others() -> None:
    origins = Origins(10, 100)
    put(origins, robots_of(A), 10)
    put(origins, robots_of(B), 90)
    put(origins, robots_of(A), 101)
    assert current(origins, A) is None
    assert current(origins, B) is not None
    assert origins.evicted == 1
    put(origins, robots_of(C), 100)
    assert current(origins, B) is None


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


SIGNALS = {
    "paths": "Content-Usage: /p/{} train-ai=n", "wildcards": "Content-Usage: /*p{:06} train-ai=n",
    "texts": "Content-Usage: /p train-ai=n, x{}=y", "two texts of each": "Content-Usage: /{} x=n, y{}=y",
    "short": "Content-Usage:/{} a", "training": "DisallowAITraining: /p/{}",
    "rules and paths": "Disallow: /q/{0}\nContent-Usage: /p/{0} train-ai=n", "signals": "Content-Signal: a{}=no",
    "licenses": "License: https://e.example/{}",
}  # fmt: skip


@pytest.mark.untraced
@pytest.mark.parametrize("form", SIGNALS.values(), ids=SIGNALS)
def test_what_files_say_about_ai_stays_within_the_bound_of_memory(form: str) -> None:
    bound = 1_000_000
    lines = "\n".join(form.format(number, number % 7) for number in range(1_000))
    body = f"User-agent: *\nAllow: /\n{lines}".encode()

    crawl = Crawl.of(crawler_at_rest({"REP_PURPOSES": ["search"]}))
    signals = AiSignals(crawl)

    def crawled() -> Origins:
        origins = Origins(1_000, bound)
        crawl._parts[Registry].origins = origins
        for number in range(20):
            robots = robots_of(Origin("https", f"h{number}.example", 443), bytes(bytearray(body)))
            put(origins, robots, robots.octets)
            for page in range(10):
                url = f"https://h.example/p/{page * 97}"
                robots.verdict(["x"], url)
                signals._signals(robots, "x").statements(url)
        assert 1 < len(origins) < 20
        return origins

    assert octets_kept(crawled) < 1.2 * bound


def test_an_unmodified_file_keeps_what_it_says_about_ai() -> None:
    robots = robots_of(A, b"User-agent: *\nContent-Usage: train-ai=n\n")
    signals = AiSignals(Crawl.of(crawler_at_rest({"REP_PURPOSES": ["search"]})))
    assert signals._signals(robots, "x") is signals._signals(robots, "x")
    assert not signals._signals(robots_of(A), "x")
    for number in range(100):
        signals._signals(robots, f"bot{number}")
    assert len(signals._said[robots.parser].signals) <= 16
