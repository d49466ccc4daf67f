"""A function in a process of its own: what it takes, and what it answers, is JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

PATIENCE = 3_600.0  # seconds until a process is given up


def process_of(function: Callable[..., Any], *arguments: Any, before: tuple[str, ...] = ()) -> Any:
    """The process in which *function*, of a module, was called, by the command *before* if there is one."""
    name, called = f"{function.__module__}:{function.__name__}", json.dumps(arguments)
    process = subprocess.run(  # noqa: S603
        [*before, sys.executable, "-m", "benchmarks.apart", name, called],
        env={**os.environ, "PYTHONHASHSEED": "0"},  # else one process has luckier dicts than another
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    if process.returncode:
        raise SystemExit(f"{name} broke: {called}\n{process.stderr[-4_000:]}")
    return process


def apart(function: Callable[..., Any], *arguments: Any) -> Any:
    """What *function* answers in a process of its own."""
    return json.loads(process_of(function, *arguments).stdout)


if __name__ == "__main__":
    module, _, name = sys.argv[1].partition(":")
    print(json.dumps(getattr(import_module(module), name)(*json.loads(sys.argv[2]))))
