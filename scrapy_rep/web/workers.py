"""Work in processes of their own, which are ended when it takes too long.

They are forked from a process that has imported everything and runs no thread (the forkserver of multiprocessing),
never from the server itself, so the next one is there in milliseconds.
"""

from __future__ import annotations

import multiprocessing
import signal
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, Final, TypeVar

from anyio import CapacityLimiter, Semaphore, fail_after, to_thread

from scrapy_rep.tools.processes import START_METHOD

from .limits import Limits
from .question import QuestionError
from .visitors import TooManyError

_T = TypeVar("_T")

# Windows has no fork; there a process imports everything itself.
_PROCESSES: Final[Any] = multiprocessing.get_context(START_METHOD)  # the types know no common context
_PRELOADED: Final = ["__main__", f"{__package__}.jobs"]


class BusyError(TooManyError):
    """There is no worker process for this question now."""

    def __init__(self) -> None:
        super().__init__("Many people ask at the moment: try again in a few seconds.", 5.0)


class Workers:
    """Runs functions of `jobs` within the *limits*; made inside the event loop."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._turns = Semaphore(limits.workers)
        # A thread waits for each process, and for a moment for one that is ended.
        self._threads = CapacityLimiter(2 * limits.workers)
        self._idle: list[_Process] = []

    async def start(self) -> None:
        """Start all processes, so that the first visitor need not wait for them."""
        _PROCESSES.set_forkserver_preload(_PRELOADED)
        for _ in range(self._limits.workers):
            self._idle.append(await to_thread.run_sync(_Process))

    def end(self) -> None:
        """End all processes."""
        while self._idle:
            self._idle.pop().end()

    async def run(self, job: Callable[..., _T], *arguments: Any) -> _T:
        """Return what *job* returns.

        Raises `BusyError` when no process is free in time, `QuestionError` when the work takes too long, and
        ``RuntimeError`` for whatever the job raises.
        """
        try:
            with fail_after(self._limits.wait_time):
                await self._turns.acquire()
        except TimeoutError:
            raise BusyError from None
        process = None
        try:
            process = self._idle.pop() if self._idle else await to_thread.run_sync(_Process)
            with fail_after(self._limits.work_time):
                is_done, result = await to_thread.run_sync(
                    process.ask, job, arguments, abandon_on_cancel=True, limiter=self._threads
                )
            self._idle.append(process)
            process = None
        except TimeoutError:
            raise QuestionError(
                f"stopped after {self._limits.work_time:g} s:"
                " ask about a shorter robots.txt, or fewer URLs or crawlers"
            ) from None
        except (EOFError, OSError):
            raise QuestionError("the process that worked on this question ended: ask about less at once") from None
        finally:
            if process is not None:  # it failed, or whoever asked has left
                process.end()
            self._turns.release()
        if not is_done:
            raise RuntimeError(f"a job failed:\n{result}")
        return result  # type: ignore[no-any-return]  # as the job said


class _Process:
    """A worker process, and this end of the pipe to it."""

    def __init__(self) -> None:
        self._pipe, theirs = _PROCESSES.Pipe()
        self._process = _PROCESSES.Process(target=_work, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    def ask(self, job: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[bool, Any]:
        """Have *job* done; return whether it was, and its result. Raises ``EOFError`` when the process ends."""
        self._pipe.send((job, arguments))
        answer: tuple[bool, Any] = self._pipe.recv()
        return answer

    def end(self) -> None:
        """End the process at once, and with it the thread that waits for it."""
        self._process.kill()
        self._process.join()


def _work(pipe: Connection) -> None:
    """Do one job after the other, until the server is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server ends its workers itself
    with suppress(EOFError, OSError):
        while True:
            job, arguments = pipe.recv()
            try:
                answer = True, job(*arguments)
            except Exception as error:  # noqa: BLE001  # for the log of the server, without what a visitor wrote
                answer = False, "".join(traceback.format_tb(error.__traceback__)) + type(error).__name__
            pipe.send(answer)
