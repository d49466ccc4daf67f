"""What a page of a broad crawl costs while many hosts wait in the scheduler: scrapy_rep beside Scrapy.

CPU: seconds of the crawling process per page, with so many hosts waiting. Every page leads to a host that nobody
has met, so that as many wait all the time, and a robots.txt comes with every page where it is obeyed: scrapy_rep
keeps it in a SQLite file, as in a project. The crawl is cut after enough pages.

The queue: what one `push` and one `pop` take, with so many hosts in it, of which each has one request.

Every crawl is real, in a process of its own, of a real server on 127.0.0.0/8 (Linux). The three take turns, so
that a busy machine slows all alike; medians of the rounds count. From the root of the repository.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from statistics import median
from typing import Any, Final

from .any_origin import MEDIAN, AnyOrigin
from .apart import apart
from .broad_subject import alone
from .broad_subject import crawl as subject
from .figures import Benchmark, main, table

OFF, BUILT_IN, OURS = "Scrapy, robots.txt off", "Scrapy's own middleware", "scrapy_rep"

SETTINGS: Final[dict[str, dict[str, Any]]] = {
    OFF: {"ROBOTSTXT_OBEY": False},
    BUILT_IN: {"ROBOTSTXT_OBEY": True},
    OURS: {"ADDONS": {"scrapy_rep.Addon": 300}},
}
QUEUES: Final[dict[str, dict[str, Any]]] = {
    OFF: {},
    OURS: {"SCHEDULER_PRIORITY_QUEUE": "scrapy_rep.RepPriorityQueue"},
}
IN_QUEUE: Final = (10, 100, 1_000, 10_000, 100_000)
WARM: Final = 128  # pages that do not count; and robots.txt that may be in hand, or asked for, then
MORE: Final = {OURS: 4}  # times the pages: it fetches robots.txt ahead, up to 64 at a time, which has to even out


def crawl(server: AnyOrigin, name: str, hosts: int, pages: int) -> dict[str, Any]:
    """The figures of one crawl; one that broke, or was ahead of itself, must not pass for one that was cheap."""
    with tempfile.TemporaryDirectory() as folder:
        stored = {"REP_STORE_PATH": f"{folder}/robots.sqlite"} if name == OURS else {}
        job = {"port": server.port, "hosts": hosts, "warm": WARM, "pages": pages * MORE.get(name, 1)}
        figures: dict[str, Any] = apart(subject, {**job, "settings": SETTINGS[name] | stored})
    is_fair = figures["robots"] == 0 if name == OFF else figures["robots"] > 0.85
    if not is_fair or figures["waiting"] < 0.8 * hosts or any(figures["problems"].values()):
        raise SystemExit(f"the crawl broke: {name}, {figures}")
    return figures


def crawls(hosts: tuple[int, ...], rounds: int, pages: int, rules: int) -> Iterator[tuple[str, int, float]]:
    """CPU seconds a page in crawls of all three in turn, each round beginning with another one."""
    order = list(SETTINGS)
    with AnyOrigin(lasting=True, rules=rules) as server:
        for _ in range(rounds):
            for waiting in hosts:
                for name in order:
                    yield name, waiting, crawl(server, name, waiting, pages)["cpu"]
            order.append(order.pop(0))


def measure(
    hosts: tuple[int, ...] = (300, 3_000, 30_000), rounds: int = 3, pages: int = 192, rules: int = MEDIAN,
    in_queue: tuple[int, ...] = (10, 100, 1_000, 10_000, 100_000),
) -> dict[str, Any]:  # fmt: skip
    """CPU seconds of a page, by the hosts that wait, and of a push and a pop, by the hosts in the queue."""
    runs: dict[tuple[str, int], list[float]] = {}
    for name, waiting, cpu in crawls(hosts, rounds, pages, rules):
        runs.setdefault((name, waiting), []).append(cpu)
    jobs = {
        (name, size): {"hosts": size, "settings": settings}
        for name, settings in QUEUES.items()
        for size in in_queue
    }
    queues = {which: apart(alone, job) for which, job in jobs.items()}
    return {
        "rules": rules,
        "page": {name: {waiting: median(runs[name, waiting]) for waiting in hosts} for name in SETTINGS},
        "push": {name: {size: queues[name, size]["push"] for size in in_queue} for name in QUEUES},
        "pop": {name: {size: queues[name, size]["pop"] for size in in_queue} for name in QUEUES},
    }


def per_page(broad: dict[str, Any]) -> Iterator[str]:
    page = broad["page"]
    return table(
        ["CPU per page, hosts waiting", *(f"{int(waiting):,}" for waiting in page[OFF])],
        ((name, *(f"{cpu * 1e3:.1f} ms" for cpu in page[name].values())) for name in page),
    )


def in_the_queue(broad: dict[str, Any]) -> Iterator[str]:
    push, pop = broad["push"], broad["pop"]
    return table(
        ["hosts in the queue", "push, Scrapy's", "scrapy_rep", "pop, Scrapy's", "scrapy_rep"],
        (
            (f"{int(size):,}", *(f"{took[name][size] * 1e6:,.0f} µs" for took in (push, pop) for name in QUEUES))
            for size in pop[OURS]
        ),
    )


BENCHMARK: Final = Benchmark(
    measure,
    minutes=5,
    quick={"hosts": (300,), "rounds": 1, "in_queue": (10, 100)},
    blocks={"broad": per_page, "broad.queue": in_the_queue},
    pictures={"broad.svg": "benchmarks.broad_chart.draw"},
)

if __name__ == "__main__":
    main(__spec__.name)
