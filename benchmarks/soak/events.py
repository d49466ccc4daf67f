"""What happens to a crawl in the middle: each event acts, yields the seconds until it goes on, and acts again."""

from __future__ import annotations

import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
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
    """A crawl that events happen to; *store* is the folder of its SQLite file."""

    @property
    def store(self) -> Path: ...

    @property
    def disk(self) -> SmallDisk | None: ...

    @property
    def redis(self) -> Redis | None: ...

    def signal(self, number: signal.Signals) -> None:
        """Send it to the crawling process; one that ends from it is started again."""


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
    with closing(sqlite3.connect(crawl.store / "robots.sqlite", timeout=10, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        yield HOLD


def full(crawl: Disturbed) -> Iterator[float]:
    """The disk of the SQLite file is full."""
    if crawl.disk is None:
        return
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
