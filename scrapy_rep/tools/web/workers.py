"""Work in processes of their own, which are ended when it takes too long.

They are forked from a process that has imported everything and runs no thread (the forkserver of multiprocessing),
never from the server itself, so the next one is there in milliseconds.
"""

from __future__ import annotations

import multiprocessing
import signal
import traceback
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from functools import partial
from multiprocessing.connection import Connection
from typing import Any, Final
from weakref import WeakValueDictionary

from anyio import CapacityLimiter, Semaphore, fail_after, to_thread

from scrapy_rep.tools.processes import START_METHOD

from .limits import Limits
from .question import Question, QuestionError
from .visitors import TooManyError

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
        self._large_turns = Semaphore(max(1, limits.workers - 1))  # small questions have a process of their own
        self._shares: WeakValueDictionary[str, Semaphore] = WeakValueDictionary()
        # A thread waits for each process, and for a moment for one that is ended.
        self._threads = CapacityLimiter(2 * limits.workers)
        self._process = partial(_Process, limits.answer_octets)
        self._idle: list[_Process] = []

    async def start(self) -> None:
        """Start all processes, so that the first visitor need not wait for them."""
        _PROCESSES.set_forkserver_preload(_PRELOADED)
        for _ in range(self._limits.workers):
            process = await to_thread.run_sync(self._process)
            await to_thread.run_sync(process.ask, str, ())  # which waits until everything is imported
            self._idle.append(process)

    def end(self) -> None:
        """End all processes."""
        while self._idle:
            self._idle.pop().end()

    async def run(self, job: Callable[..., str | bytes], question: Question, *more: str) -> bytes:
        """Return what *job* makes of *question* and *more*, as octets.

        Raises `BusyError` when no process is free in time, `QuestionError` when the work takes too long or its
        answer is too large, and ``RuntimeError`` for whatever the job raises.
        """
        async with AsyncExitStack() as turns:
            try:
                with fail_after(self._limits.wait_time):
                    for turn in self._turns_for(question):
                        await turns.enter_async_context(turn)
            except TimeoutError:
                raise BusyError from None
            answer = await self._worked(job, question, *more)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _turns_for(self, question: Question) -> tuple[Semaphore, ...]:
        """What *question* waits for, in this order; each is handed out in the order of asking.

        A visitor's share first, so that one question of each visitor at a time waits for the rest.
        """
        share = self._shares.setdefault(question.visitor, Semaphore(self._limits.workers_per_client))
        return (share, self._large_turns, self._turns) if question.is_large else (share, self._turns)

    async def _worked(self, job: Callable[..., str | bytes], *arguments: Any) -> bytes | Exception:
        process = self._idle.pop(0) if self._idle else self._process()
        is_fit = False
        try:
            with fail_after(self._limits.work_time):
                answer = await to_thread.run_sync(
                    process.ask, job, arguments, abandon_on_cancel=True, limiter=self._threads
                )
            is_fit = True
        except TimeoutError:
            return QuestionError(
                f"stopped after {self._limits.work_time:g} s:"
                " ask about a shorter robots.txt, or fewer URLs or crawlers"
            )
        except (EOFError, OSError):
            return QuestionError("the process that worked on this question ended: ask about less at once")
        finally:
            if not is_fit:  # it failed, or whoever asked has left
                process.end()
                process = self._process()  # at once: the next question need not wait for it
            self._idle.append(process)
        return answer


class _Process:
    """A worker process, whose answers have at most *octets*, and this end of the pipe to it."""

    def __init__(self, octets: int) -> None:
        self._pipe, theirs = _PROCESSES.Pipe()
        self._process = _PROCESSES.Process(target=_work, args=(theirs, octets), daemon=True)
        self._process.start()
        theirs.close()

    def ask(self, job: Callable[..., str | bytes], arguments: tuple[Any, ...]) -> bytes | Exception:
        """Have *job* done; return its result, or what it raised. Raises ``EOFError`` when the process ends."""
        self._pipe.send((job, arguments))
        answer: bytes | Exception = self._pipe.recv()
        return answer

    def end(self) -> None:
        """End the process at once, and with it the thread that waits for it."""
        self._process.kill()
        self._process.join()


def _work(pipe: Connection, most: int) -> None:
    """Do one job after the other, until the server is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server ends its workers itself
    with suppress(EOFError, OSError):
        while True:
            pipe.send(_answer(most, *pipe.recv()))


def _answer(most: int, job: Callable[..., str | bytes], arguments: tuple[Any, ...]) -> bytes | Exception:
    try:
        result = job(*arguments)
        octets = result if isinstance(result, bytes) else result.encode()
    except Exception as error:  # noqa: BLE001  # for the log of the server, without what a visitor wrote
        where = "".join(traceback.format_tb(error.__traceback__))
        return RuntimeError(f"a job failed:\n{where}{type(error).__name__}")
    if len(octets) > most:
        return QuestionError(f"an answer of {len(octets):,} octets, but at most {most:,} are sent: ask about less")
    return octets
