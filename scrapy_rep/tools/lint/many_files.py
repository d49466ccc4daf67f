"""Finds the robots.txt files in folders, and lints many files in several processes."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from multiprocessing.pool import Pool
from pathlib import Path
from typing import Final

from .config import Config, matches_path
from .file_linter import FileLinter, LintedFile

_FILES_WORTH_A_POOL: Final = 500  # fewer are linted sooner than processes start
_MOST_PROCESSES: Final = 8
_CHUNK: Final = 16  # files sent to a process at once
_NOT_THE_PROJECTS: Final = frozenset({"node_modules", "site-packages", "venv", "__pycache__"})


def files_in(folder: Path, config: Config) -> list[str]:
    """The files in *folder* and below that the patterns of *config* include; hidden folders are not searched.

    Raises ``OSError``.
    """
    found = []
    for parent, folders, files in os.walk(folder, onerror=_raise):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and name not in _NOT_THE_PROJECTS
            and not _matches(config.exclude, Path(parent, name), config)
        )  # fmt: skip
        paths = (Path(parent, name) for name in sorted(files))
        found += [
            str(path)
            for path in paths
            if _matches(config.include, path, config) and not _matches(config.exclude, path, config)
        ]
    return found


def _matches(patterns: Sequence[str], path: Path, config: Config) -> bool:
    return any(matches_path(pattern, str(path), config.folder) for pattern in patterns)


def _raise(error: OSError) -> None:
    raise error


def lint_files(linter: FileLinter, names: Sequence[str]) -> Iterator[tuple[str, LintedFile | OSError]]:
    """Lint the files *names*, in this order; one that cannot be read has its error instead."""
    lint_one = partial(_lint_file, linter)
    processes = min(os.cpu_count() or 1, _MOST_PROCESSES)
    if len(names) < _FILES_WORTH_A_POOL or processes == 1:
        yield from map(lint_one, names)
        return
    with _pool(processes) as pool:
        yield from pool.imap(lint_one, names, chunksize=_CHUNK)


@contextmanager
def _pool(processes: int) -> Iterator[Pool]:
    # A plain fork could copy a lock that another thread holds. Ctrl-C is for the process that writes the output.
    is_posix = "forkserver" in multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if is_posix else "spawn")
    with context.Pool(processes, signal.signal, (signal.SIGINT, signal.SIG_IGN)) as pool:
        yield pool


def _lint_file(linter: FileLinter, name: str) -> tuple[str, LintedFile | OSError]:
    try:
        return name, linter.lint(name, Path(name).read_bytes())
    except ValueError as error:  # a NUL in the name
        return name, OSError(0, str(error))
    except OSError as error:
        return name, error
