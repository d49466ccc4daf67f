"""The chart of ``benchmarks.broad``, and the figures it shows."""

from __future__ import annotations

from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from . import style
from .broad import BUILT_IN, OFF, OURS
from .figures import time
from .style import title

COLORS: Final = {OFF: style.COLORS["other"], BUILT_IN: style.COLORS["peer"], OURS: style.COLORS["ours"]}


def line(axes: Axes, name: str, sizes: list[int], values: list[float], text: str, *, raised: int = 0) -> None:
    look: Any = {"color": COLORS[name], "clip_on": False, "zorder": 3}
    axes.plot(sizes, values, "o-", linewidth=2.2, markersize=5, **look)
    axes.annotate(text, (sizes[-1], values[-1]), (9, raised), textcoords="offset points", va="center",
                  color=COLORS[name], fontweight="bold", fontsize=9, annotation_clip=False)  # fmt: skip


def log_of_hosts(axes: Axes, sizes: list[int], label: str) -> None:
    axes.set(xscale="log", xlim=(sizes[0], sizes[-1]), xlabel=label)
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.xaxis.set_minor_locator(NullLocator())


def draw_pages(axes: Axes, page: dict[str, dict[str, float]]) -> None:
    hosts = [*map(int, page[OFF])]
    log_of_hosts(axes, hosts, "hosts that wait in the scheduler (log scale)")
    texts = {OFF: ("robots.txt off", -17), BUILT_IN: ("Scrapy's own\nmiddleware", 4), OURS: ("scrapy_rep", 0)}
    for name, (text, raised) in texts.items():
        line(axes, name, hosts, [cpu * 1e3 for cpu in page[name].values()], text, raised=raised)
    axes.set_ylim(0, axes.get_ylim()[1] * 1.1)
    axes.set(ylabel="CPU per page, ms")
    off, ours = (page[name][str(hosts[-1])] * 1e3 for name in (OFF, OURS))
    title(axes, f"{hosts[-1]:,} hosts wait: {off:.0f} ms a page become {ours:.0f} ms",
          "although scrapy_rep fetches a robots.txt, too")  # fmt: skip


def draw_queue(axes: Axes, pop: dict[str, dict[str, float]]) -> None:
    sizes = [*map(int, pop[OFF])]
    log_of_hosts(axes, sizes, "hosts in the queue (log scale)")
    axes.set(yscale="log", ylabel="CPU to take one request out, µs (log scale)")
    theirs, ours = (pop[name][str(sizes[-1])] for name in (OFF, OURS))
    for name, text, last in ((OFF, "Scrapy's", theirs), (OURS, "scrapy_rep", ours)):
        line(axes, name, sizes, [took * 1e6 for took in pop[name].values()], f"{text}\n{time(last)}")
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_minor_locator(NullLocator())
    title(axes, f"{sizes[-1]:,} in the queue: {time(theirs)} become {time(ours)}",
          "for the next request out of it")  # fmt: skip


def figure_of(figures: dict[str, Any]) -> Figure:
    figure = Figure(figsize=(10.4, 4.4), facecolor="white")
    left, right = figure.subplots(1, 2)
    draw_pages(left, figures["page"])
    draw_queue(right, figures["pop"])
    note = (
        "Settings at their defaults; every page is of a host not met before,"
        f" and every host has a robots.txt of {figures['rules']} rules."
    )
    figure.text(0.055, 0.025, note, fontsize=8, color=COLORS[OFF])
    figure.subplots_adjust(left=0.055, right=0.905, top=0.83, bottom=0.2, wspace=0.56)
    return figure


draw = style.drawn(figure_of)
