"""The formats in which ``scrapy robots lint`` prints findings."""

from __future__ import annotations

import difflib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import IO, Any, ClassVar, Final

from scrapy_rep.protocol.display import number_of, shown
from scrapy_rep.protocol.records import bom_length
from scrapy_rep.tools.lint import CODES, Finding, Severity
from scrapy_rep.tools.lint.config import Config
from scrapy_rep.tools.lint.file_linter import LintedFile
from scrapy_rep.tools.lint.finding import line_ranges
from scrapy_rep.tools.lint.sarif import sarif_document, sarif_results
from scrapy_rep.tools.lint.subject import characters

from .terminal import WIDEST, is_terminal, paint, width_of, with_carets, wrapped

_NARROWEST: Final = 20  # columns of a line that is quoted
_TAB: Final = "    "  # before what belongs to a finding
_STYLES: Final = {Severity.ERROR: "bad", Severity.WARNING: "warning"}
_ANNOTATIONS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning"}
_ABOUT_KEYS: Final = frozenset(
    {"unknown-record", "misspelt-key", "misspelt-key-ignored", "missing-colon", "odd-case-key"}
)
_KEY: Final = re.compile(rb"[^:\s]+(?:[ \t]+[^:\s]+)*(?=[ \t]*:)|\S+")


class Output:
    """A format of findings, for one run with *config*; nothing is printed before the end where it ``is_last``."""

    is_last: ClassVar[bool] = False

    def __init__(self, out: IO[str], config: Config) -> None:
        self._out = out
        self._config = config

    def add(self, linted: LintedFile) -> None:
        """Print, or keep, the findings in a file."""
        raise NotImplementedError

    def end(self) -> None:
        """Print what concerns all files: nothing where each line stands for itself."""


class _Counted(Output):
    """Text for people. Its last line has the numbers of all files."""

    def __init__(self, out: IO[str], config: Config) -> None:
        super().__init__(out, config)
        self._files = self._fixed = self._fixable = 0
        self._counts: Counter[Severity] = Counter()

    def add(self, linted: LintedFile) -> None:
        """Count the findings in a file."""
        self._files += 1
        self._fixed += linted.fixed
        self._fixable += len(linted.fixable)
        for finding in linted.findings:
            self._counts[finding.severity] += len(finding.lines)

    def end(self) -> None:
        """Print the totals."""
        if not self._files:
            return
        counted = ((severity.noun, self._counts[severity]) for severity in Severity)
        counts = [number_of(number, noun, f"{noun}s") for noun, number in counted if number]
        text = f"{number_of(self._files, 'file', 'files')}: {', '.join(counts) or 'no findings'}"
        fixed = f"; {self._fixed:,} fixed" if self._fixed else ""
        fixable = f"; --fix fixes {self._fixable:,}" if self._fixable else ""
        self._out.write(f"{text}{fixed}{fixable}\n")

    def _painted(self, severity: Severity, width: int = 0) -> str:
        return paint(f"{severity.value:<{width}}", _STYLES.get(severity, "faint"), self._out)


class TextOutput(_Counted):
    """Each finding with its place, for editors too, which read ``file:line:column:``; all below is indented."""

    def add(self, linted: LintedFile) -> None:
        """Print the findings in a file."""
        super().add(linted)
        lines = linted.body[bom_length(linted.body) :].splitlines() if linted.findings else []
        for finding in linted.findings:
            place = ":".join([shown(linted.name), *(str(each) for each in (finding.line, finding.column) if each)])
            start = len(f"{place}: {finding.severity}: ")
            text = wrapped(f"{finding.message} ({finding.code})", self._out, len(_TAB), start)
            self._out.write(f"{place}: {self._painted(finding.severity)}: {text}\n")
            if 0 < finding.line <= len(lines):
                self._show(lines[finding.line - 1], finding)
            for code, line, message in finding.consequences:
                where = f"line {line}: " if line not in {0, finding.line} else ""
                self._write("note", f"{where}{message} ({code})")
            self._write("help", finding.advice)

    def _write(self, label: str, text: str) -> None:
        start = f"{_TAB}{label}: "
        self._out.write(f"{start}{wrapped(text, self._out, len(start), len(start))}\n")

    def _show(self, line: bytes, finding: Finding) -> None:
        """Print the *line* of *finding*, with carets below what it is about; nothing for a blank one."""
        if not line.strip():
            return
        frame = len(f"{_TAB}{finding.line} | ") + 2  # ellipses
        widest = max(min(width_of(self._out) - frame, WIDEST), _NARROWEST) if is_terminal(self._out) else WIDEST
        text, carets = with_carets(line, *_marked(line, finding), widest)
        carets = paint(carets, _STYLES.get(finding.severity, "faint"), self._out)
        self._out.write(f"    {finding.line} | {text}\n    {'':<{len(str(finding.line))}} | {carets}\n")


def _marked(line: bytes, finding: Finding) -> tuple[int, int]:
    """The column, and the number of characters, of what *finding* is about on its *line*.

    Where it begins like the record or its value, it is all of that.
    """
    record = line.partition(b"#")[0].rstrip() or line.rstrip()
    start = len(record) - len(record.lstrip())
    key = _KEY.match(record, start)
    end_of_key = key.end() if key else start
    value = end_of_key + len(record[end_of_key:]) - len(record[end_of_key:].lstrip(b": \t"))
    column = finding.column or characters(line[:start]) + 1
    if column == characters(line[:start]) + 1:
        return column, characters(record[start : end_of_key if finding.code in _ABOUT_KEYS else None])
    return column, characters(record[value:]) if column == characters(line[:value]) + 1 else 1


