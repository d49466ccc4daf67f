"""The page about dated surveys: lines over time, their figures, who newly closes everything to whom, and sites."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any, Final

from scrapy_rep.census.restriction import ALL, PART
from scrapy_rep.tools.answers import day_text
from scrapy_rep.tools.crawlers import COMMON_AI_CRAWLERS, Category
from scrapy_rep.tools.page import Link, Part, Tag, mean, median, page_template, percent
from scrapy_rep.tools.page.lines import LineChart, Series

from . import comparison as what
from .changed_sites import COLOURS, explorer_of, tag
from .comparison import Changes, Comparison
from .joined import ComparedSurvey, Survey
from .totals import ANY_AI, DELAY, Sums

_CRAWLERS_IN_CHART: Final = 20
_SMALL_LINES: Final = 12  # crawlers with a line, of those in the table

_CATEGORIES: Final = {
    ANY_AI: "red", str(Category.TRAINING): "blue", str(Category.SEARCH): "amber",
    str(Category.USER_REQUEST): "teal",
}  # fmt: skip
"""The lines of categories, with their colours."""

_FIGURES: Final[dict[str, Callable[[Sums], str]]] = {
    "sites": lambda of: f"{of.sites:,}",
    "have a robots.txt": lambda of: percent(of.files, of.sites),
    "could not be read": lambda of: percent(of.unreachable, of.sites),
    "of the files contain an error": lambda of: percent(of.with_errors, of.linted) if of.linted else "not known",
    "of the files close everything to an AI crawler by name": lambda of: percent(of.shutting_out_ai, of.files),
    "of the files have an AI-use signal": lambda of: percent(of.with_signals, of.files),
    "of the files set a Crawl-delay": lambda of: percent(of.figures[DELAY].total(), of.files),
    "longest Crawl-delay of a file, median, s": (
        lambda of: f"{median(of.figures[DELAY]):g}" if of.figures[DELAY] else ""
    ),
    "bytes, median": lambda of: f"{median(of.figures['bytes']):,.0f}",
    "lines, mean": lambda of: f"{mean(of.figures['lines']):,.1f}",
    "rules, mean": lambda of: f"{mean(of.figures['rules']):,.1f}",
    "User-agent lines, mean": lambda of: f"{mean(of.figures['user_agent_fields']):,.1f}",
}
"""What a survey says in figures."""

_CHANGES: Final = (
    what.IN_BOTH, what.CHANGED, what.SHUTTING_OUT, what.LETTING_IN, what.NEW_FILE, what.NO_FILE_ANY_MORE,
    what.UNREACHABLE, what.REACHABLE_AGAIN, what.APPEARED, what.GONE,
)  # fmt: skip
"""What two surveys say about the sites."""


def comparison_report(surveys: Sequence[ComparedSurvey], when: datetime) -> tuple[str, Changes]:
    """Return the page about *surveys*, two or more, and the sums of changes between the first and the last.

    Raises ``OSError``, and ``ValueError`` for what is no survey, and for fewer than two.
    """
    comparison = Comparison(surveys)
    explorer, overall = explorer_of(comparison), comparison.overall
    dates = [survey.label for survey in comparison.surveys]
    page = page_template(__package__, "comparison.html").render(
        explorer.packed(),
        date=day_text(when),
        dates=dates,
        is_dated=all(survey.when for survey in comparison.surveys),
        overall=overall.sites,
        in_every=comparison.same[0].sites,
        known=comparison.known[0].sites,
        charts=dict(_charts(comparison)),
        agents=_agents(comparison),
        figures=[(name, [figure(each) for each in comparison.all]) for name, figure in _FIGURES.items()],
        steps=[(name, [each.sites[name] for each in comparison.steps]) for name in _CHANGES],
        what=[_part(name, overall.sites[name], colour) for name, colour in COLOURS.items() if overall.sites[name]],
        crawlers=_crawlers(comparison),
    )
    return page, overall


# Lines over time


def _charts(comparison: Comparison) -> Iterator[tuple[str, LineChart]]:
    same, dates, times = comparison.same, [each.label for each in comparison.surveys], _times(comparison.surveys)
    if comparison.known[0].sites:
        for name, levels in (("everything", [ALL]), ("something", [ALL, PART])):
            series = [
                Series(category, colour, [_closing(each, category, levels) for each in comparison.known])
                for category, colour in _CATEGORIES.items()
            ]
            yield name, LineChart(dates, series, times=times)
    if same[0].sites:
        shares = {
            "files": Series("have a robots.txt", "green", [each.files / each.sites for each in same]),
            "signals": Series("have a signal", "violet", _of_files(same, lambda of: of.with_signals)),
            "delays": Series("set a Crawl-delay", "blue", _of_files(same, lambda of: of.figures[DELAY].total())),
        }
        yield from ((name, LineChart(dates, [series], times=times)) for name, series in shares.items())
        sizes = [median(each.figures["bytes"]) if each.files else None for each in same]
        yield "bytes", LineChart(dates, [Series("median size", "teal", sizes)], times=times, unit="bytes")


def _closing(sums: Sums, category: str, levels: Sequence[str]) -> float:
    """The share of the sites that close so much to a crawler of *category*."""
    return sum(sums.categories[category][level] for level in levels) / sums.sites


def _times(surveys: Sequence[Survey]) -> list[float] | None:
    """Where the surveys are in time, None unless each has a time of its own."""
    times = [survey.when.timestamp() for survey in surveys if survey.when]
    is_known = len(times) == len(surveys) and all(one < other for one, other in pairwise(times))
    return times if is_known else None


def _of_files(surveys: Sequence[Sums], count: Callable[[Sums], int]) -> list[float | None]:
    return [count(each) / each.files if each.files else None for each in surveys]


def _agents(comparison: Comparison) -> dict[str, Any]:
    """The share of sites that close everything to each common AI crawler, with small lines for the first ones."""
    dates, times = [survey.label for survey in comparison.surveys], _times(comparison.surveys)
    shares = {
        name: [each.shut_to(name) / (each.sites or 1) for each in comparison.known] for name in COMMON_AI_CRAWLERS
    }
    ranked = sorted(shares, key=lambda name: (-shares[name][-1], name.lower()))
    highest = max(max(values) for values in shares.values()) or 1.0
    charts = [
        LineChart(dates, [Series(name, "red", shares[name])], times=times, highest=highest, is_small=True)
        for name in ranked[:_SMALL_LINES]
    ]
    rows = [(name, [percent(each, 1) for each in shares[name]]) for name in ranked]
    return {"charts": charts + [None] * (len(rows) - len(charts)), "rows": rows}


# Changes


def _part(name: str, count: int, colour: str) -> Part:
    return Part(name, count, colour, link=tag("what", name).href)


def _crawlers(comparison: Comparison) -> dict[str, object]:
    """Who newly closes everything to whom: the first survey and the last, and the steps between."""
    shut_out, let_in = comparison.overall.shut_out, comparison.overall.let_in
    ranked = sorted({*shut_out, *let_in}, key=lambda name: (-shut_out[name], -let_in[name], name.lower()))
    bars = [
        Part(name, shut_out[name], "red", let_in[name], tag("shut-out" if shut_out[name] else "let-in", name).href)
        for name in ranked[:_CRAWLERS_IN_CHART]
    ]
    rows = [
        (name, _count(shut_out[name], tag("shut-out", name)), _count(let_in[name], tag("let-in", name)))
        for name in ranked
    ]
    steps = [
        (name, [f"+{each.shut_out[name]:,} −{each.let_in[name]:,}" for each in comparison.steps])
        for name in ranked
    ]
    return {"bars": bars, "rows": rows, "steps": steps}


def _count(number: int, to: Tag) -> Link | int:
    return Link(number, to.href) if number else 0
