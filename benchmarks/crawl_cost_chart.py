"""The chart of ``benchmarks.crawl_cost``."""

from __future__ import annotations

from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from . import style
from .crawl_cost import BUILT_IN, OFF, OURS, growth
from .style import INK, title

COLORS: Final = {OFF: style.COLORS["other"], BUILT_IN: style.COLORS["peer"], OURS: style.COLORS["ours"]}


def bar(axes: Axes, place: int, name: str, spread: list[float]) -> None:
    low, middle, high = spread
    axes.bar(place, middle, width=0.6, color=COLORS[name])
    axes.errorbar(place, middle, [[middle - low], [high - middle]], color=INK, linewidth=1.2, capsize=4)
    axes.annotate(f"{middle:.1f}", (place, high), (0, 5), textcoords="offset points", ha="center",
                  color=COLORS[name], fontsize=13, fontweight="bold")  # fmt: skip


def draw_cpu(axes: Axes, figures: dict[str, Any]) -> None:
    """Bars for both lengths; what does not depend on the length is drawn once."""
    lengths = figures["request"]
    bars = [("off:\nthe URL\nis split", OFF, next(iter(lengths)))]
    names = ((BUILT_IN, "built-in"), (OURS, OURS))
    bars += [(f"{text}\n{length}\nrules", name, length) for length in lengths for name, text in names]
    for place, (_, name, length) in enumerate(bars):
        bar(axes, place, name, lengths[length][name])
    axes.set_xticks(range(len(bars)), [text for text, *_ in bars], fontsize=7)
    axes.tick_params(axis="x", length=0)
    axes.set(xlim=(-0.6, len(bars) - 0.4), ylabel="CPU per request, microseconds")
    axes.margins(y=0.15)
    title(axes, "CPU per request of the middleware",
          f"with robots.txt in hand; a page without costs {figures['page'] * 1e6:,.0f} µs")  # fmt: skip


def draw_memory(axes: Axes, figures: dict[str, Any]) -> None:
    origins = [figures["every"] * number for number in range(1, len(figures["memory"][OFF]) + 1)]
    for name, raised in ((OFF, -8), (BUILT_IN, 0), (OURS, 6)):
        sizes = figures["memory"][name]
        axes.plot(origins, sizes, color=COLORS[name], linewidth=2.2, clip_on=False)
        axes.annotate(name, (origins[-1], sizes[-1]), (8, raised), textcoords="offset points", va="center",
                      color=COLORS[name], fontweight="bold", fontsize=9)  # fmt: skip
    axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set(xlim=(0, origins[-1]), xlabel="origins crawled, one page each", ylabel="resident memory, MB")
    axes.set_ylim(bottom=0)
    title(axes, f"Per further origin {growth(figures, BUILT_IN):.1f} kB become {growth(figures, OURS):.1f} kB",
          "of memory kept for robots.txt, over the second half of the crawl")  # fmt: skip


def figure_of(figures: dict[str, Any]) -> Figure:
    figure = Figure(figsize=(10.4, 4.4), facecolor="white")
    left, right = figure.subplots(1, 2, width_ratios=[1, 1.25])
    draw_cpu(left, figures)
    draw_memory(right, figures)
    note = (
        f"A robots.txt of {next(iter(figures['request']))} rules where no other length is named, another at every"
        " origin. Bars: medians of the crawls, whiskers: quartiles."
    )
    figure.text(0.065, 0.025, note, fontsize=8, color=COLORS[OFF])
    figure.subplots_adjust(left=0.065, right=0.845, top=0.83, bottom=0.2, wspace=0.26)
    return figure


draw = style.drawn(figure_of)
