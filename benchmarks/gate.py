"""What a slow or dead robots.txt does to a crawl: Scrapy's built-in middleware beside scrapy_rep.

The leak: twelve disallowed pages wait for one robots.txt that takes a second. How many of them are
requested all the same?

Starvation: forty origins whose robots.txt hangs are requested before the forty pages of a healthy one.
When do the 41 requests (its robots.txt is one of them) reach the healthy origin? And when it is alone?

Every figure comes from a real crawl, in a process of its own, of a real server on 127.0.0.0/8 (Linux).
From the root of the repository, with the extras `test` and `bench`; it takes about two minutes:

    python -m benchmarks.gate [--out docs/gate.svg]
"""

from __future__ import annotations

import argparse
from bisect import bisect_right
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import scrapy
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from tests.support.crawl import Crawl, crawl
from tests.support.site import Site, hang, robots

from . import style

BUILT_IN, OURS, ALONE = "Scrapy's built-in", "scrapy_rep", "scrapy_rep, healthy origin alone"
SETTINGS = {BUILT_IN: {"ADDONS": {}, "ROBOTSTXT_OBEY": True}, OURS: {}, ALONE: {}}
COLORS = {BUILT_IN: style.COLORS["peer"], OURS: style.COLORS["ours"], ALONE: style.COLORS["other"]}

PRIVATE = [f"/private/{number}" for number in range(12)]
PAGES = [f"/page/{number}" for number in range(40)]
HANGING = [f"127.0.3.{number}" for number in range(1, 41)]

# Both give a robots.txt up after 15 s and try nothing twice, so that the crawls end.
PATIENCE = 15.0
BOUNDS = {"DOWNLOAD_TIMEOUT": PATIENCE, "RETRY_ENABLED": False, "REP_TIMEOUT": PATIENCE, "REP_RETRY_TIMES": 0}


@dataclass(frozen=True)
class Figures:
    """Per crawl: how many disallowed pages were requested; when the healthy origin was, in seconds."""

    leaked: dict[str, int]
    healthy: dict[str, list[float]]


def check(fine: bool, result: Crawl) -> None:
    """A crawl that broke must not pass for one that obeyed."""
    if result.exit_code or not fine:
        raise SystemExit(f"the crawl broke: {result.stats}\n{result.stderr[-4_000:]}")


def leaked(settings: dict[str, Any]) -> int:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /private\n", delay=1.0))
        result = crawl(*(site.origin + path for path in PRIVATE), settings=settings)
        forbidden = sum(failure.message.startswith("Forbidden by robots.txt") for failure in result.failures)
        check(len(result.pages) + forbidden == len(PRIVATE), result)
        return len(set(PRIVATE) & set(site.paths()))


def healthy(settings: dict[str, Any], hanging: list[str]) -> list[float]:
    """When the healthy origin was asked, counted from the first request of the crawl at any origin."""
    with Site(["127.0.0.1", *hanging]) as site:
        origin, *others = site.origins
        site.answer("/robots.txt", hang())
        site.answer("/robots.txt", robots("User-agent: *\nAllow: /\n"), origin)
        urls = [f"{other}/page" for other in others] + [origin + path for path in PAGES]
        result = crawl(*urls, settings={**settings, **BOUNDS}, timeout=180)
        check(sorted(site.paths(origin)) == sorted(["/robots.txt", *PAGES]), result)
        began = min(arrival.time for arrival in site.log)
        return sorted(arrival.time - began for arrival in site.log if arrival.origin == origin)


def measure() -> Figures:
    return Figures(
        {name: leaked(SETTINGS[name]) for name in (BUILT_IN, OURS)},
        {name: healthy(SETTINGS[name], [] if name == ALONE else HANGING) for name in (BUILT_IN, OURS, ALONE)},
    )


def table(figures: Figures) -> str:
    lines = [
        f"Scrapy {scrapy.__version__}",
        f"{'':32} {'disallowed':>10}   {'healthy origin, requests within':^32}",
        f"{'':32} {'requested':>10}   {'0.5 s':>7} {'5 s':>7} {'16 s':>7} {'the last after':>16}",
    ]
    for name, times in figures.healthy.items():
        leak = f"{figures.leaked[name]} of {len(PRIVATE)}" if name in figures.leaked else "-"
        within = " ".join(f"{bisect_right(times, seconds):7}" for seconds in (0.5, 5, 16))
        lines.append(f"{name:32} {leak:>10}   {within} {times[-1]:14.2f} s")
    return "\n".join(lines)


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


def draw(figures: Figures) -> Figure:
    figure = Figure(figsize=(10.4, 4.4), facecolor="white")
    left, right = figure.subplots(1, 2, width_ratios=[1, 1.9])
    draw_leak(left, figures.leaked)
    draw_healthy(right, figures.healthy)
    note = "Scrapy {}, CONCURRENT_REQUESTS at its default; a robots.txt that hangs is given up after {:.0f} s."
    figure.text(0.065, 0.025, note.format(scrapy.__version__, PATIENCE), fontsize=8, color=COLORS[ALONE])
    figure.subplots_adjust(left=0.065, right=0.98, top=0.83, bottom=0.19, wspace=0.2)
    return figure


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.gate")
    options.add_argument("--out", type=Path, default=Path("docs/gate.svg"), help="the SVG (default: %(default)s)")
    out = options.parse_args().out
    print(table(figures := measure()))
    with mpl.rc_context(style.STYLE):
        draw(figures).savefig(out, format="svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
