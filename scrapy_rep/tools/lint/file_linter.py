"""Lints files as their project wants it: its configuration, the comments in a file, its fixes, many files at once.

``# lint: ignore CODE, CODE`` silences findings from its own line to the next record; ``# lint: ignore-file CODE``
those of the whole file. What follows the codes is free text, for the reason.
"""

from __future__ import annotations

import os
import re
import shutil
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import mkstemp
from typing import Final

from scrapy_rep.protocol import GOOGLE, MAX_SIZE, Dialect
from scrapy_rep.protocol.records import bom_length, split_line
from scrapy_rep.tools.files import read_file
from scrapy_rep.tools.processes import map_in_processes

from . import CODES, separate_findings_in
from .config import Config
from .consequences import fold, merged
from .finding import Finding, Fix, apply_fixes
from .fixes import Fixer
from .subject import Subject

_PASSES: Final = 10  # a fix may make another one possible
_FILES_WORTH_PROCESSES: Final = 500
_WRITABLE: Final = 0o222
_MARK: Final = b"lint:"
_COMMENT: Final = re.compile(
    rb"#[ \t]*lint:[ \t]*ignore(?P<file>-file)?(?![\w-])[ \t]*(?P<codes>[a-z0-9-]+(?:[ \t]*,[ \t]*[a-z0-9-]+)*)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class LintedFile:
    """The ``findings`` in the file ``name``, each with its fix, or None, in ``fixes``.

    They are for ``body``: what the file holds or, where ``fixed`` findings have been fixed, what it should hold
    instead of ``given``. ``fixable`` has the code of each line, and consequence, that has a fix. ``problems`` are
    comments for the linter without effect, with their lines.
    """

    name: str
    given: bytes
    body: bytes
    findings: tuple[Finding, ...]
    fixes: tuple[Fix | None, ...]
    fixed: int = 0
    fixable: tuple[str, ...] = ()
    problems: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class FileLinter:
    """Lints files with *config*; with *is_fixing* what is safe to fix is fixed before findings are reported.

    ``dialect`` and ``limit`` are as for `lint`; a dialect that ``config`` names wins.
    """

    config: Config
    dialect: Dialect = GOOGLE
    limit: int | None = MAX_SIZE
    is_fixing: bool = False

    def lint(
        self, name: str, body: bytes, *, url: str = "", hops: Sequence[str] = (), status: int | None = None
    ) -> LintedFile:
        """Lint *body*, what the file *name* holds; the other arguments are those of `lint`."""

        def once(octets: bytes) -> tuple[Subject, LintedFile]:
            subject = Subject.of(octets, self.dialect, self.limit, url=url, hops=hops, status=status)
            return subject, self._chosen(name, subject)

        (subject, linted), fixed = once(body), 0
        for _ in range(_PASSES if self.is_fixing else 0):
            octets, made = apply_fixes(linted.body, filter(None, linted.fixes))
            if not made or (len(octets) > len(linted.body) and len(octets) > self._most_octets):
                break
            (subject, linted), fixed = once(octets), fixed + made
        return replace(self._folded(subject, linted), given=body, fixed=fixed)

    @property
    def _most_octets(self) -> int:
        return MAX_SIZE if self.limit is None else min(self.limit, MAX_SIZE)

    def _chosen(self, name: str, subject: Subject) -> LintedFile:
        """What is to be reported of *subject*, its consequences as findings of their own."""
        body = subject.octets
        ignores, codes = inline_ignores(body), self.config.codes_for(name)
        chosen = tuple(
            self.config.with_severity(each)
            for each in separate_findings_in(subject)
            if each.code in codes and not ignores.silences(each)
        )
        fixer = Fixer(body, self.dialect, limit=self.limit, subject=subject)
        fixes = tuple(map(fixer.fix_for, chosen))
        return LintedFile(name, body, body, chosen, fixes, problems=tuple(ignores.problems))

    def _folded(self, subject: Subject, linted: LintedFile) -> LintedFile:
        """*linted* with each consequence in its cause, if that is reported, and improvements as one finding."""
        findings = merged(filter(None, fold(linted.findings, subject, separate_findings_in)))
        fixer = Fixer(linted.body, self.dialect, limit=self.limit, subject=subject)
        separate = zip(linted.findings, linted.fixes, strict=True)
        alone = {(one.code, one.line, one.column): fix for one, fix in separate}
        fixes = (fixer.fix_for(one) if one.also else alone[one.code, one.line, one.column] for one in findings)
        fixable = tuple(code for (code, _, _), fix in alone.items() if fix)
        return replace(linted, findings=findings, fixes=tuple(fixes), fixable=fixable)


@dataclass(slots=True)
class InlineIgnores:
    """The codes that the comments of a file silence: in the file, and by line.

    ``problems`` are comments without effect: their lines, and why.
    """

    in_file: set[str] = field(default_factory=set)
    by_line: defaultdict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    problems: list[tuple[int, str]] = field(default_factory=list)

    def silences(self, finding: Finding) -> bool:
        """Whether a comment silences *finding*."""
        return finding.code in self.in_file or finding.code in self.by_line.get(finding.line, ())


def inline_ignores(body: bytes) -> InlineIgnores:
    """The comments for the linter in *body*."""
    found = InlineIgnores()
    if _MARK not in body.lower():  # as in nearly every file
        return found
    open_codes: set[str] = set()
    for number, line in enumerate(body[bom_length(body) :].splitlines(), start=1):
        comment = _COMMENT.search(line) if _MARK in line.lower() else None
        if comment:
            names = re.findall(r"[a-z0-9-]+", (comment["codes"] or b"").decode().lower())
            (found.in_file if comment["file"] else open_codes).update(CODES.keys() & names)
            found.problems += [(number, f"{name} is not a lint code") for name in names if name not in CODES]
            if not names:
                found.problems.append((number, "the comment names no code, so it silences nothing"))
        if open_codes:
            found.by_line[number] |= open_codes
            if split_line(line)[0]:
                open_codes.clear()
    return found


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


def replace_file(name: str, given: bytes, body: bytes) -> None:
    """Write *body* to the file *name*, which holds *given*: in place where that alone keeps names and owner.

    Raises ``OSError``, also when the file is read-only, or holds something else by now.
    """
    path = Path(name).resolve()
    status = path.stat()
    if not (
        status.st_mode & _WRITABLE and os.access(path, os.W_OK)
    ):  # to root no file is read-only but by its mode
        raise OSError("is read-only, so nothing was written")
    descriptor, temporary = mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
            new = os.fstat(file.fileno())
        shutil.copymode(path, temporary)
        if read_file(path) != given:
            raise OSError("was changed while it was linted, so nothing was written")
        if status.st_nlink == 1 and (new.st_uid, new.st_gid) == (status.st_uid, status.st_gid):
            Path(temporary).replace(path)
        else:
            path.write_bytes(body)
    finally:
        with suppress(OSError):
            Path(temporary).unlink()
