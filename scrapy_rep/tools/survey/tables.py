"""The rows of the tables of a report, with a column for each stratum where strata are asked for."""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from scrapy_rep.census.row import Row
from scrapy_rep.tools.page import Link, percent

from .strata import TLD, Strata
from .totals import Totals

Key = TypeVar("Key", bound=Hashable)
Whole = Callable[[Totals], int]
"""Of which number something is the share."""


@dataclass(frozen=True, slots=True)
class Share:
    """A cell of a table: a number, and its share of a whole; ``href`` is where it leads, if anywhere."""

    value: int
    whole: int
    href: str = ""

    @property
    def text(self) -> str:
        """The share."""
        return percent(self.value, self.whole)


Cell = str | int | float | Link | Share


def sites_of(totals: Totals) -> int:
    """All sites."""
    return totals.sites


def files_of(totals: Totals) -> int:
    """The sites with a robots.txt."""
    return totals.files


def known_of(totals: Totals) -> int:
    """The sites whose restrictions are known."""
    return totals.known


class StratumTotals(Totals):
    """The totals of one stratum; *names* in user-agent lines and *files*, by SHA-256, count alone."""

    def __init__(self, names: Container[str], files: Container[str]) -> None:
        super().__init__()
        self._names, self._files = names, files
        self.sites_by_file: dict[str, int] = {}

    def _is_counted(self, name: str) -> bool:
        return name in self._names

    def _add_columns(self, row: Row) -> None:
        pass

    def _add_content(self, row: Row) -> None:
        sha = row.sha256 or ""
        if sha in self._files:
            self.sites_by_file[sha] = self.sites_by_file.get(sha, 0) + 1


class Tables:
    """Makes the rows of all tables of a report.

    Without *strata* they are as they are given. With them, *names* and *files* are those that a table shows.
    """

    def __init__(
        self, strata: Strata | None = None, names: Container[str] = (), files: Container[str] = ()
    ) -> None:
        self._strata = strata
        values = strata.values if strata else ()
        self._totals = {value: StratumTotals(names, files) for value in values}

    def add(self, row: Row) -> None:
        """Count *row* in its stratum."""
        if self._strata:
            self._totals[self._strata.value_of(row)].add(row)

    @property
    def by(self) -> str:
        """The column of the strata in words, empty without any."""
        column = self._strata.column if self._strata else ""
        return "top-level domain" if column == TLD else column

    @property
    def totals(self) -> Mapping[str, StratumTotals]:
        """The totals of each stratum that has sites."""
        return {value: totals for value, totals in self._totals.items() if totals.sites}

    def heads(self, what: str = "") -> list[str]:
        """The heads of the columns of strata; *what* says which of the numbers of a row they show."""
        return [_NAMED.format(value, what) if what else value for value in self.totals]

    def rows(
        self,
        cells: Mapping[Key, Sequence[Cell]],
        numbers: Callable[[StratumTotals], Mapping[Key, float]],
        whole: Whole | None = None,
    ) -> list[tuple[Cell, ...]]:
        """The rows with these *cells* and their *numbers* in each stratum, as shares of *whole* if given."""
        strata = [(numbers(totals), whole(totals) if whole else 0) for totals in self.totals.values()]
        return [
            (*row, *(_cell(found.get(key, 0), of if whole else None) for found, of in strata))
            for key, row in cells.items()
        ]


_NAMED: Final = "{0}: {1}"


def _cell(number: float, whole: int | None) -> Cell:
    return number if whole is None else Share(int(number), whole)


def traits_of(kind: str) -> Callable[[Totals], Mapping[str, Any]]:
    """The numbers of sites with each trait of *kind*."""
    return lambda totals: {name: count for (each, name), count in totals.traits.items() if each == kind}
