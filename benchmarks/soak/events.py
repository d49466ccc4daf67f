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

PAUSE: Final = 20.0
"""Seconds that a process is stopped, longer than a request takes: its connections have ended."""

HOUR: Final = 3_600.0


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

    def signal(self, number: signal.Signals, *, to_all: bool = True) -> None:
        """Send it to the crawling processes, or to one of them; one that ends from it is started again."""

    def turn_clock(self, seconds: float) -> None:
        """Turn the wall clock of all crawling processes by *seconds*."""


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
    """``kill -9`` for one process."""
    crawl.signal(signal.SIGKILL, to_all=False)
    yield 0.0


def stopped(crawl: Disturbed) -> Iterator[float]:
    """One process is stopped, and goes on."""
    crawl.signal(signal.SIGSTOP, to_all=False)
    yield PAUSE
    crawl.signal(signal.SIGCONT)


def suspended(crawl: Disturbed) -> Iterator[float]:
    """The machine is suspended for eight hours: all processes stop, and go on at another time of day."""
    crawl.signal(signal.SIGSTOP)
    yield PAUSE
    crawl.turn_clock(8 * HOUR)
    crawl.signal(signal.SIGCONT)


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
    """Redis is killed, and started again: with nothing in it, or with the queue that it keeps on disk."""
    if crawl.redis is None:
        return
    crawl.redis.kill()
    yield HOLD
    crawl.redis.start()


def clock_turned(crawl: Disturbed) -> Iterator[float]:
    """The wall clock goes 26 h ahead, then to an hour less than it was, then back."""
    for hours in (26, -27):
        crawl.turn_clock(hours * HOUR)
        yield HOLD
    crawl.turn_clock(HOUR)


OF_SCRAPY: Final = ("sigint", "kill")
"""Events that matter without scrapy_rep, too."""

EVENTS: Final[dict[str, Callable[[Disturbed], Iterator[float]]]] = {
    "sigint": interrupted,
    "kill": killed,
    "stop": stopped,
    "suspend": suspended,
    "lock": locked,
    "disk": full,
    "redis": redis_killed,
    "clock": clock_turned,
}
