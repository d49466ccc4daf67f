"""The report of a survey as one page: the figures, and the list of sites. The template has the words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import groupby, islice
from statistics import fmean, median
from typing import Any, Final

from scrapy_rep.tools.answers import day_text
from scrapy_rep.tools.crawlers import AI_CRAWLERS, CRAWLERS
from scrapy_rep.tools.page import MOST_ITEMS, Histogram, Link, Part, Tag, histogram, page_template

from . import HTML_PAGE, KINDS, RESTRICTED, SHUT_OUT, TREATMENTS, UNREACHABLE, WELCOME, WITH_RULES, SiteRecord
from . import totals as sums
from .measure import CONTROL_TOKENS, SIGNALS
from .sites import SEVERITIES, Body, explorer_of, finding_kind, tag
from .totals import FIGURES, SimilarFiles, Totals

_RULES: Final = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)
_HISTOGRAMS: Final = {
    "bytes": (128, 256, 512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536),
    "lines": (5, 10, 20, 50, 100, 200, 500, 1_000, 2_000),
    "rules": _RULES,
    "user_agent_fields": (0, 1, 2, 3, 5, 10, 20, 50, 100),
    "sitemaps": (0, 1, 2, 5, 10, 50),
}
"""The limits of the columns of a figure of files."""

_DELAYS: Final = (0.5, 1, 2, 5, 10, 20, 30, 60)  # seconds
_KIND_COLOURS: Final = dict(zip(KINDS, ("green", "teal", "violet", "amber", "grey", "red"), strict=True))
_RECORD_COLOURS: Final = {"disallow": "blue", "allow": "green", "user-agent": "violet", "sitemap": "teal"}
_AGENTS_IN_CHART, _AGENTS_IN_TABLE, _FINDINGS_OF_A_SEVERITY, _REASONS_IN_CHART = 20, 200, 7, 20
_SHARED_FILES, _SIMILAR_FILES, _SITES_OF_A_FILE = 30, 30, 12


def report(
    totals: Totals,
    when: datetime,
    *,
    expected: int,
    records: Iterable[SiteRecord] = (),
    body: Body = lambda _: None,
) -> str:
    """Return the page about *totals*, which says so when they cover fewer than the *expected* sites.

    It lists the sites of *records*, with the robots.txt that *body* returns for each.
    """
    similar = totals.similar_files()
    tags = [tag("similar", str(rank), group.sites[0]) for rank, group in enumerate(similar[:_SIMILAR_FILES])]
    by_sha = {file.sha256: each for each, group in zip(tags, similar, strict=False) for file in group.files}
    return page_template(__package__).render(
        explorer_of(records, body, by_sha).packed(),
        date=day_text(when),
        expected=expected,
        not_listed=max(totals.sites - MOST_ITEMS, 0),
        **_shares(totals),
        **_histograms(totals),
        kinds=[
            _part("serves", kind, totals.traits["serves", kind], colour) for kind, colour in _KIND_COLOURS.items()
        ],
        responses=_rows(totals, "serves"),
        unreachable=_unreachable(totals),
        findings=_findings(totals),
        ai_crawlers=_ai_crawlers(totals),
        agents=_agents(totals),
        signals=_signals(totals),
        line_kinds=_line_kinds(totals),
        features={"bars": _bars(totals, "contains", "violet"), "rows": _rows(totals, "contains")},
        shared=_shared_files(totals),
        similar=_similar_files(similar, tags),
    )


def _part(kind: str, name: str, count: int, colour: str, extra: int = 0) -> Part:
    return Part(name, count, colour, extra, tag(kind, name).href)


def _bars(totals: Totals, kind: str, colour: str) -> list[Part]:
    return [_part(kind, name, count, colour) for name, count in totals.ranked(kind)]


def _link(kind: str, name: str, label: str = "") -> Link:
    to = tag(kind, name)
    return Link(label or to.label, to.href)


def _rows(totals: Totals, kind: str) -> list[tuple[Link, int]]:
    return [(_link(kind, name), count) for name, count in totals.ranked(kind)]


def _shares(totals: Totals) -> dict[str, Any]:
    """The figures in sentences and tiles, and the means."""
    rows = [(what, totals.figures[name]) for name, what in FIGURES.items()]
    return {
        "sites": totals.sites,
        "files": totals.files,
        "with_rules": totals.traits["serves", WITH_RULES],
        "html_pages": totals.traits["serves", HTML_PAGE],
        "with_errors": totals.with_errors,
        "with_star_group": totals.traits["contains", sums.STAR_GROUP],
        "with_sitemap": totals.traits["contains", sums.SITEMAP],
        "shut_out_ai": totals.traits["contains", sums.SHUTS_OUT_AI],
        "shut_out_unnamed": totals.traits["contains", sums.SHUTS_OUT_UNNAMED],
        "with_delay": len(totals.delays),
        "means": [(what, fmean(values), round(median(values)), max(values)) for what, values in rows if values],
    }


def _unreachable(totals: Totals) -> dict[str, Any]:
    return {
        "sites": totals.traits["serves", UNREACHABLE],
        "bars": _bars(totals, "reason", "red")[:_REASONS_IN_CHART],
        "rows": _rows(totals, "reason"),
        "statuses": sorted(_rows(totals, "status"), key=lambda row: row[0].value),
    }


def _findings(totals: Totals) -> dict[str, Any]:
    """The kinds of findings, errors before notes, and the frequent before the rare."""
    files = dict(totals.ranked("finding"))
    ranked = [(finding_kind(code), files[code], code) for code in files]
    ranked.sort(key=lambda each: (each[0].rank, -each[1], each[2]))
    by_severity = groupby(ranked, key=lambda each: each[0].severity)
    drawn = [each for _, some in by_severity for each in islice(some, _FINDINGS_OF_A_SEVERITY)]
    return {
        "severities": dict(SEVERITIES.values()),
        "bars": [Part(kind.title, count, kind.colour, link=kind.tag.href) for kind, count, _ in drawn],
        "left": len(ranked) - len(drawn),
        "rows": [
            (kind.name, Link(kind.title, kind.tag.href), count, totals.findings[code], kind.text, code)
            for kind, count, code in ranked
        ],
    }


def _ai_crawlers(totals: Totals) -> dict[str, Any]:
    named = [(name, totals.ai_crawlers[name]) for name in AI_CRAWLERS]
    named = [(name, ways) for name, ways in named if ways[SHUT_OUT] + ways[RESTRICTED] + ways[WELCOME]]
    named.sort(key=lambda each: (-each[1][SHUT_OUT], each[0].lower()))
    return {
        "bars": [_part("shuts-out", name, ways[SHUT_OUT], "red", ways[RESTRICTED]) for name, ways in named],
        "heads": ["crawler", *TREATMENTS],
        "rows": [(_link("names", name), *(ways[treatment] for treatment in TREATMENTS)) for name, ways in named],
        "unnamed": len(AI_CRAWLERS) - len(named),
    }


def _agents(totals: Totals) -> dict[str, Any]:
    top = totals.top_agents(_AGENTS_IN_TABLE)
    known = {crawler.token.lower(): tag("names", crawler.token).href for crawler in CRAWLERS}
    bars = [Part(each.name, each.sites, "blue", link=known.get(each.name.lower(), "")) for each in top]
    return {
        "number": len(totals.agents.keys() - {"*", ""}),
        "bars": [bar for bar in bars if bar.name != "*"][:_AGENTS_IN_CHART],
        "rows": [(each.name, each.sites, each.allow, each.disallow, each.rules / each.sites) for each in top],
    }


def _signals(totals: Totals) -> dict[str, Any]:
    rows: list[tuple[str | Link, int, int | str, int | str]] = []
    for signal in SIGNALS.values():
        rows.append((_link("signal", signal), totals.traits["signal", signal], "", ""))
        said = _no_and_yes(totals.ai_answers[signal])
        rows += [(f"{signal}: {name}", no + yes, no, yes) for name, no, yes in said]
    for token, owner in CONTROL_TOKENS.items():
        ways, name = totals.control_tokens[token], f"{token} ({owner})"
        rows.append((_link("token", token, name), ways.total(), ways[SHUT_OUT], ways[WELCOME]))
    together = _no_and_yes(totals.ai_answers[sums.ALL_SIGNALS])
    return {
        "files": totals.with_signals,
        "bars": [Part(name, no, "red", yes) for name, no, yes in together],
        "rows": [row for row in rows if row[1]],
    }


def _no_and_yes(said: Mapping[tuple[str, str], int]) -> list[tuple[str, int, int]]:
    """Each category with its numbers of no and of yes."""
    counts = Counter(said)
    return [(name, counts[name, sums.NO], counts[name, sums.YES]) for name in sorted({name for name, _ in said})]


def _histograms(totals: Totals) -> dict[str, Any]:
    """The histograms of files, and the share that is as high as they are, so that they have one scale."""
    found = {
        name: histogram(totals.figures[name], limits, unit=1_024 if name == "bytes" else 1_000)
        for name, limits in _HISTOGRAMS.items()
    }
    found["delays"] = histogram(totals.delays, _DELAYS)
    largest = max(count for each in found.values() for _, count in each.buckets)
    return {
        "histograms": found,
        "highest": largest / totals.files if largest else 1.0,
        "rules_per_agent": _rules_per_agent(histogram(totals.rules_per_agent, _RULES)),
    }


def _rules_per_agent(values: Histogram) -> dict[str, Any]:
    names = ["0 rules", "1 rule", *(f"up to {label} rules" for label, _ in values.buckets[2:-1])]
    names.append(f"more than {values.buckets[-2][0]} rules")
    counts = [count for _, count in values.buckets]
    return {
        "bars": [Part(name, count, "blue") for name, count in zip(names, counts, strict=True)],
        "rows": values.buckets,
        "median": values.median,
        "total": sum(counts),
    }


def _line_kinds(totals: Totals) -> dict[str, Any]:
    counts = totals.line_kinds
    unread, blank = counts[sums.UNREADABLE], counts[sums.COMMENT] + counts[sums.BLANK]
    others = counts.total() - unread - blank - sum(counts[kind] for kind in _RECORD_COLOURS)
    return {
        "total": counts.total(),
        "ignored": unread,
        "parts": [
            *(Part(kind, counts[kind], colour) for kind, colour in _RECORD_COLOURS.items()),
            Part("other records", others, "amber"),
            Part(sums.UNREADABLE, unread, "red"),
            Part("comment or blank", blank, "grey"),
        ],
        "rows": counts.most_common(),
    }


def _shared_files(totals: Totals) -> dict[str, Any]:
    shared = totals.shared_files()
    return {
        "files": len(shared),
        "sites": sum(file.count for file in shared),
        "rows": [(file.count, file.octets, _some(file.sites)) for file in shared[:_SHARED_FILES]],
    }


def _similar_files(similar: Sequence[SimilarFiles], tags: Iterable[Tag]) -> dict[str, Any]:
    return {
        "groups": len(similar),
        "sites": sum(each.count for each in similar),
        "rows": [
            (Link(each.count, to.href), len(each.files), f"{100 * each.similarity:.0f}%", _some(each.sites))
            for to, each in zip(tags, similar, strict=False)
        ],
    }


def _some(sites: Sequence[str]) -> str:
    return ", ".join(sites[:_SITES_OF_A_FILE])
