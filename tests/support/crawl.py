"""One real Scrapy crawl in a process of its own: a process holds one reactor."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import Any

from scrapy.settings import default_settings

ADDON = {"ADDONS": {"scrapy_rep.Addon": 300}}

LOOPS = ["asyncio", "twisted"]
if hasattr(default_settings, "TWISTED_REACTOR_ENABLED"):
    LOOPS.append("reactorless")

_ROOT = Path(__file__).parents[2]


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
    spider: str = "tests.support.run_crawl:Recorder",
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
        report = Path(folder, "report.json")
        process = _start(report)
        stderr = _run(process, json.dumps(job), interrupt_after, timeout)
        facts = json.loads(report.read_text()) if report.exists() else {}
    return Crawl(
        [Page(**page) for page in facts.get("pages", [])],
        [Failure(**failure) for failure in facts.get("failures", [])],
        facts.get("stats", {}),
        [LogLine(**line) for line in facts.get("log", [])],
        facts.get("robots_parsed", []),
        facts.get("seconds", 0.0),
        process.returncode,
        stderr,
    )


def crawl_until(enough: Callable[[], bool], *requests: str, settings: dict[str, Any]) -> None:
    """Crawl as `crawl` does and kill the process, as ``kill -9`` does, once it is *enough*."""
    with tempfile.TemporaryDirectory() as folder, _start(Path(folder, "report.json")) as process:
        assert process.stdin
        process.stdin.write(json.dumps(_job(requests, settings)))
        process.stdin.close()
        process.stdin = None
        while not enough() and process.poll() is None:
            sleep(0.01)
        process.kill()
        process.communicate()


def _job(
    requests: Sequence[str | dict[str, Any]],
    settings: dict[str, Any] | None,
    loop: str = "asyncio",
    spider: str = "tests.support.run_crawl:Recorder",
    attributes: dict[str, Any] | None = None,
) -> dict[str, Any]:
    return {
        "requests": [{"url": request} if isinstance(request, str) else request for request in requests],
        "settings": {**ADDON, **(settings or {})},
        "loop": loop,
        "spider": spider,
        "attributes": attributes or {},
    }


def _start(report: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.support.run_crawl", str(report)],
        cwd=_ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(_ROOT), os.environ.get("PYTHONPATH", "")])},
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _run(process: subprocess.Popen[str], job: str, interrupt_after: float | None, timeout: float) -> str:
    """What the process wrote to standard error until it ended."""
    given: str | None = job
    if interrupt_after is not None:
        try:
            return process.communicate(given, timeout=interrupt_after)[1]
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            given = None  # what was not yet written is kept by communicate()
    try:
        return process.communicate(given, timeout=timeout)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        raise AssertionError(f"the crawl did not end:\n{process.communicate()[1][-4_000:]}") from None
