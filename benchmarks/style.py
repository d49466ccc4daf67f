"""How the charts of the benchmarks look."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

INK: Final = "#1f2937"
FAINT: Final = "#d1d5db"
COLORS: Final = {"ours": "#0f766e", "peer": "#c2410c", "other": "#6b7280"}

STYLE: Final[Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "Helvetica", "sans-serif"],
    "font.size": 10,
    "svg.fonttype": "none",
    "svg.hashsalt": "scrapy_rep",
    **dict.fromkeys(["text.color", "axes.labelcolor", "xtick.color", "ytick.color"], INK),
    "axes.edgecolor": FAINT,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def title(axes: Axes, finding: str, detail: str) -> None:
    axes.set_title(finding, loc="left", fontsize=12, fontweight="bold", pad=26)
    axes.text(0, 1.035, detail, transform=axes.transAxes, fontsize=9)


def drawn(figure_of: Callable[[Any], Figure]) -> Callable[[Any, Path], None]:
    """A function that writes *figure_of* its figures as an SVG, which is the same for the same figures."""

    def draw(figures: Any, out: Path) -> None:
        with mpl.rc_context(STYLE):
            figure_of(figures).savefig(out, format="svg", metadata={"Date": None})

    return draw
