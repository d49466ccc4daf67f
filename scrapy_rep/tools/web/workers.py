"""Work in processes of their own, which are ended when it takes too long.

They are those of `anyio.to_process`, with what a public server needs beside it: visitors take turns, the time of
an answer does not count the start of a process, and no answer is larger than its limit.
"""

from __future__ import annotations

import signal
import traceback
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any
from weakref import WeakValueDictionary

from anyio import (
    BrokenWorkerProcess,
    CancelScope,
    CapacityLimiter,
    Semaphore,
    create_task_group,
    fail_after,
    to_process,
)

from scrapy_rep.tools.processes import ctrl_c_held

from . import page  # noqa: F401  # what jobs need, so that a process has it before its first job
from .question import CheckQuestion, QuestionError
from .visitors import Limits, TooManyError

Job = Callable[..., str | bytes]


class Workers:
    """Runs jobs, functions of `page` and `annotated`, within the *limits*.

    Made inside the event loop, with which the processes end.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._processes = CapacityLimiter(limits.workers)
        self._turns = Semaphore(limits.workers)
        self._large_turns = Semaphore(max(1, limits.workers - 1))  # small questions have a process of their own
        self._shares: WeakValueDictionary[str, Semaphore] = WeakValueDictionary()

    async def start(self) -> None:
        """Start all processes, so that the first visitor need not wait for them."""
        with ctrl_c_held():  # until they ignore it
            async with create_task_group() as starting:
                for _ in range(self._limits.workers):
                    starting.start_soon(self._ready)

    async def _ready(self) -> None:
        """Have a process that has imported everything, and that waits for the next job.

        anyio gives a job to the process that was busy last, and starts one only when none waits.
        """
        with CancelScope(shield=True):  # anyio loses sight of a process whose start is cancelled
            await to_process.run_sync(_prepare, limiter=self._processes)

    async def run(self, job: Job, question: CheckQuestion, *more: Any) -> bytes:
        """Return what *job* makes of *question* and *more*, as octets.

        Raises `TooManyError` when no process is free in time, `QuestionError` when the work takes too long or its
        answer is too large, and ``RuntimeError`` for whatever the job raises.
        """
        async with AsyncExitStack() as turns:
            try:
                with fail_after(self._limits.wait_time):
                    for turn in self._turns_for(question):
                        await turns.enter_async_context(turn)
            except TimeoutError:
                raise TooManyError("The server is busy: try again in a few seconds.", 5.0, 503) from None
            return await self._worked(job, question, *more)

    def _turns_for(self, question: CheckQuestion) -> tuple[Semaphore, ...]:
        """What *question* waits for, in this order; each is handed out in the order of asking.

        A visitor's share first, so that one question of each visitor at a time waits for the rest.
        """
        share = self._shares.setdefault(question.visitor, Semaphore(self._limits.workers_per_client))
        return (share, self._large_turns, self._turns) if question.is_large else (share, self._turns)

    async def _worked(self, job: Job, *arguments: Any) -> bytes:
        limits = self._limits
        try:
            await self._ready()
            with fail_after(limits.work_time):
                return await to_process.run_sync(
                    _answer, limits.answer_octets, job, arguments, cancellable=True, limiter=self._processes
                )
        except TimeoutError:
            raise QuestionError(
                f"stopped after {limits.work_time:g} s: ask about a shorter robots.txt, or fewer URLs or crawlers"
            ) from None
        except BrokenWorkerProcess:
            raise QuestionError("the process that worked on this question ended: ask about less at once") from None


def _prepare() -> None:
    """Done in each process, once it has imported this module."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server ends its workers itself


def _answer(most: int, job: Job, arguments: tuple[Any, ...]) -> bytes:
    """Do *job* in a worker process, and judge what it returns."""
    try:
        result = job(*arguments)
        octets = result if isinstance(result, bytes) else result.encode()
    except Exception as error:  # noqa: BLE001  # for the log of the server, without what a visitor wrote
        where = "".join(traceback.format_tb(error.__traceback__))
        raise RuntimeError(f"a job failed:\n{where}{type(error).__name__}") from None
    if len(octets) > most:
        raise QuestionError(f"the answer has {len(octets):,} bytes; the limit is {most:,}: ask about less")
    return octets
