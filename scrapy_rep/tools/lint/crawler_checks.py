"""Checks of user-agent lines against the table of known crawlers: misspelt, unknown, retired, not obeying."""

from __future__ import annotations

from typing import Final, NamedTuple

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

_BROWSER: Final = b"mozilla"  # of a User-Agent header, which group_checks reports
_DISOBEYS: Final = {Follows.NOTHING: "does not follow", Follows.PARTLY: "does not always follow"}


class _Named(NamedTuple):
    """The first user-agent line that names a crawler, and its group."""

    agent: Record
    group: Group


def check(subject: Subject, found: Findings) -> None:
    """Look up the crawlers that *subject* names, each once."""
    names = _names(subject)
    unknown = []
    for named in names.values():
        agent = named.agent
        crawler = crawler_of(agent.text)
        meant = crawler_like(agent.text) if crawler is None else None
        if crawler:
            _check_known(crawler, named, names, subject, found)
        elif meant:
            found.add("misspelt-agent", agent.line, subject.value_column(agent), agent.value, meant.token)
        else:
            unknown.append(agent)
    if unknown:
        first, more = unknown[0], len(unknown) - 1
        others = f", nor {'is' if more == 1 else 'are'} {more:,} more of the {len(names):,} names" if more else ""
        found.add("unknown-agent", first.line, subject.value_column(first), first.value, others)


def _names(subject: Subject) -> dict[bytes, _Named]:
    names: dict[bytes, _Named] = {}
    for group in subject.groups:
        for agent in group.agents:
            token = token_in(agent.value, wide=True)
            if token and token.lower() != _BROWSER:
                names.setdefault(token.lower(), _Named(agent, group))
    return names


def _check_known(
    crawler: Crawler, named: _Named, names: dict[bytes, _Named], subject: Subject, found: Findings
) -> None:
    """Report what is known of the *crawler* that is *named*."""
    agent = named.agent
    place = agent.line, subject.value_column(agent)
    if crawler.until:
        has_successor = crawler.instead.lower().encode() in names
        advice = f"Write {crawler.instead}" if crawler.instead and not has_successor else "Remove it"
        found.add("retired-agent", *place, agent.value, crawler.owner, crawler.until, advice)
    elif crawler.follows in _DISOBEYS and any(rule.value and not rule.allow for rule in named.group.rules):
        found.add("agent-ignores-rules", *place, agent.value, crawler.purpose, _DISOBEYS[crawler.follows])
