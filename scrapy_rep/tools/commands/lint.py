"""Check robots.txt files for errors and possible improvements, and fix what is safe to fix.

Lints files, all *robots*.txt in folders (default: this folder), standard input (-), and the robots.txt of URLs
(https://…). Prints "file:line:column: severity: message (code)" for each finding and, indented below, its line,
its consequences and what to do. NAMES are codes, severities, or all, separated by commas. robots-lint.toml, or
[tool.robots-lint] in pyproject.toml, configures a project. Exits with 0 if there is nothing to fix, 1 if a finding
has the severity of --fail-on or worse (default: warning), 2 if the command failed.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from scrapy_rep.protocol import DIALECTS, MAX_SIZE
from scrapy_rep.protocol.display import number_of, shown
from scrapy_rep.tools.lint import Severity, explained
from scrapy_rep.tools.lint.config import NEVER, Config, files_in, find_config, read_code, read_config, read_names
from scrapy_rep.tools.lint.file_linter import FileLinter, LintedFile, lint_files, replace_file

from . import FOUND, OK, default_settings, dialect_and_limit, main_of
from .inputs import (
    GivenFile,
    InputError,
    check_names,
    is_url,
    raise_for,
    read_all,
    unreadable,
    with_hint,
)
from .lint_output import OUTPUTS, Output, TextOutput
from .parser import argument
from .terminal import READABLE, Progress, Speed, width_of

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

main = main_of("lint")

_NAMES: Final = argument(lambda text: read_names([name.strip() for name in text.split(",")]))


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command to *parser*."""
    add = parser.add_argument
    add("files", nargs="*", metavar="FILE", help="a file, a folder, a URL (https://…), or - for standard input")
    _add_choices(parser)
    _add_outputs(parser)
    add("--fix", action="store_true", help="fix what is safe to fix in the files")
    add("--explain", type=argument(read_code), metavar="CODE", help="explain a code, and lint nothing")


def _add_choices(parser: ArgumentParser) -> None:
    """The arguments that say what is reported, and what fails."""
    add = parser.add_argument
    add("--select", type=_NAMES, metavar="NAMES", help="report only these findings")
    add("--ignore", type=_NAMES, metavar="NAMES", help="do not report these findings")
    add("--include", metavar="PATTERN", help="lint the files in folders that match (default: *robots*.txt)")
    configured = parser.add_mutually_exclusive_group()
    configured.add_argument("--config", type=Path, metavar="FILE", help="the configuration, in TOML")
    configured.add_argument("--isolated", action="store_true", help="ignore configuration files")
    add(
        "--fail-on",
        choices=[*(severity.value for severity in Severity), NEVER],
        help="exit with 1 from this severity on (default: warning)",
    )
    add("--exit-zero", dest="fail_on", action="store_const", const=NEVER, help="same as --fail-on never")


def _add_outputs(parser: ArgumentParser) -> None:
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--grouped", action="store_true", help="print each code once, with its lines")
    group.add_argument("--statistics", action="store_true", help="print the number of findings of each code")
    group.add_argument("--json", action="store_true", help="print JSON, an object per line")
    group.add_argument("--sarif", action="store_true", help="print one SARIF 2.1.0 document")
    group.add_argument("--github", action="store_true", help="print annotations for GitHub Actions")
    group.add_argument("--diff", action="store_true", help="print what --fix would change, and write nothing")


def run(arguments: Namespace, settings: BaseSettings | None, out: IO[str]) -> int:
    """Run the command; return the exit code. Without *settings* the defaults count."""
    if arguments.explain:
        out.write(explained(arguments.explain, min(width_of(out), READABLE)))
        return OK
    names = arguments.files or ["."]
    check_names(names)
    if arguments.fix and any(name == "-" or is_url(name) for name in names):
        raise InputError("--fix writes files: use --diff for a URL or standard input")
    config = _config(arguments)
    dialect, limit = dialect_and_limit(settings)
    dialect = DIALECTS[config.dialect] if config.dialect else dialect
    linter = FileLinter(config, dialect, limit, is_fixing=arguments.fix or arguments.diff)
    output = next((form for name, form in OUTPUTS.items() if getattr(arguments, name)), TextOutput)(out, config)
    progress = Progress(sys.stderr) if sys.stderr.isatty() and (output.is_last or not out.isatty()) else None
    linting = _Run(linter, output, is_diff=arguments.diff, progress=progress)
    try:
        linting.lint_all(names, settings)
    finally:
        linting.end()
        out.flush()
    return linting.exit_code


