"""What a fleet costs: one real Redis, its permits and its entries; then real crawls that keep one delay.

Needs the extra `test`. Bodies are those of the corpus: once each origin has one of its own, which is the dearest
case, and once they are shared.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from math import inf
from statistics import fmean
from typing import Any, Final

from redis import Redis

from scrapy_rep.crawl.robots.stores import NullStore
from scrapy_rep.extras.fleet.limiters import RedisRateLimiter
from scrapy_rep.extras.fleet.redis_store import RedisStore
from tests.support.crawl import LOOPS, crawl
from tests.support.direct_connection import DirectConnection, at_once
from tests.support.redis_server import RedisServer
from tests.support.site import Site, robots

from .corpus import bodies
from .figures import Benchmark, main, rounded, table
from .gate import check
from .store import entries

WORKERS: Final = 4
BATCH: Final = 2_000
OWN, SHARED = "own", "shared"


def limiter_of(client: Redis, worker: str) -> RedisRateLimiter:
    return RedisRateLimiter(DirectConnection(client), worker)  # type: ignore[arg-type]


def ask(port: int, name: str, slots: int, number: int) -> tuple[float, float]:
    """When a client began and ended to acquire so many permits, one after another, for so many download slots."""
    with Redis(port=port) as client:
        limiter = limiter_of(client, name)
        take(limiter, f"{name}-warm")
        began = time.perf_counter()
        for count in range(number):
            take(limiter, f"{name}-{count % slots}")
        return began, time.perf_counter()


def take(limiter: RedisRateLimiter, key: str) -> None:
    """Acquire a permit that no other client wants, and report the start."""
    permit = at_once(limiter.acquire(key, 1e-6, since=None, missed=-1, more=False))
    if permit.starts_at == inf:
        raise SystemExit(f"no permit: {permit}")
    at_once(limiter.close(key, permit.number, 0.0))


def permits_per_second(server: RedisServer, clients: int) -> tuple[float, float]:
    """Turns that Redis gives to so many client processes together, and its seconds of CPU for each."""
    with ProcessPoolExecutor(clients) as pool, server.client() as client:
        before = cpu(client)
        jobs = [pool.submit(ask, server.port, f"c{n}", 100, BATCH) for n in range(clients)]
        began, ended = zip(*(job.result() for job in jobs), strict=True)
        return clients * BATCH / (max(ended) - min(began)), (cpu(client) - before) / (clients * BATCH)


def cpu(client: Redis) -> float:
    facts: dict[str, Any] = client.info("cpu")
    return float(facts["used_cpu_sys"]) + float(facts["used_cpu_user"])


def crowd(server: RedisServer, workers: int) -> float:
    """Seconds that Redis is busy with a question at a download slot where so many workers queue."""
    with server.client() as client:
        every = [limiter_of(client, f"w{n}") for n in range(workers)]
        for limiter in every:
            at_once(limiter.acquire("crowd", 60.0, since=None, missed=-1, more=False))
        before = cpu(client)
        for _ in range(1_000):
            at_once(every[-1].acquire("crowd", 60.0, since=None, missed=-1, more=False))
        return (cpu(client) - before) / 1_000


def latency(loop: str) -> tuple[float, float]:
    """Seconds of a permit that is free, as a crawl sees them: median, and the worst of two hundred."""
    with RedisServer() as server, Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.001\n"))
        settings = {"REP_REDIS_URL": server.url, "LOG_LEVEL": "INFO"}
        urls = [f"{site.origin}/{number}" for number in range(200)]
        result = crawl(*urls, settings=settings, loop=loop, spider="benchmarks.fleet_subject:Latency")
        check(len(result.pages) == len(urls), result)
        return result.stats["latency/median"], result.stats["latency/worst"]


def memory(client: Redis) -> int:
    facts: dict[str, Any] = client.info("memory")
    return int(facts["used_memory"])


def entries_in_redis(number: int, own_bodies: bool) -> dict[str, float]:
    texts = bodies()
    with RedisServer() as server, server.client() as client:
        store = RedisStore(DirectConnection(client), NullStore(), 30 * 86_400)  # type: ignore[arg-type]
        before, octets, began = memory(client), 0, time.perf_counter()
        origins = []
        for count, entry in enumerate(entries(number, texts)):
            kept = entry if own_bodies else replace(entry, body=texts[count % len(texts)])
            at_once(store.put(kept))
            octets += len(kept.body)
            origins.append(entry.origin)
        put, taken, began = time.perf_counter() - began, memory(client) - before, time.perf_counter()
        for origin in origins[:BATCH]:
            at_once(store.get(origin))
        get = BATCH / (time.perf_counter() - began)
    return {
        "body": octets / number,
        "entry": taken / number,
        "put": number / put,
        "get": get,
        "bodies": len(set(texts)),
    }


def one_delay(delay: float, seconds: float, loop: str) -> dict[str, Any]:
    """The arrivals of the first so many seconds from four workers that have more to do than that."""
    pages = int(seconds / delay / WORKERS) + 4
    with RedisServer() as server, Site() as site:
        site.answer("/robots.txt", robots(f"User-agent: *\nCrawl-delay: {delay}\n"))

        def work(worker: int) -> Any:
            urls = [f"{site.origin}/{worker}/{page}" for page in range(pages)]
            return crawl(*urls, settings={"REP_REDIS_URL": server.url}, loop=loop, timeout=3 * seconds + 60)

        with ThreadPoolExecutor(WORKERS) as pool:
            for result in pool.map(work, range(WORKERS)):
                check(len(result.pages) == pages, result)
    log = [arrival for arrival in site.log if arrival.time <= site.log[0].time + seconds]
    gaps = [after.time - before.time for before, after in pairwise(log)]
    shares = Counter(arrival.path.split("/")[1] for arrival in log[1:])
    return {
        "arrivals": len(log), "used": len(log) / (seconds / delay), "gaps": [min(gaps), fmean(gaps), max(gaps)],
        "shares": sorted(share / len(log) for share in shares.values()),
    }  # fmt: skip


def measure(origins: int = 100_000, seconds: float = 20.0, delay: float = 0.2) -> dict[str, Any]:
    with RedisServer() as server, server.client() as client:
        facts: dict[str, Any] = client.info("server")
        turns = {count: max(permits_per_second(server, count) for _ in range(3)) for count in (1, 2, 4, 8)}
        crowds = {workers: crowd(server, workers) for workers in (1, 10, 100, 1_000)}
    return {
        "Redis": facts["redis_version"], "origins": origins, "seconds": seconds, "delay": delay,
        "permits": turns, "crowds": crowds, "latency": {loop: latency(loop) for loop in LOOPS},
        "entries": {kind: entries_in_redis(origins, kind == OWN) for kind in (OWN, SHARED)},
        "fleet": {loop: one_delay(delay, seconds, loop) for loop in LOOPS},
    }  # fmt: skip


def of_entries(fleet: dict[str, Any]) -> Iterator[str]:
    own, shared = fleet["entries"][OWN], fleet["entries"][SHARED]
    lines = {
        "octets of a body, on average": lambda of: f"{of['body']:,.0f}",
        "memory of Redis per entry": lambda of: f"{of['entry']:,.0f} octets",
        "for 1,000,000 origins": lambda of: f"{of['entry'] / 1e3:.2f} GB",
        "put, by one client": lambda of: f"{rounded(of['put'])} per second",
        "get, by one client": lambda of: f"{rounded(of['get'])} per second",
    }
    head = [f"{fleet['origins']:,} origins", "a body of its own each", f"{shared['bodies']:,} bodies shared"]
    return table(head, ((text, cell(own), cell(shared)) for text, cell in lines.items()))


def of_a_fleet(fleet: dict[str, Any]) -> Iterator[str]:
    asked = f"`Crawl-delay: {fleet['delay']}`, {fleet['seconds']:.0f} s"
    yield f"{WORKERS} workers, each with more to do than there is time for, {asked}, seconds between arrivals:"
    yield ""
    yield from table(
        ["loop", "arrivals", "of those possible", "least", "mean", "most", "share of each"],
        (
            (loop, one["arrivals"], f"{one['used']:.0%}", *(f"{gap:.3f}" for gap in one["gaps"]),
             ", ".join(f"{share:.0%}" for share in one["shares"]))
            for loop, one in fleet["fleet"].items()
        ),
    )  # fmt: skip


def of_requests(fleet: dict[str, Any]) -> Iterator[str]:
    rows = (
        (loop, f"{usual * 1e3:.2f} ms", f"{worst * 1e3:.1f} ms")
        for loop, (usual, worst) in fleet["latency"].items()
    )
    return table(["loop", "added per request, median", "the worst of 200"], rows)


def of_one_redis(fleet: dict[str, Any]) -> Iterator[str]:
    yield f"Redis {fleet['Redis']}; the best of three runs, clients that do one after the other:"
    yield ""
    turns = fleet["permits"].items()
    rows = ((clients, rounded(rate), f"{busy * 1e6:.0f} µs") for clients, (rate, busy) in turns)
    yield from table(["clients", "permits per second", "CPU of Redis per permit"], rows)
    yield ""
    crowds = ((f"{int(workers):,}", f"{busy * 1e6:.0f} µs") for workers, busy in fleet["crowds"].items())
    yield from table(["workers that queue at one download slot", "CPU of Redis per question"], crowds)


BENCHMARK: Final = Benchmark(
    measure,
    minutes=3.5,
    quick={"origins": 2_000, "seconds": 2.0},
    blocks={
        "fleet.entries": of_entries,
        "fleet.delay": of_a_fleet,
        "fleet.latency": of_requests,
        "fleet": of_one_redis,
    },
    versions=("redis",),
)

if __name__ == "__main__":
    main(__spec__.name)
