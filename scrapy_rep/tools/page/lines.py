"""Lines over time: where the points, lines and labels of a chart are.

The macros ``lines`` and ``small_lines`` draw it. Places along the page are per cent of the width, heights are
pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import floor, log10
from typing import Final, NamedTuple

from . import percent

_HEIGHT, _SMALL_HEIGHT = 160, 16  # pixels of the plot
_ABOVE, _BELOW = 12, 28  # pixels around it, for labels
_AROUND_SMALL: Final = 3  # pixels: a stroke is wider than its line
_APART, _APART_WIDE = 24.0, 9.0  # per cent between labels: on a phone, and on a wide page


@dataclass(frozen=True, slots=True)
class Series:
    """A line: its name, its colour, and a value for each date; None where it is not known."""

    name: str
    colour: str
    values: Sequence[float | None]


class Point(NamedTuple):
    """A point of a line, and what it says in words."""

    x: float
    y: float
    text: str


class DateLabel(NamedTuple):
    """The label of a date: ``anchor`` as in SVG; ``is_extra`` if only a wide page has room for it."""

    x: float
    anchor: str
    text: str
    is_extra: bool


class DrawnLine(NamedTuple):
    """A line as it is drawn: its points, the pairs that are connected, and its first and last value in words."""

    series: Series
    points: list[Point]
    strokes: list[tuple[Point, Point]]
    first: str
    last: str


class LineChart:
    """A chart of *series* over *dates*, which are labels; *times* places them, in any unit, evenly without.

    ``foot`` is where its scale starts and ``height`` its own, in pixels; ``places`` are those of the dates.

    Values are shares from 0 to 1, or amounts in *unit*. The scale starts at 0; *highest* is the value at its top,
    by default a round one above all. A chart that *is_small* has no labels.
    """

    def __init__(
        self,
        dates: Sequence[str],
        series: Sequence[Series],
        *,
        times: Sequence[float] | None = None,
        unit: str = "",
        highest: float = 0.0,
        is_small: bool = False,
    ) -> None:
        self.dates, self.unit = dates, unit
        self._plot, self._top = (_SMALL_HEIGHT, _AROUND_SMALL) if is_small else (_HEIGHT, _ABOVE)
        self.foot = self._top + self._plot
        self.height = self.foot + (_AROUND_SMALL if is_small else _BELOW)
        self._highest = highest or self._round_above([each for one in series for each in one.values if each])
        first, last = (times[0], times[-1]) if times else (0, len(dates) - 1)
        self.places = [100.0 * (time - first) / ((last - first) or 1) for time in times or range(len(dates))]
        self.drawn = [self._drawn(each) for each in series]

    def _round_above(self, values: Sequence[float]) -> float:
        """A round number that is not below *values*; a share is at most 1."""
        largest = max(values, default=0.0) or 1.0
        step = 10.0 ** floor(log10(largest))
        found = next(step * times for times in (1, 2, 4, 5, 6, 8, 10) if step * times >= largest * (1 - 1e-9))
        return found if self.unit else min(found, 1.0)

    def text(self, value: float | None) -> str:
        """*value* in words."""
        if value is None:
            return "not known"
        return f"{_number(value)} {self.unit}" if self.unit else percent(value, 1)

    def _drawn(self, series: Series) -> DrawnLine:
        points = [
            None
            if value is None
            else Point(place, self._height_of(value), f"{series.name}, {date}: {self.text(value)}")
            for place, date, value in zip(self.places, self.dates, series.values, strict=True)
        ]
        known = [point for point in points if point]
        strokes = [(one, other) for one, other in pairwise(points) if one and other]
        first, last = (self.text(series.values[end]) for end in (0, -1))
        return DrawnLine(series, known, strokes, first, last)

    @property
    def grid(self) -> list[tuple[float, str]]:
        """The lines of the grid: their heights and labels."""
        values = [self._highest * part for part in (1.0, 0.5, 0.0)]
        return [(self._height_of(each), _number(each) if self.unit else percent(each, 1)) for each in values]

    def _height_of(self, value: float) -> float:
        return self._top + self._plot * (1 - value / self._highest)

    @property
    def labels(self) -> list[DateLabel]:
        """The labels of dates that have room: first and last, then what is far enough from its neighbours."""
        last = len(self.dates) - 1
        always = self._spaced(_APART, {0, last})
        found = []
        for rank in sorted(self._spaced(_APART_WIDE, always)):
            anchor = "start" if rank == 0 else "end" if rank == last else "middle"
            found.append(DateLabel(self.places[rank], anchor, self.dates[rank], rank not in always))
        return found

    def _spaced(self, apart: float, taken: set[int]) -> set[int]:
        found, ends = set(taken), {0, len(self.dates) - 1}
        for rank, place in enumerate(self.places):
            # A label at an end is beside its point, not across: it needs more room.
            if all(abs(place - self.places[other]) >= apart * (1.5 if other in ends else 1.0) for other in found):
                found.add(rank)
        return found

    @property
    def texts(self) -> list[str]:
        """The chart in words: each line from its first to its last value."""
        ends = self.dates[0], self.dates[-1]
        return [f"{each.series.name}: {each.first} ({ends[0]}), {each.last} ({ends[1]})" for each in self.drawn]

    @property
    def rows(self) -> list[tuple[str, list[str]]]:
        """The chart as a table: each date with the values of all lines."""
        values = zip(*(each.series.values for each in self.drawn), strict=True)
        return [(date, [self.text(each) for each in some]) for date, some in zip(self.dates, values, strict=True)]

    @property
    def names(self) -> list[str]:
        """The names of the lines."""
        return [each.series.name for each in self.drawn]


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
