"""The figures of the report of a survey, computed from the totals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from statistics import fmean, median
from typing import Any, Final

from scrapy_rep.tools.crawlers import AI_CRAWLERS, CRAWLERS
from scrapy_rep.tools.lint import Severity
from scrapy_rep.tools.page.charts import Histogram, Link, Part, histogram
from scrapy_rep.tools.page.explorer import Tag, link

from . import tags
from . import totals as kinds
from .crawlers import AS_ALL, RESTRICTED, SHUT_OUT, WELCOME
from .signals import CONTROL_TOKENS, SIGNALS
from .texts import SEVERITY_COLOURS, SEVERITY_NAMES, finding_text, finding_title, severity_of
from .totals import SimilarFiles, Totals

SIMILAR_FILES: Final = 30
"""Groups of nearly identical files in the report, those of most sites."""

_SIZES: Final = (128, 256, 512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536)  # octets
_LINES: Final = (5, 10, 20, 50, 100, 200, 500, 1_000, 2_000)
_RULES: Final = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)
_AGENTS: Final = (0, 1, 2, 3, 5, 10, 20, 50, 100)
_DELAYS: Final = (0.5, 1, 2, 5, 10, 20, 30, 60)  # seconds
_SITEMAPS: Final = (0, 1, 2, 5, 10, 50)

_KIND_COLOURS: Final = {
    kinds.WITH_RULES: "green", kinds.WITHOUT_RULES: "teal", kinds.EMPTY: "violet", kinds.HTML_PAGE: "amber",
    kinds.NO_FILE: "grey", kinds.UNREACHABLE: "red",
}  # fmt: skip
_RECORD_COLOURS: Final = {"disallow": "blue", "allow": "green", "user-agent": "violet", "sitemap": "teal"}
_NOT_RECORDS: Final = (kinds.COMMENT, kinds.BLANK, kinds.UNREADABLE)
_AGENTS_IN_CHART, _AGENTS_IN_TABLE, _FINDINGS_OF_A_SEVERITY, _SHARED_FILES, _SITES_OF_A_FILE = 20, 200, 7, 30, 12


def figures(totals: Totals, similar: Sequence[SimilarFiles], when: datetime, *, expected: int) -> dict[str, Any]:
    """Return all that the template shows besides the list of sites."""
    return {
        "date": f"{when.day} {when:%B %Y}",
        "sites": totals.sites,
        "expected": expected,
        "files": totals.files,
        "kinds": [
            _part(kind, totals.kinds[kind], colour, tags.kind_tag) for kind, colour in _KIND_COLOURS.items()
        ],
        "responses": [(_linked(kind, tags.kind_tag), count) for kind, count in totals.kinds.most_common()],
        "unreachable": _unreachable(totals),
        "with_rules": totals.kinds[kinds.WITH_RULES],
        "html_pages": totals.kinds[kinds.HTML_PAGE],
        "with_errors": totals.with_errors,
        "with_star_group": totals.features[kinds.STAR_GROUP],
        "with_sitemap": totals.features[kinds.SITEMAP],
        "shut_out_ai": totals.features[kinds.SHUTS_OUT_AI],
        "shut_out_unnamed": totals.features[kinds.SHUTS_OUT_UNNAMED],
        "with_delay": len(totals.delays),
        "means": _means(totals),
        "ai_crawlers": _ai_crawlers(totals),
        "signals": _signals(totals),
        "agents": _agents(totals),
        **_histograms(totals),
        "line_kinds": _line_kinds(totals),
        "findings": _findings(totals),
        "features": _features(totals),
        "shared": _shared_files(totals),
        "similar": _similar_files(similar),
    }


def _part(name: str, count: int, colour: str, tag: Callable[[str], Tag], extra: int = 0) -> Part:
    return Part(name, count, colour, extra, link(tag(name).key))


def _linked(name: str, tag: Callable[[str], Tag]) -> Link:
    return Link(name, link(tag(name).key))


def _unreachable(totals: Totals) -> dict[str, Any]:
    statuses = ((tags.status_tag(status), count) for status, count in sorted(totals.statuses.items()))
    return {
        "sites": totals.kinds[kinds.UNREACHABLE],
        "bars": [_part(reason, count, "red", tags.reason_tag) for reason, count in totals.reasons.most_common(20)],
        "rows": [(_linked(reason, tags.reason_tag), count) for reason, count in totals.reasons.most_common()],
        "statuses": [(Link(tag.label, link(tag.key)), count) for tag, count in statuses],
    }


def _means(totals: Totals) -> list[tuple[str, float, int, int]]:
    """The mean, the median and the largest of each figure of a file."""
    rows: dict[str, list[int]] = {
        "bytes": totals.sizes,
        "lines": totals.lines,
        "lines with a comment": totals.comments,
        "User-agent lines": totals.user_agents,
        "Allow and Disallow lines": totals.rules,
        "Sitemap lines": totals.sitemaps,
    }
    return [(name, fmean(values), round(median(values)), max(values)) for name, values in rows.items() if values]


def _ai_crawlers(totals: Totals) -> dict[str, Any]:
    treatments = (SHUT_OUT, RESTRICTED, WELCOME, AS_ALL)
    named = [name for name in AI_CRAWLERS if any(totals.ai_crawlers[name][way] for way in treatments[:3])]
    ranked = sorted(named, key=lambda name: (-totals.ai_crawlers[name][SHUT_OUT], name.lower()))
    counts = [(name, totals.ai_crawlers[name]) for name in ranked]
    return {
        "bars": [
            _part(name, count[SHUT_OUT], "red", tags.shut_out_tag, count[RESTRICTED]) for name, count in counts
        ],
        "heads": ["crawler", *treatments],
        "rows": [
            (_linked(name, tags.named_tag), *(count[treatment] for treatment in treatments))
            for name, count in counts
        ],
        "unnamed": len(AI_CRAWLERS) - len(named),
    }


def _signals(totals: Totals) -> dict[str, Any]:
    together = totals.ai_answers[kinds.ALL_SIGNALS]
    rows: list[tuple[str | Link, int, int | str, int | str]] = []
    for signal in SIGNALS:
        said = totals.ai_answers[signal]
        rows.append((_linked(signal, tags.signal_tag), totals.signals[signal], "", ""))
        rows += [(f"{signal}: {name}", no + yes, no, yes) for name, no, yes in _no_and_yes(said)]
    for token in CONTROL_TOKENS:
        ways = totals.control_tokens[token.name]
        name = Link(f"{token.name} ({token.owner}, {token.since})", link(tags.token_tag(token.name).key))
        rows.append((name, ways.total(), ways[SHUT_OUT], ways[WELCOME]))
    return {
        "files": totals.with_signals,
        "bars": [Part(name, no, "red", yes) for name, no, yes in _no_and_yes(together)],
        "rows": [row for row in rows if row[1]],
    }


def _no_and_yes(said: Mapping[tuple[str, str], int]) -> list[tuple[str, int, int]]:
    """Each category with its numbers of no and of yes."""
    counts = Counter(said)
    return [(name, counts[name, kinds.NO], counts[name, kinds.YES]) for name in sorted({name for name, _ in said})]


def _agents(totals: Totals) -> dict[str, Any]:
    top = totals.top_agents(_AGENTS_IN_TABLE)
    named = [agent for agent in top if agent.name != "*"]
    known = {crawler.token.lower(): link(tags.named_tag(crawler.token).key) for crawler in CRAWLERS}
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


def _histograms(totals: Totals) -> dict[str, Any]:
    """The histograms of files, and the share that is as high as they are, so that they have one scale."""
    found = {
        "sizes": histogram(totals.sizes, _SIZES, unit=1_024),
        "lines": histogram(totals.lines, _LINES),
        "rules": histogram(totals.rules, _RULES),
        "user_agents": histogram(totals.user_agents, _AGENTS),
        "delays": histogram(totals.delays, _DELAYS),
        "sitemaps": histogram(totals.sitemaps, _SITEMAPS),
    }
    largest = max(count for each in found.values() for _, count in each.buckets)
    return {
        **found,
        "highest": largest / totals.files if largest else 1.0,
        "rules_per_agent": _bars_of(histogram(totals.rules_per_agent, _RULES), "rule", "rules"),
    }


def _bars_of(values: Histogram, one: str, many: str) -> dict[str, Any]:
    names = [_range_name(limits, one, many) for limits in _ranges(values)]
    counts = [count for _, count in values.buckets]
    return {
        "bars": [Part(name, count, "blue") for name, count in zip(names, counts, strict=True)],
        "rows": values.buckets,
        "median": values.median,
        "total": sum(counts),
    }


def _ranges(values: Histogram) -> Iterable[tuple[str, str]]:
    labels = [label for label, _ in values.buckets]
    return zip(["", *labels], labels, strict=False)


def _range_name(limits: tuple[str, str], one: str, many: str) -> str:
    below, label = limits
    if label == "more":
        return f"more than {below} {many}"
    return f"{label} {one if label == '1' else many}" if label in {"0", "1"} else f"up to {label} {many}"


def _line_kinds(totals: Totals) -> dict[str, Any]:
    counts = totals.line_kinds
    others = sum(count for kind, count in counts.items() if kind not in (*_RECORD_COLOURS, *_NOT_RECORDS))
    return {
        "total": counts.total(),
        "ignored": counts[kinds.UNREADABLE],
        "parts": [
            *(Part(kind, counts[kind], colour) for kind, colour in _RECORD_COLOURS.items()),
            Part("other records", others, "amber"),
            Part(kinds.UNREADABLE, counts[kinds.UNREADABLE], "red"),
            Part("comment or blank", counts[kinds.COMMENT] + counts[kinds.BLANK], "grey"),
        ],
        "rows": counts.most_common(),
    }


def _findings(totals: Totals) -> dict[str, Any]:
    """The kinds of findings, errors before notes, and the frequent before the rare."""
    files = totals.finding_sites
    ranked = sorted(files, key=lambda code: (severity_of(code).rank, -files[code], code))
    by_severity = ([code for code in ranked if severity_of(code) is severity] for severity in Severity)
    drawn = [code for codes in by_severity for code in codes[:_FINDINGS_OF_A_SEVERITY]]
    links = {code: Link(finding_title(code), link(tags.finding_tag(code).key)) for code in ranked}
    return {
        "severities": {SEVERITY_NAMES[severity]: colour for severity, colour in SEVERITY_COLOURS.items()},
        "bars": [
            Part(finding_title(code), files[code], SEVERITY_COLOURS[severity_of(code)], link=links[code].href)
            for code in drawn
        ],
        "left": len(ranked) - len(drawn),
        "rows": [
            (
                SEVERITY_NAMES[severity_of(code)],
                links[code],
                files[code],
                totals.findings[code],
                finding_text(code),
                code,
            )
            for code in ranked
        ],
    }


def _features(totals: Totals) -> dict[str, Any]:
    ranked = totals.features.most_common()
    return {
        "bars": [_part(name, count, "violet", tags.feature_tag) for name, count in ranked],
        "rows": [(_linked(name, tags.feature_tag), count) for name, count in ranked],
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


def _similar_files(similar: Sequence[SimilarFiles]) -> dict[str, Any]:
    return {
        "groups": len(similar),
        "sites": sum(group.count for group in similar),
        "rows": [
            (
                Link(group.count, link(tags.similar_tag(rank, "").key)), len(group.files),
                f"{100 * group.similarity:.0f}%", ", ".join(group.sites[:_SITES_OF_A_FILE]),
            )
            for rank, group in enumerate(similar[:SIMILAR_FILES])
        ],
    }  # fmt: skip
