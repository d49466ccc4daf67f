"""How the figures of the files of a survey are distributed: histograms, medians and means."""

from __future__ import annotations

from typing import Any, Final

from scrapy_rep.tools.page import Histogram, Part, histogram, mean, median

from .tables import Tables, files_of
from .totals import FIGURES, Totals

_RULES: Final = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)
_HISTOGRAMS: Final = {
    "bytes": (128, 256, 512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536),
    "lines": (5, 10, 20, 50, 100, 200, 500, 1_000, 2_000),
    "rules": _RULES,
    "user_agent_fields": (0, 1, 2, 3, 5, 10, 20, 50, 100),
    "sitemaps": (0, 1, 2, 5, 10, 50),
}
"""The limits of the columns of a figure of files."""

_SECONDS: Final = (0.5, 1, 2, 5, 10, 20, 30, 60)
_DELAYS: Final = "delays"


def distributions(totals: Totals, tables: Tables) -> dict[str, Any]:
    """The histograms of files with their tables, the means, and ``highest``: the share that is as high as all
    histograms are, so that they have one scale.
    """
    found = {name: _histogram(totals, name) for name in (*_HISTOGRAMS, _DELAYS)}
    largest = max(count for each in found.values() for _, count in each.buckets)
    return {
        "histograms": found,
        "buckets": {name: _rows(name, each, tables) for name, each in found.items()},
        "highest": largest / totals.files if largest else 1.0,
        "means": _means(totals, tables),
        "rules_per_agent": _rules_per_agent(totals, tables),
    }


def _histogram(totals: Totals, name: str) -> Histogram:
    if name == _DELAYS:
        return histogram(totals.delays, _SECONDS)
    return histogram(totals.figures[name], _HISTOGRAMS[name], unit=1_024 if name == "bytes" else 1_000)


def _rows(name: str, found: Histogram, tables: Tables) -> list[Any]:
    cells = {label: (label, count) for label, count in found.buckets}
    return tables.rows(cells, lambda of: dict(_histogram(of, name).buckets), files_of)


def _means(totals: Totals, tables: Tables) -> list[Any]:
    figures = [(name, what, totals.figures[name]) for name, what in FIGURES.items()]
    cells = {
        name: (what, mean(values), round(median(values)), max(values)) for name, what, values in figures if values
    }
    return tables.rows(cells, lambda of: {name: mean(of.figures[name]) for name in FIGURES})


def _rules_per_agent(totals: Totals, tables: Tables) -> dict[str, Any]:
    values = histogram(totals.rules_per_agent, _RULES)
    names = ["0 rules", "1 rule", *(f"up to {label} rules" for label, _ in values.buckets[2:-1])]
    names.append(f"more than {values.buckets[-2][0]} rules")
    counts = [count for _, count in values.buckets]
    cells = {label: (label, count) for label, count in values.buckets}
    return {
        "bars": [Part(name, count, "blue") for name, count in zip(names, counts, strict=True)],
        "rows": tables.rows(
            cells,
            lambda of: dict(histogram(of.rules_per_agent, _RULES).buckets),
            lambda of: of.rules_per_agent.total(),
        ),
        "median": values.median,
        "total": sum(counts),
    }
