"""The chart of ``benchmarks.engine``: how many times faster than Protego each engine is."""

from __future__ import annotations

from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .engine import LEFT_OUT, QUESTIONS
from .engines import OURS, PEER
from .style import COLORS, INK, drawn

_FAINTEST: Final = 0.02


def figure_of(figures: dict[str, Any]) -> Figure:
    """Ratios by question and engine; the agreement stands beside each name."""
    engines = {name: one for name, one in figures["engines"].items() if name not in LEFT_OUT}
    figure = Figure(figsize=(10.4, 4.0), facecolor="white")
    panels = figure.subplots(1, len(QUESTIONS), sharey=True)
    for axes, question in zip(panels, QUESTIONS, strict=True):
        found = {name: one["seconds"][question] for name, one in engines.items()}
        _panel(axes, question, {name: one and one["all"] for name, one in found.items()})
    names = [f"{name}\n{one['agreement']:.1%}" for name, one in engines.items()]
    panels[0].set_yticks(range(len(names)), names, fontsize=9)
    panels[0].invert_yaxis()
    note = "How many times faster than Protego (log scale); the share of Google's verdicts under each name."
    figure.text(0.015, 0.03, note, fontsize=8, color=COLORS["other"])
    figure.subplots_adjust(left=0.155, right=0.985, top=0.89, bottom=0.14, wspace=0.09)
    return figure


def _panel(axes: Axes, question: str, by_engine: dict[str, float | None]) -> None:
    axes.set(xscale="log", xlim=(_FAINTEST, 150))
    axes.set_title(question, fontsize=9, fontweight="bold", loc="left")
    axes.set_xticks([])
    axes.set_xticks([], minor=True)
    axes.spines["bottom"].set_visible(False)
    axes.tick_params(length=0)
    axes.axvline(1, color=INK, linewidth=0.8, zorder=1)
    for place, (engine, ratio) in enumerate(by_engine.items()):
        if ratio is None:  # it cannot be asked that
            axes.text(1.15, place, "–", va="center", fontsize=9)
            continue
        color = COLORS["ours" if engine == OURS else "peer" if engine == PEER else "other"]
        shown = max(ratio, _FAINTEST)
        axes.barh(place, shown - 1, left=1, height=0.62, color=color, zorder=2)
        axes.text(max(shown, 1) * 1.15, place, _times(ratio), va="center", fontsize=9, color=INK)


def _times(ratio: float) -> str:
    return f"{ratio:.1f}×" if ratio >= 0.1 else f"1/{1 / ratio:.0f}"


draw = drawn(figure_of)
