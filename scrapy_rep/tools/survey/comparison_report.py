"""The page about two surveys: the figures before and now, who newly shuts out whom, and each site that changed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from statistics import fmean, median
from typing import Final

from scrapy_rep.tools.page.charts import Link, Part, page_template, percent
from scrapy_rep.tools.page.explorer import Explorer, Tag, link, script, script_hash

from . import totals as kinds
from .changed_sites import COLOURS, COLUMNS, item_of, let_in_tag, rank, row_of, shut_out_tag, tags_of, what_tag
from .comparison import APPEARED, GONE, UNREACHABLE, Comparison
from .records import SurveyFolder
from .sites import MOST_CHARACTERS, MOST_SITES
from .totals import Totals

_CRAWLERS_IN_CHART: Final = 20


def comparison_report(old: SurveyFolder, new: SurveyFolder, when: datetime) -> tuple[str, Comparison]:
    """Return the page about the surveys in the folders *old* and *new*, and the sums.

    Raises ``OSError``, and ``ValueError`` for a folder without a survey.
    """
    comparison, left = Comparison(old, new), MOST_CHARACTERS
    explorer = Explorer("changed sites", COLUMNS, has_signs=True)
    for change in comparison.changes():
        if len(explorer) == MOST_SITES:
            continue  # but count it
        item = item_of(change, old, new, left)
        left -= sum(len(line.text) for line in item.source)
        explorer.add(row_of(change), tags_of(change), item)
    index = explorer.finish(rank)
    page = page_template(__package__, "comparison.html").render(
        date=f"{when.day} {when:%B %Y}",
        comparison=comparison,
        unreachable=comparison.what[UNREACHABLE],
        appeared=comparison.what[APPEARED],
        gone=comparison.what[GONE],
        what=[_part(name, comparison.what[name], colour) for name, colour in COLOURS.items()],
        crawlers=_crawlers(comparison),
        figures=_figures(comparison),
        index=index,
        chunks=explorer.chunks,
        script=script(),
        script_hash=script_hash(),
    )
    return page, comparison


def _part(name: str, count: int, colour: str) -> Part:
    return Part(name, count, colour, link=link(what_tag(name).key) if count else "")


def _crawlers(comparison: Comparison) -> dict[str, object]:
    shut_out, let_in = comparison.shut_out, comparison.let_in
    ranked = sorted({*shut_out, *let_in}, key=lambda name: (-shut_out[name], -let_in[name], name.lower()))
    return {
        "bars": [
            Part(name, shut_out[name], "red", let_in[name], link(tag(name).key))
            for name in ranked[:_CRAWLERS_IN_CHART]
            for tag in [shut_out_tag if shut_out[name] else let_in_tag]
        ],
        "rows": [
            (name, _count(shut_out[name], shut_out_tag(name)), _count(let_in[name], let_in_tag(name)))
            for name in ranked
        ],
    }


def _count(number: int, tag: Tag) -> Link | int:
    return Link(number, link(tag.key)) if number else 0


def _figures(comparison: Comparison) -> list[tuple[str, str, str]]:
    """What a survey says in figures, before and now."""
    rows: dict[str, Callable[[Totals], str]] = {
        "sites": lambda each: f"{each.sites:,}",
        "have a robots.txt": lambda each: percent(each.files, each.sites),
        "could not be read": lambda each: percent(each.kinds[kinds.UNREACHABLE], each.sites),
        "of the files contain an error": lambda each: percent(each.with_errors, each.files),
        "of the files shut out an AI crawler by name": lambda each: percent(
            each.features[kinds.SHUTS_OUT_AI], each.files
        ),
        "of the files have an AI-use signal": lambda each: percent(each.with_signals, each.files),
        "bytes, median": lambda each: f"{median(each.sizes or [0]):,.0f}",
        "lines, mean": lambda each: f"{fmean(each.lines or [0]):,.1f}",
        "rules, mean": lambda each: f"{fmean(each.rules or [0]):,.1f}",
        "User-agent lines, mean": lambda each: f"{fmean(each.user_agents or [0]):,.1f}",
    }
    return [(name, figure(comparison.old), figure(comparison.new)) for name, figure in rows.items()]
