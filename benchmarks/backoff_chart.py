"""The chart of ``benchmarks.backoff``: the requests of each crawler over time, and how they were answered."""

from __future__ import annotations

from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from . import style
from .backoff import CRAWLERS, LIMIT
from .style import title

SERVED, REFUSED, GREY = style.COLORS["ours"], style.COLORS["peer"], style.COLORS["other"]

Answers = list[tuple[float, int]]
"""Of one crawl: seconds since the first request, and status."""

_SPARSE: Final = 8  # one answer in so many has a mark


def draw_answers(axes: Axes, answers: Answers) -> None:
    """Two curves: the pages so far, and the answers with 429 so far."""
    looks: dict[int, dict[str, Any]] = {
        200: {"color": SERVED, "marker": "o", "markersize": 4, "label": "pages"},
        429: {"color": REFUSED, "marker": "x", "markersize": 5, "label": "answers with 429"},
    }
    for status, look in looks.items():
        times = [time for time, answered in answers if answered == status]
        numbers = range(1, len(times) + 1)
        axes.plot(times, numbers, linewidth=1.2, markevery=_SPARSE, clip_on=False, zorder=3, **look)


def draw_panel(axes: Axes, name: str, answers: Answers, pages: int, limit: int) -> None:
    look: Any = {"color": GREY, "linewidth": 1.2, "linestyle": "--", "zorder": 1}
    axes.plot([0, pages / limit], [0, pages], label=f"{limit} pages a second, the limit", **look)
    draw_answers(axes, answers)
    served = sum(status == 200 for _, status in answers)
    found = f"{pages - served} of {pages} pages lost" if served < pages else f"all {pages} pages"
    title(axes, name, f"{len(answers) - served} times 429, {found}, {answers[-1][0]:.0f} s")


def figure_of(figures: dict[str, Any]) -> Figure:
    figure = Figure(figsize=(10.4, 4.2), facecolor="white")
    panels = figure.subplots(1, len(CRAWLERS), sharex=True, sharey=True)
    for axes, name in zip(panels, CRAWLERS, strict=True):
        draw_panel(axes, name, figures["limits"][name]["answers"], figures["pages"], LIMIT)
    panels[0].set(ylabel="answers so far", xlim=0, ylim=0)
    panels[-1].legend(loc="upper left", frameon=False, fontsize=9)
    panels[1].set(xlabel="seconds since the first request")
    note = f"Settings at their defaults; one answer in {_SPARSE} has a mark."
    figure.text(0.065, 0.025, note, fontsize=8, color=GREY)
    figure.subplots_adjust(left=0.065, right=0.975, top=0.82, bottom=0.2, wspace=0.12)
    return figure


draw = style.drawn(figure_of)
