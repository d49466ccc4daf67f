"""Calls a function for many items in several processes, where that pays.

Items are read only as fast as they are worked off, so that neither they nor their results have to fit into memory.
"""

from __future__ import annotations

import errno
import gc
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from itertools import chain, islice
from typing import Any, Final, TypeVar

T = TypeVar("T")
U = TypeVar("U")

START_METHOD: Final = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
"""How processes start: a plain fork could copy a lock that another thread holds."""

_CHUNK: Final = 16  # items sent to a process at once
_ALLOCATIONS: Final = 200_000  # between searches for cycles, of which there are few: they took a sixth of all time
_AHEAD: Final = 3  # batches for each process that are sent before their turn


def cores() -> int:
    """The number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def map_in_processes(
    function: Callable[[T], U],
    items: Iterable[T],
    *,
    worth_it: int,
    processes: int | None = None,
    batch: int = _CHUNK,
) -> Iterator[U]:
    """Yield *function* of each of *items*, in order, as `in_processes` does."""
    with in_processes(function, worth_it=worth_it, processes=processes, batch=batch) as run:
        yield from run(items)


@contextmanager
def in_processes(
    function: Callable[[T], U], *, worth_it: int, processes: int | None = None, batch: int = _CHUNK
) -> Iterator[Callable[[Iterable[T]], Iterator[U]]]:
    """Give what yields *function* of each of the items that it is given, in order, once or more often.

    Fewer than *worth_it* are done in this process, sooner than others start. Functions, items and results must be
    picklable; each process has a copy of *function* for all its items, and is sent *batch* of these at once. There
    are as many *processes* as cores unless it is given. Ctrl-C is for this process alone, which writes the output.
    Raises what *function* raises, and ``OSError`` when a process was killed.
    """
    number = cores() if processes is None else processes
    with ExitStack() as stack:
        pool: ProcessPoolExecutor | None = None

        def run(items: Iterable[T]) -> Iterator[U]:
            nonlocal pool
            left = iter(items)
            first = [*islice(left, worth_it)]
            if number == 1 or (pool is None and len(first) < worth_it):
                yield from map(function, chain(first, left))
                return
            pool = pool or stack.enter_context(_pool(number, function))
            with closing(_results(pool, chain(first, left), number * _AHEAD, batch)) as found:
                yield from found

        yield run


@contextmanager
def _pool(processes: int, function: Callable[[T], Any]) -> Iterator[ProcessPoolExecutor]:
    """The processes, until the end of the ``with`` block. Raises ``OSError`` when one of them was killed."""
    context = multiprocessing.get_context(START_METHOD)
    if START_METHOD == "forkserver":  # what is loaded once is shared by all processes
        context.set_forkserver_preload(["__main__", _module_of(function)])
    pool = ProcessPoolExecutor(processes, context, _prepare, (function,))
    try:
        yield pool
    except BrokenProcessPool:
        problem = "was killed, or ran out of memory, before its work was done"
        raise ChildProcessError(errno.ECHILD, problem, "a process") from None
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def ctrl_c_held() -> Iterator[None]:
    """Ctrl-C comes after the ``with`` block: a process that is started in it is not interrupted, now or ever."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _results(pool: ProcessPoolExecutor, items: Iterator[T], ahead: int, batch: int) -> Generator[Any, None, None]:
    waiting: deque[Future[list[Any]]] = deque()
    while sent := [*islice(items, batch)]:
        with ctrl_c_held():
            waiting.append(pool.submit(_work_off, sent))
        if len(waiting) > ahead:
            yield from waiting.popleft().result()
    while waiting:
        yield from waiting.popleft().result()


def _module_of(function: Callable[..., Any]) -> str:
    return _module_of(function.func) if isinstance(function, partial) else function.__module__


class _Worker:
    """What a process works with."""

    function: Callable[[Any], Any]


def _prepare(function: Callable[[Any], Any]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(_ALLOCATIONS)
    _Worker.function = staticmethod(function)


def _work_off(items: list[Any]) -> list[Any]:
    return [_Worker.function(item) for item in items]
