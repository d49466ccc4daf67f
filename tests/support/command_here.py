"""One call of ``scrapy robots`` in the process of the tests: its crawl runs on the reactor of pytest-twisted."""

from __future__ import annotations

import asyncio
import io
import os
import threading
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from math import inf
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest_twisted
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.settings import Settings
from twisted.internet.defer import Deferred

from scrapy_rep.tools.commands import crawl_runner, terminal
from scrapy_rep.tools.commands.command import Command

from .crawl_here import as_python_warns, nothing_left


def robots_here(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """The exit code of ``scrapy robots ARGUMENTS``, outside any project, and what it wrote to its two streams."""
    command, out, err = Command(), _OfThisThread(), io.StringIO()
    command.settings = Settings()
    command.settings.setdict(command.default_settings, priority="command")
    quiet = patch.object(terminal, "_LOG_INTERVAL", inf)  # its progress, which a slow machine would show
    with _working_in(folder), redirect_stdout(out), redirect_stderr(err), crawls_here(), quiet:
        command.run([], Namespace(rest=[*arguments]))
    return command.exitcode, out.getvalue(), err.getvalue()


class _OfThisThread(io.StringIO):
    """Keeps what the thread that made it writes: what others print meanwhile is no output of the command."""

    def __init__(self) -> None:
        super().__init__()
        self._thread = threading.get_ident()

    def write(self, text: str) -> int:
        return super().write(text) if threading.get_ident() == self._thread else len(text)


@contextmanager
def crawls_here() -> Iterator[None]:
    """Inside the ``with`` block a command has no process of its own for its crawl."""
    with patch.object(crawl_runner, "_process", ProcessHere), as_python_warns():
        yield


class ProcessHere:
    """Stands for the process in which a command crawls."""

    def __init__(self, settings: Settings) -> None:
        self._runner = AsyncCrawlerRunner(settings)

    def crawl(self, spider: type, **attributes: Any) -> asyncio.Future[None]:
        self._crawling: asyncio.Future[None] = asyncio.ensure_future(self._crawl(spider, attributes))
        return self._crawling

    async def _crawl(self, spider: type, attributes: dict[str, Any]) -> None:
        async with nothing_left():
            await self._runner.create_crawler(spider).crawl_async(**attributes)

    def start(self) -> None:
        """Until the crawl has ended; its caller looks at what has become of it."""
        pytest_twisted.blockon(Deferred.fromFuture(asyncio.ensure_future(asyncio.wait([self._crawling]))))


@contextmanager
def _working_in(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
