"""The commands at a shell: start-up, long lists of URLs, the files of the corpus; each in a process of its own.

`decide` reads lines and writes JSON Lines. Beside it Protego has a dictionary of parsed files, made as it goes,
and writes the URL and the verdict.
"""

from __future__ import annotations

import ctypes
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Final
from urllib.parse import urlsplit

from scrapy_rep.tools.processes import cores

from .apart import apart
from .corpus import read_corpus
from .crawl_subject import peak_octets
from .engines import protego
from .figures import Benchmark, main, rounded, table

_SET_CHILD_SUBREAPER: Final = 36

ROBOTS = b"User-agent: *\nDisallow: /private/\n" + b"".join(b"Disallow: /%d/*.pdf$\n" % n for n in range(50))


def _left() -> Iterator[Any]:
    """What the processes took that a command left behind, such as the one from which its workers were forked."""
    with suppress(ChildProcessError):
        while True:
            yield os.wait3(0)[2]


class Run:
    """One call of ``scrapy``: seconds it took, seconds of CPU of all its processes, megabytes of the largest."""

    def __init__(self, *arguments: str, given: Path | None = None) -> None:
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # else they go to another process, unseen
        began = perf_counter()
        with open(given or os.devnull, "rb") as source:
            process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-m", "scrapy", "robots", *arguments],
                stdin=source,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.seconds = perf_counter() - began
        usages = [usage, *_left()]
        self.cpu = sum(each.ru_utime + each.ru_stime for each in usages)
        self.megabytes = usage.ru_maxrss / 1_024
        if process.returncode not in {0, 1}:
            raise SystemExit(f"scrapy robots {' '.join(arguments)} ended with {process.returncode}")

    def figures(self) -> dict[str, float]:
        return {"seconds": self.seconds, "cpu": self.cpu, "megabytes": self.megabytes}


def files_in(folder: Path) -> list[Path]:
    """The files of the corpus, written into *folder* by the names of their hosts."""
    folder.mkdir()
    for file in read_corpus():
        (folder / file.name).write_bytes(file.body)
    return sorted(folder.iterdir())


def by_file(folder: Path, number: int) -> dict[str, Any]:
    """`explain` of one URL, and of so many, by a file; `diff` of these URLs."""
    robots, new, urls = folder / "robots.txt", folder / "new", folder / "urls"
    robots.write_bytes(ROBOTS)
    new.write_bytes(ROBOTS + b"Disallow: /*7.html$\n")
    with urls.open("w") as file:
        file.writelines(f"https://example.com/{'private' if n % 3 else 'cat'}/{n}.html\n" for n in range(number))
    first = min((Run("explain", "/x", "--file", str(robots)) for _ in range(5)), key=lambda run: run.seconds)
    return {
        "one": first.figures(),
        "explain": Run("explain", "--file", str(robots), given=urls).figures(),
        "diff": Run("diff", str(robots), str(new), "--urls", str(urls)).figures(),
    }


def with_protego(folder: str, urls: str) -> dict[str, float]:
    """What a loop of one's own takes."""
    engine, began = protego(), process_time()
    parsed: dict[str, Any] = {}
    with open(urls, encoding="utf-8", errors="surrogateescape") as file, open(os.devnull, "w") as out:
        for line in file:
            url = line.rstrip("\n")
            host = urlsplit(url).netloc
            if host not in parsed:
                path = Path(folder, host)
                parsed[host] = engine.parse(path.read_bytes()) if path.is_file() else None
            robots = parsed[host]
            allowed = None if robots is None else engine.allows(robots, "Googlebot", url)
            out.write(json.dumps({"url": url, "allowed": allowed}) + "\n")
    return {"cpu": process_time() - began, "megabytes": peak_octets() / 1e6}


def decided(folder: Path, times: int) -> dict[str, Any]:
    """All URLs of the corpus, each so many times: by site, and in any order."""
    lines = sorted(url for file in read_corpus() for _, url, _ in file.verdicts for _ in range(times))
    found: dict[str, Any] = {"urls": len(lines)}
    for order in ("sorted", "shuffled"):
        if order == "shuffled":
            random.Random(1).shuffle(lines)  # noqa: S311
        path = folder / order
        path.write_text("\n".join(lines), encoding="utf-8", errors="surrogateescape")
        ours = Run("decide", "--agent", "Googlebot", "--robots", str(folder / "files"), "--urls", str(path))
        found[order] = {"ours": ours.figures(), "Protego": apart(with_protego, str(folder / "files"), str(path))}
    return found


def measure(urls: int = 500_000, times: int = 2) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = files_in(folder / "files")
        return {
            "cores": cores(), "urls": urls, "files": len(files), **by_file(folder, urls),
            "lint": Run("lint", *map(str, files)).figures(), "decide": decided(folder, times),
        }  # fmt: skip


def rows(shell: dict[str, Any], survey: dict[str, Any]) -> Iterator[str]:
    def rate(of: dict[str, float], number: int) -> str:
        return f"{rounded(number / of['cpu'])} a second of CPU"

    def in_lines(command: str) -> str:
        return f"{rate(shell[command], urls)}, in {shell[command]['megabytes']:.0f} MB"

    urls, decide, one = shell["urls"], shell["decide"], survey["one"]
    orders = {order: decide[order] for order in ("sorted", "shuffled")}
    yield from table(
        ["", ""],
        [
            ("`explain` of one URL by a file, start to end", f"{shell['one']['seconds']:.1f} s"),
            (f"`explain` of {urls:,} URLs by a file", in_lines("explain")),
            (f"`diff` of {urls:,} URLs", in_lines("diff")),
            (f"`decide` of {decide['urls']:,} URLs of {shell['files']:,} sites",
             "; ".join(f"{order} {rate(of['ours'], decide['urls'])} (Protego with a dictionary of parsed files:"
                       f" {rate(of['Protego'], decide['urls'])})" for order, of in orders.items())),
            (f"`lint` of {shell['files']:,} files", f"{shell['lint']['cpu']:.0f} s of CPU"),
            (f"`survey` of {one['files']:,} files", f"{one['seconds']:.0f} s, {one['cpu']:.0f} s of CPU; a report"
             f" of {one['page'] / 1e6:.1f} MB with all files; [many more](../../benchmarks.md#a-census)"),
        ],
    )  # fmt: skip


BENCHMARK: Final = Benchmark(measure, minutes=1, quick={"urls": 2_000, "times": 1}, blocks={"shell": rows})

if __name__ == "__main__":
    main(__spec__.name)
