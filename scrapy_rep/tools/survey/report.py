"""The report of a survey as one page: the figures, and the list of sites with a page for each.

The page is self-contained: it loads nothing, and runs no script but the one that its policy names. The templates
hold its words, its looks and its charts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from statistics import fmean, median
from typing import Any, Final

from scrapy_rep.tools.crawlers import AI_CRAWLERS, CRAWLERS
from scrapy_rep.tools.lint import Severity
from scrapy_rep.tools.page import MOST_ITEMS, Histogram, Link, Part, Tag, histogram, page_template

from . import HTML_PAGE, KINDS, RESTRICTED, SHUT_OUT, TREATMENTS, UNREACHABLE, WELCOME, WITH_RULES, SiteRecord
from . import totals as sums
from .measure import CONTROL_TOKENS, SIGNALS
from .sites import SEVERITIES, Body, explorer_of, finding_kind, status_tag, tag
from .totals import FIGURES, SimilarFiles, Totals, severity_of

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
    tags = [tag("similar", rank, group.sites[0]) for rank, group in enumerate(similar[:_SIMILAR_FILES])]
    by_sha = {file.sha256: each for each, group in zip(tags, similar, strict=False) for file in group.files}
    return page_template(__package__).render(
        explorer_of(records, body, by_sha).packed(),
        date=f"{when.day} {when:%B %Y}",
        expected=expected,
        not_listed=max(totals.sites - MOST_ITEMS, 0),
        **_shares(totals),
        **_histograms(totals),
        kinds=[
            _part(kind, totals.kinds[kind], colour, tag("serves", kind)) for kind, colour in _KIND_COLOURS.items()
        ],
        responses=[(_link(tag("serves", kind)), count) for kind, count in totals.kinds.most_common()],
        unreachable=_unreachable(totals),
        findings=_findings(totals),
        ai_crawlers=_ai_crawlers(totals),
        agents=_agents(totals),
        signals=_signals(totals),
        line_kinds=_line_kinds(totals),
        features=_features(totals),
        shared=_shared_files(totals),
        similar=_similar_files(similar, tags),
    )


def _part(name: str, count: int, colour: str, to: Tag, extra: int = 0) -> Part:
    return Part(name, count, colour, extra, to.href)


def _link(to: Tag, name: str | int = "") -> Link:
    return Link(name or to.label, to.href)


def _shares(totals: Totals) -> dict[str, Any]:
    """The figures in sentences and tiles, and the means."""
    rows = [(what, totals.figures[name]) for name, what in FIGURES.items()]
    return {
        "sites": totals.sites,
        "files": totals.files,
        "with_rules": totals.kinds[WITH_RULES],
        "html_pages": totals.kinds[HTML_PAGE],
        "with_errors": totals.with_errors,
        "with_star_group": totals.features[sums.STAR_GROUP],
        "with_sitemap": totals.features[sums.SITEMAP],
        "shut_out_ai": totals.features[sums.SHUTS_OUT_AI],
        "shut_out_unnamed": totals.features[sums.SHUTS_OUT_UNNAMED],
        "with_delay": len(totals.delays),
        "means": [(what, fmean(values), round(median(values)), max(values)) for what, values in rows if values],
    }


def _unreachable(totals: Totals) -> dict[str, Any]:
    reasons = [(tag("reason", reason), reason, count) for reason, count in totals.reasons.most_common()]
    return {
        "sites": totals.kinds[UNREACHABLE],
        "bars": [_part(reason, count, "red", to) for to, reason, count in reasons[:_REASONS_IN_CHART]],
        "rows": [(_link(to, reason), count) for to, reason, count in reasons],
        "statuses": [(_link(status_tag(status)), count) for status, count in sorted(totals.statuses.items())],
    }


def _findings(totals: Totals) -> dict[str, Any]:
    """The kinds of findings, errors before notes, and the frequent before the rare."""
    files = totals.finding_sites
    ranked = sorted(files, key=lambda code: (severity_of(code).rank, -files[code], code))
    by_severity = ([code for code in ranked if severity_of(code) is severity] for severity in Severity)
    drawn = [code for codes in by_severity for code in codes[:_FINDINGS_OF_A_SEVERITY]]
    kinds = {code: finding_kind(code) for code in ranked}
    return {
        "severities": dict(SEVERITIES.values()),
        "bars": [_part(kinds[code].title, files[code], kinds[code].colour, kinds[code].tag) for code in drawn],
        "left": len(ranked) - len(drawn),
        "rows": [
            (kind.name, _link(kind.tag, kind.title), files[code], totals.findings[code], kind.text, code)
            for code, kind in kinds.items()
        ],
    }


def _ai_crawlers(totals: Totals) -> dict[str, Any]:
    counts = {name: totals.ai_crawlers[name] for name in AI_CRAWLERS}
    named = [name for name, ways in counts.items() if ways[SHUT_OUT] + ways[RESTRICTED] + ways[WELCOME]]
    ranked = sorted(named, key=lambda name: (-counts[name][SHUT_OUT], name.lower()))
    return {
        "bars": [
            _part(name, counts[name][SHUT_OUT], "red", tag("shuts-out", name), counts[name][RESTRICTED])
            for name in ranked
        ],
        "heads": ["crawler", *TREATMENTS],
        "rows": [(_link(tag("names", name)), *(counts[name][way] for way in TREATMENTS)) for name in ranked],
        "unnamed": len(AI_CRAWLERS) - len(named),
    }


def _agents(totals: Totals) -> dict[str, Any]:
    top = totals.top_agents(_AGENTS_IN_TABLE)
    named = [agent for agent in top if agent.name != "*"]
    known = {crawler.token.lower(): tag("names", crawler.token).href for crawler in CRAWLERS}
    return {
        "number": len(totals.agents.keys() - {"*", ""}),
        "bars": [
            Part(agent.name, agent.sites, "blue", link=known.get(agent.name.lower(), ""))
            for agent in named[:_AGENTS_IN_CHART]
        ],
        "rows": [
            (agent.name, agent.sites, agent.allow, agent.disallow, (agent.allow + agent.disallow) / agent.sites)
            for agent in top
        ],
    }


def _signals(totals: Totals) -> dict[str, Any]:
    rows: list[tuple[str | Link, int, int | str, int | str]] = []
    for signal in SIGNALS.values():
        rows.append((_link(tag("signal", signal)), totals.signals[signal], "", ""))
        said = _no_and_yes(totals.ai_answers[signal])
        rows += [(f"{signal}: {name}", no + yes, no, yes) for name, no, yes in said]
    for token, owner in CONTROL_TOKENS.items():
        ways, name = totals.control_tokens[token], f"{token} ({owner})"
        rows.append((_link(tag("token", token), name), ways.total(), ways[SHUT_OUT], ways[WELCOME]))
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


def _features(totals: Totals) -> dict[str, Any]:
    ranked = [(tag("contains", name), count) for name, count in totals.features.most_common()]
    return {
        "bars": [_part(to.label, count, "violet", to) for to, count in ranked],
        "rows": [(_link(to), count) for to, count in ranked],
    }


def _shared_files(totals: Totals) -> dict[str, Any]:
    shared = totals.shared_files()
    return {
        "files": len(shared),
        "sites": sum(file.count for file in shared),
        "rows": [
            (file.count, file.octets, ", ".join(file.sites[:_SITES_OF_A_FILE])) for file in shared[:_SHARED_FILES]
        ],
    }


def _similar_files(similar: Sequence[SimilarFiles], tags: Iterable[Tag]) -> dict[str, Any]:
    return {
        "groups": len(similar),
        "sites": sum(group.count for group in similar),
        "rows": [
            (
                _link(to, group.count), len(group.files), f"{100 * group.similarity:.0f}%",
                ", ".join(group.sites[:_SITES_OF_A_FILE]),
            )
            for to, group in zip(tags, similar, strict=False)
        ],
    }  # fmt: skip
