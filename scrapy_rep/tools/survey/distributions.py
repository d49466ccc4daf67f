"""The parts of the report that show how something is spread over the files: a histogram, and its table."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from .charts import columns, figure, percent, table
from .totals import Totals, middle

_SIZES: Final = (128, 256, 512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536)
_LENGTHS: Final = (5, 10, 20, 50, 100, 200, 500, 1_000, 2_000)
_RULES: Final = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)
_DELAYS: Final = (0.5, 1, 2, 5, 10, 20, 30, 60)
_SITEMAPS: Final = (0, 1, 2, 5, 10, 50)


def sizes(totals: Totals) -> str:
    """How large the files are."""
    buckets = _buckets(totals.sizes, _SIZES, _size)
    largest = max(totals.sizes, default=0)
    return figure(
        "Size",
        f"Half of the files have {middle(totals.sizes):,.0f} octets or fewer, the largest {largest:,}."
        " Each column is labelled with its upper end.",
        columns("Files by their size in octets", buckets, unit=" octets")
        + table(["octets up to", "files"], buckets),
    )


def lengths(totals: Totals) -> str:
    """How many lines they have."""
    buckets = _buckets(totals.lines, _LENGTHS, _short)
    return figure(
        "Lines",
        f"Half have {middle(totals.lines):,.0f} lines or fewer, the longest {max(totals.lines, default=0):,}.",
        columns("Files by their lines", buckets, unit=" lines") + table(["lines up to", "files"], buckets),
    )


def rules(totals: Totals) -> str:
    """How many rules they have."""
    buckets = _buckets(totals.rules, _RULES, _short)
    return figure(
        "Rules",
        f"Half have {middle(totals.rules):,.0f} allow and disallow lines or fewer, one has"
        f" {max(totals.rules, default=0):,}.",
        columns("Files by their rules", buckets, unit=" rules") + table(["rules up to", "files"], buckets),
    )


def agent_rules(totals: Totals) -> str:
    """How many rules they have for one crawler."""
    buckets = _buckets(totals.agent_rules, _RULES, _short)
    usual = middle(totals.agent_rules)
    rules = "1 rule" if usual == 1 else f"{usual:,.0f} rules"
    return figure(
        "Rules for one crawler",
        f"Where a file names a crawler, or all (*), the median is {rules}.",
        columns("Crawlers named in a file by their rules", buckets, unit=" rules")
        + table(["rules up to", "crawlers"], buckets),
    )


def delays(totals: Totals) -> str:
    """Which delays they ask for."""
    buckets = _buckets(totals.delays, _DELAYS, _short)
    share = percent(totals.share(len(totals.delays)))
    return figure(
        "Crawl-delay",
        f"{share} of the files ask for one; of several the longest counts, half of them"
        f" {middle(totals.delays):g} s or less.",
        columns("Files by their longest Crawl-delay in seconds", buckets, unit=" s")
        + table(["seconds up to", "files"], buckets),
    )


def sitemaps(totals: Totals) -> str:
    """How many sitemaps they name."""
    buckets = _buckets(totals.sitemaps, _SITEMAPS, _short)
    share = percent(totals.share(totals.has["a Sitemap line"]))
    return figure(
        "Sitemaps",
        f"{share} of the files name one; one names {max(totals.sitemaps, default=0):,}.",
        columns("Files by the sitemaps they name", buckets) + table(["sitemaps up to", "files"], buckets),
    )


def _buckets(
    values: Iterable[float], edges: Sequence[float], name: Callable[[float], str]
) -> list[tuple[str, int]]:
    """How many *values* are up to each of *edges*, and how many are more; *name* makes a label of an edge."""
    numbers = [0] * (len(edges) + 1)
    for value in values:
        numbers[bisect_left(edges, value)] += 1
    return list(zip([*map(name, edges), "more"], numbers, strict=True))


def _size(octets: float) -> str:
    return f"{octets / 1_024:g}k" if octets >= 1_024 else f"{octets:g}"


def _short(edge: float) -> str:
    return f"{edge / 1_000:g}k" if edge >= 1_000 else f"{edge:g}"