class _ByCode(_Counted):
    """Prints nothing before it has the findings of all files."""

    is_last = True

    def __init__(self, out: IO[str], config: Config) -> None:
        super().__init__(out, config)
        self._lines: defaultdict[tuple[Severity, str], dict[str, list[int]]] = defaultdict(dict)
        self._fixable_of: Counter[str] = Counter()

    def add(self, linted: LintedFile) -> None:
        """Keep the findings in a file."""
        super().add(linted)
        self._fixable_of.update(linted.fixable)
        for finding in linted.findings:
            lines = self._lines[finding.severity, finding.code]
            lines.setdefault(linted.name, []).extend(finding.lines)

    def _by_code(self) -> Iterator[tuple[Severity, str, int, str, dict[str, list[int]]]]:
        """Yield severity, code, number of findings, what --fix can do, and the lines of each file.

        The worst severity comes first, then the most frequent code.
        """
        found = [(*key, sum(map(len, files.values())), files) for key, files in self._lines.items()]
        for severity, code, number, files in sorted(found, key=lambda each: (each[0].rank, -each[2], each[1])):
            fixable = self._fixable_of[code]
            yield severity, code, number, f"--fix fixes {fixable:,}" if fixable else "", files


class GroupedOutput(_ByCode):
    """Each code once, with its count and the lines where it is."""

    def end(self) -> None:
        """Print a paragraph for each code, and the totals."""
        for severity, code, number, fixable, files in self._by_code():
            count = f"{number:,}, {fixable}" if fixable else f"{number:,}"
            self._out.write(f"{code}: {self._painted(severity)}: {CODES[code].title} ({count})\n")
            for name, lines in files.items():
                where = line_ranges(filter(None, lines))
                self._out.write(f"    {shown(name)}{':' if where else ''}{where}\n")
        super().end()


class StatisticsOutput(_ByCode):
    """A line for each code with its count."""

    def end(self) -> None:
        """Print the table, and the totals."""
        width = max((len(code) for _, code in self._lines), default=0)
        for severity, code, number, fixable, files in self._by_code():
            where = number_of(len(files), "file", "files")
            line = f"{number:>8,}  {self._painted(severity, 8)}  {code:<{width}}  {where:>12}  {fixable}"
            self._out.write(line.rstrip() + "\n")
        super().end()


class JsonOutput(Output):
    """JSON Lines: one object for each finding."""

    def add(self, linted: LintedFile) -> None:
        """Print the findings in a file."""
        for finding, fix in zip(linted.findings, linted.fixes, strict=True):
            edits = fix and [
                {"start": edit.start, "end": edit.end, "text": edit.text.decode("utf-8", "surrogateescape")}
                for edit in fix.edits
            ]
            self._out.write(json.dumps({"file": linted.name, **finding.as_facts(), "fix": edits}) + "\n")


class GitHubOutput(Output):
    """Commands that GitHub Actions turn into annotations of lines."""

    def add(self, linted: LintedFile) -> None:
        """Print the findings in a file."""
        for finding in linted.findings:
            kind = _ANNOTATIONS.get(finding.severity, "notice")
            place = {"file": linted.name, "line": finding.line, "col": finding.column}
            properties = {key: str(value) for key, value in place.items() if value} | {"title": finding.code}
            named = ",".join(f"{key}={_escaped(value, ':,')}" for key, value in properties.items())
            text = _escaped(
                " ".join([finding.message, *(each.message for each in finding.consequences), finding.advice])
            )
            self._out.write(f"::{kind} {named}::{text}\n")


def _escaped(text: str, more: str = "") -> str:
    """*text* as a value of a workflow command."""
    text = text.replace("%", "%25")
    for character in f"\r\n{more}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text


class SarifOutput(Output):
    """One SARIF document, for programs that show findings next to code."""

    is_last = True

    def __init__(self, out: IO[str], config: Config) -> None:
        super().__init__(out, config)
        self._results: list[dict[str, Any]] = []

    def add(self, linted: LintedFile) -> None:
        """Keep the findings in a file."""
        self._results += sarif_results(linted)

    def end(self) -> None:
        """Print the document."""
        json.dump(sarif_document(self._results, self._config), self._out, indent=1)
        self._out.write("\n")


class DiffOutput(Output):
    """What --fix would change, as a unified diff: the output is a patch."""

    def add(self, linted: LintedFile) -> None:
        """Print the difference between what a file holds and what it would hold."""
        name = shown(linted.name)
        before, after = map(_lines, (linted.given, linted.body))
        for line in difflib.unified_diff(before, after, name, name, lineterm=""):
            style = {"+": "good", "-": "bad", "@": "faint"}.get(line[:1])
            self._out.write((paint(line, style, self._out) if style else line) + "\n")


def _lines(body: bytes) -> list[str]:
    r"""The lines of *body*, with an escape for all that is not printable, such as the ``\r`` before an LF."""
    text = body.decode("utf-8", "surrogateescape")
    return [shown(line) for line in text.removesuffix("\n").split("\n")]


OUTPUTS: Final[dict[str, type[Output]]] = {
    "grouped": GroupedOutput,
    "statistics": StatisticsOutput,
    "json": JsonOutput,
    "sarif": SarifOutput,
    "github": GitHubOutput,
    "diff": DiffOutput,
}
"""The formats by the options that choose them; text without one."""
