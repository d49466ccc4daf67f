"""Finds the robots.txt files in folders, and lints many files in several processes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from scrapy_rep.tools.files import read_file
from scrapy_rep.tools.processes import map_in_processes

from .config import Config, matches_path
from .file_linter import FileLinter, LintedFile

_FILES_WORTH_PROCESSES: Final = 500
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
    return map_in_processes(partial(_lint_file, linter), names, worth_it=_FILES_WORTH_PROCESSES)


def _lint_file(linter: FileLinter, name: str) -> tuple[str, LintedFile | OSError]:
    try:
        return name, linter.lint(name, read_file(Path(name)))
    except ValueError as error:  # a NUL in the name
        return name, OSError(0, str(error))
    except OSError as error:
        return name, error
