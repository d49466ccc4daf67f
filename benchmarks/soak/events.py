"""What happens to a crawl in the middle: each event acts, yields the seconds until it goes on, and acts again."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Protocol

from .small_disk import SmallDisk

HOLD: Final = 6.0
"""Seconds that something stays locked, full, away or wrong: longer than anybody waits for it."""


class Redis(Protocol):
    """A Redis that can be killed and started again."""

    def kill(self) -> None: ...

    def start(self) -> None: ...


class Disturbed(Protocol):
    """A crawl that events happen to; *store* is the folder of its SQLite file, as the crawl sees it."""

    @property
    def store(self) -> Path: ...

    @property
    def disk(self) -> SmallDisk | None: ...

    @property
    def redis(self) -> Redis | None: ...

    def signal(self, number: signal.Signals) -> None:
        """Send it to the crawling process; one that ends from it is started again."""


_SQLITE: Final = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], timeout=20, isolation_level=None)
connection.execute(sys.argv[2]).fetchall()
print("done", flush=True)
sys.stdin.read()
"""


@contextmanager
def sqlite(crawl: Disturbed, statement: str) -> Iterator[None]:
    """Have a process of its own that sees the same disk execute *statement*, and keep its connection open.

    The path ``/proc/PID/root`` does not lead there: SQLite resolves it to the file of the same name out here.
    """
    prefix = crawl.disk.prefix if crawl.disk else []
    command = [*prefix, sys.executable, "-c", _SQLITE, str(crawl.store / "robots.sqlite"), statement]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        if process.stdout is None or process.stdout.readline() != "done\n":
            raise RuntimeError(f"SQLite cannot execute {statement}")
        yield
        process.communicate()


def interrupted(crawl: Disturbed) -> Iterator[float]:
    """Ctrl-C, once."""
    crawl.signal(signal.SIGINT)
    yield 0.0


def killed(crawl: Disturbed) -> Iterator[float]:
    """``kill -9``."""
    crawl.signal(signal.SIGKILL)
    yield 0.0


def locked(crawl: Disturbed) -> Iterator[float]:
    """Another process holds the SQLite file."""
    with sqlite(crawl, "BEGIN EXCLUSIVE"):
        yield HOLD


def full(crawl: Disturbed) -> Iterator[float]:
    """The disk of the SQLite file is full."""
    if crawl.disk is None:
        return
    with sqlite(crawl, "PRAGMA wal_checkpoint(TRUNCATE)"):  # the next writes need octets that are not there
        crawl.disk.fill()
    yield HOLD
    crawl.disk.free()


def redis_killed(crawl: Disturbed) -> Iterator[float]:
    """Redis is killed, and started again with nothing in it."""
    if crawl.redis is None:
        return
    crawl.redis.kill()
    yield HOLD
    crawl.redis.start()


def clock_turned(crawl: Disturbed) -> Iterator[float]:
    """The wall clock goes 26 h ahead, then an hour back, then right again: see `subject.CLOCKS`."""
    for _ in range(2):
        crawl.signal(signal.SIGUSR1)
        yield HOLD
    crawl.signal(signal.SIGUSR1)


OF_SCRAPY: Final = ("sigint", "kill")
"""Events that matter without scrapy_rep, too."""

EVENTS: Final[dict[str, Callable[[Disturbed], Iterator[float]]]] = {
    "sigint": interrupted,
    "kill": killed,
    "lock": locked,
    "disk": full,
    "redis": redis_killed,
    "clock": clock_turned,
}
