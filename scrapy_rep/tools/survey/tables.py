"""The rows of the tables of a report, with a column for each stratum where strata are asked for.

A stratum is the sites with one value in a column of their list, such as their rank, or in one top-level domain.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeVar

from scrapy_rep.census.row import Row
from scrapy_rep.tools.page import Link, percent

from .totals import TLD, UNKNOWN, Totals, columns_of

Key = TypeVar("Key", bound=Hashable)
Whole = Callable[[Totals], int]
"""Of which number something is the share."""

_OTHER: Final = "other"  # the values that are not frequent
_MOST_VALUES: Final = 8
_LARGEST: Final = (1_000, 10_000, 100_000, 1_000_000)  # of the numbers that count together
_RANGES: Final = (
    f"up to {_LARGEST[0]:,}",
    *(f"{least + 1:,} to {most:,}" for least, most in pairwise(_LARGEST)),
    f"more than {_LARGEST[-1]:,}",
)


class Strata:
    """The values of one column: the most frequent ones, and ``other`` for the rest.

    Numbers count together by powers of ten when there are more than a few of them. *sites* are all values of the
    *column*, each with its number of sites.
    """

    def __init__(self, column: str, sites: Mapping[str, int]) -> None:
        self.column = column
        frequent = sorted(sites, key=lambda value: (-sites[value], value))
        numbers = {value: _number(value) for value in frequent if value not in ("", UNKNOWN)}
        named = [value for value in frequent[:_MOST_VALUES] if value in numbers]
        if all(numbers[value] is not None for value in named):
            named.sort(key=lambda value: numbers[value] or 0.0)
        self._named = frozenset((*named, UNKNOWN))
        self._has_ranges = len(sites) > _MOST_VALUES and None not in numbers.values()
        self.values = (*_RANGES, UNKNOWN) if self._has_ranges else (*named, UNKNOWN, _OTHER)

    def value_of(self, row: Row) -> str:
        """Which of `values` the site of *row* has."""
        value = columns_of(row).get(self.column) or UNKNOWN
        if not self._has_ranges:
            return value if value in self._named else _OTHER
        number = _number(value)
        return UNKNOWN if number is None else _RANGES[sum(number > largest for largest in _LARGEST)]


def _number(value: str) -> float | None:
    """The number in *value*, None when it is none, and for an infinite one."""
    try:
        number = float(value.replace(",", ""))
    except ValueError:
        return None
    return number if number - number == 0 else None


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


class Tables:
    """Makes the rows of all tables of a report.

    Without *strata* they are as they are given. With them, *names* and *files* are those that a table shows.
    """

    def __init__(
        self, strata: Strata | None = None, names: Container[str] = (), files: Container[str] = ()
    ) -> None:
        self._strata = strata
        values = strata.values if strata else ()
        self._totals = {value: Totals(names, files) for value in values}

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
    def totals(self) -> Mapping[str, Totals]:
        """The totals of each stratum that has sites."""
        return {value: totals for value, totals in self._totals.items() if totals.sites}

    def heads(self, what: str = "") -> list[str]:
        """The heads of the columns of strata; *what* says which of the numbers of a row they show."""
        return [f"{value}: {what}" if what else value for value in self.totals]

    def rows(
        self,
        cells: Mapping[Key, Sequence[Cell]],
        numbers: Callable[[Totals], Mapping[Key, float]],
        whole: Whole | None = None,
    ) -> list[tuple[Cell, ...]]:
        """The rows with these *cells* and their *numbers* in each stratum, as shares of *whole* if given."""
        strata = [(numbers(totals), whole(totals) if whole else 0) for totals in self.totals.values()]
        return [
            (*row, *(_cell(found.get(key, 0), of if whole else None) for found, of in strata))
            for key, row in cells.items()
        ]


def _cell(number: float, whole: int | None) -> Cell:
    return number if whole is None else Share(int(number), whole)
