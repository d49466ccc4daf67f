"""What a report says about crawlers of AI: what is closed to them, how far sites go, and the signals about AI."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from scrapy_rep.census import FULL, LEVELS, PATTERN, SITEMAP_AND_DELAY
from scrapy_rep.census.measure import SIGNALS
from scrapy_rep.census.restriction import ALL, NONE, OTHERS, PART
from scrapy_rep.tools.crawlers import AI_CRAWLERS, COMMON_AI_CRAWLERS
from scrapy_rep.tools.page import Link, Part

from . import totals as sums
from .sites import link, tag
from .tables import Cell, Share, Tables, files_of, known_of, traits_of
from .totals import ANY_AI, BY_NAME, BY_STAR, Totals

CATEGORIES: Final = {
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


def restrictions(totals: Totals, tables: Tables) -> dict[str, Any]:
    """What is effectively closed to the categories of AI crawlers, and how far the sites go."""
    cells: dict[str, tuple[Cell, ...]] = {
        category: (name, *(_share(totals, category, closes) for closes in (ALL, PART, NONE)))
        for category, name in CATEGORIES.items()
    }
    any_ai = totals.categories[ANY_AI]
    return {
        "known": totals.known,
        "closed": any_ai[ALL] + any_ai[PART],
        "all_closed": any_ai[ALL],
        "bars": [
            _bar(name, totals.categories[category], category)
            for category, name in CATEGORIES.items()
            if totals.known
        ],
        "rows": tables.rows(cells, _all_closed_by_category, known_of),
        "levels": _levels(totals, tables),
        "level_heads": ["level", *_ADDRESSED.values()],
    }


def _bar(name: str, sites: Mapping[str, int], category: str) -> Part:
    to = tag("closes", f"{ALL} to {category}").href if sites[ALL] else ""
    return Part(name, sites[ALL], "red", sites[PART], to)


def _share(totals: Totals, category: str, closes: str) -> Share:
    sites = totals.categories[category][closes]
    to = tag("closes", f"{closes} to {category}").href if sites and closes != NONE else ""
    return Share(sites, totals.known, to)


def _all_closed_by_category(totals: Totals) -> dict[str, int]:
    return {category: sites[ALL] for category, sites in totals.categories.items()}


def _levels(totals: Totals, tables: Tables) -> list[tuple[Cell, ...]]:
    """The number of sites at each level, by the crawlers that are addressed."""
    found = {name: _by_level(totals, name) for name in _ADDRESSED}
    cells: dict[str, tuple[Cell, ...]] = {
        level: (_LEVEL_NAMES[level], *(Share(found[name][level], totals.known) for name in _ADDRESSED))
        for level in LEVELS
    }
    return tables.rows(cells, lambda of: _by_level(of, ANY_AI), known_of)


def _by_level(totals: Totals, name: str) -> dict[str, int]:
    if name == OTHERS:
        sites = Counter({closes: count for (closes, _), count in totals.restriction[OTHERS].items()})
    else:
        sites = totals.categories[name]
    others = totals.sitemap_or_delay[name]
    return {FULL: sites[ALL], PATTERN: sites[PART], SITEMAP_AND_DELAY: others, NONE: sites[NONE] - others}


def ai_crawlers(totals: Totals, tables: Tables) -> dict[str, Any]:
    """What is closed to each AI crawler that is common, or that a file names."""
    ways = {name: totals.closed_to(name) for name in AI_CRAWLERS}
    named = {
        name for name, found in ways.items() if any(by == BY_NAME and count for (_, by), count in found.items())
    }
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
        "rows": tables.rows(
            cells, lambda of: {name: _all_closed(of.closed_to(name)) for name in listed}, known_of
        ),
        "named": len(named),
        "known": len(AI_CRAWLERS),
    }


def _crawler_bar(name: str, ways: Mapping[tuple[str, str], int]) -> Part:
    by_name = ways[ALL, BY_NAME]
    return Part(name, by_name, "red", ways[ALL, BY_STAR], tag("shuts-out", name).href if by_name else "")


def _all_closed(ways: Mapping[tuple[str, str], int]) -> int:
    return ways[ALL, BY_NAME] + ways[ALL, BY_STAR]


def signals(totals: Totals, tables: Tables) -> dict[str, Any]:
    """The signals about the use by AI, and what they answer."""
    cells: dict[str, tuple[str | Link, int, int | str, int | str]] = {}
    for signal in SIGNALS.values():
        cells[signal] = (link("signal", signal), totals.traits["signal", signal], "", "")
        for name, no, yes in _no_and_yes(totals.ai_answers[signal]):
            cells[f"{signal}: {name}"] = (f"{signal}: {name}", no + yes, no, yes)
    together = _no_and_yes(totals.ai_answers[sums.ALL_SIGNALS])
    shown = {key: row for key, row in cells.items() if row[1]}
    return {
        "files": totals.with_signals,
        "bars": [Part(name, no, "red", yes) for name, no, yes in together],
        "rows": tables.rows(shown, _files_by_signal, files_of),
    }


def _files_by_signal(totals: Totals) -> dict[str, int]:
    answers = {
        f"{signal}: {name}": no + yes
        for signal in SIGNALS.values()
        for name, no, yes in _no_and_yes(totals.ai_answers[signal])
    }
    return {**traits_of("signal")(totals), **answers}


def _no_and_yes(said: Mapping[tuple[str, str], int]) -> list[tuple[str, int, int]]:
    """Each category with its numbers of no and of yes."""
    counts = Counter(said)
    return [(name, counts[name, sums.NO], counts[name, sums.YES]) for name in sorted({name for name, _ in said})]
