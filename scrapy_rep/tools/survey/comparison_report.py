"""The page about dated surveys: what sites block at each date, and crawlers by rank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from scrapy_rep.census.restriction import ALL, OTHERS
from scrapy_rep.protocol.display import shown
from scrapy_rep.tools.answers import day_text
from scrapy_rep.tools.crawlers import AI_CRAWLERS
from scrapy_rep.tools.files import write_csv
from scrapy_rep.tools.page import Part, page_template, percent

from . import comparison as what
from .comparison import Changes, Comparison, dated_events
from .joined import ComparedSurvey
from .totals import AI_CATEGORIES, BLOCKS, Sums

_EVERYONE_ELSE: Final = "every crawler that it does not name"
_RANKED: Final = 20  # crawlers
_DATES_SIDE_BY_SIDE: Final = 4
_FIGURES: Final[dict[str, Callable[[Sums], str]]] = {
    "have a robots.txt": lambda of: _counted(of.files, of.sites),
    "could not be read": lambda of: _counted(of.unreachable, of.sites),
    "block an AI crawler by name": lambda of: _counted(of.of_ai("by name"), of.sites),
    "close everything to an AI crawler": lambda of: _counted(of.of_ai("completely"), of.sites),
    "have an AI-use signal": lambda of: _counted(of.with_signals, of.sites),
    "set a Crawl-delay": lambda of: _counted(of.with_delay, of.sites),
    "have an error in the file": lambda of: _counted(of.with_errors, of.sites) if of.linted else "not known",
}
"""What a survey says in figures."""

_COLOURS: Final = {
    what.OTHER_FILE: "blue", what.NEW_FILE: "green", what.NO_FILE_ANY_MORE: "violet", what.UNREACHABLE: "red",
    what.REACHABLE_AGAIN: "teal", what.CHANGED_BACK: "amber",
}  # fmt: skip
"""What may happen to a site, in order, with the colour of each."""


def write_comparison(surveys: Sequence[ComparedSurvey], when: datetime, page: Path) -> Changes:
    """Write the *page* about *surveys*, two or more, and the events beside it, as CSV; return the sums of changes.

    Raises ``OSError``, and ``ValueError`` for what is no survey, and for fewer than two.
    """
    comparison = Comparison(surveys)
    page.parent.mkdir(parents=True, exist_ok=True)
    with page.with_suffix(".csv").open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        write_csv([("site", "crawler", "date", "from", "to")], file)
        for rows, _ in comparison.changes():  # more than memory holds
            write_csv(dated_events(rows, comparison.dates), file)
    overall = comparison.overall
    text = page_template(__package__, "comparison.html").render(
        date=day_text(when),
        dates=comparison.dates,
        is_dated=comparison.is_dated,
        overall=overall.sites,
        sites=overall.sites[what.SITES],
        left_out=comparison.left_out,
        blocks=[(name, _blocks(comparison, category)) for category, name in AI_CATEGORIES.items()],
        by_name=[sums.of_ai("by name") for sums in comparison.sums],
        domains=[owners.domains() for owners in comparison.owners],
        largest=comparison.owners[-1].largest(),
        ranking=_ranking(comparison),
        figures=[*_figures(comparison)],
        what=[Part(name, overall.sites[name], colour) for name, colour in _COLOURS.items()],
        shut_out=_crawlers(overall.shut_out, "red"),
        let_in=_crawlers(overall.let_in, "green"),
    )
    page.write_text(text, encoding="utf-8")
    return overall


def _figures(comparison: Comparison) -> Iterator[tuple[str, list[str]]]:
    """The surveys in figures, and what changed at each from the one before."""
    for name, figure in _FIGURES.items():
        yield name, [figure(each) for each in comparison.sums]
    for change in (what.CHANGED, what.SHUTTING_OUT, what.LETTING_IN):
        counts = [_counted(step.sites[change], step.sites[what.SITES]) for step in comparison.steps]
        yield f"{change}, since the survey before", ["", *counts]


def _counted(count: int, whole: int) -> str:
    return f"{count:,} ({percent(count, whole)})"


def _blocks(comparison: Comparison, category: str) -> list[tuple[str, list[Part]]]:
    """What the sites block for *category* at each date; those of which that is not known are a part, if any."""
    rows = []
    for date, sums in zip(comparison.dates, comparison.sums, strict=True):
        parts = [Part(name, sums.blocks[category][name], colour) for name, colour in BLOCKS.items()]
        rows.append((date, [*parts, Part("not known", sums.sites - sums.known, "grey")]))
    is_known = all(sums.known == sums.sites for sums in comparison.sums)
    return [(label, parts[:-1] if is_known else parts) for label, parts in rows]


def _ranking(comparison: Comparison) -> dict[str, Any]:
    """The AI crawlers to which most sites close everything by name, date beside date."""
    last = len(comparison.dates) - 1
    ranks_shown = sorted({round(last * place / (_DATES_SIDE_BY_SIDE - 1)) for place in range(_DATES_SIDE_BY_SIDE)})
    columns = [_shut_by_name(comparison.sums[rank]) for rank in ranks_shown]
    ranks = [{name: rank for rank, (name, _) in enumerate(each.most_common(), start=1)} for each in columns]
    names = sorted(
        {name for each in columns for name in each},
        key=lambda name: (-columns[-1][name], -max(each[name] for each in columns), name.lower()),
    )
    return {
        "dates": [comparison.dates[rank] for rank in ranks_shown],
        "left_dates": last + 1 - len(ranks_shown),
        "left": max(len(names) - _RANKED, 0),
        "highest": max((each[name] for each in columns for name in each), default=1),
        "rows": [
            (name, [(each[name], rank.get(name)) for each, rank in zip(columns, ranks, strict=True)])
            for name in names[:_RANKED]
        ],
    }


def _shut_by_name(sums: Sums) -> Counter[str]:
    found = {name: closed[ALL] for name, closed in sums.named.items() if name in AI_CRAWLERS}
    return Counter({name: count for name, count in found.items() if count})


def _crawlers(sites: Counter[str], colour: str) -> list[Part]:
    return [
        Part(_EVERYONE_ELSE if name == OTHERS else shown(name), count, colour)
        for name, count in sites.most_common()
    ]
