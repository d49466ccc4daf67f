"""Figures as charts and pages: parts, histograms, shares, and the template engine, which escapes everything."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import median
from typing import Final

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from scrapy_rep.protocol.display import number_of, shown

_MORE: Final = "more"


@dataclass(frozen=True, slots=True)
class Part:
    """A bar, or a part of one: ``extra`` is a second count, drawn behind the first in another colour.

    ``link`` is where its name leads, if anywhere.
    """

    name: str
    count: int
    colour: str
    extra: int = 0
    link: str = ""

    @property
    def total(self) -> int:
        """Both counts."""
        return self.count + self.extra


@dataclass(frozen=True, slots=True)
class Link:
    """A cell of a table that leads to another part of the page; its ``value`` is a text or a number."""

    value: str | int
    href: str


@dataclass(frozen=True, slots=True)
class Histogram:
    """How values are distributed: ``buckets`` of an upper limit and a count, the median, the largest value."""

    buckets: list[tuple[str, int]]
    median: float
    largest: float


@cache
def page_template(package: str, name: str = "report.html") -> Template:
    """The template called *name* of *package*, which extends ``base.html`` and may import ``charts.html``."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package, ""), PackageLoader(__package__, "")]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(number="{:,}".format, decimal="{:,.1f}".format, whole="{:,.0f}".format)
    environment.filters.update(percent=percent, size=_size, with_noun=number_of)
    environment.filters.update(part_text=_part_text, bucket_text=_bucket_text)
    return environment.get_template(name)


def _printable(value: object) -> object:
    """*value* without characters that could reorder or break the text around them."""
    return shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def percent(part: float, whole: float) -> str:
    """Return the share of *part* in *whole*, with a decimal where it is small; 0% of nothing."""
    share = 100.0 * part / whole if whole else 0.0
    if 0.0 < share < 0.1:
        return "<0.1%"
    return f"{share:.1f}%" if 0.0 < share < 9.95 else f"{share:.0f}%"


def _part_text(part: Part, whole: int) -> str:
    return f"{part.name}: {percent(part.count, whole)}"


def _bucket_text(bucket: tuple[str, int], unit: str, whole: int) -> str:
    label, count = bucket
    figure = f"{count:,}, {percent(count, whole)}"
    return f"more: {figure}" if label == _MORE else f"up to {label}{unit}: {figure}"


def _size(octets: float) -> str:
    return f"{octets / 1_000:,.1f} kB" if octets >= 1_000 else f"{octets:,.0f} B"


def histogram(values: Sequence[float], limits: Sequence[float], *, unit: int = 1_000) -> Histogram:
    """Count *values* up to each of *limits*, and beyond; from *unit* on a label counts in thousands, as ``4k``."""
    counts = [0] * (len(limits) + 1)
    for value in values:
        counts[bisect_left(limits, value)] += 1
    labels = [f"{limit / unit:g}k" if limit >= unit else f"{limit:g}" for limit in limits]
    buckets = list(zip([*labels, _MORE], counts, strict=True))
    return Histogram(buckets, float(median(values)) if values else 0.0, max(values, default=0))
