"""What Scrapy's default priority queue costs with many hosts: ``docs/upstream/priority_queue_cost.py``, run."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Final

from .figures import DOCS, Benchmark, main, table

SCRIPT: Final = DOCS / "upstream" / "priority_queue_cost.py"


def measure(hosts: tuple[int, ...] = (10, 100, 1_000, 10_000, 100_000)) -> list[list[str]]:
    """The cells of its table."""
    command = [sys.executable, str(SCRIPT), *map(str, hosts)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603
    return [line.strip("| ").split(" | ") for line in printed.splitlines()[2:]]


def costs(priority_queue: list[list[str]]) -> Iterator[str]:
    return table(
        ["hosts", "`pop`, Scrapy's", "`pop`, proposal", "`len`, Scrapy's", "`len`, proposal"], priority_queue
    )


BENCHMARK: Final = Benchmark(measure, minutes=0.8, quick={"hosts": (10, 100)}, blocks={"priority_queue": costs})

if __name__ == "__main__":
    main(__spec__.name)
