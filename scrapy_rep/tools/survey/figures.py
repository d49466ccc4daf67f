"""What a report says in figures: how those of the files are distributed, and what is said to crawlers of AI."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from scrapy_rep.census import FULL, LEVELS, PATTERN, SITEMAP_AND_DELAY
from scrapy_rep.census.measure import SIGNALS
from scrapy_rep.census.restriction import ALL, NONE, OTHERS, PART
from scrapy_rep.tools.crawlers import AI_CRAWLERS, COMMON_AI_CRAWLERS
from scrapy_rep.tools.page import Histogram, Part, histogram, mean, median

from .sites import link, tag
from .tables import Cell, Share, Tables
from .totals import ALL_SIGNALS, ANY_AI, BY_NAME, BY_STAR, DELAY, FIGURES, NO, RULES_PER_AGENT, YES, Totals

_LIMITS: Final = {
    "bytes": (128, 256, 512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536),
    "lines": (5, 10, 20, 50, 100, 200, 500, 1_000, 2_000),
    "rules": (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000),
    "user_agent_fields": (0, 1, 2, 3, 5, 10, 20, 50, 100),
    "sitemaps": (0, 1, 2, 5, 10, 50),
    DELAY: (0.5, 1, 2, 5, 10, 20, 30, 60),
    RULES_PER_AGENT: (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000),
}
"""The limits of the columns of a figure."""

_CATEGORIES: Final = {
    ANY_AI: ANY_AI,
    "training": "crawlers for training",
    "search": "crawlers for search",
    "user request": "crawlers at a user's request",
}
"""The categories of AI crawlers, and their names in tables and charts."""

_WAYS: Final = ((ALL, BY_NAME), (PART, BY_NAME), (NONE, BY_NAME), (ALL, BY_STAR), (PART, BY_STAR))
"""What may be closed to a crawler, and how."""

_CRAWLERS_IN_CHART: Final = 24
_LEVEL_NAMES: Final = {
    FULL: "full: everything is closed", PATTERN: "pattern: a part is closed",
    SITEMAP_AND_DELAY: "only a Sitemap or a Crawl-delay", NONE: "none",
}  # fmt: skip
_ADDRESSED: Final = {
    OTHERS: "not named", ANY_AI: ANY_AI, "training": "for training", "search": "for search",
    "user request": "at a user's request",
}  # fmt: skip
"""Whom a level is for."""


def distributions(totals: Totals, tables: Tables) -> dict[str, Any]:
    """The histograms with their tables, the means, and ``highest``: the share of the files that is as high as all
    histograms are, so that they have one scale.
    """
    found = {name: _histogram(totals, name) for name in _LIMITS}
    largest = max(count for name, each in found.items() if name != RULES_PER_AGENT for _, count in each.buckets)
    means = {
        name: (what, mean(values), round(median(values)), max(values))
        for name, what in FIGURES.items()
        if (values := totals.figures[name])
    }
    return {
        "histograms": found,
        "buckets": {name: _buckets(name, each, tables) for name, each in found.items()},
        "highest": largest / totals.files if largest else 1.0,
        "means": tables.rows(means, lambda of: {name: mean(of.figures[name]) for name in FIGURES}),
        "rules_per_agent": [*_rules_per_agent(found[RULES_PER_AGENT].buckets)],
    }


def _histogram(totals: Totals, name: str) -> Histogram:
    return histogram(totals.figures[name], _LIMITS[name], unit=1_024 if name == "bytes" else 1_000)


def _buckets(name: str, found: Histogram, tables: Tables) -> list[Any]:
    of_agents = name == RULES_PER_AGENT
    return tables.rows(
        {label: (label, count) for label, count in found.buckets},
        lambda of: dict(_histogram(of, name).buckets),
        lambda of: of.figures[name].total() if of_agents else of.files,
    )


def _rules_per_agent(buckets: list[tuple[str, int]]) -> Iterator[Part]:
    names = {"0": "0 rules", "1": "1 rule", "more": f"more than {buckets[-2][0]} rules"}
    return (Part(names.get(label, f"up to {label} rules"), count, "blue") for label, count in buckets)


# Crawlers of AI


def restrictions(totals: Totals, tables: Tables) -> dict[str, Any]:
    """What is effectively closed to the categories of AI crawlers, and how far the sites go."""
    levels = {name: _by_level(totals, name) for name in _ADDRESSED}
    any_ai = totals.categories[ANY_AI]
    return {
        "known": totals.known,
        "closed": any_ai[ALL] + any_ai[PART],
        "all_closed": any_ai[ALL],
        "bars": [_bar(totals, *each) for each in _CATEGORIES.items()] if totals.known else [],
        "rows": tables.rows(
            {
                category: (name, *(_share(totals, category, closes) for closes in (ALL, PART, NONE)))
                for category, name in _CATEGORIES.items()
            },
            lambda of: {category: sites[ALL] for category, sites in of.categories.items()},
            lambda of: of.known,
        ),
        "levels": tables.rows(
            {
                level: (_LEVEL_NAMES[level], *(Share(found[level], totals.known) for found in levels.values()))
                for level in LEVELS
            },
            lambda of: _by_level(of, ANY_AI),
            lambda of: of.known,
        ),
        "level_heads": ["level", *_ADDRESSED.values()],
    }


def _bar(totals: Totals, category: str, name: str) -> Part:
    sites = totals.categories[category]
    return Part(name, sites[ALL], "red", sites[PART], _share(totals, category, ALL).href)


def _share(totals: Totals, category: str, closes: str) -> Share:
    sites = totals.categories[category][closes]
    to = tag("closes", f"{closes} to {category}").href if sites and closes != NONE else ""
    return Share(sites, totals.known, to)


def _by_level(totals: Totals, name: str) -> dict[str, int]:
    """The number of sites at each level, for those that *name* addresses."""
    sites = totals.categories[name]
    if name == OTHERS:
        sites = Counter({closes: count for (closes, _), count in totals.restriction[OTHERS].items()})
    others = totals.sitemap_or_delay[name]
    return {FULL: sites[ALL], PATTERN: sites[PART], SITEMAP_AND_DELAY: others, NONE: sites[NONE] - others}


def ai_crawlers(totals: Totals, tables: Tables) -> dict[str, Any]:
    """What is closed to each AI crawler that is common, or that a file names."""
    ways = {name: totals.closed_to(name) for name in AI_CRAWLERS}
    named = {name for name, found in ways.items() if any(found[way] for way in _WAYS if way[1] == BY_NAME)}
    listed = [name for name in AI_CRAWLERS if name in named or (name in COMMON_AI_CRAWLERS and totals.known)]
    listed.sort(key=lambda name: (-ways[name][ALL, BY_NAME], name.lower()))
    cells: dict[str, tuple[Cell, ...]] = {
        name: (
            link("names", name) if name in named else name,
            str(AI_CRAWLERS[name]),
            *(ways[name][way] for way in _WAYS),
        )
        for name in listed
    }
    return {
        "bars": [_crawler_bar(name, ways[name]) for name in listed[:_CRAWLERS_IN_CHART]],
        "left": len(listed[_CRAWLERS_IN_CHART:]),
        "heads": ["crawler", "for", *(f"{closes}, {by}" for closes, by in _WAYS)],
        "rows": tables.rows(cells, lambda of: {name: of.shut_to(name) for name in listed}, lambda of: of.known),
        "named": len(named),
        "known": len(AI_CRAWLERS),
    }


def _crawler_bar(name: str, ways: Mapping[tuple[str, str], int]) -> Part:
    by_name = ways[ALL, BY_NAME]
    return Part(name, by_name, "red", ways[ALL, BY_STAR], tag("shuts-out", name).href if by_name else "")


def signals(totals: Totals, tables: Tables) -> dict[str, Any]:
    """The signals about the use by AI, and what they answer."""
    cells: dict[str, tuple[Cell, ...]] = {}
    for signal in SIGNALS.values():
        if files := totals.traits["signal", signal]:
            cells[signal] = (link("signal", signal), files, "", "")
        for name, no, yes in _no_and_yes(totals, signal):
            cells[f"{signal}: {name}"] = (f"{signal}: {name}", no + yes, no, yes)
    return {
        "files": totals.with_signals,
        "bars": [Part(name, no, "red", yes) for name, no, yes in _no_and_yes(totals, ALL_SIGNALS)],
        "rows": tables.rows(cells, _files_by_signal, lambda of: of.files),
    }


def _files_by_signal(totals: Totals) -> dict[str, int]:
    answers = {
        f"{signal}: {name}": no + yes
        for signal in SIGNALS.values()
        for name, no, yes in _no_and_yes(totals, signal)
    }
    return {**dict(totals.ranked("signal")), **answers}


def _no_and_yes(totals: Totals, signal: str) -> list[tuple[str, int, int]]:
    """Each category with its numbers of no and of yes."""
    counts = totals.ai_answers[signal]
    return [(name, counts[name, NO], counts[name, YES]) for name in sorted({name for name, _ in counts})]
