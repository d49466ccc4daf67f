"""Calls a function for many files in several processes, where that pays."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeVar

T = TypeVar("T")
U = TypeVar("U")

START_METHOD: Final = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
"""How processes start: a plain fork could copy a lock that another thread holds."""

_MOST_PROCESSES: Final = 8
_CHUNK: Final = 16  # items sent to a process at once


def map_in_processes(function: Callable[[T], U], items: Sequence[T], *, worth_it: int) -> Iterator[U]:
    """Yield *function* of each of *items*, in order.

    Fewer than *worth_it* are done in this process, sooner than others start. Functions, items and results must be
    picklable. Ctrl-C is for this process alone, which writes the output.
    """
    processes = min(os.cpu_count() or 1, _MOST_PROCESSES)
    if len(items) < worth_it or processes == 1:
        yield from map(function, items)
        return
    context = multiprocessing.get_context(START_METHOD)
    with context.Pool(processes, signal.signal, (signal.SIGINT, signal.SIG_IGN)) as pool:
        yield from pool.imap(function, items, chunksize=_CHUNK)
