"""The formats in which ``scrapy robots lint`` prints findings."""

from __future__ import annotations

import difflib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import IO, Any, Final, Protocol

from scrapy_rep.protocol.display import number_of, shown
from scrapy_rep.tools.lint import CODES, Severity
from scrapy_rep.tools.lint.config import Config
from scrapy_rep.tools.lint.file_linter import LintedFile
from scrapy_rep.tools.lint.finding import Fix
from scrapy_rep.tools.lint.sarif import sarif_document, sarif_results

from .terminal import paint

_STYLES: Final = {Severity.ERROR: "bad", Severity.WARNING: "strong"}
_ANNOTATIONS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning"}
_MOST_LINES: Final = 12  # of a file that are listed below a code


class Output(Protocol):
    """A format of findings."""

    def add(self, linted: LintedFile) -> None:
        """Print, or keep, the findings in a file."""

    def end(self) -> None:
        """Print what concerns all files."""


class _Totals:
    """The numbers of the last line."""

    def __init__(self) -> None:
        self.files = self.fixed = self.fixable = 0
        self.counts: Counter[Severity] = Counter()

    def add(self, linted: LintedFile) -> None:
        self.files += 1
        self.fixed += linted.fixed
        self.fixable += sum(fix is not None for fix in linted.fixes)
        self.counts.update(finding.severity for finding in linted.findings)

    def __str__(self) -> str:
        counts = [_count(severity, self.counts[severity]) for severity in Severity if self.counts[severity]]
        text = f"{number_of(self.files, 'file', 'files')}: {', '.join(counts) or 'no findings'}"
        if self.fixed:
            text += f"; {self.fixed:,} fixed"
        return f"{text}; --fix fixes {self.fixable:,}" if self.fixable else text


def _count(severity: Severity, number: int) -> str:
    name = severity.value
    return f"{number:,} {name}" if severity is Severity.OPTIMISE else number_of(number, name, f"{name}s")


class TextOutput:
    """Text for people, and for editors that read ``file:line:column:``."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out
        self._totals = _Totals()

    def add(self, linted: LintedFile) -> None:
        """Print the findings in a file."""
        self._totals.add(linted)
        for finding in linted.findings:
            position = [str(number) for number in (finding.line, finding.column) if number]
            severity = paint(finding.severity.value, _STYLES.get(finding.severity, "faint"), self._out)
            self._out.write(f"{':'.join([shown(linted.name), *position])}: {severity}: {finding.message}")
            self._out.write(f" ({finding.code})\n    {finding.advice}\n")

    def end(self) -> None:
        """Print the totals."""
        if self._totals.files:
            self._out.write(f"{self._totals}\n")


class _ByCode:
    """The findings of all files by their codes: the worst severity first, then the most frequent code."""

    def __init__(self) -> None:
        self._lines: defaultdict[tuple[Severity, str], dict[str, list[int]]] = defaultdict(dict)
        self._fixable: Counter[str] = Counter()

    def add(self, linted: LintedFile) -> None:
        for finding, fix in zip(linted.findings, linted.fixes, strict=True):
            lines = self._lines[finding.severity, finding.code]
            lines.setdefault(linted.name, []).append(finding.line)
            self._fixable[finding.code] += fix is not None

    def __iter__(self) -> Iterator[tuple[Severity, str, int, int, dict[str, list[int]]]]:
        """Severity, code, number of findings, number of those with a fix, and the lines of each file."""
        found = [
            (severity, code, sum(map(len, files.values())), self._fixable[code], files)
            for (severity, code), files in self._lines.items()
        ]
        return iter(sorted(found, key=lambda each: (each[0].rank, -each[2], each[1])))


class _OutputByCode:
    """Prints nothing before it has all findings."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out
        self._found = _ByCode()
        self._totals = _Totals()

    def add(self, linted: LintedFile) -> None:
        """Keep the findings in a file."""
        self._totals.add(linted)
        self._found.add(linted)


class GroupedOutput(_OutputByCode):
    """Each code once, with its count and the lines where it is."""

    def end(self) -> None:
        """Print a paragraph for each code, and the totals."""
        for severity, code, number, fixable, files in self._found:
            painted = paint(severity.value, _STYLES.get(severity, "faint"), self._out)
            can_fix = f", --fix fixes {fixable:,}" if fixable else ""
            self._out.write(f"{code}: {painted}: {CODES[code].title} ({number:,}{can_fix})\n")
            for name, lines in files.items():
                where = _ranges(lines)
                self._out.write(f"    {shown(name)}{':' if where else ''}{where}\n")
        if self._totals.files:
            self._out.write(f"{self._totals}\n")


