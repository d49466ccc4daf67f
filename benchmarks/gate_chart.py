"""The chart of ``benchmarks.gate``."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from . import style
from .gate import ALONE, BUILT_IN, HANGING, OURS, PAGES, PATIENCE, PRIVATE

COLORS: Final = {BUILT_IN: style.COLORS["peer"], OURS: style.COLORS["ours"], ALONE: style.COLORS["other"]}


def seconds(value: float) -> str:
    return f"{value:.0f} s" if value >= 10 else f"{value:.2g} s"


def draw_leak(axes: Axes, leaks: dict[str, int]) -> None:
    for place, (name, count) in enumerate(leaks.items()):
        axes.bar(place, count, width=0.6, color=COLORS[name])
        axes.text(place, count + 0.25, str(count), ha="center", fontsize=13, fontweight="bold", color=COLORS[name])
    axes.set_xticks(range(len(leaks)), list(leaks), fontsize=10)
    axes.tick_params(length=0)
    axes.set(xlim=(-0.6, 1.6), ylim=(0, 13), yticks=[0, 4, 8, 12], ylabel="disallowed pages requested")
    detail = f"while robots.txt takes 1 s; with scrapy_rep {leaks[OURS] or 'none'}"
    style.title(axes, f"{leaks[BUILT_IN]} of {len(PRIVATE)} disallowed pages leak", detail)


def draw_curve(axes: Axes, name: str, times: list[float]) -> None:
    start, _ = axes.get_xlim()
    before = bisect_right(times, start)
    counts = range(before, len(times) + 1)
    style: dict[str, Any] = {"color": COLORS[name], "zorder": 3}
    axes.step([start, *times[before:]], counts, where="post", linewidth=2.2, clip_on=False, **style)
    axes.plot(times[-1], len(times), "o", markersize=6, **style)


def draw_healthy(axes: Axes, curves: dict[str, list[float]]) -> None:
    total = len(PAGES) + 1
    ours, built_in = seconds(curves[OURS][-1]), seconds(curves[BUILT_IN][-1])
    axes.set(xscale="log", xlim=(0.001, 100), ylim=(0, 44.4), yticks=[0, 10, 20, 30, total])
    for name in (ALONE, OURS, BUILT_IN):
        draw_curve(axes, name, curves[name])
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set(xlabel="seconds since the crawl's first request (log scale)", ylabel="requests to the healthy origin")
    label(axes, ALONE, "healthy\norigin alone", curves, (-14, 6))
    label(axes, OURS, "scrapy_rep", curves, (12, -6))
    label(axes, BUILT_IN, "Scrapy's built-in", curves, (-12, -54))  # below that of scrapy_rep
    style.title(
        axes,
        f"A healthy origin beside {len(HANGING)} that hang: {built_in} becomes {ours}",
        f"until all {total} requests to it, robots.txt included, have reached it",
    )


def label(axes: Axes, name: str, text: str, curves: dict[str, list[float]], offset: tuple[int, int]) -> None:
    last = curves[name][-1]
    axes.annotate(
        f"{text}\n{seconds(last)}",
        (last, len(curves[name])),
        offset,
        textcoords="offset points",
        ha="left" if offset[0] > 0 else "right",
        va="top",
        color=COLORS[name],
        fontweight="bold",
    )


def figure_of(figures: dict[str, Any]) -> Figure:
    figure = Figure(figsize=(10.4, 4.4), facecolor="white")
    left, right = figure.subplots(1, 2, width_ratios=[1, 1.9])
    draw_leak(left, figures["leaked"])
    draw_healthy(right, figures["healthy"])
    note = f"CONCURRENT_REQUESTS at its default; a robots.txt that hangs is given up after {PATIENCE:.0f} s."
    figure.text(0.065, 0.025, note, fontsize=8, color=COLORS[ALONE])
    figure.subplots_adjust(left=0.065, right=0.98, top=0.83, bottom=0.19, wspace=0.2)
    return figure


draw = style.drawn(figure_of)
