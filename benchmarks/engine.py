"""The rule engine beside its peers, on real robots.txt files, Google's verdicts on them and hostile bodies.

    python -m benchmarks.engine --corpus DIR [--every 10] [--passes 5] [--out docs]

prints Markdown tables (extra ``bench``) and with ``--out`` writes them and a chart there. The corpus is a
folder with ``robots.tar.xz`` and ``google-verdicts.tsv.xz``, or one of robots.txt files; agreement with
Google is then left out. ``--every 10`` takes every tenth file.

Each engine has a process of its own and the processes take turns, so that a busy machine slows all alike
and no engine finds its caches warmed, or emptied, by another. Per file the median of the passes counts; times are
of CPU. Every URL is asked once per parser. A warm decision is one after two about other URLs; whoever can be asked
about a path that is split already is, and compared with what the peer needs for the URL.
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
from .engines import PLAIN as PLAIN_PYTHON
from .measure import BY_PATH, BY_URL, DECISIONS, QUESTIONS, Worker
from .worst_cases import ADVERSARIES, NAMED, PLAIN

KEPT: Final = {"kept after 1": 1, f"kept after {DECISIONS}": DECISIONS}
OF_PEER: Final = {BY_PATH: BY_URL}
"""The question to the peer that one is compared with, where it is another one."""
HEAVIEST: Final = 10
LEFT_OUT: Final = {EXACT, PLAIN_PYTHON}
"""Engines that the chart does not show."""


@dataclass(frozen=True)
class Figures:
    """Seconds per file by engine and question; octets kept per file; agreement; seconds by engine and body."""

    sizes: dict[str, int]
    seconds: dict[tuple[str, str], list[float]]
    kept: dict[tuple[str, str], float]
    agreement: dict[str, float | None]
    worst: dict[tuple[str, str], tuple[float, float]]

    def by_peer(self, question: str) -> list[float]:
        """Seconds per file that the peer needs for what is compared with *question*."""
        return self.seconds[PEER, OF_PEER.get(question, question)]

    def ratio(self, engine: str, question: str) -> float:
        """How many times faster than the peer, all files together."""
        return fmean(self.by_peer(question)) / fmean(self.seconds[engine, question])

    def ratios(self, engine: str, question: str) -> list[float]:
        """How many times faster than the peer, file by file."""
        pairs = zip(self.by_peer(question), self.seconds[engine, question], strict=True)
        return [theirs / ours for theirs, ours in pairs]

    def heaviest(self, question: str) -> list[int]:
        """The files that the engines together need longest for, by their numbers."""
        weights = [sum(times) for times in zip(self.seconds[OURS, question], self.by_peer(question), strict=True)]
        return sorted(range(len(weights)), key=weights.__getitem__, reverse=True)[:HEAVIEST]


def measure(names: list[str], folder: Path, every: int, passes: int) -> Figures:
    workers = [Worker(name, folder, every) for name in names]
    sizes = workers[0].ask("sizes")
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
    return Figures(sizes, seconds, kept, agreement, worst)


def speed_table(figures: Figures) -> Iterator[str]:
    yield "| engine | " + " | ".join([*QUESTIONS, *KEPT, "agrees with Google"]) + " |"
    yield "|---" * (len(QUESTIONS) + len(KEPT) + 2) + "|"
    for engine in figures.agreement:
        cells = [speed(figures, engine, question) for question in QUESTIONS]
        cells += [f"{figures.kept[engine, name] / 1_000:.1f} kB" for name in KEPT]
        share = figures.agreement[engine]
        yield f"| {engine} | " + " | ".join([*cells, "–" if share is None else f"{share:.2%}"]) + " |"


def speed(figures: Figures, engine: str, question: str) -> str:
    mean = fmean(figures.seconds[engine, question])
    if isnan(mean):  # it cannot be asked that
        return "–"
    ratios = figures.ratios(engine, question)
    compared = figures.ratio(engine, question), fmean(ratios), median(ratios)
    return f"{mean * 1e6:,.1f} µs ({', '.join(f'{each:.1f}×' for each in compared)})"


def heaviest_table(figures: Figures) -> Iterator[str]:
    """Per question, the files with the largest part in the mean: one of them may be a tenth of it."""
    yield "| question | the ten files that weigh most, with their share of the time of scrapy_rep and of Protego |"
    yield "|---|---|"
    names = list(figures.sizes)
    for question in QUESTIONS:
        ours, theirs = figures.seconds[OURS, question], figures.by_peer(question)
        cells = [
            f"{names[file]} ({ours[file] / sum(ours):.1%}, {theirs[file] / sum(theirs):.1%})"
            for file in figures.heaviest(question)
        ]
        yield f"| {question} | {', '.join(cells)} |"


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
    versions = ", ".join(
        f"{name} {version(name)}" for name in ("Protego", "robotspy", "gpyrobotstxt", "fast-robotstxt")
    )
    size = fmean(figures.sizes.values())
    where = f"{platform.python_implementation()} {platform.python_version()}; {versions}"
    head = (
        f"{len(figures.sizes):,} files of {size:,.0f} octets on average, one agent; {where}.\n"
        "In brackets: how many times faster than Protego, all files together, as the mean and as the median over\n"
        "the files. Each parser is asked about a URL once; warm decisions follow two about other URLs.\n"
    )
    tables = (speed_table, heaviest_table, worst_table, adversary_table)
    return "\n".join([head, *("\n".join(table(figures)) + "\n" for table in tables)])


def main() -> None:
    arguments = argparse.ArgumentParser(prog="python -m benchmarks.engine")
    arguments.add_argument("--corpus", type=Path, default=os.environ.get("SCRAPY_REP_CORPUS"), help="folder")
    arguments.add_argument("--every", type=int, default=1, help="take every n-th file (default: %(default)s)")
    arguments.add_argument("--passes", type=int, default=5, help="(default: %(default)s)")
    arguments.add_argument("--duel", action="store_true", help="scrapy_rep and Protego alone")
    arguments.add_argument("--out", type=Path, help="folder for engine.md and engine.svg")
    options = arguments.parse_args()
    if options.corpus is None:
        arguments.error("name the folder of the corpus with --corpus or SCRAPY_REP_CORPUS")
    names = [OURS, PEER] if options.duel else list(ENGINES)
    figures = measure(names, Path(options.corpus), options.every, options.passes)
    print(report(figures))
    if options.out:
        (options.out / "engine.md").write_text(report(figures), encoding="utf-8")
        ratios = {
            question: {engine: figures.ratio(engine, question) for engine in names if engine not in LEFT_OUT}
            for question in QUESTIONS
        }
        draw(ratios, figures.agreement, options.out / "engine.svg")


if __name__ == "__main__":
    main()