def _config(arguments: Namespace) -> Config:
    """What the project says, and then the command line. Raises `InputError`."""
    path = arguments.config or (None if arguments.isolated else find_config(Path.cwd()))
    try:
        config = read_config(path) if path else Config()
    except ValueError as error:
        raise InputError(str(error)) from None
    if arguments.select:
        config = replace(config, select=arguments.select)
    if arguments.ignore:
        config = replace(config, ignore=(*config.ignore, *arguments.ignore))
    if arguments.include:
        config = replace(config, include=(arguments.include,))
    return replace(config, fail_on=arguments.fail_on) if arguments.fail_on else config


class _Run:
    """Lints one file after the other, writes what is fixed, and keeps the exit code."""

    def __init__(self, linter: FileLinter, output: Output, *, is_diff: bool, progress: Progress | None) -> None:
        self.exit_code = OK
        self._linter = linter
        self._output = output
        self._is_diff = is_diff
        self._progress = progress
        self._files = self._fixed = self._expected = 0
        self._speed = Speed()

    def lint_all(self, names: Sequence[str], settings: BaseSettings | None) -> None:
        """Lint what *names* name: files, then standard input, then URLs as they arrive. Raises `InputError`."""
        others = [name for name in names if name == "-" or is_url(name)]
        paths, problems = self._paths([name for name in names if name not in others])
        self._expected = len(paths) + len(others)
        for name, linted in lint_files(self._linter, paths):
            error = linted if isinstance(linted, OSError) else self._add(linted)
            if error:
                problems.append(with_hint(unreadable(name, error)))

        def lint(file: GivenFile) -> None:
            self._add(self._linter.lint(file.name, file.body, url=file.url, hops=file.hops, status=file.status))

        try:
            if others:
                read_all(others, settings or default_settings(), lint, self._linter.limit or MAX_SIZE, bytes)
        except InputError as error:
            problems.append(error)
        raise_for(problems)

    def _paths(self, names: Sequence[str]) -> tuple[list[str], list[InputError]]:
        """The files that *names* of files and folders stand for, and what is wrong with the others."""
        paths: list[str] = []
        problems: list[InputError] = []
        for name in names:
            if not Path(name).is_dir():
                paths.append(name)
                continue
            found = files_in(Path(name), self._linter.config)
            if not found:
                patterns = " or ".join(self._linter.config.include)
                problems.append(InputError(f"{name}: no file in it matches {patterns}; --include takes a pattern"))
            paths += found
        return paths, problems

    def _add(self, linted: LintedFile) -> OSError | None:
        """Write what is fixed in *linted*, and print its findings; the error when it cannot be written."""
        is_changed = linted.body != linted.given
        if is_changed and not self._is_diff:
            try:
                replace_file(linted.name, linted.given, linted.body)
            except OSError as error:
                return error
        for line, problem in linted.problems:
            sys.stderr.write(f"{shown(linted.name)}:{line}: {problem}\n")
        self._output.add(linted)
        if is_changed if self._is_diff else any(map(self._linter.config.fails, linted.findings)):
            self.exit_code = FOUND
        self._files += 1
        self._fixed += linted.fixed
        if self._progress:
            speed = self._speed.text(self._files, self._files / max(self._expected, 1))
            self._progress.show(f"{number_of(self._files, 'file', 'files')} linted, {speed}")
        return None

    def end(self) -> None:
        """Print what concerns all files."""
        if self._progress:
            self._progress.clear()
        self._output.end()
        if self._is_diff:
            sys.stderr.write(f"--fix would fix {number_of(self._fixed, 'finding', 'findings')}\n")
