"""The rule engine beside its peers, on real robots.txt files, Google's verdicts on them and hostile bodies.

Each engine has a process of its own and the processes take turns, so that a busy machine slows all alike
and no engine finds its caches warmed, or emptied, by another. Per file the median of the passes counts; times are
of CPU. Every URL is asked once per parser. A warm decision is one after two about other URLs; whoever can be asked
about a path that is split already is, and compared with what the peer needs for the URL.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from statistics import fmean, median
from typing import Any, Final

from .engines import ENGINES, EXACT, OURS, PEER
from .figures import Benchmark, main, table
from .figures import time as shown
from .measure import BY_PATH, BY_URL, DECISIONS, QUESTIONS, Worker
from .worst_cases import ADVERSARIES, NAMED, PLAIN

Seconds = dict[tuple[str, str], list[float]]
"""Per file, by engine and question."""

KEPT: Final = {"kept after 1": 1, f"kept after {DECISIONS}": DECISIONS}
OF_PEER: Final = {BY_PATH: BY_URL}
"""The question to the peer that one is compared with, where it is another one."""
WORST: Final = 8
"""The number of hostile bodies that the page shows."""

COLD: Final = next(iter(QUESTIONS))
"""The question whose times the page of alternatives shows."""


def timed(workers: list[Worker], passes: int) -> Seconds:
    """The median of the passes, file by file."""
    found = {}
    for question in QUESTIONS:
        runs = [[worker.ask("seconds", question) for worker in workers] for _ in range(passes)]
        for worker, times in zip(workers, zip(*runs, strict=True), strict=True):
            found[worker.name, question] = [median(of_file) for of_file in zip(*times, strict=True)]
    return found


def compared(seconds: Seconds, engine: str, question: str) -> dict[str, float] | None:
    """The mean, and how many times faster than the peer: all files together, mean and median over them."""
    ours, theirs = seconds[engine, question], seconds[PEER, OF_PEER.get(question, question)]
    if isnan(ours[0]):  # it cannot be asked that
        return None
    ratios = [one / other for one, other in zip(theirs, ours, strict=True)]
    return {
        "mean": fmean(ours),
        "all": fmean(theirs) / fmean(ours),
        "of mean": fmean(ratios),
        "of median": median(ratios),
    }


def measure(every: int = 5, passes: int = 3) -> dict[str, Any]:
    workers = [Worker(name, every) for name in ENGINES]
    by_name = {worker.name: worker for worker in workers}
    sizes, seconds = workers[0].ask("sizes"), timed(workers, passes)
    engines = {
        name: {
            "seconds": {question: compared(seconds, name, question) for question in QUESTIONS},
            "kept": {text: worker.ask("octets_kept", count) for text, count in KEPT.items()},
            "agreement": worker.ask("agreement"),
        }
        for name, worker in by_name.items()
    }
    named = {body: {name: by_name[name].ask("worst", body) for name in (OURS, PEER)} for body in NAMED}
    hostile = {body: by_name[OURS].ask("worst", body)[0] for body in ADVERSARIES}
    for worker in workers:
        worker.close()
    everything = {name: agreement_on_all(name) for name in (OURS, EXACT)}
    return {
        "files": len(sizes),
        "octets": fmean(sizes),
        "engines": engines,
        "named": named,
        "hostile": hostile,
        "everything": everything,
    }


def agreement_on_all(name: str) -> float:
    worker = Worker(name, 1)
    share: float = worker.ask("agreement")
    worker.close()
    return share


def about(engine: dict[str, Any]) -> Iterator[str]:
    yield (
        f"{engine['files']:,} real files of {engine['octets']:,.0f} bytes on average, one agent. In brackets: how"
        " many times faster than Protego, all files together."
    )


def speed(engine: dict[str, Any]) -> Iterator[str]:
    yield from about(engine)
    yield ""
    yield from table(
        ["engine", *QUESTIONS, *KEPT, "agrees with Google"],
        (
            (name, *map(speed_cell, one["seconds"].values()),
             *(f"{octets / 1_000:.1f} kB" for octets in one["kept"].values()), f"{one['agreement']:.2%}")
            for name, one in engine["engines"].items()
        ),
    )  # fmt: skip


def speed_cell(found: dict[str, float] | None) -> str:
    if found is None:
        return "–"
    return f"{found['mean'] * 1e6:,.1f} µs ({found['all']:.1f}×)"


def named_bodies(engine: dict[str, Any]) -> Iterator[str]:
    def cells(body: str) -> Iterator[str]:
        for ours, theirs in zip(engine["named"][body][OURS], engine["named"][body][PEER], strict=True):
            yield from (f"{ours * 1e3:,.3f} ms", f"{theirs * 1e3:,.3f} ms", f"{theirs / ours:,.1f}×")

    head = ["500 KiB of", "parse + 1 decision", "Protego", "", "a warm decision", "Protego", ""]
    return table(head, ([body, *cells(body)] for body in engine["named"]))


def hostile_bodies(engine: dict[str, Any]) -> Iterator[str]:
    bound, hostile = engine["named"][PLAIN][PEER][0], engine["hostile"]
    slowest = sorted(hostile, key=hostile.__getitem__, reverse=True)
    listed = {body: hostile[body] for body in slowest[:WORST]}
    listed[f"{len(slowest) - WORST} other kinds, at most"] = hostile[slowest[WORST]]
    return table(
        ["500 KiB of", "parse + 1 decision", f"of Protego's {bound * 1e3:.0f} ms on {PLAIN}"],
        ((body, f"{seconds * 1e3:.1f} ms", f"{seconds / bound:.0%}") for body, seconds in listed.items()),
    )


def worst(engine: dict[str, Any]) -> Iterator[str]:
    most = max(engine["hostile"].values())
    theirs = shown(engine["named"][PLAIN][PEER][0])
    yield (
        f"Parsing a hostile body within the size limit and deciding once takes, at worst, {shown(most)};"
        f" Protego needs {theirs} for {PLAIN}: [all figures](engine.md)."
    )


def on_all_files(engine: dict[str, Any]) -> Iterator[str]:
    ours, exact = (f"{engine['everything'][name]:.2%}" for name in (OURS, EXACT))
    yield f"The default agrees on {ours} of them, `google-exact` on {exact}."


def of_engines(engine: dict[str, Any], conformance: dict[str, Any]) -> Iterator[str]:
    """The engines beside each other, by what was asked of the parser back-ends of Scrapy as well."""
    sources = [source for source in conformance["right"][OURS] if OURS not in source]  # ours would flatter us
    right = {name: [found[source] for source in sources] for name, found in conformance["right"].items()}
    yield from table(
        ["engine", *sources, "verdicts as Google's parser", "time", "kept"],
        (
            (name, *right.get(name, "–" * len(sources)), f"{one['agreement']:.2%}",
             shown(one["seconds"][COLD]["mean"]), f"{one['kept']['kept after 1'] / 1e3:.1f} kB")
            for name, one in engine["engines"].items()
        ),
    )  # fmt: skip


BENCHMARK: Final = Benchmark(
    measure,
    minutes=3,
    quick={"every": 200, "passes": 1},
    blocks={
        "engine": speed,
        "engine.named": named_bodies,
        "engine.hostile": hostile_bodies,
        "engine.worst": worst,
        "engine.agreement": on_all_files,
        "engine.alternatives": of_engines,
    },
    pictures={"engine.svg": "benchmarks.engine_chart.draw"},
    versions=("robotspy", "gpyrobotstxt", "fast-robotstxt", "texting-robots-py"),
)

if __name__ == "__main__":
    main(__spec__.name)
