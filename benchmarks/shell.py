"""The commands at a shell: start-up, a long list of URLs, a folder of files.

    python -m benchmarks.shell [--urls 500000] [--corpus DIR]

prints a Markdown table. Each figure is of a process of its own; without a corpus nothing is surveyed. Needs no
extra.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from .corpus import read_corpus

ROBOTS = b"User-agent: *\nDisallow: /private/\n" + b"".join(b"Disallow: /%d/*.pdf$\n" % n for n in range(50))


class Run:
    """One call of ``scrapy``: seconds it took, seconds of CPU, megabytes it held at most; all its processes."""

    def __init__(self, *arguments: str, given: Path | None = None) -> None:
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
        self.cpu = usage.ru_utime + usage.ru_stime
        self.megabytes = usage.ru_maxrss / 1_024
        if process.returncode not in {0, 1}:
            raise SystemExit(f"scrapy robots {' '.join(arguments)} ended with {process.returncode}")


def explain_one(robots: Path) -> str:
    runs = [Run("explain", "/x", "--file", str(robots)) for _ in range(5)]
    return f"{min(run.seconds for run in runs):.2f} s, in {runs[0].megabytes:.0f} MB"


def explain_many(robots: Path, number: int) -> str:
    urls = robots.with_name("urls")
    with urls.open("w") as file:
        file.writelines(f"https://example.com/{'private' if n % 3 else 'cat'}/{n}.html\n" for n in range(number))
    run = Run("explain", "--file", str(robots), given=urls)
    return f"{number / run.seconds:,.0f} a second, in {run.megabytes:.0f} MB"


def diff_many(robots: Path, number: int) -> str:
    """Of the URLs that `explain_many` wrote."""
    new = robots.with_name("new")
    new.write_bytes(ROBOTS + b"Disallow: /*7.html$\n")
    run = Run("diff", str(robots), str(new), "--urls", str(robots.with_name("urls")))
    return f"{number / run.seconds:,.0f} a second, in {run.megabytes:.0f} MB"


def lint_all(folder: Path) -> str:
    """Of the files that `survey` wrote."""
    run = Run("lint", *map(str, sorted((folder / "files").iterdir())))
    return f"{run.seconds:.0f} s, in {run.megabytes:.0f} MB"


def survey(folder: Path, corpus: Path) -> tuple[int, str]:
    files = read_corpus(corpus)
    (folder / "files").mkdir()
    for file in files:
        (folder / "files" / file.name).write_bytes(file.body)
    run = Run("survey", "--files", str(folder / "files"), "--out", str(folder / "out"))
    size = (folder / "out" / "survey.html").stat().st_size
    return len(files), f"{run.seconds:.0f} s, {run.cpu:.0f} s of CPU; a report of {size / 1_000:.0f} kB"


def main() -> None:
    arguments = argparse.ArgumentParser(prog="python -m benchmarks.shell")
    arguments.add_argument("--urls", type=int, default=500_000, help="(default: %(default)s)")
    arguments.add_argument("--corpus", type=Path, default=os.environ.get("SCRAPY_REP_CORPUS"), help="folder")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        robots = Path(folder, "robots.txt")
        robots.write_bytes(ROBOTS)
        print("| at a shell | |\n|---|---|")
        print(f"| explain one URL by a file | {explain_one(robots)} |")
        print(f"| explain {options.urls:,} URLs by a file | {explain_many(robots, options.urls)} |")
        print(f"| diff of {options.urls:,} URLs | {diff_many(robots, options.urls)} |")
        if options.corpus:
            number, figures = survey(Path(folder), Path(options.corpus))
            print(f"| survey {number:,} files | {figures} |")
            print(f"| lint {number:,} files | {lint_all(Path(folder))} |")


if __name__ == "__main__":
    main()
