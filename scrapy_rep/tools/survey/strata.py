"""The sites by a column of their list, such as their rank or sector, or by their top-level domain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Final

from scrapy_rep.census.row import Row

TLD: Final = "tld"
"""The column of the top-level domain, which needs no list."""

OTHER, UNKNOWN = "other", "unknown"
"""The values that are not frequent, and those that are not there."""

_MOST_VALUES: Final = 8
_LARGEST: Final = (1_000, 10_000, 100_000, 1_000_000)  # of the numbers that count together
_RANGES: Final = (
    f"up to {_LARGEST[0]:,}",
    *(f"{least + 1:,} to {most:,}" for least, most in pairwise(_LARGEST)),
    f"more than {_LARGEST[-1]:,}",
)


def columns_of(row: Row) -> Iterator[tuple[str, str]]:
    """Yield each column of the site of *row*, and its value."""
    yield from row.strata.items()
    if TLD not in row.strata:
        yield TLD, _top_level_domain(row.site)


def _top_level_domain(site: str) -> str:
    """The last label of the host of *site*; `UNKNOWN` for an IP address, and for what is no origin."""
    host = site.partition("://")[2].partition(":")[0]
    label = host.rpartition(".")[2]
    return UNKNOWN if not label or label.isdigit() or label[0] == "[" else label


class Strata:
    """The values of one column: the most frequent ones, and `OTHER` for the rest.

    Numbers count together by powers of ten when there are more than a few of them. *sites* are all values of the
    *column*, each with its number of sites.
    """

    def __init__(self, column: str, sites: Mapping[str, int]) -> None:
        self.column = column
        frequent = sorted(sites, key=lambda value: (-sites[value], value))
        self._has_ranges = len(sites) > _MOST_VALUES and all(
            value in ("", UNKNOWN) or _number(value) is not None for value in sites
        )
        self._frequent = frozenset(frequent[:_MOST_VALUES])
        values = (*_RANGES, UNKNOWN) if self._has_ranges else (*self._ordered(frequent), OTHER)
        self.values = (*dict.fromkeys(values),)

    def _ordered(self, frequent: list[str]) -> Iterator[str]:
        """The values that count alone: numbers by size, words as they are *frequent*, and `UNKNOWN`."""
        named = [value or UNKNOWN for value in frequent[:_MOST_VALUES]]
        numbers = {value: _number(value) for value in named}
        known = [value for value in named if value != UNKNOWN]
        if all(numbers[value] is not None for value in known):
            known.sort(key=lambda value: numbers[value] or 0.0)
        yield from known
        yield UNKNOWN

    def value_of(self, row: Row) -> str:
        """Which of `values` the site of *row* has."""
        value = dict(columns_of(row)).get(self.column, "")
        if not value or value == UNKNOWN:
            return UNKNOWN
        if not self._has_ranges:
            return value if value in self._frequent else OTHER
        number = _number(value)
        if number is None:
            return UNKNOWN
        return _RANGES[sum(number > largest for largest in _LARGEST)]


def _number(value: str) -> float | None:
    """The number in *value*, None when it is none, and for an infinite one."""
    try:
        number = float(value.replace(",", ""))
    except ValueError:
        return None
    return number if number - number == 0 else None
