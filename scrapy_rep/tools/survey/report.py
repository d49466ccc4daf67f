"""The report of a survey as one page: the figures, and the list of sites. The template has the words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby, islice
from typing import Any, Final

from scrapy_rep.census.restriction import ALL, PART
from scrapy_rep.census.row import KINDS, Row
from scrapy_rep.tools.answers import day_text
from scrapy_rep.tools.crawlers import CRAWLERS
from scrapy_rep.tools.page import MOST_ITEMS, Link, Part, page_template

from .contents import SharedFile, SimilarFiles
from .figures import ai_crawlers, distributions, restrictions, signals
from .sites import SEVERITIES, Body, explorer_of, finding_kind, link, tag
from .tables import Cell, Share, Strata, Tables, Whole
from .totals import ANY_AI, BLANK, COMMENT, UNREADABLE, AgentTotals, Totals

_KIND_COLOURS: Final = dict(
    zip(KINDS, ("green", "teal", "violet", "amber", "amber", "grey", "red", "blue"), strict=True)
)
_RECORD_COLOURS: Final = {"disallow": "blue", "allow": "green", "user-agent": "violet", "sitemap": "teal"}
_AGENTS_IN_CHART, _AGENTS_IN_TABLE, _FINDINGS_OF_A_SEVERITY, _REASONS_IN_CHART = 20, 200, 7, 20
_SHARED_FILES, _SIMILAR_FILES, _SITES_OF_A_FILE = 30, 30, 12


def report(
    totals: Totals,
    when: datetime,
    *,
    expected: int,
    records: Iterable[Row] = (),
    body: Body = lambda _: None,
    by: str = "",
) -> str:
    """Return the page about *totals*, which says so when they cover fewer than the *expected* sites.

    It lists the sites of *records*, with the robots.txt that *body* returns for each. With *by*, a column of the
    list of sites or ``tld``, each table has a column for each of its values; *records* are then all that *totals*
    count. Raises ``ValueError`` for a column that no site has.
    """
    if by and totals.sites and by not in totals.columns:
        raise ValueError(f"no site has a column {by}, only {', '.join(sorted(totals.columns))}")
    similar = totals.contents.similar_files() if totals.linted else []
    shared = totals.contents.shared_files(_SHARED_FILES)
    top = totals.top_agents(_AGENTS_IN_TABLE)
    tags = [tag("similar", str(rank), group.sites[0]) for rank, group in enumerate(similar[:_SIMILAR_FILES])]
    by_sha = {file.sha256: each for each, group in zip(tags, similar, strict=False) for file in group.files}
    names, files = {agent.name.lower() for agent in top}, {file.sha256 for file in shared} | by_sha.keys()
    tables = Tables(Strata(by, totals.columns[by]) if by else None, names, files)
    left = _added(records, tables)
    explorer = explorer_of(left, body, by_sha).packed()
    for _ in left if by else ():  # those that the page does not list
        pass
    return page_template(__package__).render(
        explorer,
        date=day_text(when),
        captured=[day_text(each) for each in totals.captured or ()],
        expected=expected,
        not_listed=max(totals.sites - MOST_ITEMS, 0),
        tables=tables,
        strata=_strata(totals, tables),
        totals=totals,
        **distributions(totals, tables),
        kinds=[Part(kind, totals.traits["serves", kind], colour) for kind, colour in _KIND_COLOURS.items()],
        responses=_rows(totals, "serves", tables, lambda of: of.sites),
        unreachable=_unreachable(totals, tables),
        findings=_findings(totals, tables),
        restrictions=restrictions(totals, tables),
        ai_crawlers=ai_crawlers(totals, tables),
        agents=_agents(totals, top, tables),
        signals=signals(totals, tables),
        line_kinds=_line_kinds(totals, tables),
        features={
            "bars": _bars(totals, "contains", "violet"),
            "rows": _rows(totals, "contains", tables, lambda of: of.files),
        },
        shared=_shared_files(totals, shared, tables),
        similar=_similar_files(similar, [each.href for each in tags], tables),
    )


def _added(records: Iterable[Row], tables: Tables) -> Iterator[Row]:
    for record in records:
        tables.add(record)
        yield record


def _bars(totals: Totals, kind: str, colour: str) -> list[Part]:
    return [Part(name, count, colour, link=tag(kind, name).href) for name, count in totals.ranked(kind)]


def _rows(totals: Totals, kind: str, tables: Tables, whole: Whole) -> list[tuple[Cell, ...]]:
    cells = {name: (link(kind, name), count) for name, count in totals.ranked(kind)}
    return tables.rows(cells, lambda of: dict(of.ranked(kind)), whole)


def _strata(totals: Totals, tables: Tables) -> list[tuple[Cell, ...]]:
    """What is counted in each stratum, and in all together."""
    return [_stratum("all", totals), *(_stratum(*each) for each in tables.totals.items())] if tables.by else []


def _stratum(value: str, of: Totals) -> tuple[Cell, ...]:
    closed = of.categories[ANY_AI]
    some = closed[ALL] + closed[PART]
    return (
        value, of.sites, Share(of.files, of.sites), of.known, Share(some, of.known), Share(closed[ALL], of.known)
    )  # fmt: skip


def _unreachable(totals: Totals, tables: Tables) -> dict[str, Any]:
    statuses = _rows(totals, "status", tables, lambda of: of.sites)
    return {
        "bars": _bars(totals, "reason", "red")[:_REASONS_IN_CHART],
        "rows": _rows(totals, "reason", tables, lambda of: of.sites),
        "statuses": sorted(statuses, key=lambda row: row[0].value if isinstance(row[0], Link) else ""),
    }


def _findings(totals: Totals, tables: Tables) -> dict[str, Any]:
    """The kinds of findings, errors before notes, and the frequent before the rare."""
    files = dict(totals.ranked("finding"))
    ranked = [(finding_kind(code), files[code], code) for code in files]
    ranked.sort(key=lambda each: (each[0].rank, -each[1], each[2]))
    by_severity = groupby(ranked, key=lambda each: each[0].severity)
    drawn = [each for _, some in by_severity for each in islice(some, _FINDINGS_OF_A_SEVERITY)]
    cells = {
        code: (kind.name, Link(kind.title, kind.tag.href), count, totals.findings[code], kind.text, code)
        for kind, count, code in ranked
    }
    return {
        "severities": dict(SEVERITIES.values()),
        "bars": [Part(kind.title, count, kind.colour, link=kind.tag.href) for kind, count, _ in drawn],
        "left": len(ranked) - len(drawn),
        "rows": tables.rows(cells, lambda of: dict(of.ranked("finding")), lambda of: of.linted),
    }


def _agents(totals: Totals, top: Sequence[AgentTotals], tables: Tables) -> dict[str, Any]:
    known = {crawler.token.lower(): tag("names", crawler.token).href for crawler in CRAWLERS}
    bars = [Part(each.name, each.sites, "blue", link=known.get(each.name.lower(), "")) for each in top]
    cells = {
        each.name.lower(): (
            each.name,
            each.sites,
            each.allow,
            each.disallow,
            (each.allow + each.disallow) / each.sites,
        )
        for each in top
    }
    return {
        "number": len(totals.agents.keys() - {"*", ""}),
        "bars": [bar for bar in bars if bar.name != "*"][:_AGENTS_IN_CHART],
        "rows": tables.rows(
            cells, lambda of: {name: each.sites for name, each in of.agents.items()}, lambda of: of.files
        ),
    }


def _line_kinds(totals: Totals, tables: Tables) -> dict[str, Any]:
    counts = totals.line_kinds
    unread, blank = counts[UNREADABLE], counts[COMMENT] + counts[BLANK]
    others = counts.total() - unread - blank - sum(counts[kind] for kind in _RECORD_COLOURS)
    return {
        "total": counts.total(),
        "ignored": unread,
        "parts": [
            *(Part(kind, counts[kind], colour) for kind, colour in _RECORD_COLOURS.items()),
            Part("other records", others, "amber"),
            Part(UNREADABLE, unread, "red"),
            Part("comment or blank", blank, "grey"),
        ],
        "rows": tables.rows(
            {kind: (kind, count) for kind, count in counts.most_common()},
            lambda of: of.line_kinds,
            lambda of: of.line_kinds.total(),
        ),
    }


def _shared_files(totals: Totals, shared: Sequence[SharedFile], tables: Tables) -> dict[str, Any]:
    files, sites = totals.contents.shared()
    cells = {file.sha256: (file.count, file.octets, _some(file.sites)) for file in shared}
    return {
        "files": files,
        "sites": sites,
        "rows": tables.rows(cells, lambda of: of.sites_by_file, lambda of: of.files),
    }


def _similar_files(similar: Sequence[SimilarFiles], hrefs: Sequence[str], tables: Tables) -> dict[str, Any]:
    listed = dict(zip(hrefs, similar, strict=False))
    cells = {
        href: (Link(each.count, href), len(each.files), f"{100 * each.similarity:.0f}%", _some(each.sites))
        for href, each in listed.items()
    }

    def sites(of: Totals) -> dict[str, int]:
        return {href: sum(of.sites_by_file[file.sha256] for file in each.files) for href, each in listed.items()}

    return {
        "groups": len(similar),
        "sites": sum(each.count for each in similar),
        "rows": tables.rows(cells, sites, lambda of: of.files),
    }


def _some(sites: Sequence[str]) -> str:
    return ", ".join(sites[:_SITES_OF_A_FILE])
