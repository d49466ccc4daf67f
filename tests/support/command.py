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
    process = subprocess.run(
        [sys.executable, "-m", "scrapy", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(_ROOT), os.environ.get("PYTHONPATH", "")])},
        input=given,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return process.returncode, process.stdout.decode(), process.stderr.decode()
