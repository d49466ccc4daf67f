"""The census of many sites: rows per second of one process, and Spark beside it, with the same rows.

    python -m benchmarks.census --captures 1000000 --folder DIR [--corpus DIR]

prints a Markdown table; extra ``spark``. Makes WARC files of so many captures in the folder, unless they are
there: each has a site and a body of its own, so that nothing that is kept of one helps with another. Rows are
counted per second of CPU, each figure in a process of its own. Then one process and the job of
``example_project/census`` on two cores make Parquet of the files; what counts is the time until all is written,
start included.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta, timezone
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Final

from fastwarc.stream_io import GzipWriter
from fastwarc.warc import WarcRecord, WarcRecordType

from scrapy_rep.census import Capture, rows, warc
from scrapy_rep.census.arrow import LIGHT_ROWS, ROWS, rows_in, write_parquet
from scrapy_rep.census.row import Row, to_json

from .bulk import peak_megabytes
from .corpus import read_corpus

JOB: Final = Path(__file__).parents[1] / "example_project" / "census" / "job.py"
SUBMIT: Final = Path(sysconfig.get_path("scripts"), "spark-submit")
FILES: Final = 16
IN_MEMORY: Final = 20_000  # captures
START: Final = datetime(2026, 5, 1, tzinfo=timezone.utc)
HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"


# WARC files


def archives(folder: Path, captures: int, corpus: Path) -> list[Path]:
    """The paths of `FILES` WARC files with so many *captures*, which are made if they are not there."""
    home = folder / str(captures)
    paths = [home / f"{number:02}.warc.gz" for number in range(FILES)]
    if not home.exists():
        partial = folder / f"{captures}.partial"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        bodies = [(file.name, file.body) for file in read_corpus(corpus)]
        for first, path in enumerate(paths):
            write_archive(partial / path.name, range(first, captures, FILES), bodies)
        partial.rename(home)
    return paths


def write_archive(path: Path, numbers: Iterable[int], bodies: list[tuple[str, bytes]]) -> None:
    with GzipWriter(str(path), compression_level=1) as stream:
        for number in numbers:
            name, body = bodies[number % len(bodies)]
            host = f"site{number}.{name}"
            record = WarcRecord()
            record.init_headers(WarcRecordType.response)
            record.headers["WARC-Target-URI"] = f"https://{host}/robots.txt"
            record.record_date = START + timedelta(seconds=number)
            record.set_bytes_content(HEAD + body + f"\n# of {host}\n".encode())
            record.write(stream)
            stream.finish()  # a member of gzip for each record, as in archives


def captures_in(paths: Iterable[Path]) -> Iterator[Capture]:
    return chain.from_iterable(map(warc.captures, paths))


# One process


def from_memory(paths: list[Path], light: bool, _: Path) -> float:
    captures = [*islice(captures_in(paths), IN_MEMORY)]
    gc.collect()
    gc.freeze()
    return per_second(rows(captures, light=light))


def from_archives(paths: list[Path], light: bool, _: Path) -> float:
    return per_second(rows(captures_in(paths), light=light))


def to_parquet(paths: list[Path], light: bool, out: Path) -> float:
    def counted() -> Iterator[dict[str, Any]]:
        nonlocal number
        for row in rows(captures_in(paths), light=light):
            number += 1
            yield row

    number, began = 0, process_time()
    write_parquet(counted(), out, LIGHT_ROWS if light else ROWS)
    return number / (process_time() - began)


def per_second(made: Iterable[object]) -> float:
    """Of CPU: whatever else runs on the machine takes time of its own."""
    began = process_time()
    number = sum(1 for _ in made)
    return number / (process_time() - began)


QUESTIONS: Final[dict[str, Callable[[list[Path], bool, Path], float]]] = {
    "one process, from memory": from_memory,
    "one process, from WARC": from_archives,
    "one process, from WARC to Parquet": to_parquet,
}


def ask(question: str, paths: list[Path], light: bool, out: Path) -> tuple[float, float]:
    """What a process of its own answers to *question*, and the megabytes it holds at most."""
    request = json.dumps([question, [*map(str, paths)], light, str(out)])
    command = [sys.executable, "-m", "benchmarks.census", "--one", request]
    rate, megabytes = json.loads(subprocess.check_output(command))  # noqa: S603
    return rate, megabytes


def answer(request: str) -> None:
    question, paths, light, out = json.loads(request)
    rate = QUESTIONS[question]([*map(Path, paths)], light, Path(out))
    print(json.dumps([rate, peak_megabytes()]))


# Spark


def submit(paths: list[Path], light: bool, out: Path, settings: list[str]) -> float:
    """The seconds that the job takes."""
    paths_file = out.with_suffix(".txt")
    paths_file.write_text("".join(f"{path.resolve()}\n" for path in paths))
    options = ["--master", "local[2]", *chain.from_iterable(("--conf", setting) for setting in settings)]
    arguments = [
        "--crawl",
        "benchmark",
        "--all",
        "--out",
        str(out),
        *(["--light"] if light else []),
        str(paths_file),
    ]
    began = perf_counter()
    environment = os.environ | {"PYTHONPATH": str(JOB.parents[2]), "PYSPARK_PYTHON": sys.executable}
    subprocess.run(  # noqa: S603
        [SUBMIT, *options, JOB, *arguments], env=environment, check=True, capture_output=True
    )
    return perf_counter() - began


def digest(found: Iterable[Row]) -> tuple[int, int]:
    """How many rows are *found*, and a hash of them that does not depend on their order."""
    number = total = 0
    for row in found:
        number += 1
        total += int.from_bytes(sha256(to_json(row.as_dict()).encode()).digest(), "big")
    return number, total % 2**256


def compare(paths: list[Path], light: bool, folder: Path, settings: list[str]) -> None:
    alone, spark = folder / "alone.parquet", folder / "spark"
    shutil.rmtree(spark, ignore_errors=True)
    start = submit(paths[:0], light, spark, settings)
    began = perf_counter()
    rate, megabytes = ask("one process, from WARC to Parquet", paths, light, alone)
    seconds = perf_counter() - began
    print(
        f"| one process, from WARC to Parquet | {rate:,.0f} | {seconds:.0f} s | {megabytes:.0f} MB |", flush=True
    )
    of_spark = submit(paths, light, spark, settings)
    same = "the same rows" if digest(rows_in(alone)) == digest(rows_in(spark)) else "OTHER ROWS"
    print(f"| Spark, two cores | | {of_spark:.0f} s, of which {start:.0f} s to start | |", flush=True)
    print(f"\n{seconds / of_spark:.2f} times as fast with Spark, {same}")
    alone.unlink()
    shutil.rmtree(spark)


def main() -> None:
    arguments = argparse.ArgumentParser(prog="python -m benchmarks.census")
    arguments.add_argument("--captures", type=int, default=1_000_000, help="(default: %(default)s)")
    arguments.add_argument("--folder", type=Path, help="where WARC files are made, and kept")
    arguments.add_argument("--corpus", type=Path, default=os.environ.get("SCRAPY_REP_CORPUS"), help="folder")
    arguments.add_argument("--conf", action="append", default=[], help="setting of Spark, NAME=VALUE")
    arguments.add_argument("--one", help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.one:
        answer(options.one)
        return
    if options.folder is None or options.corpus is None:
        arguments.error("name the --folder, and the folder of the corpus with --corpus or SCRAPY_REP_CORPUS")
    paths = archives(options.folder, options.captures, Path(options.corpus))
    for light in (True, False):
        print(f"\n{options.captures:,} captures, {'light' if light else 'full'} rows\n")
        print("| | rows per second of CPU | time | memory |\n|---|---|---|---|")
        for question in [*QUESTIONS][:2]:
            rate, megabytes = ask(question, paths, light, options.folder)
            print(f"| {question} | {rate:,.0f} | | {megabytes:.0f} MB |", flush=True)
        compare(paths, light, options.folder, options.conf)


if __name__ == "__main__":
    main()
