"""The crawlers that a survey asks every robots.txt about, and how a file treats them."""

from __future__ import annotations

from typing import TypedDict

from scrapy_rep.protocol import Kind, RobotsTxt
from scrapy_rep.tools.crawlers import AI_CRAWLERS, crawler_of

SHUT_OUT, RESTRICTED, WELCOME, AS_ALL = "shut out", "restricted", "welcome", "shut out as all"
"""How a site treats a crawler: it disallows ``/`` to its name, disallows something else to its name,
disallows nothing to its name, or disallows ``/`` to every crawler that it does not name."""


class Treatment(TypedDict):
    """How a file treats a crawler that it names.

    ``line`` is that of the rule that decides about ``/``, or of the user-agent line when no rule does.
    """

    treatment: str
    line: int


def named_crawlers(robotstxt: RobotsTxt) -> dict[str, Treatment]:
    """How *robotstxt* treats each well-known crawler that it names, by its product token."""
    found = (crawler_of(record.text) for record in robotstxt.records if record.kind is Kind.USER_AGENT)
    tokens = dict.fromkeys(crawler.token for crawler in found if crawler is not None)
    return {token: {"treatment": treatment(robotstxt, token), "line": _line(robotstxt, token)} for token in tokens}


def _line(robotstxt: RobotsTxt, name: str) -> int:
    rule = robotstxt.verdict(name, "/").rule
    return rule.line if rule else min((agent.line for agent in robotstxt.agents_for(name)), default=0)


def ai_crawlers(robotstxt: RobotsTxt) -> dict[str, str]:
    """How *robotstxt* treats those of `AI_CRAWLERS` that it names or shuts out."""
    found = {name: treatment(robotstxt, name) for name in AI_CRAWLERS}
    return {name: how for name, how in found.items() if how}


def treatment(robotstxt: RobotsTxt, name: str) -> str:
    """How the site treats the crawler called *name*; empty when it neither names it nor shuts it out."""
    is_shut_out = not robotstxt.verdict(name, "/").allowed
    if not robotstxt.has_group(name):
        return AS_ALL if is_shut_out else ""
    is_restricted = any(not rule.allow and rule.value for rule in robotstxt.rules(name))
    return SHUT_OUT if is_shut_out else RESTRICTED if is_restricted else WELCOME
