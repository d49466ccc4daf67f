"""The chart of ``benchmarks.engine``: the time of five engines for one question, a bar each."""

from __future__ import annotations

from typing import Any, Final

from matplotlib.figure import Figure

from .engines import OURS
from .style import COLORS, drawn

QUESTION: Final = "parse + 1 decision"
SHOWN: Final = (OURS, "fast-robotstxt", "texting-robots-py", f"{OURS}, plain Python", "Protego")
"""The fastest, and Scrapy's own. A table beside the chart has the others, and the other questions."""


def figure_of(figures: dict[str, Any]) -> Figure:
    times = {name: 1e6 * figures["engines"][name]["seconds"][QUESTION]["mean"] for name in SHOWN}
    longest = max(times.values())
    figure = Figure(figsize=(5.4, 2.8), facecolor="white")
    axes = figure.subplots()
    for place, (name, microseconds) in enumerate(times.items()):
        color = COLORS["ours" if name.startswith(OURS) else "other"]
        axes.barh(-place, microseconds, height=0.6, color=color)
        axes.text(
            microseconds + longest * 0.02, -place, f"{microseconds:.2g} µs" if microseconds < 100 else
            f"{microseconds:.0f} µs", color=color, va="center", fontweight="bold",
        )  # fmt: skip
    axes.set_yticks([-place for place in range(len(SHOWN))], SHOWN, fontsize=11)
    axes.set(xlim=(0, longest * 1.25), xticks=[])
    axes.tick_params(length=0)
    axes.spines["bottom"].set_visible(False)
    axes.set_title("Read a robots.txt and decide one URL", loc="left", x=-0.52, fontsize=12, fontweight="bold")
    figure.subplots_adjust(left=0.34, right=0.98, top=0.88, bottom=0.03)
    return figure


draw = drawn(figure_of)
