"""The report of a survey: the figures of ``report.html``, computed from the totals.

The page is self-contained: it loads nothing and runs no script. The templates hold its words, its looks and
its charts; this module only computes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from scrapy_rep.protocol import CODES
from scrapy_rep.tools.page.charts import Part, histogram, page_template

from . import totals as kinds
from .measure import AI_CRAWLERS, AS_ALL, RESTRICTED, SHUT_OUT, WELCOME
from .signals import CONTROL_TOKENS, SIGNALS
from .totals import Totals

_SIZES: Final = (128, 256, 512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536)  # octets
_LINES: Final = (5, 10, 20, 50, 100, 200, 500, 1_000, 2_000)
_RULES: Final = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)
_DELAYS: Final = (0.5, 1, 2, 5, 10, 20, 30, 60)  # seconds
_SITEMAPS: Final = (0, 1, 2, 5, 10, 50)

_KIND_COLOURS: Final = {
    kinds.WITH_RULES: "green", kinds.WITHOUT_RULES: "teal", kinds.EMPTY: "violet", kinds.HTML_PAGE: "amber",
    kinds.NO_FILE: "grey", kinds.UNREACHABLE: "red",
}  # fmt: skip
_RECORD_COLOURS: Final = {"disallow": "blue", "allow": "green", "user-agent": "violet", "sitemap": "teal"}
_NOT_RECORDS: Final = (kinds.COMMENT, kinds.BLANK, kinds.UNREADABLE, kinds.HTML_LINE)
_SEVERITY_COLOURS: Final = {"error": "red", "warning": "amber", "optimise": "blue", "note": "grey"}
_AGENTS_IN_CHART, _AGENTS_IN_TABLE, _FINDINGS_IN_CHART, _SHARED_FILES = 20, 200, 18, 30


def report(totals: Totals, when: datetime, *, expected: int) -> str:
    """Return the page about *totals*, which says so when they cover fewer than the *expected* sites."""
    return page_template(__package__).render(figures(totals, when, expected=expected))


def figures(totals: Totals, when: datetime, *, expected: int) -> dict[str, Any]:
    """Return all that the template shows."""
    return {
        "date": f"{when.day} {when:%B %Y}",
        "sites": totals.sites,
        "expected": expected,
        "files": totals.files,
        "kinds": [Part(kind, totals.kinds[kind], colour) for kind, colour in _KIND_COLOURS.items()],
        "responses": _responses(totals),
        "with_rules": totals.kinds[kinds.WITH_RULES],
        "with_star_group": totals.features[kinds.STAR_GROUP],
        "with_sitemap": totals.features[kinds.SITEMAP],
        "shut_out_ai": totals.features[kinds.SHUTS_OUT_AI],
        "shut_out_unnamed": totals.features[kinds.SHUTS_OUT_UNNAMED],
        "with_delay": len(totals.delays),
        "ai_crawlers": _ai_crawlers(totals),
        "signals": _signals(totals),
        "agents": _agents(totals),
        "sizes": histogram(totals.sizes, _SIZES, unit=1_024),
        "lines": histogram(totals.lines, _LINES),
        "rules": histogram(totals.rules, _RULES),
        "rules_per_agent": histogram(totals.rules_per_agent, _RULES),
        "delays": histogram(totals.delays, _DELAYS),
        "sitemaps": histogram(totals.sitemaps, _SITEMAPS),
        "line_kinds": _line_kinds(totals),
        "findings": _findings(totals),
        "features": {
            "bars": [Part(name, count, "violet") for name, count in totals.features.most_common()],
            "rows": totals.features.most_common(),
        },
        "shared": _shared_files(totals),
    }


def _responses(totals: Totals) -> list[tuple[str, int]]:
    statuses = [(f"HTTP status {status}", count) for status, count in sorted(totals.statuses.items())]
    return [*totals.kinds.most_common(), *statuses, *totals.problems.most_common()]


def _ai_crawlers(totals: Totals) -> dict[str, Any]:
    treatments = (SHUT_OUT, RESTRICTED, WELCOME, AS_ALL)
    ranked = sorted(AI_CRAWLERS, key=lambda name: (-totals.ai_crawlers[name][SHUT_OUT], name))
    counts = [(name, totals.ai_crawlers[name]) for name in ranked]
    return {
        "bars": [Part(name, count[SHUT_OUT], "red", count[RESTRICTED]) for name, count in counts],
        "heads": ["crawler", *treatments],
        "rows": [(name, *(count[treatment] for treatment in treatments)) for name, count in counts],
    }


def _signals(totals: Totals) -> dict[str, Any]:
    together = totals.ai_answers[kinds.ALL_SIGNALS]
    rows: list[tuple[str, int, int | str, int | str]] = []
    for signal in SIGNALS:
        said = totals.ai_answers[signal]
        rows.append((signal, totals.signals[signal], "", ""))
        rows += [(f"{signal}: {name}", no + yes, no, yes) for name, no, yes in _no_and_yes(said)]
    for token in CONTROL_TOKENS:
        ways = totals.control_tokens[token.name]
        name = f"{token.name} ({token.owner}, {token.since})"
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
    return {
        "number": len(totals.agents.keys() - {"*", ""}),
        "bars": [Part(agent.name, agent.sites, "blue") for agent in named[:_AGENTS_IN_CHART]],
        "rows": [
            (agent.name, agent.sites, agent.allow, agent.disallow, (agent.allow + agent.disallow) / agent.sites)
            for agent in top
        ],
    }


def _line_kinds(totals: Totals) -> dict[str, Any]:
    counts = totals.line_kinds
    others = sum(count for kind, count in counts.items() if kind not in (*_RECORD_COLOURS, *_NOT_RECORDS))
    return {
        "total": counts.total(),
        "ignored": counts[kinds.UNREADABLE] + counts[kinds.HTML_LINE],
        "parts": [
            *(Part(kind, counts[kind], colour) for kind, colour in _RECORD_COLOURS.items()),
            Part("other records", others, "amber"),
            Part(kinds.UNREADABLE, counts[kinds.UNREADABLE], "red"),
            Part("comment or blank", counts[kinds.COMMENT] + counts[kinds.BLANK], "grey"),
            Part(kinds.HTML_LINE, counts[kinds.HTML_LINE], "faint"),
        ],
        "rows": counts.most_common(),
    }


def _findings(totals: Totals) -> dict[str, Any]:
    rows = []
    for code, files in totals.finding_sites.most_common():
        known = CODES.get(code)  # a survey that is resumed may have codes of another version
        severity, title = (known.severity.value, known.title) if known else ("", code)
        rows.append((code, files, totals.findings[code], severity, title))
    return {
        "severities": _SEVERITY_COLOURS,
        "bars": [
            Part(title, files, _SEVERITY_COLOURS.get(severity, "grey"))
            for _, files, _, severity, title in rows[:_FINDINGS_IN_CHART]
        ],
        "rows": rows,
    }


def _shared_files(totals: Totals) -> dict[str, Any]:
    shared = totals.shared_files()
    return {
        "files": len(shared),
        "sites": sum(file.count for file in shared),
        "rows": [(file.count, file.octets, ", ".join(file.sites[:12])) for file in shared[:_SHARED_FILES]],
    }
