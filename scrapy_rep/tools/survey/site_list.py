"""A list of sites with what is known of them: the columns of the list become the strata of a survey."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from scrapy_rep.protocol import Origin

from .site_index import SiteIndex

_SITE_COLUMNS: Final = ("site", "origin", "host", "hostname", "domain", "url")
"""The names of the column that holds the sites, in a list whose first line has names."""

_LIKE_A_SITE: Final = re.compile(r"[.:\[]|^localhost$")
RANK: Final = "rank"
"""The name of the first of two columns without names, as in lists of popular sites."""


class SiteList:
    """The sites of a list, in its order, each once, with the other columns of its line; kept on disk.

    A line is a site, or comma-separated values. The first line may have the names of the columns, one of them
    `_SITE_COLUMNS`; without names the site is the last value, and the first of several is its rank.
    """

    def __init__(self) -> None:
        self._sites = SiteIndex()
        self._names: list[str] = []

    def add(self, origin: Origin, strata: dict[str, str] | None = None) -> None:
        """Add *origin* with its *strata*, unless it is there."""
        self._sites.add(str(origin), json.dumps(strata) if strata else "")

    def read(
        self, lines: Iterable[tuple[int, str]], origin_of: Callable[[str], Origin]
    ) -> Iterator[tuple[int, Exception]]:
        """Add the sites of *lines*, each with its number; yield the number of an invalid one and what is wrong.

        *origin_of* raises an exception for what is no site. Raises ``ValueError`` for a first line with names of
        which none is that of the sites.
        """
        listed = ((number, _cells(line)) for number, line in lines if not line.startswith("#"))
        for place, (number, cells) in enumerate(listed):
            if place == 0 and any(cell.lower() in _SITE_COLUMNS for cell in cells):
                self._names = [cell.lower() for cell in cells]
                continue
            if place == 0 and len(cells) > 1 and not any(_LIKE_A_SITE.search(cell) for cell in cells):
                raise ValueError(
                    f"the first line names no column of sites: one must be {', '.join(_SITE_COLUMNS)}"
                )
            strata = dict(zip(self._names or [RANK], cells if self._names or len(cells) > 1 else (), strict=False))
            column = next((name for name in _SITE_COLUMNS if name in strata), None)
            try:
                self.add(origin_of(strata.pop(column) if column else cells[-1]), strata)
            except Exception as error:  # noqa: BLE001  # that of the caller
                yield number, error

    def strata(self, site: str) -> dict[str, str] | None:
        """The strata of *site*; None when it is not in the list."""
        found = self._sites.get(site)
        return None if found is None else json.loads(found or "{}")

    @property
    def columns(self) -> list[str]:
        """The names of the columns besides the sites'."""
        return [name for name in self._names or [RANK] if name not in _SITE_COLUMNS]

    def __len__(self) -> int:
        return len(self._sites)

    def __iter__(self) -> Iterator[str]:
        return iter(self._sites)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in next(csv.reader([line]))]
