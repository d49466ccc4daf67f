"""How a project wants its files linted: ``robots-lint.toml``, or ``[tool.robots-lint]`` in ``pyproject.toml``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from scrapy_rep.protocol import DIALECTS
from scrapy_rep.protocol.display import perhaps
from scrapy_rep.tools import files

from . import CODES
from .codes import Severity
from .finding import Finding

ALL: Final = "all"
NEVER: Final = "never"

OWN_FILE: Final = "robots-lint.toml"
PYPROJECT: Final = "pyproject.toml"
TABLE: Final = "robots-lint"

_NOT_THE_PROJECTS: Final = frozenset({"node_modules", "site-packages", "venv", "__pycache__"})
_HEADING: Final = re.compile(r"^\s*\[\s*tool\s*\.\s*[\"']?robots-lint\b", re.MULTILINE)
_FAIL_ON: Final = (*(severity.value for severity in Severity), NEVER)


class ConfigError(ValueError):
    """A configuration that cannot be used; the message names its place, and what to write."""


@dataclass(frozen=True, slots=True)
class Config:
    """What is reported, and how seriously.

    ``select`` and ``ignore`` hold codes, severities (for all codes that have them) and ``all``; ``severity`` are
    severities other than those of `CODES`. ``per_file_ignores`` has patterns of paths, relative to ``folder``,
    with what is ignored there. ``include`` and ``exclude`` are patterns for files in folders. ``fail_on`` is the
    mildest severity that makes the command exit with 1, or ``never``; ``dialect`` is the name of one, empty for
    the default.
    """

    select: tuple[str, ...] = (ALL,)
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, Severity] = field(default_factory=dict)
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    include: tuple[str, ...] = ("*robots*.txt",)
    exclude: tuple[str, ...] = ()
    fail_on: str = Severity.WARNING.value
    dialect: str = ""
    folder: Path = Path()

    def codes_for(self, name: str) -> frozenset[str]:
        """The codes that are reported in the file *name*."""
        ignored = [*self.ignore]
        for pattern, names in self.per_file_ignores.items():
            if matches_path(pattern, name, self.folder):
                ignored += names
        return self._codes(self.select) - self._codes(ignored)

    def _codes(self, names: Iterable[str]) -> frozenset[str]:
        names = set(names)
        if ALL in names or not names:
            return frozenset(CODES if names else ())
        severities = ((code, self.severity.get(code, kind.severity)) for code, kind in CODES.items())
        return frozenset(code for code, severity in severities if code in names or severity.value in names)

    def with_severity(self, finding: Finding) -> Finding:
        """*finding* as serious as this says."""
        severity = self.severity.get(finding.code, finding.severity)
        return finding if severity is finding.severity else replace(finding, severity=severity)

    def fails(self, finding: Finding) -> bool:
        """Whether *finding* makes the command exit with 1."""
        return self.fail_on != NEVER and finding.severity.rank <= Severity(self.fail_on).rank


def matches_path(pattern: str, name: str, folder: Path) -> bool:
    """Whether the file *name* matches *pattern*: by its path in *folder*, or by its name if that has no slash."""
    path = Path(name)
    if "/" not in pattern:
        return fnmatchcase(path.name, pattern)
    try:
        path = path.resolve().relative_to(folder.resolve())
    except (ValueError, OSError):
        return False
    return fnmatchcase(path.as_posix(), pattern)


def files_in(folder: Path, config: Config) -> list[str]:
    """The files in *folder* and below that the patterns of *config* include; hidden folders are not searched.

    Raises ``OSError``.
    """

    def is_excluded(path: Path) -> bool:
        return _matches(config.exclude, path, config)

    paths = files.files_in(
        folder, is_searched=lambda path: path.name not in _NOT_THE_PROJECTS and not is_excluded(path)
    )
    return [str(path) for path in paths if _matches(config.include, path, config) and not is_excluded(path)]


def _matches(patterns: Sequence[str], path: Path, config: Config) -> bool:
    return any(matches_path(pattern, str(path), config.folder) for pattern in patterns)


def find_config(start: Path) -> Path | None:
    """The configuration of the project around the folder *start*: in it, or in the nearest folder above."""
    for folder in [start, *start.parents]:
        if (folder / OWN_FILE).is_file():
            return folder / OWN_FILE
        project = folder / PYPROJECT
        if project.is_file() and _HEADING.search(project.read_text("utf-8", "replace")):
            return project
    return None


def read_config(path: Path) -> Config:
    """The configuration in the TOML file at *path*. Raises `ConfigError`."""
    try:
        document = _read_toml(path)
        if path.name == PYPROJECT:
            document = _table(_table(document, "tool"), TABLE)
        return replace(_read(document), folder=path.parent)
    except ValueError as error:
        raise ConfigError(f"{path}: {error}") from error


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        import tomllib  # noqa: PLC0415
    except ModuleNotFoundError:  # Python 3.10
        import tomli as tomllib  # type: ignore[no-redef]  # noqa: PLC0415
    try:
        return tomllib.loads(files.read_file(path).decode("utf-8-sig"))  # Notepad writes a BOM
    except OSError as error:
        raise ValueError(error.strerror or str(error)) from error


def _table(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    table = document.get(name, {})
    if not isinstance(table, dict):
        raise ValueError(f"{name} must be a table")
    return table


def _read(table: Mapping[str, Any]) -> Config:
    values = {}
    for key, value in table.items():
        reader = _READERS.get(key)
        if not reader:
            raise ValueError(f"unknown key {key!r}{perhaps(key, _READERS)}: it takes {', '.join(_READERS)}")
        try:
            values[key.replace("-", "_")] = reader(value)
        except ValueError as error:
            raise ValueError(f"{key}: {error}") from None
    return Config(**values)


def read_names(names: Any) -> tuple[str, ...]:
    """*names* of codes and severities, and ``all``. Raises ``ValueError`` for any other."""
    known = [ALL, *(severity.value for severity in Severity), *CODES]
    for name in _read_texts(names):
        if name not in known:
            raise ValueError(f"{name!r} is neither a code nor a severity{perhaps(name, known)}")
    return tuple(names)


def read_code(name: Any) -> str:
    """*name*, a code. Raises ``ValueError`` for any other."""
    if name not in CODES:
        raise ValueError(f"{name!r} is not a lint code{perhaps(name, CODES)}")
    return str(name)


def _read_texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        raise ValueError(f'{value!r} must be a list of strings, such as ["note"]')
    return tuple(value)


def _read_severities(value: Any) -> dict[str, Severity]:
    severities = {}
    for code, severity in _read_pairs(value):
        severities[read_code(code)] = Severity(_one_of(severity, [each.value for each in Severity]))
    return severities


def _read_pairs(value: Any) -> Iterable[tuple[str, Any]]:
    if not isinstance(value, dict):
        raise ValueError(f"{value!r} must be a table")
    return value.items()


def _one_of(value: Any, known: Iterable[str]) -> str:
    if value not in known:
        raise ValueError(f"{value!r} is not one of {', '.join(known)}")
    return str(value)


_READERS: Final[dict[str, Callable[[Any], Any]]] = {
    "select": read_names,
    "ignore": read_names,
    "severity": _read_severities,
    "per-file-ignores": lambda value: {pattern: read_names(names) for pattern, names in _read_pairs(value)},
    "include": _read_texts,
    "exclude": _read_texts,
    "fail-on": lambda value: _one_of(value, _FAIL_ON),
    "dialect": lambda value: _one_of(value, DIALECTS),
}
"""How the value of each key is read: they raise ``ValueError`` with what to write."""
