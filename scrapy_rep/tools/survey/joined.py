"""Several surveys of sites, by date and by site: the rows of each site together, however many sites there are.

The rows wait in a temporary database, packed, so that memory does not grow with the number of sites. What a site
serves at several dates is there once: at most dates it serves what it served before.
"""

from __future__ import annotations

import marshal
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from datetime import datetime, timedelta, timezone
from hashlib import blake2b
from itertools import groupby
from operator import itemgetter
from typing import Final, Protocol

from scrapy_rep.census.row import Row
from scrapy_rep.tools.page import median

from .site_list import temporary_database

_CACHE: Final = 32_768  # KiB of the database in memory
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)
_ROWS: Final = "rows (site BLOB, survey INT, content INT)"
_CONTENTS: Final = "CREATE TABLE contents (key INTEGER PRIMARY KEY, packed BLOB)"
_BY_SITE: Final = "SELECT site, survey, content FROM rows ORDER BY site, rowid"
_PACKED: Final = "SELECT packed FROM contents WHERE key = ?"
_NOT_COMPARED: Final = {"fetched_at": None, "date": None, "file": None, "finding_lines": None}


class ComparedSurvey(Protocol):
    """A survey that can be compared."""

    @property
    def name(self) -> str:
        """What tells it from other surveys, such as the name of its folder."""

    def rows(self) -> Iterator[Row]:
        """All rows. Raises ``OSError``, and ``ValueError`` for what is no survey."""


class Joined:
    """The rows of *sources*, two or more, in the order of their dates. Reads them all.

    The date of a survey is the median of the times at which its rows were captured. If one has none, the order
    given counts, and ``is_dated`` is false. ``labels`` are the dates, with the name where several surveys are of
    one day; without a date the name alone. Raises ``OSError``, and ``ValueError`` for what is no survey, and for
    fewer than two.
    """

    def __init__(self, sources: Sequence[ComparedSurvey]) -> None:
        if len(sources) < 2:
            raise ValueError("one survey cannot be compared: name two or more")
        self._database = temporary_database(_ROWS, _CACHE)
        self._database.execute(_CONTENTS)
        dates = [self._read(position, source) for position, source in enumerate(sources)]
        self.is_dated = all(dates)
        self._order = [*range(len(sources))]
        if self.is_dated:
            self._order.sort(key=lambda position: dates[position] or _EPOCH)
        days = [f"{when:%Y-%m-%d}" if when else "" for when in dates]
        self.labels = [_label(days[position], days, sources[position].name) for position in self._order]

    def _read(self, position: int, source: ComparedSurvey) -> datetime | None:
        """Store the rows of *source*; return its date."""
        minutes: Counter[float] = Counter()
        values = self._values(position, source.rows(), minutes)
        self._database.executemany("INSERT INTO rows VALUES (?, ?, ?)", values)
        return _EPOCH + timedelta(minutes=median(minutes)) if minutes else None

    def sites(self) -> Iterator[list[Row]]:
        """Yield the rows of each site by name, one for each survey that has it, in the order of ``labels``.

        Of several rows of a site the last counts. Equal ones are the same object, without time, file and lines.
        """
        with closing(self._database.execute(_BY_SITE)) as found:
            for _, rows in groupby(found, key=itemgetter(0)):
                keys = {survey: key for _, survey, key in rows}
                contents = {key: self._content(key) for key in keys.values()}
                yield [contents[keys[survey]] for survey in self._order if survey in keys]

    def _content(self, key: int) -> Row:
        (packed,) = self._database.execute(_PACKED, (key,)).fetchone()
        return Row(*marshal.loads(zlib.decompress(packed)))  # noqa: S302  # our own

    def _values(
        self, position: int, rows: Iterable[Row], minutes: Counter[float]
    ) -> Iterator[tuple[bytes, int, int]]:
        """Yield what is stored of each of *rows*, and count the *minutes* at which they were captured."""
        for row in rows:
            when = datetime.fromisoformat(row.date + "T00:00+00:00") if row.date else row.fetched_at
            if when:
                minutes[(when - _EPOCH) // timedelta(minutes=1)] += 1
            # Version 2, in which equal values are equal octets.
            packed = marshal.dumps((*(row.as_dict() | _NOT_COMPARED).values(),), 2)
            key = int.from_bytes(blake2b(packed, digest_size=8).digest(), "big", signed=True)
            if not self._database.execute(_PACKED, (key,)).fetchone():
                self._database.execute("INSERT INTO contents VALUES (?, ?)", (key, zlib.compress(packed, 1)))
            yield row.site.encode("utf-8", "surrogatepass"), position, key


def _label(day: str, days: Sequence[str], name: str) -> str:
    return f"{day} ({name})" if day and days.count(day) > 1 else day or name
