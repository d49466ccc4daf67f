"""Lints one file as its project wants it: its configuration, the comments in the file, its fixes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from scrapy_rep.protocol import GOOGLE, MAX_SIZE, Dialect

from . import CODES, findings_in, subject_of
from .config import Config
from .finding import Finding
from .fix import Fix, apply_fixes
from .fixes import Fixer
from .inline_ignores import inline_ignores
from .subject import Subject

_PASSES: Final = 10  # a fix may make another one possible


@dataclass(frozen=True, slots=True)
class LintedFile:
    """The ``findings`` in the file ``name``, each with its fix, or None, in ``fixes``.

    They are for ``body``: what the file holds or, where ``fixed`` findings have been fixed, what it should hold
    instead of ``given``. ``problems`` are comments for the linter without effect, with their lines.
    """

    name: str
    given: bytes
    body: bytes
    findings: tuple[Finding, ...]
    fixes: tuple[Fix | None, ...]
    fixed: int = 0
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

        def once(octets: bytes) -> LintedFile:
            subject = subject_of(octets, self.dialect, limit=self.limit, url=url, hops=hops, status=status)
            return self._chosen(name, subject, findings_in(subject))

        linted, fixed = once(body), 0
        for _ in range(_PASSES if self.is_fixing else 0):
            octets, made = apply_fixes(linted.body, filter(None, linted.fixes))
            if not made or (len(octets) > len(linted.body) and len(octets) > self._most_octets):
                break
            linted, fixed = once(octets), fixed + made
        return replace(linted, given=body, fixed=fixed)

    @property
    def _most_octets(self) -> int:
        return MAX_SIZE if self.limit is None else min(self.limit, MAX_SIZE)

    def _chosen(self, name: str, subject: Subject, findings: Sequence[Finding]) -> LintedFile:
        """Those of *findings* that are reported."""
        body = subject.octets
        ignores, codes = inline_ignores(body, CODES), self.config.codes_for(name)
        chosen = tuple(
            self.config.with_severity(each)
            for each in findings
            if each.code in codes and not ignores.silences(each)
        )
        fixer = Fixer(body, self.dialect, limit=self.limit, subject=subject)
        fixes = tuple(map(fixer.fix_for, chosen))
        return LintedFile(name, body, body, chosen, fixes, problems=tuple(ignores.problems))
