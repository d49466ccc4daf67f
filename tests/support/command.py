"""One call of ``scrapy``, or of ``pytest``, in a process of its own, outside any project."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from scrapy.cmdline import execute
from scrapy.settings import Settings

from scrapy_rep.tools.commands import run_told

from .crawl import PROCESSES

# A shell starts what runs in the background with Ctrl-C ignored.
_WITH_CTRL_C = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv[0] = "scrapy"
from scrapy.cmdline import execute
execute()
"""
_ROOT = Path(__file__).parents[2]


def robots_command(folder: Path, *arguments: str, given: bytes = b"") -> tuple[int, str, str]:
    """As `scrapy_command`, for ``scrapy robots``."""
    return scrapy_command(folder, "robots", *arguments, given=given)


def command_here(command: ModuleType, *arguments: str, **settings: Any) -> tuple[int, str]:
    """The exit code of the sub-command in this module, and what it prints, in this process."""
    parser, out = ArgumentParser(), io.StringIO()
    command.add_arguments(parser)
    return run_told(command, parser.parse_args(arguments), Settings(settings), out), out.getvalue()


def scrapy_command(folder: Path, *arguments: str, given: bytes = b"") -> tuple[int, str, str]:
    """The exit code, and what was written to standard output and standard error."""
    return forked(execute, folder, "scrapy", *arguments, given=given)


def pytest_command(folder: Path, *arguments: str, **environment: str) -> tuple[int, str, str]:
    """As `scrapy_command`, for a ``pytest`` with these variables of the *environment*, too."""
    return forked(_pytest, folder, "pytest", *arguments, environment=environment)


def forked(
    main: Callable[[], object],
    folder: Path,
    *arguments: str,
    given: bytes = b"",
    environment: Mapping[str, str] | None = None,
) -> tuple[int, str, str]:
    """As `scrapy_command`, for any *main* that ends its process; *arguments* begin with its name.

    The process is forked from one that has imported Scrapy, which saves most of what a call takes.
    """
    variables = {**os.environ, **(environment or {})}
    with tempfile.TemporaryDirectory() as streams:
        for name, octets in (("stdin", given), ("stdout", b""), ("stderr", b"")):
            Path(streams, name).write_bytes(octets)
        process = PROCESSES.Process(target=_run, args=(main, arguments, folder, Path(streams), variables))
        process.start()
        process.join(60)
        is_late = process.is_alive()
        process.kill()
        process.join()
        out, err = (Path(streams, name).read_bytes().decode() for name in ("stdout", "stderr"))
    assert not is_late, f"the command did not end: {err[-4_000:]}"
    return process.exitcode or 0, out, err


def _pytest() -> None:
    sys.exit(pytest.console_main())


def _run(
    main: Callable[[], object],
    arguments: tuple[str, ...],
    folder: Path,
    streams: Path,
    environment: dict[str, str],
) -> None:
    """Do what ``python -m`` does with *arguments*, in the process that it runs in."""
    for descriptor, name, mode in ((0, "stdin", "rb"), (1, "stdout", "ab"), (2, "stderr", "ab")):
        with (streams / name).open(mode) as file:
            os.dup2(file.fileno(), descriptor)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)  # multiprocessing had closed it
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    sys.argv = [*arguments]
    main()


def scrapy_process(
    *arguments: str, folder: Path | None = None, stdout: int = subprocess.PIPE
) -> subprocess.Popen[bytes]:
    """A call that is under way; its streams are pipes, but for another *stdout*."""
    return subprocess.Popen(
        [sys.executable, "-c", _WITH_CTRL_C, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(_ROOT), os.environ.get("PYTHONPATH", "")])},
        stdin=subprocess.PIPE,
        stdout=stdout,
        stderr=subprocess.PIPE,
    )