def _ranges(lines: Sequence[int]) -> str:
    """Numbers of *lines* with consecutive ones in one range; empty when there is only the file as a whole."""
    numbers = sorted({line for line in lines if line})
    runs = [list(run) for _, run in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])]
    texts = [str(run[0][1]) if len(run) == 1 else f"{run[0][1]}-{run[-1][1]}" for run in runs]
    left = len(texts) - _MOST_LINES
    return ", ".join(texts[:_MOST_LINES]) + (f" and {left:,} more" if left > 0 else "")


class StatisticsOutput(_OutputByCode):
    """A line for each code with its count."""

    def end(self) -> None:
        """Print the table, and the totals."""
        found = list(self._found)
        width = max((len(each[1]) for each in found), default=0)
        for severity, code, number, fixable, files in found:
            where = number_of(len(files), "file", "files")
            painted = paint(f"{severity.value:<8}", _STYLES.get(severity, "faint"), self._out)
            can_fix = f"--fix fixes {fixable:,}" if fixable else ""
            self._out.write(f"{number:>8,}  {painted}  {code:<{width}}  {where:>12}  {can_fix}".rstrip() + "\n")
        if self._totals.files:
            self._out.write(f"{self._totals}\n")


class JsonOutput:
    """JSON Lines: one object for each finding."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out

    def add(self, linted: LintedFile) -> None:
        """Print the findings in a file."""
        for finding, fix in zip(linted.findings, linted.fixes, strict=True):
            facts = {
                "file": linted.name,
                "line": finding.line,
                "column": finding.column,
                "severity": finding.severity.value,
                "code": finding.code,
                "message": finding.message,
                "advice": finding.advice,
                "fix": _edits(fix) if fix else None,
            }
            self._out.write(json.dumps(facts) + "\n")

    def end(self) -> None:
        """Do nothing: each line stands for itself."""


def _edits(fix: Fix) -> list[dict[str, Any]]:
    """The edits of *fix*; octets that are no UTF-8 as surrogate escapes."""
    return [
        {"start": edit.start, "end": edit.end, "text": edit.text.decode("utf-8", "surrogateescape")}
        for edit in fix.edits
    ]


class GitHubOutput:
    """Commands that GitHub Actions turn into annotations of lines."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out

    def add(self, linted: LintedFile) -> None:
        """Print the findings in a file."""
        for finding in linted.findings:
            kind = _ANNOTATIONS.get(finding.severity, "notice")
            place = {"file": linted.name, "line": finding.line, "col": finding.column}
            properties = {key: str(value) for key, value in place.items() if value} | {"title": finding.code}
            named = ",".join(f"{key}={_escaped(value, ':,')}" for key, value in properties.items())
            text = _escaped(f"{finding.message} {finding.advice}")
            self._out.write(f"::{kind} {named}::{text}\n")

    def end(self) -> None:
        """Do nothing: each line stands for itself."""


def _escaped(text: str, more: str = "") -> str:
    """*text* as a value of a workflow command."""
    text = text.replace("%", "%25")
    for character in f"\r\n{more}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text


class SarifOutput:
    """One SARIF document, for programs that show findings next to code."""

    def __init__(self, out: IO[str], config: Config) -> None:
        self._out = out
        self._config = config
        self._results: list[dict[str, Any]] = []

    def add(self, linted: LintedFile) -> None:
        """Keep the findings in a file."""
        self._results += sarif_results(linted)

    def end(self) -> None:
        """Print the document."""
        json.dump(sarif_document(self._results, self._config), self._out, indent=1)
        self._out.write("\n")


class DiffOutput:
    """What --fix would change, as a unified diff."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out
        self._totals = _Totals()

    def add(self, linted: LintedFile) -> None:
        """Print the difference between what a file holds and what it would hold."""
        self._totals.add(linted)
        name = shown(linted.name)
        before, after = map(_lines, (linted.given, linted.body))
        for line in difflib.unified_diff(before, after, name, name, lineterm=""):
            self._out.write(f"{_painted(line, self._out)}\n")

    def end(self) -> None:
        """Print nothing more: the output is a patch."""


def _lines(body: bytes) -> list[str]:
    r"""The lines of *body*, with an escape for all that is not printable, such as the ``\r`` before an LF."""
    text = body.decode("utf-8", "surrogateescape")
    return [shown(line) for line in text.removesuffix("\n").split("\n")]


def _painted(line: str, out: IO[str]) -> str:
    style = {"+": "good", "-": "bad", "@": "faint"}.get(line[:1])
    return paint(line, style, out) if style else line


OUTPUTS: Final[dict[str, Callable[[IO[str]], Output]]] = {
    "grouped": GroupedOutput,
    "statistics": StatisticsOutput,
    "json": JsonOutput,
    "github": GitHubOutput,
    "diff": DiffOutput,
}
"""The formats by the options that choose them; text without one. SARIF takes the configuration, too."""
