"""The log of the world: one line per request that a server received, the only evidence of the judge.

A line is ``TIME HOST PATH STATUS MEANING``. TIME is by the monotonic clock, which all processes of a machine
share. A page is logged when its request arrives. An answer for a robots.txt is logged when its last octet is
sent, and MEANING says what a crawler must conclude from it: ``rules:VERSION``, ``all``, ``none``, or ``hop`` for a
redirect that has still to be followed; for pages it is ``-``, or ``hold:SECONDS`` for one that was refused with
Retry-After.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PAGE = "-"
HOP = "hop"
HOLD = "hold:"


class Arrival(NamedTuple):
    """One request: when (seconds, monotonic), what for, and what came of it."""

    time: float
    host: str
    path: str
    status: int
    meaning: str

    @property
    def is_page(self) -> bool:
        return self.meaning == PAGE or self.meaning.startswith(HOLD)

    def __str__(self) -> str:
        return f"{self.time:.4f} {self.host} {self.path} {self.status} {self.meaning}"


def read(path: Path) -> Iterator[Arrival]:
    """The lines in the log at *path*; a last one that is not complete is left out."""
    with path.open(encoding="ascii") as lines:
        for line in lines:
            if line.endswith("\n"):
                time, host, path_and_query, status, meaning = line.split()
                yield Arrival(float(time), host, path_and_query, int(status), meaning)
