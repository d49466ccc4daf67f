"""What obeying robots.txt costs a crawl: none at all, Scrapy's built-in middleware and scrapy_rep side by side.

All of it with a robots.txt of median length and with a long one: the cost of Scrapy's own grows with the rules.

CPU: how much more of it a page takes in a crawl of one origin whose robots.txt is in hand. That is little beside
a page, and two crawls are never alike: so also how much more than a page with the meta key
``dont_obey_robotstxt`` in the same crawl, and what the middleware alone takes of it, per request.

A new origin: how much more CPU one page of each of many origins takes, by the store of their robots.txt files.

Memory: the resident set of a crawl of 20,000 origins, one page each, every robots.txt different. How much of
it per origin is due to robots.txt, once what the crawl takes without one is subtracted?

Every figure comes from a real crawl, in a process of its own, of a real server on 127.0.0.0/8 (Linux). The
variants take turns, so that a busy machine slows all alike. CPU time counts, not the clock on the wall.
From the root of the repository, with the extra `bench`; it takes about half an hour:

    python -m benchmarks.crawl_cost [--rounds 9] [--origin-rounds 9] [--memory-rounds 2] [--out FILE.svg]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import fmean, linear_regression, median, quantiles
from tempfile import TemporaryDirectory
from typing import Any, Final

import scrapy

from .any_origin import LONG, MEDIAN, AnyOrigin
from .crawl_cost_chart import BUILT_IN, OFF, OURS, OURS_SMALL, Curve, Figures, Spread, draw

ADDON: Final = {"ADDONS": {"scrapy_rep.Addon": 300}}
SMALL: Final = 2_000
SETTINGS: Final[dict[str, dict[str, Any]]] = {
    OFF: {"ROBOTSTXT_OBEY": False},
    BUILT_IN: {"ROBOTSTXT_OBEY": True},
    OURS: ADDON,
    OURS_SMALL: {**ADDON, "REP_MEMORY_ENTRIES": SMALL},
}
BESIDE_DELAY: Final = "scrapy_rep, beside a Crawl-delay"
TIMED: Final = {**{name: SETTINGS[name] for name in (OFF, BUILT_IN, OURS)}, BESIDE_DELAY: ADDON}
STORES: Final[dict[str, dict[str, Any]]] = {
    OFF: SETTINGS[OFF],
    BUILT_IN: SETTINGS[BUILT_IN],
    "scrapy_rep, in memory": {**ADDON, "REP_STORE": "memory"},
    "scrapy_rep, in SQLite": {**ADDON, "REP_STORE_PATH": "{folder}/robots.sqlite"},
}
NEW_ORIGINS: Final = 1_200  # of which a sixth warms up
PAGES: Final = 4_400  # four blocks to warm up and forty that count
ORIGINS: Final = 20_000
EVERY: Final = 1_000
PATIENCE: Final = 900.0  # seconds until a crawl is given up

Runs = dict[str, list[dict[str, Any]]]


def crawl(server: AnyOrigin, settings: dict[str, Any], spider: str, count: int) -> dict[str, Any]:
    """The figures of one crawl; one that broke must not pass for one that was cheap."""
    with TemporaryDirectory() as folder:
        job = {"spider": spider, "port": server.port, "count": count, "settings": settings}
        result = subprocess.run(  # noqa: S603
            [sys.executable, "-m", "benchmarks.crawl_subject", json.dumps(job).replace("{folder}", folder)],
            env={**os.environ, "PYTHONHASHSEED": "0"},  # else one process has luckier dicts than another
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    figures: dict[str, Any] = json.loads(result.stdout) if not result.returncode else {}
    stats = expected(spider, count, obeys=settings != SETTINGS[OFF])
    if not figures or figures["stats"] != {**figures["stats"], **stats}:
        raise SystemExit(f"the crawl broke: {figures.get('stats')}\n{result.stderr[-4_000:]}")
    return figures


def expected(spider: str, count: int, *, obeys: bool) -> dict[str, int]:
    others = int(spider == "PagesBesideDelay")
    origins = count if spider.endswith("Origins") else 1 + others
    requests = origins if obeys else 0
    return {
        "response_received_count": count + others + requests,
        "robotstxt/request_count": requests,
        "log_count/ERROR": 0,
    }


def rounds(
    spider: str, variants: dict[str, dict[str, Any]], count: int, times: int, *, length: int, lasting: bool
) -> Runs:
    """Crawls of all *variants* in turns, each round beginning with another one."""
    runs: Runs = {name: [] for name in variants}
    order = list(runs)
    with AnyOrigin(lasting=lasting, rules=length) as server:
        for number in range(times):
            for name in order:
                named = "PagesBesideDelay" if name == BESIDE_DELAY else spider
                runs[name].append(crawl(server, variants[name], named, count))
                print(f"{spider}, round {number + 1} of {times}: {name}", file=sys.stderr)
            order.append(order.pop(0))
    return runs


def spread(values: Iterable[float]) -> Spread:
    """Median and quartiles, in microseconds."""
    values = [value * 1e6 for value in values]
    low, _, high = quantiles(values, method="inclusive") if len(values) > 1 else values * 3
    return Spread(median(values), low, high)


def more(runs: Runs, name: str, figure: str) -> Spread:
    """CPU per page, or per origin, beyond that of the crawl without robots.txt in the same round."""
    pairs = zip(runs[name], runs[OFF], strict=True)
    return spread(run[figure] - off[figure] for run, off in pairs)


def each(runs: list[dict[str, Any]], figure: str) -> Spread:
    """The median of what each crawl measured several times, over the crawls."""
    return spread(median(run[figure]) for run in runs)


def curve(runs: list[dict[str, Any]]) -> Curve:
    """Mean resident megabytes at every so many origins."""
    return [fmean(sizes) / 1e6 for sizes in zip(*(run["resident"] for run in runs), strict=True)]


def measure(length: int, times: int, origin_times: int, memory_times: int) -> Figures:
    """The figures with a robots.txt of *length* rules."""
    pages = rounds("Pages", TIMED, PAGES, times, length=length, lasting=True)
    new = rounds("NewOrigins", STORES, NEW_ORIGINS, origin_times, length=length, lasting=False)
    origins = rounds("Origins", SETTINGS, ORIGINS, memory_times, length=length, lasting=False)
    return Figures(
        page={name: spread(run["page"] for run in runs) for name, runs in pages.items()},
        more={name: more(pages, name, "page") for name in TIMED if name != OFF},
        beside={name: each(runs, "more") for name, runs in pages.items()},
        request={name: each(runs, "request") for name, runs in pages.items()},
        origin={name: more(new, name, "origin") for name in STORES if name != OFF},
        memory={name: curve(runs) for name, runs in origins.items()},
        slope={name: slopes(origins[name], origins[OFF]) for name in SETTINGS if name != OFF},
        every=EVERY,
    )


def slopes(runs: list[dict[str, Any]], off: list[dict[str, Any]]) -> list[float]:
    """kB per origin over the second half of each crawl, without what grows without robots.txt."""
    return [slope(run) - slope(without) for run, without in zip(runs, off, strict=True)]


def slope(run: dict[str, Any]) -> float:
    sizes = run["resident"]
    half = len(sizes) // 2
    counts = range(half * EVERY, (len(sizes) + 1) * EVERY, EVERY)
    return linear_regression(counts, sizes[half - 1 :]).slope / 1e3


def cpu_table(figures: Figures) -> Iterator[str]:
    yield (
        "| CPU in µs, median (quartiles) of the crawls | a page | more than in the crawl with robots.txt off"
        " | more than an exempt page of the same crawl | the middleware alone, per request |"
    )
    yield "|---|---|---|---|---|"
    for name in TIMED:
        cells = [figures.page[name], figures.more.get(name, "–"), figures.beside[name], figures.request[name]]
        yield f"| {name} | " + " | ".join(map(str, cells)) + (" * |" if name == OFF else " |")
    yield "\n\\* to split the URL: part of the figures below, and what Scrapy's downloader does otherwise."


def origin_table(figures: Figures) -> Iterator[str]:
    yield "| a new origin: CPU in µs beyond robots.txt off, median (quartiles) | | |"
    yield "|---|---|---|"
    for name, took in figures.origin.items():
        yield f"| {name} | {took} | {took.middle / figures.origin[BUILT_IN].middle:.2f}× |"


def memory_table(figures: Figures) -> Iterator[str]:
    half = f"{ORIGINS // 2:,}"
    yield f"| resident | at {half} origins | at {ORIGINS:,} | per origin in the second half, for robots.txt |"
    yield "|---|---|---|---|"
    for name, sizes in figures.memory.items():
        growth = ", ".join(f"{slope:.2f} kB" for slope in figures.slope.get(name, [])) or "–"
        yield f"| {name} | {sizes[len(sizes) // 2 - 1]:.0f} MB | {sizes[-1]:.0f} MB | {growth} |"


def report(figures: Figures) -> Iterator[str]:
    for table in (cpu_table, origin_table, memory_table):
        yield ""
        yield from table(figures)


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.crawl_cost")
    options.add_argument("--rounds", type=int, default=9, help="of the crawls for CPU (default: %(default)s)")
    options.add_argument("--origin-rounds", type=int, default=9, help="of new origins (default: %(default)s)")
    options.add_argument("--memory-rounds", type=int, default=2, help="(default: %(default)s)")
    options.add_argument("--out", type=Path, default=Path("docs/crawl_cost.svg"), help="(default: %(default)s)")
    chosen = options.parse_args()
    by_length = {}
    for length in (MEDIAN, LONG):
        figures = measure(length, chosen.rounds, chosen.origin_rounds, chosen.memory_rounds)
        print(f"Scrapy {scrapy.__version__}, robots.txt of {length} rules", *report(figures), "", sep="\n")
        by_length[length] = figures
    draw(by_length, chosen.out)


if __name__ == "__main__":
    main()
