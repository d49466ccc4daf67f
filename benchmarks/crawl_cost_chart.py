"""The chart of ``benchmarks.crawl_cost``, and the figures it shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import matplotlib as mpl
import scrapy
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from . import style
from .style import INK, STYLE, title

OFF, BUILT_IN, OURS = "robots.txt off", "Scrapy's built-in", "scrapy_rep"
OURS_SMALL: Final = "scrapy_rep, REP_MEMORY_ENTRIES = 2,000"
GREY: Final = style.COLORS["other"]
COLORS: Final = {OFF: GREY, BUILT_IN: style.COLORS["peer"], OURS: style.COLORS["ours"], OURS_SMALL: "#14b8a6"}

Curve = list[float]


@dataclass(frozen=True)
class Spread:
    """A median between its quartiles, in microseconds."""

    middle: float
    low: float
    high: float

    def __str__(self) -> str:
        digits = 0 if self.middle >= 100 else 1
        return f"{self.middle:,.{digits}f} ({self.low:,.{digits}f}–{self.high:,.{digits}f})"


@dataclass(frozen=True)
class Figures:
    """With one length of robots.txt, by variant: CPU per page, how much more than with robots.txt off and than an
    exempt page beside it, and CPU of the middleware alone per request; CPU per new origin beyond that of
    robots.txt off.

    And memory: megabytes at every so many origins, and kB per origin in the second half, one per round.
    """

    page: dict[str, Spread]
    more: dict[str, Spread]
    beside: dict[str, Spread]
    request: dict[str, Spread]
    origin: dict[str, Spread]
    memory: dict[str, Curve]
    slope: dict[str, list[float]]
    every: int


def bar(axes: Axes, place: int, name: str, spread: Spread) -> None:
    color = COLORS[name]
    axes.bar(place, spread.middle, width=0.6, color=color)
    whiskers = [[spread.middle - spread.low], [spread.high - spread.middle]]
    axes.errorbar(place, spread.middle, whiskers, color=INK, linewidth=1.2, capsize=4)
    place_of_text = (place, spread.high)
    axes.annotate(f"{spread.middle:.1f}", place_of_text, (0, 5), textcoords="offset points", ha="center",
                  color=color, fontsize=13, fontweight="bold")  # fmt: skip


def draw_cpu(axes: Axes, by_length: Mapping[int, Figures]) -> None:
    """Bars for both lengths; what does not depend on the length is drawn once."""
    median, *_ = by_length.values()
    bars = [("off:\nthe URL\nis split", OFF, median)]
    bars += [
        (f"{text}\n{length}\nrules", name, figures)
        for length, figures in by_length.items()
        for name, text in ((BUILT_IN, "built-in"), (OURS, OURS))
    ]
    for place, (_, name, figures) in enumerate(bars):
        bar(axes, place, name, figures.request[name])
    axes.set_xticks(range(len(bars)), [text for text, *_ in bars], fontsize=7)
    axes.tick_params(axis="x", length=0)
    axes.set(xlim=(-0.6, len(bars) - 0.4), ylabel="CPU per request, microseconds")
    axes.margins(y=0.15)
    title(axes, "CPU per request of the middleware",
          f"with robots.txt in hand; a page without costs {median.page[OFF].middle:,.0f} µs")  # fmt: skip


LABELS: Final = {
    OFF: ("robots.txt off", -8),
    BUILT_IN: ("Scrapy's built-in", 0),
    OURS: ("scrapy_rep", 6),
    OURS_SMALL: ("… bound to 2,000", 0),
}
"""The text beside the end of a line, and how many points it is raised."""


def draw_memory(axes: Axes, figures: Figures) -> None:
    count = len(figures.memory[OFF])
    origins = [figures.every * number for number in range(1, count + 1)]
    for name, sizes in figures.memory.items():
        text, raised = LABELS[name]
        axes.plot(origins, sizes, color=COLORS[name], linewidth=2.2, clip_on=False)
        axes.annotate(text, (origins[-1], sizes[-1]), (8, raised), textcoords="offset points", va="center",
                      color=COLORS[name], fontweight="bold", fontsize=9)  # fmt: skip
    axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set(xlim=(0, origins[-1]), xlabel="origins crawled, one page each", ylabel="resident memory, MB")
    axes.set_ylim(bottom=0)
    built_in, ours = (fmean(figures.slope[name]) for name in (BUILT_IN, OURS))
    title(axes, f"Per further origin {built_in:.1f} kB become {ours:.1f} kB",
          "of memory kept for robots.txt, over the second half of the crawl")  # fmt: skip


def figure_of(by_length: Mapping[int, Figures]) -> Figure:
    figure = Figure(figsize=(10.4, 4.4), facecolor="white")
    left, right = figure.subplots(1, 2, width_ratios=[1, 1.25])
    draw_cpu(left, by_length)
    length, figures = next(iter(by_length.items()))
    draw_memory(right, figures)
    note = (
        f"Scrapy {scrapy.__version__}; robots.txt of {length} rules where no other length is named, different at"
        " every origin. "
        "Bars: medians of the crawls, whiskers: quartiles."
    )
    figure.text(0.065, 0.025, note, fontsize=8, color=GREY)
    figure.subplots_adjust(left=0.065, right=0.845, top=0.83, bottom=0.2, wspace=0.26)
    return figure


def draw(by_length: Mapping[int, Figures], out: Path) -> None:
    style: Any = {**STYLE, "svg.hashsalt": "crawl_cost"}
    with mpl.rc_context(style):
        figure_of(by_length).savefig(out, format="svg", metadata={"Date": None})
