"""The chart of ``benchmarks.gate``: two facts, two bars each, legible on a telephone."""

from __future__ import annotations

from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from . import style
from .gate import BUILT_IN, HANGING, OURS, PRIVATE

NAMES: Final = {BUILT_IN: "Scrapy's own", OURS: "scrapy_rep"}
COLORS: Final = {BUILT_IN: style.COLORS["peer"], OURS: style.COLORS["ours"]}


def draw_pair(axes: Axes, title: str, values: dict[str, float], shown: dict[str, str]) -> None:
    longest = max(values.values())
    for place, name in enumerate(NAMES):
        axes.barh(-place, values[name], height=0.6, color=COLORS[name])
        axes.text(
            values[name] + longest * 0.02, -place, shown[name], color=COLORS[name], va="center", fontweight="bold"
        )
    axes.set_yticks([0, -1], [*NAMES.values()], fontsize=11)
    axes.set(xlim=(0, longest * 1.25), xticks=[])
    axes.tick_params(length=0)
    axes.spines["bottom"].set_visible(False)
    axes.set_title(title, loc="left", x=-0.32, fontsize=12, fontweight="bold")


def figure_of(figures: dict[str, Any]) -> Figure:
    leaked = {name: figures["leaked"][name] for name in NAMES}
    seconds = {name: figures["healthy"][name][-1] for name in NAMES}
    figure = Figure(figsize=(5.4, 3.4), facecolor="white")
    above, below = figure.subplots(2, 1)
    draw_pair(
        above,
        "Disallowed pages requested while robots.txt loads",
        leaked,
        {name: f"{count} of {len(PRIVATE)}" for name, count in leaked.items()},
    )
    draw_pair(
        below,
        f"Time to crawl a site beside {len(HANGING)} that hang",
        seconds,
        {name: f"{value:.0f} s" if value >= 10 else f"{value:.2f} s" for name, value in seconds.items()},
    )
    figure.subplots_adjust(left=0.24, right=0.98, top=0.9, bottom=0.03, hspace=0.5)
    return figure


draw = style.drawn(figure_of)
