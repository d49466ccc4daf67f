"""What the crawling process notes that no server can see, written at once, so that no kill loses it.

A line is ``TIME WHAT ABOUT``: `START` and a host, when its download slot decided to start a request; `PARSED` and
``HOST/NUMBER``, when all links of that list were in the scheduler; `RETRIED` and ``HOST/PATH``, when Scrapy
requests a page again because it failed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

START: Final = "start"
PARSED: Final = "parsed"
RETRIED: Final = "retried"


class Note(NamedTuple):
    """*time* is monotonic."""

    time: float
    what: str
    about: str


class Notes:
    """Appends to a file without a buffer."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def add(self, what: str, about: str, when: float) -> None:
        os.write(self._file, f"{when:.6f} {what} {about}\n".encode())


def read(path: Path) -> Iterator[Note]:
    """The notes at *path*; a crawl that never started has none."""
    if path.exists():
        with path.open(encoding="ascii") as lines:
            for line in lines:
                time, what, about = line.split()
                yield Note(float(time), what, about)
