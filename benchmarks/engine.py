"""The rule engine beside its peers, on real robots.txt files and Google's verdicts on them.

``python -m benchmarks.engine --corpus DIR`` (extra ``bench``) prints a Markdown table. DIR holds
``robots.tar.xz`` and ``google-verdicts.tsv.xz``; ``--every 1`` takes all files instead of every fifth.
All engines take turns file by file, so that a busy machine slows them alike; the best of several
passes counts. Agreement stands beside each speed, so that nobody wins by being wrong.
"""

from __future__ import annotations

import argparse
import gc
import lzma
import os
import tarfile
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from statistics import fmean, median
from time import perf_counter
from typing import Any, Final
from urllib.robotparser import RobotFileParser

from gpyrobotstxt.robots_cc import RobotsMatcher
from protego import Protego
from robots import RobotsParser

from scrapy_rep.protocol import GOOGLE_EXACT, parse

AGENT: Final = "scrapy"
DECISIONS: Final = 40


@dataclass(frozen=True)
class Engine:
    """How to parse a body and how to ask whether an agent may request a URL."""

    name: str
    parse: Callable[[bytes], Any]
    allows: Callable[[Any, str, str], bool | None]


@dataclass(frozen=True)
class File:
    body: bytes
    urls: list[str]
    verdicts: list[tuple[str, str, bool]]


def text(body: bytes) -> str:
    return body.decode("utf-8-sig", errors="ignore")


def standard_library(body: bytes) -> RobotFileParser:
    parser = RobotFileParser()
    parser.parse(text(body).splitlines())
    return parser


def google_port(body: bytes, agent: str, url: str) -> bool | None:
    """It parses for every decision, and raises on lines without a colon, which is no answer."""
    try:
        return bool(RobotsMatcher().allowed_by_robots(body, [agent], url))
    except TypeError:
        return None


def by_verdict(robots: Any, agent: str, url: str) -> bool:
    return bool(robots.verdict(agent, url).allowed)


def by_agent(robots: Any, agent: str, url: str) -> bool:
    return bool(robots.can_fetch(agent, url))


def by_url(robots: Any, agent: str, url: str) -> bool:
    return bool(robots.can_fetch(url, agent))


ENGINES: Final = [
    Engine("scrapy_rep", parse, by_verdict),
    Engine("scrapy_rep, google-exact", lambda body: parse(body, GOOGLE_EXACT), by_verdict),
    Engine("Protego", lambda body: Protego.parse(text(body)), by_url),
    Engine("urllib.robotparser", standard_library, by_agent),
    Engine("robotspy", lambda body: RobotsParser.from_string(text(body)), by_agent),
    Engine("gpyrobotstxt", bytes, google_port),
]


def load(folder: Path, every: int) -> list[File]:
    rows: dict[str, list[tuple[str, str, bool]]] = {}
    table = folder / "google-verdicts.tsv.xz"
    with lzma.open(table, "rt", encoding="utf-8", errors="surrogateescape", newline="\n") as lines:
        next(lines)
        for line in lines:
            name, agent, url, allowed, _, _ = line.rstrip("\n").split("\t")
            rows.setdefault(name, []).append((agent, url, allowed == "1"))
    with tarfile.open(folder / "robots.tar.xz") as archive:
        members = [member for member in archive.getmembers() if member.isfile()][::every]
        bodies = {member.name.partition("/")[2]: archive.extractfile(member).read() for member in members}
    return [
        File(body[:512_000], list(islice(cycle(url for _, url, _ in rows[name]), DECISIONS)), rows[name])
        for name, body in bodies.items()
        if name in rows
    ]


def seconds(work: Callable[[], Any]) -> float:
    began = perf_counter()
    work()
    return perf_counter() - began


def cold(engine: Engine, file: File, decisions: int) -> float:
    def work() -> None:
        robots = engine.parse(file.body)
        for url in file.urls[:decisions]:
            engine.allows(robots, AGENT, url)

    return seconds(work)


def warm(engine: Engine, file: File) -> float:
    robots = engine.parse(file.body)
    for url in file.urls[:2]:
        engine.allows(robots, AGENT, url)
    return seconds(lambda: [engine.allows(robots, AGENT, url) for url in file.urls]) / DECISIONS


QUESTIONS: Final[dict[str, Callable[[Engine, File], float]]] = {
    "parse + 1": lambda engine, file: cold(engine, file, 1),
    "one decision, warm": warm,
    "parse + 40": lambda engine, file: cold(engine, file, DECISIONS),
}


def measure(files: list[File], passes: int) -> dict[tuple[str, str], list[float]]:
    """Seconds per file, by engine and question."""
    best = {(engine.name, name): [float("inf")] * len(files) for engine in ENGINES for name in QUESTIONS}
    gc.disable()
    for _ in range(passes):
        for number, file in enumerate(files):
            for name, question in QUESTIONS.items():
                for engine in ENGINES:
                    times = best[engine.name, name]
                    times[number] = min(times[number], question(engine, file))
        gc.collect()
    gc.enable()
    return best


def kept(engine: Engine, files: list[File], decisions: int) -> float:
    """Octets kept per file with all parsers alive, the body itself included."""
    tracemalloc.start()
    alive = []
    for file in files:
        robots = engine.parse(bytes(bytearray(file.body)))
        for url in file.urls[:decisions]:
            engine.allows(robots, AGENT, url)
        alive.append(robots)
    gc.collect()
    octets, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return octets / len(alive)


def agreement(engine: Engine, files: list[File]) -> float:
    """The share of Google's verdicts that the engine gives, too."""
    right = total = 0
    for file in files:
        robots = engine.parse(file.body)
        right += sum(engine.allows(robots, agent, url) == allowed for agent, url, allowed in file.verdicts)
        total += len(file.verdicts)
    return right / total


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--corpus", type=Path, default=os.environ.get("SCRAPY_REP_CORPUS"), help="folder")
    arguments.add_argument("--every", type=int, default=5, help="take every n-th file")
    arguments.add_argument("--passes", type=int, default=3)
    options = arguments.parse_args()
    if options.corpus is None:
        arguments.error("name the folder of the corpus with --corpus or SCRAPY_REP_CORPUS")
    files = load(options.corpus, options.every)
    times = measure(files, options.passes)
    print(f"{len(files)} files, {fmean(len(file.body) for file in files):,.0f} octets on average\n")
    print("| engine |", " | ".join(QUESTIONS), "| kept after 1 | kept after 40 | agrees with Google |")
    print("|---" * (len(QUESTIONS) + 4) + "|")
    for engine in ENGINES:
        cells = [cell(times[engine.name, name], times["Protego", name]) for name in QUESTIONS]
        memory = [f"{kept(engine, files, decisions) / 1_000:.1f} kB" for decisions in (1, DECISIONS)]
        print(f"| {engine.name} |", " | ".join([*cells, *memory, f"{agreement(engine, files):.2%}"]), "|")


def cell(own: list[float], protego: list[float]) -> str:
    """The mean in microseconds, how many times faster than Protego, and the median of that over the files."""
    middle = median(theirs / ours for theirs, ours in zip(protego, own, strict=True))
    return f"{fmean(own) * 1e6:,.1f} µs ({fmean(protego) / fmean(own):.1f}×, {middle:.1f}×)"


if __name__ == "__main__":
    main()
