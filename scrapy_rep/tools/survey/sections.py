"""The parts of the report: each a chart, a sentence that says what it shows, and its table."""

from __future__ import annotations

from typing import Final

from scrapy_rep.protocol import CODES

from .charts import Bar, bars, figure, percent, stripe, table, text
from .measure import AI_CRAWLERS, AS_ALL, RESTRICTED, SHUT_OUT, WELCOME
from .totals import AI_SHUT_OUT, GROUP_FOR_ALL, NO_FILE, OF_A_PAGE, UNREAD, WITH_RULES, Totals

_KINDS: Final = {
    WITH_RULES: "good", "without rules": "c3", "empty": "c2", "a page instead": "warn", NO_FILE: "mute",
    "unreachable": "bad",
}  # fmt: skip
_LINES: Final = {"disallow": "c1", "allow": "good", "user-agent": "c2", "sitemap": "c3"}
_SILENT: Final = ("comment", "blank")
_SEVERITIES: Final = {"error": "bad", "warning": "warn", "optimise": "c1", "note": "mute"}
_AGENTS, _FINDINGS, _SHARED = 20, 18, 30


def having(totals: Totals) -> str:
    """What the sites answered."""
    parts = [(kind, float(totals.kinds[kind]), colour) for kind, colour in _KINDS.items()]
    rows: list[tuple[str, int]] = [*totals.kinds.most_common()]
    rows += [(f"HTTP status {status}", number) for status, number in sorted(totals.statuses.items())]
    rows += totals.problems.most_common()
    return figure(
        "What the sites have",
        f"{totals.with_file:,} of {totals.sites:,} sites have a robots.txt,"
        f" {totals.kinds[WITH_RULES]:,} of them one with rules.",
        stripe("Sites by what they have", parts) + table(["", "sites"], rows),
        span="whole",
    )


def ai_crawlers(totals: Totals) -> str:
    """Who shuts out the crawlers of language models."""
    order = sorted(AI_CRAWLERS, key=lambda name: (-totals.ai_crawlers[name][SHUT_OUT], name))
    rows = [
        Bar(name, said[SHUT_OUT], percent(totals.share(said[SHUT_OUT])), "bad", ((said[RESTRICTED], "warn"),))
        for name, said in ((name, totals.ai_crawlers[name]) for name in order)
    ]
    states = (SHUT_OUT, RESTRICTED, WELCOME, AS_ALL)
    data = [(name, *(totals.ai_crawlers[name][state] for state in states)) for name in order]
    share = percent(totals.share(totals.has[AI_SHUT_OUT]))
    return figure(
        "AI crawlers",
        f"{share} of the files shut out one of these, or more, by name.",
        bars("AI crawlers shut out by name", rows)
        + _key(("bad", "named, and not allowed /"), ("warn", "named, with other rules"))
        + table(["crawler", *states], data),
    )


def agents(totals: Totals) -> str:
    """Whom the user-agent lines name, and how much is said to them."""
    top = totals.top_agents(200)
    named = [agent for agent in top if agent.name != "*"][:_AGENTS]
    rows = [Bar(agent.name, agent.sites, percent(totals.share(agent.sites))) for agent in named]
    data = [
        (agent.name, agent.sites, agent.allow, agent.disallow, (agent.allow + agent.disallow) / agent.sites)
        for agent in top
    ]
    number = len(totals.agents.keys() - {"*", ""})
    everybody = percent(totals.share(totals.has[GROUP_FOR_ALL]))
    return figure(
        "Most named crawlers",
        f"{everybody} of the files have a group for all (*); {number:,} names stand in user-agent lines.",
        bars("Crawlers by the share of files that name them", rows)
        + table(["name", "files", "allow", "disallow", "rules per file"], data),
    )


def lines(totals: Totals) -> str:
    """What the lines are."""
    counts = totals.line_kinds
    apart = (*_LINES, *_SILENT, UNREAD, OF_A_PAGE)
    others = sum(number for kind, number in counts.items() if kind not in apart)
    parts = [(kind, float(counts[kind]), colour) for kind, colour in _LINES.items()]
    parts += [
        ("other records", float(others), "warn"),
        (UNREAD, float(counts[UNREAD]), "bad"),
        ("comment or blank", float(sum(counts[kind] for kind in _SILENT)), "mute"),
        (OF_A_PAGE, float(counts[OF_A_PAGE]), "faint"),
    ]
    lost = counts[UNREAD] + counts[OF_A_PAGE]
    return figure(
        "What the lines are",
        f"{counts.total():,} lines; {percent(lost / (counts.total() or 1))} say nothing that anybody reads.",
        stripe("Lines by what they are", parts) + table(["", "lines"], counts.most_common()),
        span="whole",
    )


def findings(totals: Totals) -> str:
    """What the linter finds."""
    most = totals.finding_sites.most_common()
    rows = [
        Bar(_title(code), sites, percent(totals.share(sites)), _SEVERITIES.get(_severity(code), "mute"))
        for code, sites in most[:_FINDINGS]
    ]
    data = [(code, sites, totals.findings[code], _severity(code), _title(code)) for code, sites in most]
    return figure(
        "Most frequent findings",
        "Shares of the files in which scrapy robots lint finds it.",
        bars("Findings by the share of files", rows)
        + _key(*((colour, severity) for severity, colour in _SEVERITIES.items()))
        + table(["code", "files", "findings", "severity", "what it is"], data),
    )


def _severity(code: str) -> str:
    return CODES[code].severity.value if code in CODES else ""


def _title(code: str) -> str:
    return CODES[code].title if code in CODES else code


def features(totals: Totals) -> str:
    """What they use."""
    rows = [Bar(name, sites, percent(totals.share(sites)), "c2") for name, sites in totals.has.most_common()]
    return figure(
        "What they hold",
        "Shares of the files.",
        bars("What the files hold", rows, most=totals.with_file) + table(["", "files"], totals.has.most_common()),
    )


def shared(totals: Totals) -> str:
    """Sites that have the very same file."""
    groups = totals.shared_files()
    sites = sum(group.count for group in groups)
    rows = [(group.count, group.octets, ", ".join(group.sites[:12])) for group in groups[:_SHARED]]
    opened = table(["sites", "octets", "some of them"], rows, summary="Largest groups").replace(
        "<details>", "<details open>", 1
    )
    return figure(
        "The very same file",
        f"{sites:,} sites share a robots.txt, octet by octet, with another one: {len(groups):,} groups.",
        opened if rows else '<p class="none">None.</p>',
        span="whole",
    )


def _key(*colours: tuple[str, str]) -> str:
    items = "".join(f'<li><i class="{colour}"></i>{text(name)}</li>' for colour, name in colours)
    return f'<ul class="key tinted">{items}</ul>'
