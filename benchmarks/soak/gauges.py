"""What a crawling process takes, from Linux's /proc: memory, file descriptors and CPU over time."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final, NamedTuple

_TICKS: Final = os.sysconf("SC_CLK_TCK")
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")


class Reading(NamedTuple):
    """At *time* (monotonic): octets resident, open files, CPU seconds so far.

    *waited* are the seconds for which the main thread had no CPU: others on the machine slow the crawl. *seen* are
    the octets of the file of Scrapy's filter of duplicates, whose memory grows to the end of any crawl.
    """

    time: float
    memory: int
    files: int
    cpu: float
    waited: float
    seen: int

    @classmethod
    def from_text(cls, text: str) -> Reading:
        time, memory, files, cpu, waited, seen = text.split()
        return cls(float(time), int(memory), int(files), float(cpu), float(waited), int(seen))

    def __str__(self) -> str:
        return f"{self.time:.2f} {self.memory} {self.files} {self.cpu:.3f} {self.waited:.3f} {self.seen}"


def reading(pid: int, jobdir: Path | None) -> Reading | None:
    """None when the process has ended, or has no filter of duplicates yet; without *jobdir* that is in Redis."""
    folder = Path("/proc", str(pid))
    try:
        resident = int((folder / "statm").read_text("ascii").split()[1]) * _PAGE
        fields = (folder / "stat").read_text("ascii").rpartition(")")[2].split()
        _, waited, _ = (folder / "schedstat").read_text("ascii").split()
        files = len(os.listdir(folder / "fd"))
        seen = (jobdir / "requests.seen").stat().st_size if jobdir is not None else 0
    except (OSError, IndexError):
        return None
    if not resident:  # it has ended, but nobody has waited for it
        return None
    cpu = (int(fields[11]) + int(fields[12])) / _TICKS
    return Reading(time.monotonic(), resident, files, cpu, int(waited) / 1e9, seen)
