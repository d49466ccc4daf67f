"""What a fleet costs: one real Redis, its permits and its entries; then real crawls that keep one delay.

    python -m benchmarks.fleet [--origins 100000] [--seconds 30] [--corpus DIR]

prints Markdown tables; it takes about four minutes, and needs the extra `test`. Bodies are those of the corpus in
permit, or made up: once each origin has one of its own, which is the dearest case, and once they are shared.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import chain, pairwise
from math import inf
from pathlib import Path
from statistics import fmean
from typing import Any

from redis import Redis

from scrapy_rep.pacing.limiters import RedisRateLimiter
from scrapy_rep.robots.stores import NullStore
from scrapy_rep.robots.stores.redis import RedisStore
from tests.support.crawl import LOOPS, crawl
from tests.support.direct_connection import DirectConnection, at_once
from tests.support.redis_server import RedisServer
from tests.support.site import Site, robots

from .store import bodies, entries

WORKERS = 4
BATCH = 5_000


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
        if len(result.pages) != len(urls):
            raise SystemExit(f"the crawl broke: {result.stats}\n{result.stderr[-4_000:]}")
        return result.stats["latency/median"], result.stats["latency/worst"]


def memory(client: Redis) -> int:
    facts: dict[str, Any] = client.info("memory")
    return int(facts["used_memory"])


def entries_in_redis(number: int, texts: list[bytes], own_bodies: bool) -> Iterator[str]:
    with RedisServer() as server, server.client() as client:
        store = RedisStore(DirectConnection(client), NullStore(), 30 * 86_400)  # type: ignore[arg-type]
        before, octets, began = memory(client), 0, time.perf_counter()
        origins = []
        for count, entry in enumerate(entries(number, texts)):
            kept = entry if own_bodies else replace(entry, body=texts[count % len(texts)])
            at_once(store.put(kept))
            octets += len(kept.body)
            origins.append(entry.origin)
        put = number / (time.perf_counter() - began)
        taken = (memory(client) - before) / number
        began = time.perf_counter()
        for origin in origins[:BATCH]:
            at_once(store.get(origin))
        get = BATCH / (time.perf_counter() - began)
        names = "a body of its own each" if own_bodies else f"{len(set(texts)):,} bodies shared"
        yield f"\n| {number:,} origins, {names}, {octets / number:,.0f} octets on average | |"
        yield "|---|---|"
        yield f"| memory of Redis per entry | {taken:,.0f} octets |"
        yield f"| for 1,000,000 such origins | {taken / 1e3:,.2f} GB |"
        yield f"| put, get, by one client | {put:,.0f}, {get:,.0f} per second |"


def one_delay(delay: float, seconds: float, loop: str) -> str:
    """The arrivals of the first so many seconds from four workers that have more to do than that."""
    pages = int(seconds / delay / WORKERS) + 4
    with RedisServer() as server, Site() as site:
        site.answer("/robots.txt", robots(f"User-agent: *\nCrawl-delay: {delay}\n"))

        def work(worker: int) -> Any:
            urls = [f"{site.origin}/{worker}/{page}" for page in range(pages)]
            return crawl(*urls, settings={"REP_REDIS_URL": server.url}, loop=loop, timeout=3 * seconds + 60)

        with ThreadPoolExecutor(WORKERS) as pool:
            broken = [result for result in pool.map(work, range(WORKERS)) if len(result.pages) != pages]
    if broken:
        raise SystemExit(f"a crawl broke: {broken[0].stats}\n{broken[0].stderr[-4_000:]}")
    log = [arrival for arrival in site.log if arrival.time <= site.log[0].time + seconds]
    gaps = [after.time - before.time for before, after in pairwise(log)]
    shares = Counter(arrival.path.split("/")[1] for arrival in log[1:])
    shown = ", ".join(f"{share / len(log):.0%}" for _, share in sorted(shares.items()))
    used = len(log) / (seconds / delay)
    return (
        f"| {loop} | {len(log)} | {used:.0%} | {min(gaps):.3f} | {fmean(gaps):.3f} | {max(gaps):.3f} | {shown} |"
    )


def best(measure: Callable[[], tuple[float, float]]) -> tuple[float, float]:
    return max(measure() for _ in range(3))


def of_one_redis() -> Iterator[str]:
    with RedisServer() as server, server.client() as client:
        facts: dict[str, Any] = client.info("server")
        yield f"Redis {facts['redis_version']}, {os.cpu_count()} cores\n"
        yield "The best of three runs, clients that ask one after another:\n"
        yield "| clients | permits per second | CPU of Redis per permit |\n|---|---|---|"
        for clients in (1, 2, 4, 8):
            rate, busy = best(partial(permits_per_second, server, clients))
            yield f"| {clients} | {rate:,.0f} | {busy * 1e6:.0f} µs |"
        yield "\n| workers that queue at one download slot | CPU of Redis per question |\n|---|---|"
        for workers in (1, 10, 100, 1_000):
            yield f"| {workers:,} | {crowd(server, workers) * 1e6:.0f} µs |"


def of_requests() -> Iterator[str]:
    yield "\n| loop | added per request, median | the worst of 200 |\n|---|---|---|"
    for loop in LOOPS:
        usual, worst = latency(loop)
        yield f"| {loop} | {usual * 1e3:.2f} ms | {worst * 1e3:.1f} ms |"


def of_a_fleet(delay: float, seconds: float) -> Iterator[str]:
    yield f"\n{WORKERS} workers, Crawl-delay {delay}, {seconds:g} s, seconds between arrivals\n"
    yield "| loop | arrivals | of those possible | least | mean | most | share of each |"
    yield "|---|---|---|---|---|---|---|"
    for loop in LOOPS:
        yield one_delay(delay, seconds, loop)


def main() -> None:
    arguments = argparse.ArgumentParser(prog="python -m benchmarks.fleet")
    arguments.add_argument("--origins", type=int, default=100_000, help="(default: %(default)s)")
    arguments.add_argument("--seconds", type=float, default=30.0, help="of a crawl (default: %(default)s)")
    arguments.add_argument("--delay", type=float, default=0.2, help="of its robots.txt (default: %(default)s)")
    arguments.add_argument("--corpus", type=Path, default=os.environ.get("SCRAPY_REP_CORPUS"), help="folder")
    options = arguments.parse_args()
    texts = bodies(Path(options.corpus) if options.corpus else None)
    tables = [
        of_one_redis(),
        of_requests(),
        *(entries_in_redis(options.origins, texts, own_bodies) for own_bodies in (True, False)),
        of_a_fleet(options.delay, options.seconds),
    ]
    for line in chain.from_iterable(tables):
        print(line, flush=True)


if __name__ == "__main__":
    main()
