"""Checks of user-agent lines against the table of known crawlers: misspelt, unknown, retired, not obeying."""

from __future__ import annotations

from typing import Final

from scrapy_rep.protocol import Group, Record
from scrapy_rep.protocol.product_token import token_in
from scrapy_rep.tools.crawlers import Crawler, Follows, crawler_like, crawler_of

from .finding import Code, Findings, Severity
from .subject import Subject

CODES: Final[dict[str, Code]] = {
    "misspelt-agent": Code(
        Severity.WARNING,
        "Misspelled name of a crawler",
        "No known crawler is called {0}; perhaps {1} was meant.",
        "Write {1}.",
    ),
    "unknown-agent": Code(
        Severity.NOTE,
        "Unknown crawler",
        "{0} is the name of no crawler that is known here{1}.",
        "Compare it with what the owner of the crawler documents; a name that no crawler has does nothing.",
    ),
    "retired-agent": Code(
        Severity.NOTE,
        "Retired crawler",
        "{0}, a crawler of {1}, was retired in {2}.",
        "{3}.",
    ),
    "agent-ignores-rules": Code(
        Severity.NOTE,
        "Crawler that does not follow robots.txt",
        "By its documents {0} ({1}) {2} robots.txt.",
        "Do not rely on these rules; block it at the server if it must not come.",
    ),
}

_DISOBEYS: Final = {Follows.NOTHING: "does not follow", Follows.PARTLY: "does not always follow"}


def check(subject: Subject, found: Findings) -> None:
    """Look up the crawlers that *subject* names, each once."""
    names: dict[bytes, tuple[Record, Group]] = {}
    for group in subject.groups:
        for agent in group.agents:
            token = token_in(agent.value, wide=True)
            if token:
                names.setdefault(token.lower(), (agent, group))
    unknown = [agent for agent, group in names.values() if not _is_known(agent, group, subject, found)]
    if unknown:
        more = len(unknown) - 1
        others = f", nor {'is' if more == 1 else 'are'} {more:,} more of the {len(names):,} names" if more else ""
        first = unknown[0]
        found.add("unknown-agent", first.line, subject.value_column(first), first.value, others)


def _is_known(agent: Record, group: Group, subject: Subject, found: Findings) -> bool:
    """Whether the crawler that *agent* names is known, or can be guessed; report what is known of it."""
    crawler = crawler_of(agent.text)
    meant = crawler_like(agent.text) if crawler is None else None
    if meant:
        found.add("misspelt-agent", agent.line, subject.value_column(agent), agent.value, meant.token)
    elif crawler:
        _check_known(crawler, agent, group, subject, found)
    return bool(crawler or meant)


def _check_known(crawler: Crawler, agent: Record, group: Group, subject: Subject, found: Findings) -> None:
    place = agent.line, subject.value_column(agent)
    if crawler.until:
        advice = f"Write {crawler.instead}" if crawler.instead else "Remove it"
        found.add("retired-agent", *place, agent.value, crawler.owner, crawler.until, advice)
    elif crawler.follows in _DISOBEYS and any(rule.value and not rule.allow for rule in group.rules):
        found.add("agent-ignores-rules", *place, agent.value, crawler.purpose, _DISOBEYS[crawler.follows])
