"""The chart of ``benchmarks.broad``, and the figures it shows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
import scrapy
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from . import style
from .style import STYLE, title

OFF, BUILT_IN, OURS = "Scrapy, robots.txt off", "Scrapy's own middleware", "scrapy_rep"
GREY: Final = style.COLORS["other"]
COLORS: Final = {OFF: GREY, BUILT_IN: style.COLORS["peer"], OURS: style.COLORS["ours"]}

Which = tuple[str, int]
"""Of what, and with how many hosts."""


@dataclass(frozen=True)
class Figures:
    """With so many *rules* in each robots.txt, and so many *hosts* waiting: CPU seconds per page, pages per
    second, CPU as a share of that with robots.txt off in the same round. With so many *in_queue*: CPU seconds of
    a push and a pop.
    """

    rules: int
    hosts: list[int]
    cpu: dict[Which, float]
    rate: dict[Which, float]
    ratio: dict[Which, float]
    in_queue: list[int]
    push: dict[Which, float]
    pop: dict[Which, float]


def line(axes: Axes, name: str, sizes: list[int], values: list[float], text: str, *, raised: int = 0) -> None:
    look: Any = {"color": COLORS[name], "clip_on": False, "zorder": 3}
    axes.plot(sizes, values, "o-", linewidth=2.2, markersize=5, **look)
    axes.annotate(text, (sizes[-1], values[-1]), (9, raised), textcoords="offset points", va="center",
                  color=COLORS[name], fontweight="bold", fontsize=9, annotation_clip=False)  # fmt: skip


def log_of_hosts(axes: Axes, sizes: list[int], label: str) -> None:
    axes.set(xscale="log", xlim=(sizes[0], sizes[-1]), xlabel=label)
    axes.set_xticks(sizes, ["" if size == 30_000 and 50_000 in sizes else f"{size:,}" for size in sizes])
    axes.xaxis.set_minor_locator(NullLocator())


def draw_pages(axes: Axes, figures: Figures) -> None:
    log_of_hosts(axes, figures.hosts, "hosts that wait in the scheduler (log scale)")
    texts = {OFF: ("robots.txt off", -17), BUILT_IN: ("Scrapy's own\nmiddleware", 4), OURS: ("scrapy_rep", 0)}
    for name, (text, raised) in texts.items():
        values = [figures.cpu[name, waiting] * 1e3 for waiting in figures.hosts]
        line(axes, name, figures.hosts, values, text, raised=raised)
    axes.set_ylim(0, axes.get_ylim()[1] * 1.1)
    axes.set(ylabel="CPU per page, ms")
    most = figures.hosts[-1]
    off, ours = (figures.cpu[name, most] * 1e3 for name in (OFF, OURS))
    title(axes, f"{most:,} hosts wait: {off:.0f} ms a page become {ours:.0f} ms",
          "although scrapy_rep fetches a robots.txt, too")  # fmt: skip


def draw_queue(axes: Axes, figures: Figures) -> None:
    log_of_hosts(axes, figures.in_queue, "hosts in the queue (log scale)")
    axes.set(yscale="log", ylabel="CPU to take one request out, µs (log scale)")
    for name, text in ((OFF, "Scrapy's"), (OURS, "scrapy_rep")):
        values = [figures.pop[name, size] * 1e6 for size in figures.in_queue]
        line(axes, name, figures.in_queue, values, f"{text}\n{time(figures.pop[name, figures.in_queue[-1]])}")
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_minor_locator(NullLocator())
    most = figures.in_queue[-1]
    theirs, ours = (figures.pop[name, most] for name in (OFF, OURS))
    title(axes, f"{most:,} in the queue: {time(theirs)} become {time(ours)}",
          "for the next request out of it")  # fmt: skip


def time(seconds: float) -> str:
    return f"{seconds * 1e3:.0f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.0f} µs"


def figure_of(figures: Figures) -> Figure:
    figure = Figure(figsize=(10.4, 4.4), facecolor="white")
    left, right = figure.subplots(1, 2)
    draw_pages(left, figures)
    draw_queue(right, figures)
    note = (
        f"Scrapy {scrapy.__version__}, settings at their defaults; every page is of a host not met before,"
        f" and every host has a robots.txt of {figures.rules} rules."
    )
    figure.text(0.055, 0.025, note, fontsize=8, color=GREY)
    figure.subplots_adjust(left=0.055, right=0.905, top=0.83, bottom=0.2, wspace=0.56)
    return figure


def draw(figures: Figures, out: Path) -> None:
    look: Any = {**STYLE, "svg.hashsalt": "broad"}
    with mpl.rc_context(look):
        figure_of(figures).savefig(out, format="svg", metadata={"Date": None})
