"""The SQLite store with many origins: size, speed, start-up time and memory.

Bodies are those of the corpus in turn; each origin has its own, so that none is shared. Needs no extra.
"""

from __future__ import annotations

import random
import resource
import sqlite3
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import perf_counter, time
from typing import Any, Final

from scrapy_rep.crawl.robots.stores.sqlite_file import SqliteFile
from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.freshness import Entry

from .corpus import bodies
from .figures import Benchmark, main, rounded, table

SAMPLE: Final = 10_000


def entries(number: int, texts: list[bytes]) -> Iterator[Entry]:
    now = time()
    for count in range(number):
        origin = Origin("https", f"www.host-{count}.example", 443)
        body, etag = texts[count % len(texts)] + b"# %d\n" % count, f'"{count:x}"'
        access, until = Access.SUCCESSFUL, now + 86_400
        yield Entry(origin, access, origin.robots_url, 200, body, (), now, until, etag, tried_at=now)


def seconds(work: Callable[[], object]) -> float:
    began = perf_counter()
    work()
    return perf_counter() - began


def put_all(file: SqliteFile, number: int, texts: list[bytes]) -> tuple[float, int]:
    """Seconds for all puts, and octets of all bodies."""
    total, octets = 0.0, 0
    for entry in entries(number, texts):
        total += seconds(partial(file.put, entry, "benchmark", time()))
        octets += len(entry.body)
    return total, octets


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


def sweep(file: TimedFile, start: Origin) -> dict[str, float]:
    """The sweep of entries that have all expired."""
    file.locked.clear()
    took = seconds(lambda: list(file.sweep(start, time() + 1e9, 0.0)))
    return {"seconds": took, "longest": max(file.locked, default=0.0)}


def resident() -> float:
    """Megabytes of memory that this process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def measure(origins: int = 100_000) -> dict[str, Any]:
    texts = bodies()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "robots.sqlite")
        file = SqliteFile(path)
        total, octets = put_all(file, origins, texts)
        file.close()
        size = sum(one.stat().st_size for one in Path(folder).iterdir())
        before, began = resident(), perf_counter()
        file = TimedFile(path)
        opened = perf_counter() - began
        numbers = random.sample(range(origins), min(SAMPLE, origins))
        sample = [Origin("https", f"www.host-{n}.example", 443) for n in numbers]
        reads = seconds(lambda: deque(map(file.get, sample), 0))  # nobody keeps them
        leases = seconds(lambda: deque((file.lease(each, "benchmark", time(), 60) for each in sample), 0))
        swept = sweep(file, sample[0])
        file.close()
    return {
        "origins": origins,
        "octets": {"body": octets / origins, "entry": size / origins},
        "per second": {"put": origins / total, "get": len(sample) / reads, "lease": len(sample) / leases},
        "opened": opened,
        "sweep": swept,
        "megabytes": resident() - before,
    }


def rows(store: dict[str, Any]) -> Iterator[str]:
    octets, rates = store["octets"], [rounded(store["per second"][what]) for what in ("get", "put", "lease")]
    return table(
        [f"{store['origins']:,} origins, the bodies of real files", ""],
        [
            ("size per entry", f"{octets['entry'] / 1e3:.1f} kB, where a body has {octets['body'] / 1e3:.1f} kB"),
            ("read, write, lease", f"{rates[0]}, {rates[1]} and {rates[2]} per second"),
            ("start-up; memory", f"{store['opened'] * 1e3:.1f} ms; {max(store['megabytes'], 0):.1f} MB"),
            ("the sweep of all of them, expired",
             "in steps between the writes of the crawl; the longest transaction takes"
             f" {store['sweep']['longest'] * 1e3:.0f} ms"),
        ],
    )  # fmt: skip


BENCHMARK: Final = Benchmark(measure, minutes=1, quick={"origins": 2_000}, blocks={"store": rows})

if __name__ == "__main__":
    main(__spec__.name)
