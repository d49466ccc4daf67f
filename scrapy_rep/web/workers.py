"""Work in processes of their own, which are ended when it takes too long.

anyio starts each with a new interpreter, never by a plain fork, keeps idle ones for the next question, and kills
the process of a task that is cancelled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from anyio import BrokenWorkerProcess, CapacityLimiter, create_task_group, fail_after, to_process

from . import jobs
from .limits import Limits
from .question import QuestionError

_T = TypeVar("_T")


class BusyError(Exception):
    """There is no worker process for this question now."""

    def __init__(self) -> None:
        super().__init__("Many people ask at the moment: try again in a few seconds.")


class Workers:
    """Runs functions of `jobs` within the *limits*; made inside the event loop."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._free = CapacityLimiter(limits.workers)

    async def warm_up(self) -> None:
        """Start all processes, so that the first visitor need not wait for them."""
        async with create_task_group() as tasks:
            for _ in range(self._limits.workers):
                tasks.start_soon(self.run, jobs.warm_up)

    async def run(self, job: Callable[..., _T], *arguments: Any) -> _T:
        """Return what *job* returns.

        Raises `BusyError` when no process is free in time, and `QuestionError` when the work takes too long.
        """
        borrower = object()  # a task may run several jobs, one after the other
        try:
            with fail_after(self._limits.wait_time):
                await self._free.acquire_on_behalf_of(borrower)
        except TimeoutError:
            raise BusyError from None
        try:
            with fail_after(self._limits.work_time):
                return await to_process.run_sync(job, *arguments, cancellable=True, limiter=CapacityLimiter(1))
        except TimeoutError:
            raise QuestionError(
                f"stopped after {self._limits.work_time:g} s:"
                " ask about a shorter robots.txt, or fewer URLs or crawlers"
            ) from None
        except BrokenWorkerProcess:
            raise QuestionError("the process that worked on this question ended: ask about less at once") from None
        finally:
            self._free.release_on_behalf_of(borrower)
