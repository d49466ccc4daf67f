"""The SQLite store with many origins: size, speed, start-up time and memory.

    python -m benchmarks.store [--origins 100000] [--corpus DIR]

prints a Markdown table. Bodies are those of the corpus in turn, or made up; each origin has its own, so that
none is shared. Needs no extra.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import perf_counter, time

from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.freshness import Entry
from scrapy_rep.robots.stores.sqlite_file import SqliteFile

from .corpus import read_corpus

SAMPLE = 10_000


def bodies(folder: Path | None) -> list[bytes]:
    if folder is not None:
        return [file.body for file in read_corpus(folder)]
    return [
        b"User-agent: *\n" + b"".join(b"Disallow: /%d/%d\n" % (n, m) for m in range(100)) for n in range(1_000)
    ]


def entries(number: int, texts: list[bytes]) -> Iterator[Entry]:
    now = time()
    for count in range(number):
        origin = Origin("https", f"www.host-{count}.example", 443)
        body = texts[count % len(texts)] + b"# %d\n" % count
        yield Entry(
            origin,
            Access.SUCCESSFUL,
            origin.robots_url,
            200,
            body,
            (),
            now,
            now + 86_400,
            f'"{count:x}"',
            tried_at=now,
        )


def seconds(work: Callable[[], object]) -> float:
    began = perf_counter()
    work()
    return perf_counter() - began


def put_all(file: SqliteFile, number: int, texts: list[bytes]) -> tuple[float, int, float]:
    """Seconds for all puts, octets of all bodies, and the longest single put."""
    total = longest = 0.0
    octets = 0
    for entry in entries(number, texts):
        took = seconds(partial(file.put, entry, "benchmark", time()))
        total, longest, octets = total + took, max(longest, took), octets + len(entry.body)
    return total, octets, longest


class TimedFile(SqliteFile):
    """Notes for how many seconds each transaction keeps other processes from writing."""

    def __init__(self, path: Path) -> None:
        self.locked: list[float] = []
        super().__init__(path)

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        began, self._merging = perf_counter(), 0.0
        with super().transaction() as connection:
            yield connection
        self.locked.append(perf_counter() - began - self._merging)

    def _checkpoint(self) -> None:
        self._merging = seconds(super()._checkpoint)


def sweep(file: TimedFile, start: Origin, now: float) -> str:
    file.locked.clear()
    took = seconds(lambda: list(file.sweep(start, now, 0.0)))
    longest = max(file.locked, default=0.0) * 1e3
    return f"{took:.1f} s, the longest of {len(file.locked):,} transactions {longest:.0f} ms"


def resident() -> float:
    """Megabytes of memory that this process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def main() -> None:
    arguments = argparse.ArgumentParser(prog="python -m benchmarks.store")
    arguments.add_argument("--origins", type=int, default=100_000, help="(default: %(default)s)")
    arguments.add_argument("--corpus", type=Path, default=os.environ.get("SCRAPY_REP_CORPUS"), help="folder")
    options = arguments.parse_args()
    texts = bodies(Path(options.corpus) if options.corpus else None)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "robots.sqlite")
        file = SqliteFile(path)
        total, octets, longest = put_all(file, options.origins, texts)
        file.close()
        size = sum(one.stat().st_size for one in Path(folder).iterdir())
        before, began = resident(), perf_counter()
        file = TimedFile(path)
        opened = perf_counter() - began
        numbers = random.sample(range(options.origins), min(SAMPLE, options.origins))
        sample = [Origin("https", f"www.host-{n}.example", 443) for n in numbers]
        reads = [seconds(partial(file.get, origin)) for origin in sample]
        leases = [seconds(partial(file.lease, origin, "benchmark", time(), 60)) for origin in sample]
        idle = sweep(file, sample[0], time())
        all_gone = sweep(file, sample[0], time() + 1e9)
        print(f"| {options.origins:,} origins, bodies of {octets / options.origins:,.0f} octets on average | |")
        print("|---|---|")
        print(f"| size per entry | {size / options.origins:,.0f} octets |")
        print(f"| put | {options.origins / total:,.0f} per second, the longest {longest * 1e3:.0f} ms |")
        print(f"| get | {len(reads) / sum(reads):,.0f} per second, the longest {max(reads) * 1e3:.1f} ms |")
        print(f"| lease | {len(leases) / sum(leases):,.0f} per second |")
        print(f"| sweep, nothing to delete | {idle} |")
        print(f"| sweep, all to delete | {all_gone} |")
        print(f"| start-up | {opened * 1e3:.1f} ms |")
        print(f"| memory for all that | {resident() - before:.1f} MB |")
        file.close()


if __name__ == "__main__":
    main()
