"""``survey.html``: one page that holds all it shows. It asks no other host for anything and runs no script."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from scrapy_rep.protocol.display import number_of

from . import distributions, sections
from .charts import percent, text
from .style import STYLE
from .totals import AI_SHUT_OUT, EVERYTHING, Totals, middle

_NOTHING_FROM_ELSEWHERE: Final = "default-src 'none'; style-src 'unsafe-inline'"


def report(totals: Totals, when: datetime, *, expected: int) -> str:
    """The page about *totals*; that of a survey that was cut short before the *expected* sites says so."""
    is_whole = totals.sites == expected
    cut = "" if is_whole else f" The survey was interrupted: {expected - totals.sites:,} sites are missing."
    sites = number_of(expected, "site", "sites")
    title = f"robots.txt of {sites}" if is_whole else f"robots.txt of {totals.sites:,} of {sites}"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_NOTHING_FROM_ELSEWHERE}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{STYLE}</style>
</head>
<body>
<main>
<h1>{title}</h1>
<p class="soft">Surveyed on {when.day} {when:%B %Y}.{text(cut)} A record of each site is in survey.jsonl.</p>
<ul class="tiles">
{_tiles(totals)}
</ul>
<div class="cards">
{_cards(totals)}
</div>
<footer>Made by scrapy robots survey. Rules are read as Google reads them (RFC 9309).</footer>
</main>
</body>
</html>
"""


def _cards(totals: Totals) -> str:
    return "\n".join(
        [
            sections.having(totals),
            sections.ai_crawlers(totals),
            sections.agents(totals),
            distributions.sizes(totals),
            distributions.lengths(totals),
            distributions.rules(totals),
            distributions.agent_rules(totals),
            sections.lines(totals),
            sections.findings(totals),
            sections.features(totals),
            distributions.delays(totals),
            distributions.sitemaps(totals),
            sections.shared(totals),
        ]
    )


def _tiles(totals: Totals) -> str:
    twins = sum(group.count for group in totals.shared_files())
    tiles = (
        (percent(totals.with_file / totals.sites if totals.sites else 0), "of the sites have a robots.txt"),
        (_size(middle(totals.sizes)), "is the median size"),
        (f"{middle(totals.rules):,.0f}", "rules in the median file"),
        (percent(totals.share(totals.has[AI_SHUT_OUT])), "shut out an AI crawler by name"),
        (percent(totals.share(totals.has[EVERYTHING])), "let in nobody whom they do not name"),
        (percent(totals.share(totals.has["a Sitemap line"])), "name a sitemap"),
        (percent(totals.share(len(totals.delays))), "ask for a Crawl-delay"),
        (percent(totals.share(twins)), "have the very same file as another site"),
    )
    return "\n".join(f"<li><b>{text(figure)}</b><span>{text(what)}</span></li>" for figure, what in tiles)


def _size(octets: float) -> str:
    return f"{octets / 1_000:,.1f} kB" if octets >= 1_000 else f"{octets:,.0f} B"
