"""What a page of a broad crawl costs while many hosts wait in the scheduler: scrapy_rep beside Scrapy.

CPU: seconds of the crawling process per page, with so many hosts waiting. Every page leads to a host that nobody
has met, so that as many wait all the time, and a robots.txt comes with every page where it is obeyed: scrapy_rep
keeps it in a SQLite file, as in a project. The crawl is cut after enough pages.

The queue: what one `push` and one `pop` take, with so many hosts in it, of which each has one request.

Every crawl is real, in a process of its own, of a real server on 127.0.0.0/8 (Linux). The three take turns, so
that a busy machine slows all alike; medians of the rounds count. From the root of the repository, with the extra
`bench`; it takes about five minutes:

    python -m benchmarks.broad [--hosts 300 3000 30000] [--rounds 3] [--pages 192] [--rules 13] [--out FILE.svg]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import Any, Final

import scrapy

from .any_origin import MEDIAN, AnyOrigin
from .broad_chart import BUILT_IN, OFF, OURS, Figures, draw

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
PATIENCE: Final = 300.0  # seconds until a crawl is given up


def subject(job: dict[str, Any]) -> dict[str, Any]:
    """The figures of one job of `benchmarks.broad_subject`."""
    result = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "benchmarks.broad_subject", json.dumps(job)],
        env={**os.environ, "PYTHONHASHSEED": "0"},  # else one process has luckier dicts than another
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    if result.returncode:
        raise SystemExit(f"it broke: {job}\n{result.stderr[-4_000:]}")
    figures: dict[str, Any] = json.loads(result.stdout)
    return figures


def crawl(server: AnyOrigin, name: str, hosts: int, pages: int) -> dict[str, Any]:
    """The figures of one crawl; one that broke, or was ahead of itself, must not pass for one that was cheap."""
    with tempfile.TemporaryDirectory() as folder:
        stored = {"REP_STORE_PATH": f"{folder}/robots.sqlite"} if name == OURS else {}
        job = {"port": server.port, "hosts": hosts, "warm": WARM, "pages": pages * MORE.get(name, 1)}
        figures = subject({**job, "settings": SETTINGS[name] | stored})
    is_fair = figures["robots"] == 0 if name == OFF else figures["robots"] > 0.85
    if not is_fair or figures["waiting"] < 0.8 * hosts or any(figures["problems"].values()):
        raise SystemExit(f"the crawl broke: {name}, {figures}")
    return figures


def crawls(hosts: Iterable[int], rounds: int, pages: int, rules: int) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Crawls of all three in turn, each round beginning with another one."""
    order = list(SETTINGS)
    with AnyOrigin(lasting=True, rules=rules) as server:
        for number in range(rounds):
            for waiting in hosts:
                for name in order:
                    figures = crawl(server, name, waiting, pages)
                    shown = f"{figures['cpu'] * 1e3:.1f} ms a page, {figures['robots']:.2f} robots.txt"
                    print(f"round {number + 1}: {waiting:,} hosts, {name}: {shown}", file=sys.stderr, flush=True)
                    yield name, waiting, figures
            order.append(order.pop(0))


def measure(hosts: list[int], rounds: int, pages: int, rules: int) -> Figures:
    runs: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for name, waiting, figures in crawls(hosts, rounds, pages, rules):
        runs.setdefault((name, waiting), []).append(figures)
    queues = {
        (name, size): subject({"queue": True, "hosts": size, "settings": settings})
        for size in IN_QUEUE
        for name, settings in QUEUES.items()
    }
    return Figures(
        rules=rules,
        hosts=hosts,
        cpu={which: median(run["cpu"] for run in of_one) for which, of_one in runs.items()},
        rate={which: median(run["rate"] for run in of_one) for which, of_one in runs.items()},
        ratio={
            (name, waiting): median(
                run["cpu"] / off["cpu"] for run, off in zip(of_one, runs[OFF, waiting], strict=True)
            )
            for (name, waiting), of_one in runs.items()
        },
        push={which: queue["push"] for which, queue in queues.items()},
        pop={which: queue["pop"] for which, queue in queues.items()},
        in_queue=list(IN_QUEUE),
    )


def crawl_table(figures: Figures) -> Iterator[str]:
    yield "| hosts waiting | " + " | ".join(SETTINGS) + " | scrapy_rep / robots.txt off | / built-in |"
    yield "|---|---|---|---|---|---|"
    for waiting in figures.hosts:
        cells = [
            f"{figures.cpu[name, waiting] * 1e3:.1f} ms, {figures.rate[name, waiting]:.0f} pages/s"
            for name in SETTINGS
        ]
        ours, built_in = figures.ratio[OURS, waiting], figures.ratio[BUILT_IN, waiting]
        yield f"| {waiting:,} | " + " | ".join(cells) + f" | {ours:.2f} | {ours / built_in:.2f} |"


def queue_table(figures: Figures) -> Iterator[str]:
    yield "| hosts in the queue | push, Scrapy's | scrapy_rep | pop, Scrapy's | scrapy_rep |"
    yield "|---|---|---|---|---|"
    for size in figures.in_queue:
        cells = [f"{took[name, size] * 1e6:,.0f} µs" for took in (figures.push, figures.pop) for name in QUEUES]
        yield f"| {size:,} | " + " | ".join(cells) + " |"


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.broad")
    options.add_argument("--hosts", type=int, nargs="+", default=[300, 3_000, 30_000], help="that wait")
    options.add_argument("--rounds", type=int, default=3, help="(default: %(default)s)")
    options.add_argument("--pages", type=int, default=192, help="that count in a crawl (default: %(default)s)")
    options.add_argument("--rules", type=int, default=MEDIAN, help="of each robots.txt (default: %(default)s)")
    options.add_argument("--out", type=Path, default=Path("docs/broad.svg"), help="(default: %(default)s)")
    chosen = options.parse_args()
    figures = measure(chosen.hosts, chosen.rounds, chosen.pages, chosen.rules)
    print(f"Scrapy {scrapy.__version__}, robots.txt of {chosen.rules} rules; CPU per page and pages per second\n")
    print(*crawl_table(figures), sep="\n")
    print("", *queue_table(figures), sep="\n")
    draw(figures, chosen.out)


if __name__ == "__main__":
    main()
