"""One call of ``scrapy`` in a process of its own, outside any project."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).parents[2]


def robots_command(folder: Path, *arguments: str, given: bytes = b"") -> tuple[int, str, str]:
    """As `scrapy_command`, for ``scrapy robots``."""
    return scrapy_command(folder, "robots", *arguments, given=given)


def scrapy_command(folder: Path, *arguments: str, given: bytes = b"") -> tuple[int, str, str]:
    """The exit code, and what was written to standard output and standard error."""
    with scrapy_process(*arguments, folder=folder) as process:
        try:
            out, err = process.communicate(given, timeout=60)
        finally:
            process.kill()
    return process.returncode, out.decode(), err.decode()


def scrapy_process(*arguments: str, folder: Path | None = None) -> subprocess.Popen[bytes]:
    """A call that is under way, all its streams pipes."""
    return subprocess.Popen(
        [sys.executable, "-m", "scrapy", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(_ROOT), os.environ.get("PYTHONPATH", "")])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
