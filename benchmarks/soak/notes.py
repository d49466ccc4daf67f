"""What the crawling process notes that no server can see, written at once, so that no kill loses it.

A line is ``TIME WHAT ABOUT``: `START` and a host, when its download slot decided to start a request; `RETRIED` and
``HOST/PATH``, when Scrapy requests a page again because it failed; `GIVEN_UP` and ``HOST/PATH``, when it does not.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

START: Final = "start"
RETRIED: Final = "retried"
GIVEN_UP: Final = "given-up"


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
    """The notes at *path* by their time: several processes write; a crawl that never started has none."""
    if path.exists():
        fields = (line.split() for line in path.read_text("ascii").splitlines())
        yield from sorted(Note(float(time), what, about) for time, what, about in fields)
