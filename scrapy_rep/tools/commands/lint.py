"""Find what is wrong with a robots.txt, or could be better.

    scrapy robots lint FILE|URL|-… [--json | --sarif] [--fail-on SEVERITY]

A file is given by its name, - is standard input; for a URL (https://…) the robots.txt of its origin is
fetched. Prints "file:line:column: severity: message (code)" and what to write instead; --json prints an
object a line, --sarif one SARIF 2.1.0 document. Exits with 0 when all is well, 1 when there is a finding
of the severity of --fail-on or worse (by default a warning or an error), 2 when a file could not be had.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import IO, TYPE_CHECKING, Final

from scrapy_rep.exceptions import InvalidSettingError
from scrapy_rep.settings import RepSettings
from scrapy_rep.tools.lint import Finding, Severity, lint

from . import FINE, FOUND
from .lint_report import JsonReport, Report, SarifReport, TextReport
from .sources import Given, check_names, read
from .terminal import GivenError, Progress, complain

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

_NEVER: Final = "never"


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of the command line."""
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="a file, a URL (https://…), or - for standard input"
    )
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="one JSON object a line")
    shape.add_argument("--sarif", action="store_true", help="one SARIF 2.1.0 document")
    parser.add_argument(
        "--fail-on",
        choices=[*(severity.value for severity in Severity), _NEVER],
        default=Severity.WARNING.value,
        help="the least severity for which it exits with 1 (default: %(default)s)",
    )


def run(arguments: Namespace, settings: BaseSettings, out: IO[str]) -> int:
    """Do what the *arguments* say; the exit code."""
    report = _report(arguments, out)
    progress = Progress(sys.stderr) if sys.stderr.isatty() and not out.isatty() else None
    try:
        parsed = RepSettings.from_settings(settings)
        check_names(arguments.files)
        look = _Look(report, parsed, arguments.fail_on, progress)
        try:
            read(arguments.files, settings, look.at, parsed.max_size)
        finally:
            look.end()
            out.flush()
    except (GivenError, InvalidSettingError) as error:
        return complain("lint", error)
    return look.code


def _report(arguments: Namespace, out: IO[str]) -> Report:
    if arguments.sarif:
        return SarifReport(out)
    return JsonReport(out) if arguments.json else TextReport(out)


class _Look:
    """Looks at one file after the other, and remembers the exit code that they come to."""

    def __init__(self, report: Report, settings: RepSettings, fail_on: str, progress: Progress | None) -> None:
        self.code = FINE
        self._report = report
        self._settings = settings
        self._worst = -1 if fail_on == _NEVER else Severity(fail_on).rank
        self._progress = progress
        self._files = 0

    def at(self, given: Given) -> None:
        """Lint *given*, and show the findings."""
        findings = _findings(given, self._settings)
        self._report.add(given.name, findings)
        if any(each.severity.rank <= self._worst for each in findings):
            self.code = FOUND
        self._files += 1
        if self._progress:
            self._progress.tell(f"{self._files:,} files linted")

    def end(self) -> None:
        """Show what is said of all files together."""
        if self._progress:
            self._progress.end()
        self._report.end()


def _findings(given: Given, settings: RepSettings) -> tuple[Finding, ...]:
    return lint(
        given.body,
        settings.dialect,
        limit=settings.max_size,
        url=given.url,
        hops=given.hops,
        status=given.status,
    )
