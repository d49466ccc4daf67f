"""The rule engine beside its peers, on real robots.txt files, Google's verdicts on them and hostile bodies.

    python -m benchmarks.engine --corpus DIR [--every 10] [--passes 5] [--out docs]

prints Markdown tables (extra ``bench``) and with ``--out`` writes them and a chart there. The corpus is a
folder with ``robots.tar.xz`` and ``google-verdicts.tsv.xz``, or one of robots.txt files; agreement with
Google is then left out. ``--every 10`` takes every tenth file.

Each engine has a process of its own and the processes take turns, so that a busy machine slows all alike
and no engine finds its caches warmed, or emptied, by another. Per file the median of the passes counts.
"""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from math import isnan
from pathlib import Path
from statistics import fmean, median
from typing import Final

from .engine_chart import draw
from .engines import ENGINES, EXACT, OURS, PEER
from .measure import DECISIONS, QUESTIONS, Worker
from .worst_cases import ADVERSARIES, NAMED, PLAIN

KEPT: Final = {"kept after 1": 1, f"kept after {DECISIONS}": DECISIONS}


@dataclass(frozen=True)
class Figures:
    """Seconds per file by engine and question; octets kept per file; agreement; seconds by engine and body."""

    files: int
    mean_size: float
    seconds: dict[tuple[str, str], list[float]]
    kept: dict[tuple[str, str], float]
    agreement: dict[str, float | None]
    worst: dict[tuple[str, str], tuple[float, float]]

    def ratio(self, engine: str, question: str) -> float:
        """How many times faster than the peer, by the means over the files."""
        return fmean(self.seconds[PEER, question]) / fmean(self.seconds[engine, question])

    def middle(self, engine: str, question: str) -> float:
        """The median over the files of how many times faster than the peer."""
        pairs = zip(self.seconds[PEER, question], self.seconds[engine, question], strict=True)
        return median(theirs / ours for theirs, ours in pairs)


def measure(folder: Path, every: int, passes: int) -> Figures:
    workers = [Worker(name, folder, every) for name in ENGINES]
    files, mean_size = workers[0].ask("size")
    seconds = {}
    for question in QUESTIONS:
        runs = [[worker.ask("seconds", question) for worker in workers] for _ in range(passes)]
        for worker, times in zip(workers, zip(*runs, strict=True), strict=True):
            seconds[worker.name, question] = [median(of_file) for of_file in zip(*times, strict=True)]
    kept = {
        (worker.name, name): worker.ask("octets_kept", count) for worker in workers for name, count in KEPT.items()
    }
    agreement = {worker.name: worker.ask("agreement") for worker in workers}
    duel = [worker for worker in workers if worker.name in (OURS, PEER)]
    worst = {(worker.name, body): worker.ask("worst", body) for body in NAMED for worker in duel}
    worst |= {(OURS, body): workers[0].ask("worst", body) for body in ADVERSARIES}
    for worker in workers:
        worker.close()
    return Figures(files, mean_size, seconds, kept, agreement, worst)


def speed_table(figures: Figures) -> Iterator[str]:
    yield "| engine | " + " | ".join([*QUESTIONS, *KEPT, "agrees with Google"]) + " |"
    yield "|---" * (len(QUESTIONS) + len(KEPT) + 2) + "|"
    for engine in ENGINES:
        cells = [speed(figures, engine, question) for question in QUESTIONS]
        cells += [f"{figures.kept[engine, name] / 1_000:.1f} kB" for name in KEPT]
        share = figures.agreement[engine]
        yield f"| {engine} | " + " | ".join([*cells, "–" if share is None else f"{share:.2%}"]) + " |"


def speed(figures: Figures, engine: str, question: str) -> str:
    mean = fmean(figures.seconds[engine, question])
    if isnan(mean):  # it cannot be asked that
        return "–"
    ratios = f"{figures.ratio(engine, question):.1f}×, {figures.middle(engine, question):.1f}×"
    return f"{mean * 1e6:,.1f} µs ({ratios})"


def worst_table(figures: Figures) -> Iterator[str]:
    yield "| 500 KiB of | parse + 1 decision | Protego | | a warm decision | Protego | |"
    yield "|---|---|---|---|---|---|---|"
    for body in NAMED:
        cells = []
        for ours, theirs in zip(figures.worst[OURS, body], figures.worst[PEER, body], strict=True):
            cells += [f"{ours * 1e3:,.3f} ms", f"{theirs * 1e3:,.3f} ms", f"{theirs / ours:,.1f}×"]
        yield f"| {body} | " + " | ".join(cells) + " |"


def adversary_table(figures: Figures) -> Iterator[str]:
    bound, _ = figures.worst[PEER, PLAIN]
    yield f"| 500 KiB of | parse + 1 decision | of Protego's {bound * 1e3:.0f} ms on {PLAIN} |"
    yield "|---|---|---|"
    for body in sorted(ADVERSARIES, key=lambda body: -figures.worst[OURS, body][0]):
        first, _ = figures.worst[OURS, body]
        yield f"| {body} | {first * 1e3:.1f} ms | {first / bound:.0%} |"


def report(figures: Figures) -> str:
    versions = ", ".join(f"{name} {version(name)}" for name in ("Protego", "robotspy", "gpyrobotstxt"))
    where = f"{platform.python_implementation()} {platform.python_version()}; {versions}"
    head = (
        f"{figures.files:,} files of {figures.mean_size:,.0f} octets on average, one agent; {where}.\n"
        "In brackets: how many times faster than Protego, by the means and as the median over the files.\n"
    )
    tables = (speed_table, worst_table, adversary_table)
    return "\n".join([head, *("\n".join(table(figures)) + "\n" for table in tables)])


def main() -> None:
    arguments = argparse.ArgumentParser(prog="python -m benchmarks.engine")
    arguments.add_argument("--corpus", type=Path, default=os.environ.get("SCRAPY_REP_CORPUS"), help="folder")
    arguments.add_argument("--every", type=int, default=1, help="take every n-th file (default: %(default)s)")
    arguments.add_argument("--passes", type=int, default=5, help="(default: %(default)s)")
    arguments.add_argument("--out", type=Path, help="folder for engine.md and engine.svg")
    options = arguments.parse_args()
    if options.corpus is None:
        arguments.error("name the folder of the corpus with --corpus or SCRAPY_REP_CORPUS")
    figures = measure(Path(options.corpus), options.every, options.passes)
    print(report(figures))
    if options.out:
        (options.out / "engine.md").write_text(report(figures), encoding="utf-8")
        ratios = {
            question: {engine: figures.ratio(engine, question) for engine in ENGINES if engine != EXACT}
            for question in QUESTIONS
        }
        draw(ratios, figures.agreement, options.out / "engine.svg")


if __name__ == "__main__":
    main()
