"""The report of a survey as one page: the figures, and the list of sites. The template has the words."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any, Final

from scrapy_rep.census.restriction import ALL, NONE, PART
from scrapy_rep.census.row import KINDS
from scrapy_rep.tools.answers import day_text
from scrapy_rep.tools.crawlers import AI_CRAWLERS, COMMON_AI_CRAWLERS, CRAWLERS
from scrapy_rep.tools.page import MOST_ITEMS, Part, Share, median, page_template

from .sites import SEVERITIES, SiteExplorer, finding_kind, tag
from .totals import AI_CATEGORIES, BLOCKS, FIGURES_OF_AI, NO, Totals

_KIND_COLOURS: Final = dict(
    zip(KINDS, ("green", "teal", "violet", "amber", "amber", "grey", "red", "blue"), strict=True)
)
_NAMES_LISTED: Final = 200


def report(
    totals: Totals,
    when: datetime,
    *,
    expected: int,
    sites: SiteExplorer,
) -> str:
    """Return the page about *totals*, which says so when they cover fewer than the *expected* sites."""
    return page_template(__package__).render(
        sites.packed(),
        date=day_text(when),
        captured=[day_text(each) for each in totals.captured or ()],
        expected=expected,
        not_listed=max(totals.sites - MOST_ITEMS, 0),
        totals=totals,
        has_statuses=any(kind == "status" for kind, _ in totals.traits) or not totals.files,
        kinds=[_trait("serves", kind, totals.traits["serves", kind], _KIND_COLOURS[kind]) for kind in KINDS],
        blocks=[(name, _blocks(totals, category)) for category, name in AI_CATEGORIES.items()],
        owners=_owners(totals),
        ai_crawlers=_ai_crawlers(totals),
        findings=_findings(totals),
        agents=_agents(totals),
        signals=_ranked(totals, "signal", "blue"),
        answers=_answers(totals),
        reasons=_ranked(totals, "reason", "red"),
        refusals=_ranked(totals, "refuses", "amber"),
        statuses=sorted(_ranked(totals, "status", "blue"), key=lambda part: part.name),
        medians={name: median(values) for name, values in totals.figures.items()},
        shared_sites=totals.owners.shared_sites(),
    )


def _trait(kind: str, name: str, count: int, colour: str) -> Part:
    """A bar whose name leads to its sites."""
    to = tag(kind, name)
    return Part(to.label, count, colour, to.href)


def _ranked(totals: Totals, kind: str, colour: str) -> list[Part]:
    return [_trait(kind, name, count, colour) for name, count in totals.ranked(kind)]


# Crawlers of AI


def _blocks(totals: Totals, category: str) -> list[Part]:
    return [
        Part(blocked, totals.blocks[category][blocked], colour, tag("blocks", f"{category}: {blocked}").href)
        for blocked, colour in BLOCKS.items()
    ]


def _owners(totals: Totals) -> dict[str, Any]:
    """The figures about AI crawlers by site, by registrable domain and by different file; the largest domains."""
    domains, files = totals.owners.domains(), totals.owners.files()
    return {
        "domains": len(totals.owners),
        "figures": {
            figure: (
                figure,
                Share(totals.of_ai(figure), totals.known),
                Share(domains[figure], domains["known"]),
                Share(files[figure], files["known"]),
            )
            for figure in FIGURES_OF_AI
        },
        "largest": [Part(name, count, "teal") for name, count in totals.owners.largest()],
    }


def _ai_crawlers(totals: Totals) -> dict[str, Any]:
    """What is closed by name to each AI crawler that is common, or that a file names."""
    named = [name for name in AI_CRAWLERS if name in totals.named]
    closed = {name: Counter(totals.named.get(name)) for name in {*named, *COMMON_AI_CRAWLERS}}
    listed = sorted(closed, key=lambda name: (-closed[name][ALL], name.lower()))
    return {
        "named": len(named),
        "known": len(AI_CRAWLERS),
        "bars": [_trait("shuts-out", name, closed[name][ALL], "red") for name in listed],
        "rows": [
            (name, str(AI_CRAWLERS[name]), *(closed[name][closes] for closes in (ALL, PART, NONE)))
            for name in listed
        ],
    }


def _answers(totals: Totals) -> list[Part]:
    colours = {True: "red", False: "green"}
    return [
        _trait("answer", name, count, colours[name.endswith(NO)])
        for name, count in sorted(totals.ranked("answer"), key=lambda each: each[0])
    ]


# Sites and files


def _findings(totals: Totals) -> dict[str, Any]:
    """The kinds of findings, errors before notes, and the frequent before the rare."""
    ranked = [(finding_kind(code), count, code) for code, count in totals.ranked("finding")]
    ranked.sort(key=lambda each: (each[0].severity.rank, -each[1], each[2]))
    return {
        "severities": dict(SEVERITIES.values()),
        "bars": [Part(kind.title, count, kind.colour, kind.tag.href) for kind, count, _ in ranked],
    }


def _agents(totals: Totals) -> dict[str, Any]:
    known = {crawler.token.lower(): tag("names", crawler.token).href for crawler in CRAWLERS}
    names = [(name, count) for name, count in totals.agents.most_common() if name not in ("*", "")]
    return {
        "number": len(names),
        "left": len(names[_NAMES_LISTED:]),
        "bars": [Part(name, n, "blue", known.get(name.lower(), "")) for name, n in names[:_NAMES_LISTED]],
    }
