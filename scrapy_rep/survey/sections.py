"""The parts of the report: each a chart, a sentence that says what it shows, and its table."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from scrapy_rep.protocol import CODES

from .charts import Bar, bars, columns, percent, stripe, table, text
from .measure import AI_CRAWLERS, AS_ALL, RESTRICTED, SHUT_OUT, WELCOME
from .totals import AI_SHUT_OUT, GROUP_FOR_ALL, OF_A_PAGE, UNREAD, Totals, middle

_KINDS: Final = {
    "with rules": "good", "without rules": "c3", "empty": "c2", "a page instead": "warn", "unavailable": "mute",
    "unreachable": "bad",
}  # fmt: skip
_LINES: Final = {"disallow": "c1", "allow": "good", "user-agent": "c2", "sitemap": "c3"}
_SILENT: Final = ("comment", "blank")
_SIZES: Final = (128, 256, 512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536)
_LENGTHS: Final = (5, 10, 20, 50, 100, 200, 500, 1_000, 2_000)
_RULES: Final = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)
_DELAYS: Final = (0.5, 1, 2, 5, 10, 20, 30, 60)
_SITEMAPS: Final = (0, 1, 2, 5, 10, 50)
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
        f"{totals.with_file:,} of {totals.sites:,} sites have a robots.txt.",
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
    everybody = percent(totals.share(totals.has[GROUP_FOR_ALL]))
    return figure(
        "Most named crawlers",
        f"{everybody} of the files have a group for all (*); {len(totals.agents):,} different names stand in"
        " user-agent lines.",
        bars("Crawlers by the share of files that name them", rows)
        + table(["name", "files", "allow", "disallow", "rules per file"], data),
    )


def sizes(totals: Totals) -> str:
    """How large the files are."""
    buckets = _buckets(totals.sizes, _SIZES, _size)
    largest = max(totals.sizes, default=0)
    return figure(
        "Size",
        f"Half of the files have {middle(totals.sizes):,.0f} octets or fewer, the largest {largest:,}."
        " Each column is labelled with its upper end.",
        columns("Files by their size in octets", buckets, unit=" octets")
        + table(["octets up to", "files"], buckets),
    )


def lengths(totals: Totals) -> str:
    """How many lines they have."""
    buckets = _buckets(totals.lines, _LENGTHS, _short)
    return figure(
        "Lines",
        f"Half have {middle(totals.lines):,.0f} lines or fewer, the longest {max(totals.lines, default=0):,}.",
        columns("Files by their lines", buckets, unit=" lines") + table(["lines up to", "files"], buckets),
    )


def rules(totals: Totals) -> str:
    """How many rules they have."""
    buckets = _buckets(totals.rules, _RULES, _short)
    return figure(
        "Rules",
        f"Half have {middle(totals.rules):,.0f} allow and disallow lines or fewer, one has"
        f" {max(totals.rules, default=0):,}.",
        columns("Files by their rules", buckets, unit=" rules") + table(["rules up to", "files"], buckets),
    )


def agent_rules(totals: Totals) -> str:
    """How many rules they have for one crawler."""
    buckets = _buckets(totals.agent_rules, _RULES, _short)
    usual = middle(totals.agent_rules)
    rules = "1 rule" if usual == 1 else f"{usual:,.0f} rules"
    return figure(
        "Rules for one crawler",
        f"Where a file names a crawler, or all (*), the median is {rules}.",
        columns("Crawlers named in a file by their rules", buckets, unit=" rules")
        + table(["rules up to", "crawlers"], buckets),
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


def delays(totals: Totals) -> str:
    """Which delays they ask for."""
    buckets = _buckets(totals.delays, _DELAYS, _short)
    share = percent(totals.share(len(totals.delays)))
    return figure(
        "Crawl-delay",
        f"{share} of the files ask for one; of several the longest counts, half of them"
        f" {middle(totals.delays):g} s or less.",
        columns("Files by their longest Crawl-delay in seconds", buckets, unit=" s")
        + table(["seconds up to", "files"], buckets),
    )


def sitemaps(totals: Totals) -> str:
    """How many sitemaps they name."""
    buckets = _buckets(totals.sitemaps, _SITEMAPS, _short)
    share = percent(totals.share(totals.has["a Sitemap line"]))
    return figure(
        "Sitemaps",
        f"{share} of the files name one; one names {max(totals.sitemaps, default=0):,}.",
        columns("Files by the sitemaps they name", buckets) + table(["sitemaps up to", "files"], buckets),
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


def figure(title: str, said: str, content: str, *, span: str = "half") -> str:
    """A card: a heading, a sentence, and what it is about; *span* is its part of a wide page."""
    return (
        f'<figure class="{span}"><figcaption><h2>{text(title)}</h2><p>{text(said)}</p></figcaption>'
        f"{content}</figure>"
    )


def _key(*colours: tuple[str, str]) -> str:
    items = "".join(f'<li><i class="{colour}"></i>{text(name)}</li>' for colour, name in colours)
    return f'<ul class="key tinted">{items}</ul>'


def _buckets(
    values: Iterable[float], edges: Sequence[float], name: Callable[[float], str]
) -> list[tuple[str, int]]:
    """How many *values* are up to each of *edges*, and how many are more; *name* makes a label of an edge."""
    numbers = [0] * (len(edges) + 1)
    for value in values:
        numbers[bisect_left(edges, value)] += 1
    return list(zip([*map(name, edges), "more"], numbers, strict=True))


def _size(octets: float) -> str:
    return f"{octets / 1_024:g}k" if octets >= 1_024 else f"{octets:g}"


def _short(edge: float) -> str:
    return f"{edge / 1_000:g}k" if edge >= 1_000 else f"{edge:g}"
