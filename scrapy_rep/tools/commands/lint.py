"""Check a robots.txt for errors and possible improvements.

    scrapy robots lint FILE|URL|-… [--json | --sarif] [--fail-on SEVERITY]

- is standard input; for a URL (https://…) the robots.txt of its origin is fetched. Prints "file:line:column:
severity: message (code)" and the advice for each finding; --json prints one object per line, --sarif one
SARIF 2.1.0 document. Exits with 0 when there is nothing to fix, 1 when a finding has the severity of --fail-on
or a worse one (by default warning), 2 when a file cannot be read.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, Any, Final, Protocol
from urllib.parse import quote

from scrapy_rep.exceptions import InvalidSettingError
from scrapy_rep.protocol.display import number_of, shown
from scrapy_rep.settings import RepSettings
from scrapy_rep.tools.lint import CODES, Finding, Severity, lint

from . import FOUND, OK
from .inputs import GivenFile, InputError, check_names, is_url, read_all
from .terminal import Progress, paint, print_error

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

_NEVER: Final = "never"
_STYLES: Final = {Severity.ERROR: "bad", Severity.WARNING: "strong"}
_SARIF_LEVELS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning"}
_SARIF_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command to *parser*."""
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="a file, a URL (https://…), or - for standard input"
    )
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print one JSON object per line")
    output.add_argument("--sarif", action="store_true", help="print one SARIF 2.1.0 document")
    parser.add_argument(
        "--fail-on",
        choices=[*(severity.value for severity in Severity), _NEVER],
        default=Severity.WARNING.value,
        help="the mildest severity that makes it exit with 1 (default: %(default)s)",
    )


def run(arguments: Namespace, settings: BaseSettings, out: IO[str]) -> int:
    """Run the command; return the exit code."""
    output = SarifOutput(out) if arguments.sarif else JsonOutput(out) if arguments.json else TextOutput(out)
    progress = Progress(sys.stderr) if sys.stderr.isatty() and not out.isatty() else None
    try:
        parsed = RepSettings.from_settings(settings)
        check_names(arguments.files)
        linter = _Linter(output, parsed, arguments.fail_on, progress)
        try:
            read_all(arguments.files, settings, linter.lint, parsed.max_size)
        finally:
            linter.end()
            out.flush()
    except (InputError, InvalidSettingError) as error:
        return print_error("lint", error)
    return linter.exit_code


class _Linter:
    """Lints one file after the other, and keeps the exit code."""

    def __init__(self, output: Output, settings: RepSettings, fail_on: str, progress: Progress | None) -> None:
        self.exit_code = OK
        self._output = output
        self._settings = settings
        self._failing_rank = -1 if fail_on == _NEVER else Severity(fail_on).rank
        self._progress = progress
        self._files = 0

    def lint(self, file: GivenFile) -> None:
        """Lint *file*, and print its findings."""
        settings = self._settings
        findings = lint(
            file.body, settings.dialect, limit=settings.max_size, url=file.url, hops=file.hops, status=file.status
        )
        self._output.add(file.name, findings)
        if any(finding.severity.rank <= self._failing_rank for finding in findings):
            self.exit_code = FOUND
        self._files += 1
        if self._progress:
            self._progress.show(f"{self._files:,} files linted")

    def end(self) -> None:
        """Print what concerns all files."""
        if self._progress:
            self._progress.clear()
        self._output.end()


class Output(Protocol):
    """A format of findings."""

    def add(self, name: str, findings: Sequence[Finding]) -> None:
        """Print, or keep, the *findings* in the file *name*."""

    def end(self) -> None:
        """Print what concerns all files."""


class TextOutput:
    """Text for people, and for editors that read ``file:line:column:``."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out
        self._counts: Counter[Severity] = Counter()
        self._files = 0

    def add(self, name: str, findings: Sequence[Finding]) -> None:
        """Print the *findings* in the file *name*."""
        self._files += 1
        self._counts.update(finding.severity for finding in findings)
        for finding in findings:
            position = [str(number) for number in (finding.line, finding.column) if number]
            severity = paint(finding.severity.value, _STYLES.get(finding.severity, "faint"), self._out)
            self._out.write(f"{':'.join([shown(name), *position])}: {severity}: {finding.message}")
            self._out.write(f" ({finding.code})\n    {finding.advice}\n")

    def end(self) -> None:
        """Print the totals."""
        if self._files:
            counts = [_count(severity, self._counts[severity]) for severity in Severity if self._counts[severity]]
            self._out.write(f"{number_of(self._files, 'file', 'files')}: {', '.join(counts) or 'no findings'}\n")


def _count(severity: Severity, number: int) -> str:
    name = severity.value
    return f"{number:,} {name}" if severity is Severity.OPTIMISE else number_of(number, name, f"{name}s")


class JsonOutput:
    """JSON Lines: one object for each finding."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out

    def add(self, name: str, findings: Sequence[Finding]) -> None:
        """Print the *findings* in the file *name*."""
        for finding in findings:
            facts = {
                "file": name,
                "line": finding.line,
                "column": finding.column,
                "severity": finding.severity.value,
                "code": finding.code,
                "message": finding.message,
                "advice": finding.advice,
            }
            self._out.write(json.dumps(facts) + "\n")

    def end(self) -> None:
        """Do nothing: each line stands for itself."""


class SarifOutput:
    """One SARIF document, for programs that show findings next to code."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out
        self._results: list[dict[str, Any]] = []

    def add(self, name: str, findings: Sequence[Finding]) -> None:
        """Keep the *findings* in the file *name*."""
        self._results += [_sarif_result(_uri(name), finding) for finding in findings]

    def end(self) -> None:
        """Print the document."""
        driver = {"name": "scrapy robots lint", "rules": list(map(_sarif_rule, CODES))}
        run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": self._results}
        json.dump({"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, self._out, indent=1)
        self._out.write("\n")


def _uri(name: str) -> str:
    if is_url(name):
        return name
    return "stdin" if name == "-" else quote(name, safe="/", errors="surrogateescape")


def _sarif_rule(code: str) -> dict[str, Any]:
    kind = CODES[code]
    return {
        "id": code,
        "shortDescription": {"text": kind.title},
        "help": {"text": f"docs/lint.md#{code}"},
        "defaultConfiguration": {"level": _SARIF_LEVELS.get(kind.severity, "note")},
    }


def _sarif_result(uri: str, finding: Finding) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if finding.line:
        location["region"] = {"startLine": finding.line}
        if finding.column:
            location["region"]["startColumn"] = finding.column
    return {
        "ruleId": finding.code,
        "ruleIndex": list(CODES).index(finding.code),
        "level": _SARIF_LEVELS.get(finding.severity, "note"),
        "message": {"text": f"{finding.message} {finding.advice}"},
        "locations": [{"physicalLocation": location}],
    }
