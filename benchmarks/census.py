"""The census of many sites: rows per second of one process, and Spark beside it, with the same rows.

Needs the extra ``spark``. WARC files are made of so many captures: each has a site and a body of its own, so that
nothing that is kept of one helps with another. Rows are counted per second of CPU, each figure in a process of its
own. Then one process and the job of ``example_project/census`` on two cores make Parquet of the files; what counts
is the time until all is written, start included.
"""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Iterator
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

from .apart import apart
from .corpus import read_corpus
from .crawl_subject import peak_octets
from .figures import Benchmark, main, rounded, table

JOB: Final = Path(__file__).parents[1] / "example_project" / "census" / "job.py"
SUBMIT: Final = Path(sysconfig.get_path("scripts"), "spark-submit")
FILES: Final = 16
KINDS: Final = ("light", "full")
CAPTURES, MACHINES, CORES, PRICE = 74_300_000, 10, 4, 0.34  # of the example in docs/howto/census.md
IN_MEMORY: Final = 20_000  # captures
START: Final = datetime(2026, 5, 1, tzinfo=timezone.utc)
HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"


# WARC files


def archives(folder: Path, captures: int) -> list[str]:
    """The paths of `FILES` WARC files with so many *captures*."""
    files = [(file.name, file.body) for file in read_corpus()]
    paths = [folder / f"{number:02}.warc.gz" for number in range(FILES)]
    for first, path in enumerate(paths):
        write_archive(path, range(first, captures, FILES), files)
    return [*map(str, paths)]


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


def captures_in(paths: list[str]) -> Iterator[Capture]:
    return chain.from_iterable(map(warc.captures, map(Path, paths)))


# One process


def from_memory(paths: list[str], light: bool) -> list[float]:
    captures = [*islice(captures_in(paths), IN_MEMORY)]
    gc.collect()
    gc.freeze()
    return per_second(rows(captures, light=light))


def to_parquet(paths: list[str], light: bool, out: str) -> list[float]:
    def counted() -> Iterator[dict[str, Any]]:
        nonlocal number
        for row in rows(captures_in(paths), light=light):
            number += 1
            yield row

    number, began = 0, process_time()
    write_parquet(counted(), Path(out), LIGHT_ROWS if light else ROWS)
    return [number / (process_time() - began), peak_octets()]


def per_second(made: Iterable[object]) -> list[float]:
    """Of CPU: whatever else runs takes time of its own; and the octets that this process holds at most."""
    began = process_time()
    number = sum(1 for _ in made)
    return [number / (process_time() - began), peak_octets()]


MEMORY, PARQUET = "one process, from memory", "one process, from WARC to Parquet"


# Spark


def submit(paths: list[str], light: bool, out: Path) -> float:
    """The seconds that the job takes."""
    paths_file = out.with_suffix(".txt")
    paths_file.write_text("".join(f"{path}\n" for path in paths))
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
        [SUBMIT, "--master", "local[2]", JOB, *arguments], env=environment, check=True, capture_output=True
    )
    return perf_counter() - began


def digest(found: Iterable[Row]) -> tuple[int, int]:
    """How many rows are *found*, and a hash of them that does not depend on their order."""
    number = total = 0
    for row in found:
        number += 1
        total += int.from_bytes(sha256(to_json(row.as_dict()).encode()).digest(), "big")
    return number, total % 2**256


def of_rows(paths: list[str], light: bool, folder: Path) -> dict[str, Any]:
    """Both ways, which make the same rows."""
    alone, spark, began = folder / "alone.parquet", folder / "spark", perf_counter()
    alone.unlink(missing_ok=True)
    shutil.rmtree(spark, ignore_errors=True)
    found = {PARQUET: [*apart(to_parquet, paths, light, str(alone)), perf_counter() - began]}
    found[MEMORY] = apart(from_memory, paths, light)
    start, seconds = submit([], light, spark), submit(paths, light, spark)
    if digest(rows_in(alone)) != (number_and_hash := digest(rows_in(spark))):
        raise SystemExit("one process and Spark make different rows")
    return {"alone": found, "spark": [seconds, start], "octets": alone.stat().st_size / number_and_hash[0]}


def measure(captures: int = 20_000) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = archives(folder, captures)
        return {"captures": captures, **{kind: of_rows(paths, kind == "light", folder) for kind in KINDS}}


def rows_made(census: dict[str, Any]) -> Iterator[str]:
    def lines(kind: str) -> Iterator[tuple[str, ...]]:
        for question in (MEMORY, PARQUET):
            rate, octets, *seconds = census[kind]["alone"][question]
            took = f"{seconds[0]:.0f} s" if seconds else ""
            yield f"{kind} rows, {question}", f"{rate:,.0f}", took, f"{octets / 1e6:.0f} MB"
        seconds, start = census[kind]["spark"]
        yield f"{kind} rows, Spark on two cores", "", f"{seconds:.0f} s, of which {start:.0f} s to start", ""

    head = [f"{census['captures']:,} captures", "rows per second of CPU", "time", "memory"]
    return table(head, (line for kind in KINDS for line in lines(kind)))


def price(census: dict[str, Any]) -> Iterator[str]:
    """For the whole web."""
    rates = {kind: float(f"{census[kind]['alone'][PARQUET][0]:.2g}") for kind in KINDS}
    hours = {kind: CAPTURES / (MACHINES * CORES * rate) / 3_600 for kind, rate in rates.items()}
    yield from table(
        ["", "hours", "price"],
        (
            (kind, f"{CAPTURES:,} / ({MACHINES} × {CORES} × {rate:,.0f}) / 3,600 = {hours[kind]:.2f}",
             f"{hours[kind]:.2f} × {MACHINES} × ${PRICE} = ${hours[kind] * MACHINES * PRICE:.2f}")
            for kind, rate in rates.items()
        ),
    )  # fmt: skip
    yield ""
    fast = {kind: rounded(census[kind]["alone"][MEMORY][0]) for kind in KINDS}
    sizes = {kind: f"{census[kind]['octets']:.0f} bytes" for kind in KINDS}
    yield (
        f"One core makes {fast['light']} light or {fast['full']} full rows per second from memory; the table"
        " includes WARC and Parquet."
        f" A light row takes {sizes['light']} of Parquet, a full one {sizes['full']}."
    )


BENCHMARK: Final = Benchmark(
    measure,
    minutes=3.6,
    quick={"captures": 200},
    blocks={"census": rows_made, "census.price": price},
    versions=("pyspark", "pyarrow", "fastwarc"),
)

if __name__ == "__main__":
    main(__spec__.name)
