"""Bulk decisions beside other parsers: URLs per second and memory, sorted and shuffled, and Google's verdicts.

    python -m benchmarks.bulk --corpus DIR [--times 2] [--passes 3]

prints a Markdown table (extra ``bench``). The corpus is a folder with ``robots.tar.xz`` and
``google-verdicts.tsv.xz``; its URLs are asked about *times* times, for one agent. Ours reads lines and writes JSON
Lines, as ``scrapy robots decide`` does. The others have a dictionary of parsed files, made as they go, and write
the URL and the verdict. Each figure is of a process of its own, they take turns, and the median counts.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Final
from urllib.parse import urlsplit

from scrapy_rep.protocol import GOOGLE_EXACT, MAX_SIZE, Access, Origin
from scrapy_rep.tools.bulk import Known, Missing, decide, open_source
from scrapy_rep.tools.bulk.lines import LineDecider, chunks
from scrapy_rep.tools.bulk.verdicts import Rules
from scrapy_rep.tools.processes import cores, map_with_state

from .corpus import File, read_corpus
from .engines import ENGINES, PEER

AGENT: Final = "Googlebot"
LIBRARY: Final = "urllib.robotparser"
OURS: Final = {"scrapy_rep, 1 process": 1, f"scrapy_rep, {cores()} processes": cores()}


def ours(processes: int, folder: Path, urls: Path) -> None:
    start = partial(LineDecider, partial(open_source, folder), Rules(((AGENT,),)))
    with urls.open("rb") as file, open(os.devnull, "wb") as out:
        results = map_with_state(start, chunks(file), worth_it=2, processes=processes, batch=1)
        out.writelines(lines for lines, _ in results)


def theirs(name: str, folder: Path, urls: Path) -> None:
    engine = ENGINES[name]()
    parsed: dict[str, object] = {}
    with urls.open(encoding="utf-8", errors="surrogateescape") as file, open(os.devnull, "w") as out:
        for line in file:
            url = line.rstrip("\n")
            host = urlsplit(url).netloc
            if host not in parsed:
                path = folder / host
                parsed[host] = engine.parse(path.read_bytes()[:MAX_SIZE]) if path.is_file() else None
            robots = parsed[host]
            allowed = None if robots is None else engine.allows(robots, AGENT, url)
            out.write(json.dumps({"url": url, "allowed": allowed}) + "\n")


def measured(name: str, folder: Path, urls: Path) -> tuple[float, float, float]:
    """Seconds, seconds of CPU, and the megabytes that this process holds at most; other processes not counted."""
    began, cpu = perf_counter(), process_time()
    if name in OURS:
        ours(OURS[name], folder, urls)
    else:
        theirs(name, folder, urls)
    return perf_counter() - began, process_time() - cpu, peak_megabytes()


def peak_megabytes() -> float:
    """What this process held at most; ``getrusage`` counts what the one that started it held, too."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) / 1_024 if found else float("nan")


def run(name: str, folder: Path, urls: Path) -> tuple[float, float, float]:
    """As `measured`, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.bulk", "--one", name, str(folder), str(urls)]
    seconds, cpu, megabytes = json.loads(subprocess.check_output(command))  # noqa: S603
    return seconds, cpu, megabytes


def agreement(files: list[File]) -> tuple[int, int]:
    """How many of Google's verdicts ``google-exact`` gives, too, and how many there are."""
    right = total = 0
    for file in files:
        by_agent: dict[str, list[tuple[str, bool]]] = {}
        for agent, url, allowed in file.verdicts:
            by_agent.setdefault(agent, []).append((url, allowed))
        for agent, rows in by_agent.items():
            answers = decide((url for url, _ in rows), _One(file.body), [agent], dialect=GOOGLE_EXACT, limit=None)
            right += sum(
                verdict.allowed is allowed for (_, verdict), (_, allowed) in zip(answers, rows, strict=True)
            )
            total += len(rows)
    return right, total


class _One:
    """The source in which every origin has the same file: some URLs of the corpus name another port."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def get(self, origin: Origin) -> Known | Missing:  # noqa: ARG002
        return Known(Access.SUCCESSFUL, self._body)


def lists(files: list[File], times: int, folder: Path) -> dict[str, Path]:
    """The URLs of *files*, each *times* times: by origin, and in any order."""
    urls = sorted(url for file in files for _, url, _ in file.verdicts for _ in range(times))
    orders: dict[str, Callable[[], object]] = {
        "sorted": lambda: None,
        "shuffled": lambda: random.Random(1).shuffle(urls),  # noqa: S311,
    }
    paths = {}
    for name, order in orders.items():
        order()
        paths[name] = folder / name
        paths[name].write_text("\n".join(urls), encoding="utf-8", errors="surrogateescape")
    return paths


def main() -> None:
    arguments = argparse.ArgumentParser(prog="python -m benchmarks.bulk")
    arguments.add_argument("--corpus", type=Path, default=os.environ.get("SCRAPY_REP_CORPUS"), help="folder")
    arguments.add_argument("--times", type=int, default=2, help="(default: %(default)s)")
    arguments.add_argument("--passes", type=int, default=3, help="(default: %(default)s)")
    arguments.add_argument("--one", nargs=3, metavar=("NAME", "FOLDER", "URLS"), help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.one:
        print(json.dumps(measured(options.one[0], Path(options.one[1]), Path(options.one[2]))))
        return
    if options.corpus is None:
        arguments.error("name the folder of the corpus with --corpus or SCRAPY_REP_CORPUS")
    files = read_corpus(Path(options.corpus), limit=None)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "robots")
        folder.mkdir()
        for file in files:
            (folder / file.name).write_bytes(file.body)
        paths = lists(files, options.times, Path(name))
        number = options.times * sum(len(file.verdicts) for file in files)
        print(f"{number:,} URLs of {len(files):,} files, {options.passes} passes\n")
        print("| | order | URLs per second of CPU | URLs per second | memory |\n|---|---|---|---|---|")
        for order, path in paths.items():
            names = [*OURS, PEER, LIBRARY]
            passes = [[run(each, folder, path) for each in names] for _ in range(options.passes)]
            for each, runs in zip(names, zip(*passes, strict=True), strict=True):
                seconds, cpu, megabytes = (median(column) for column in zip(*runs, strict=True))
                by_cpu = "–" if OURS.get(each, 1) > 1 else f"{number / cpu:,.0f}"  # its children do the work
                print(
                    f"| {each} | {order} | {by_cpu} | {number / seconds:,.0f} | {megabytes:.0f} MB |", flush=True
                )
    right, total = agreement(files)
    print(f"\n{right:,} of {total:,} verdicts are Google's, with google-exact")


if __name__ == "__main__":
    main()
