"""One real Scrapy crawl in a process of its own: a process holds one reactor."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from time import sleep
from typing import Any

from scrapy.settings import default_settings

from . import run_crawl

ADDON = {"ADDONS": {"scrapy_rep.Addon": 300}}

LOOPS = ["asyncio", "twisted"]
if hasattr(default_settings, "TWISTED_REACTOR_ENABLED"):
    LOOPS.append("reactorless")

RECORDER = "tests.support.run_crawl:Recorder"

_ROOT = Path(__file__).parents[2]

# Forked from one process that has imported Scrapy and done nothing else: that halves what a crawl takes.
_PROCESSES = multiprocessing.get_context("forkserver" if hasattr(os, "fork") else "spawn")
if hasattr(_PROCESSES, "set_forkserver_preload"):
    _PROCESSES.set_forkserver_preload(["tests.support.run_crawl", *run_crawl.PRELOADED])


@dataclass(frozen=True)
class Page:
    url: str
    status: int
    length: int
    tag: Any
    time: float


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
    timeout: float = 60.0,
) -> Crawl:
    """Crawl *requests* (URLs or arguments of `scrapy.Request`) with the add-on and *settings* on top.

    Without the add-on: ``settings={"ADDONS": {}}``. *spider* is ``package.module:Class``, *attributes* become
    attributes of it. Ctrl-C is pressed once when the process is *interrupt_after* seconds old; after *timeout*
    seconds more than that it is killed.
    """
    job = _job(requests, settings, loop, spider, attributes)
    with tempfile.TemporaryDirectory() as folder:
        report, stderr = Path(folder, "report.json"), Path(folder, "stderr")
        with _running(job, report, stderr) as process:
            if interrupt_after is not None:
                process.join(interrupt_after)
                if process.is_alive():
                    os.kill(process.pid or 0, signal.SIGINT)
            process.join(timeout)
            ended = not process.is_alive()
            process.kill()
            process.join()
            exit_code = process.exitcode or 0
        facts = json.loads(report.read_text()) if report.exists() else {}
        told = stderr.read_text(errors="backslashreplace")
    assert ended, f"the crawl did not end:\n{told[-4_000:]}"
    return Crawl(
        [Page(**page) for page in facts.get("pages", [])],
        [Failure(**failure) for failure in facts.get("failures", [])],
        facts.get("stats", {}),
        [LogLine(**line) for line in facts.get("log", [])],
        facts.get("robots_parsed", []),
        facts.get("seconds", 0.0),
        exit_code,
        told,
    )


def crawl_until(
    enough: Callable[[], bool], *requests: str, settings: dict[str, Any], spider: str = RECORDER
) -> None:
    """Crawl as `crawl` does and kill the process, as ``kill -9`` does, once it is *enough*."""
    job = _job(requests, settings, spider=spider)
    with (
        tempfile.TemporaryDirectory() as folder,
        _running(job, Path(folder, "report.json"), Path(folder, "stderr")) as process,
    ):
        while not enough() and process.is_alive():
            sleep(0.01)
        process.kill()
        process.join()


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
    process = _PROCESSES.Process(target=run_crawl.main, args=(job, report, stderr, dict(os.environ), _ROOT))
    process.start()
    try:
        yield process
    finally:
        process.close()
