"""Requests per second, memory and open files over the time of a crawl."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.style import COLORS, FAINT, INK, STYLE, title

from .verdict import Verdict

BUCKETS: Final = 150
"""Of the time, each with the mean of its requests."""

OURS, OFF = ("scrapy_rep", COLORS["ours"]), ("robots.txt off", COLORS["other"])
EVENTS: Final = {
    "sigint": "Ctrl-C", "kill": "kill -9", "stop": "stopped", "suspend": "suspended", "lock": "store locked",
    "disk": "disk full", "redis": "Redis killed", "clock": "clock turned",
}  # fmt: skip

UNITS: Final = {"memory": 1e6, "files": 1.0}

Curve = tuple[list[float], list[float]]


def rate(verdict: Verdict, began: float) -> Curve:
    """Seconds since *began*, and requests per second."""
    seconds = range(min(verdict.per_second), max(verdict.per_second) + 1)
    width = max(len(seconds) // BUCKETS, 1)
    starts = seconds[::width]
    means = [sum(verdict.per_second[second] for second in range(start, start + width)) / width for start in starts]
    return [start + width / 2 - began for start in starts], means


def gauge(verdict: Verdict, name: str, began: float, unit: float) -> Iterator[Curve]:
    """One curve per crawling process."""
    for readings in verdict.gauges.values():
        kept = readings[:: max(len(readings) // BUCKETS, 1)]
        yield [reading.time - began for reading in kept], [getattr(reading, name) / unit for reading in kept]


def began(verdict: Verdict) -> float:
    return float(min(verdict.per_second))


def draw_rate(axes: Axes, verdict: Verdict, off: Verdict | None, unit: float) -> None:
    for one, (name, color) in ((off, OFF), (verdict, OURS)):
        if one is not None:
            times, means = rate(one, began(one))
            axes.plot([time / unit for time in times], means, color=color, linewidth=1.8, label=name)
    detail = f"with robots.txt off {off.cost.requests:,.0f}; " if off else ""
    title(axes, f"{verdict.cost.requests:,.0f} requests per second",
          f"{detail}as the servers count them, without start and end")  # fmt: skip
    if off is not None:
        axes.legend(frameon=False, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, fontsize=9)


def draw_gauge(axes: Axes, name: str, both: tuple[Verdict, Verdict | None], unit: float) -> None:
    for one, (_, color) in zip(both, (OURS, OFF), strict=True):
        for times, values in gauge(one, name, began(one), UNITS[name]) if one else ():
            axes.plot([time / unit for time in times], values, color=color, linewidth=1.8)


def mark_events(axes: Axes, verdict: Verdict, unit: float, *, named: bool) -> None:
    for name, when in verdict.state.happened:
        at = (when - began(verdict)) / unit
        axes.axvline(at, color=FAINT, linewidth=1.2, zorder=0)
        if named:
            axes.annotate(EVENTS[name], (at, 0), (3, 4), xycoords=("data", "axes fraction"),
                          textcoords="offset points", rotation=90, fontsize=8, color=INK)  # fmt: skip


def figure_of(verdict: Verdict, off: Verdict | None) -> Figure:
    figure = Figure(figsize=(9.0, 8.6), facecolor="white")
    panels = figure.subplots(3, 1, sharex=True)
    length = max(verdict.per_second) - began(verdict)
    unit, label = (60.0, "minutes") if length > 600 else (1.0, "seconds")
    draw_rate(panels[0], verdict, off, unit)
    draw_gauge(panels[1], "memory", (verdict, off), unit)
    draw_gauge(panels[2], "files", (verdict, off), unit)
    title(panels[1], f"{verdict.cost.memory / 1e6:,.0f} MB of memory at most", "resident, in each process")
    title(panels[2], f"{verdict.cost.files:,} open files at most", "sockets included")
    for axes in panels:
        mark_events(axes, verdict, unit, named=axes is panels[0])
        axes.set_ylim(bottom=0)
        axes.set_xlim(left=0)
        axes.yaxis.set_major_formatter("{x:,.0f}")
    world = verdict.state.world
    panels[2].set_xlabel(
        f"{label} since the first request; {verdict.totals['requests']:,} requests at {world.sites:,} sites,"
        f" {world.faults:.0%} faults"
    )
    figure.subplots_adjust(left=0.08, right=0.97, top=0.93, bottom=0.07, hspace=0.42)
    return figure


def draw(verdict: Verdict, off: Verdict | None, out: Path) -> None:
    look: Any = {**STYLE, "svg.hashsalt": "soak"}
    with mpl.rc_context(look):
        figure_of(verdict, off).savefig(out, metadata={"Date": None} if out.suffix == ".svg" else None, dpi=110)
