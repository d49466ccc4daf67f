"""One real Scrapy crawl, in the process of the tests, or in one of its own: a process holds one reactor."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from multiprocessing.process import BaseProcess
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from scrapy.settings import default_settings

from . import run_crawl
from .crawl_here import can_run_here, run_here

ADDON = {"ADDONS": {"scrapy_rep.Addon": 300}}

LOOPS = ["asyncio", "twisted"]
if hasattr(default_settings, "TWISTED_REACTOR_ENABLED"):
    LOOPS.append("reactorless")

DOWNLOAD_HANDLERS = [LOOPS[0], LOOPS[-1]]
"""Loops for what depends on the download handler: with a reactor there is one of Twisted, without it another."""


def loop_params(loops: list[str]) -> list[Any]:
    """Values of ``loop`` for a test: the default run leaves those other than asyncio out."""
    return [pytest.param(loop, marks=[pytest.mark.other_loop] * (loop != "asyncio")) for loop in loops]


on_each_loop = pytest.mark.parametrize("loop", loop_params(LOOPS))
on_each_download_handler = pytest.mark.parametrize("loop", loop_params(DOWNLOAD_HANDLERS))

RECORDER = "tests.support.run_crawl:Recorder"

_ROOT = Path(__file__).parents[2]

# Forked from one process that has imported Scrapy and done nothing else: that halves what a crawl takes.
PROCESSES: Any = multiprocessing.get_context("forkserver" if hasattr(os, "fork") else "spawn")
if hasattr(PROCESSES, "set_forkserver_preload"):
    PROCESSES.set_forkserver_preload(["tests.support.run_crawl", *run_crawl.PRELOADED])


@dataclass(frozen=True)
class Page:
    url: str
    status: int
    length: int
    tag: Any
    time: float
    stamp: dict[str, Any] | None = None
    flags: Sequence[str] = ()


@dataclass(frozen=True)
class Failure:
    """What an errback was handed; ``cause`` is the type name and text of ``__cause__``."""

    url: str
    type: str
    message: str
    cause: list[str] | None
    reason: str | None
    line: int | None
    rule: str | None
    origin: str | None
    retry_after: float | None
    tag: Any
    time: float


@dataclass(frozen=True)
class Start:
    """When the downloader decided to start a request, by the monotonic clock, and the delay of its slot then."""

    url: str
    time: float
    delay: float


@dataclass(frozen=True)
class LogLine:
    level: str
    name: str
    message: str
    traceback: str


@dataclass(frozen=True)
class Crawl:
    """What became of a crawl; ``seconds`` from the start of the spider to its end."""

    pages: list[Page]
    failures: list[Failure]
    starts: list[Start]
    stats: dict[str, Any]
    log: list[LogLine]
    robots_parsed: list[str]
    seconds: float
    exit_code: int
    stderr: str

    @property
    def urls(self) -> list[str]:
        return [page.url for page in self.pages]

    @property
    def reason(self) -> str | None:
        """Why the spider closed."""
        return self.stats.get("finish_reason")

    @property
    def tracebacks(self) -> list[LogLine]:
        return [line for line in self.log if line.traceback]

    def lines(self, level: str, name: str = "") -> list[str]:
        return [line.message for line in self.log if line.level == level and line.name.startswith(name)]

    def gaps(self, origin: str = "") -> list[float]:
        """Seconds between the starts of requests, at one *origin* or at all of them."""
        times = [start.time for start in self.starts if start.url.startswith(f"{origin}/" if origin else "http")]
        return [after - before for before, after in pairwise(times)]

    def failure(self, url: str) -> Failure:
        (found,) = (failure for failure in self.failures if failure.url == url)
        return found


def crawl(
    *requests: str | dict[str, Any],
    settings: dict[str, Any] | None = None,
    loop: str = "asyncio",
    spider: str = RECORDER,
    attributes: dict[str, Any] | None = None,
    interrupt_after: float | None = None,
    interrupt_when: Callable[[], bool] | None = None,
    timeout: float = 60.0,
    apart: bool = False,
) -> Crawl:
    """Crawl *requests* (URLs or arguments of `scrapy.Request`) with the add-on and *settings* on top.

    Without the add-on: ``settings={"ADDONS": {}}``. *spider* is ``package.module:Class``, *attributes* become
    attributes of it. After *timeout* seconds it counts as one that does not end.

    On the asyncio reactor it runs in this process, unless it is called from a thread, or has to be *apart*
    because it changes modules for good, or is to be seen ending its process. The other loops have a process of
    their own, and so has a crawl where Ctrl-C is pressed: once, *interrupt_when* says so, or when the process is
    *interrupt_after* seconds old.
    """
    job = _job(requests, settings, loop, spider, attributes)
    if interrupt_after is not None:
        patience = monotonic() + interrupt_after
        interrupt_when = partial(_is_over, patience)
    if loop == "asyncio" and interrupt_when is None and not apart and can_run_here():
        facts = run_here(job, timeout)
        return _crawl(facts, int(facts["failed"]), facts["stderr"])
    return _crawl(*_run_apart(job, interrupt_when, timeout))


def _is_over(patience: float) -> bool:
    return monotonic() > patience


def _run_apart(
    job: dict[str, Any], interrupt_when: Callable[[], bool] | None, timeout: float
) -> tuple[dict[str, Any], int, str]:
    with tempfile.TemporaryDirectory() as folder:
        report, stderr = Path(folder, "report.json"), Path(folder, "stderr")
        with _running(job, report, stderr) as process:
            if interrupt_when is not None and _wait(interrupt_when, process):
                os.kill(process.pid or 0, signal.SIGINT)
            process.join(timeout)
            ended = not process.is_alive()
            process.kill()
            process.join()
            exit_code = process.exitcode or 0
        facts = json.loads(report.read_text()) if report.exists() else {}
        told = stderr.read_text(errors="backslashreplace")
    assert ended, f"the crawl did not end:\n{told[-4_000:]}"
    return facts, exit_code, told


def _crawl(facts: dict[str, Any], exit_code: int, stderr: str) -> Crawl:
    return Crawl(
        [Page(**page) for page in facts.get("pages", [])],
        [Failure(**failure) for failure in facts.get("failures", [])],
        [Start(**start) for start in facts.get("starts", [])],
        facts.get("stats", {}),
        [LogLine(**line) for line in facts.get("log", [])],
        facts.get("robots_parsed", []),
        facts.get("seconds", 0.0),
        exit_code,
        stderr,
    )


def crawl_until(
    enough: Callable[[], bool], *requests: str | dict[str, Any], settings: dict[str, Any], spider: str = RECORDER
) -> list[Start]:
    """Crawl as `crawl` does and kill the process, as ``kill -9`` does, once it is *enough*; what had started."""
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder, "journal")
        journal.touch()
        job = {**_job(requests, settings, spider=spider), "journal": str(journal)}
        with _running(job, Path(folder, "report.json"), Path(folder, "stderr")) as process:
            _wait(enough, process)
            process.kill()
            process.join()
        return [Start(**json.loads(line)) for line in journal.read_text().splitlines()]


def _wait(enough: Callable[[], bool], process: BaseProcess) -> bool:
    """Until it is *enough*; whether the *process* still runs."""
    while process.is_alive() and not enough():
        sleep(0.01)
    return process.is_alive()


def _job(
    requests: Sequence[str | dict[str, Any]],
    settings: dict[str, Any] | None,
    loop: str = "asyncio",
    spider: str = RECORDER,
    attributes: dict[str, Any] | None = None,
) -> dict[str, Any]:
    return {
        "requests": [{"url": request} if isinstance(request, str) else request for request in requests],
        "settings": {**ADDON, **(settings or {})},
        "loop": loop,
        "spider": spider,
        "attributes": attributes or {},
    }


@contextmanager
def _running(job: dict[str, Any], report: Path, stderr: Path) -> Iterator[BaseProcess]:
    stderr.touch()
    process = PROCESSES.Process(target=run_crawl.main, args=(job, report, stderr, dict(os.environ), _ROOT))
    process.start()
    try:
        yield process
    finally:
        process.close()
