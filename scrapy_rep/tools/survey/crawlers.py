"""The crawlers that a survey asks every robots.txt about, and how a file treats them."""

from __future__ import annotations

from typing import Final, TypedDict

from scrapy_rep.protocol import RobotsTxt

AI_CRAWLERS: Final = (
    "GPTBot", "ChatGPT-User", "OAI-SearchBot", "ClaudeBot", "anthropic-ai", "Claude-Web", "CCBot",
    "Google-Extended", "PerplexityBot", "Bytespider", "Amazonbot", "Applebot-Extended", "meta-externalagent",
    "FacebookBot", "cohere-ai", "Diffbot", "YouBot",
)  # fmt: skip
"""Crawlers that collect text for language models, or answer with their help."""

_OTHERS: Final = (
    "Googlebot", "Googlebot-Image", "Googlebot-News", "AdsBot-Google", "Mediapartners-Google", "Bingbot", "Slurp",
    "DuckDuckBot", "Baiduspider", "YandexBot", "Applebot", "PetalBot", "facebookexternalhit", "Twitterbot",
    "ia_archiver", "archive.org_bot", "AhrefsBot", "SemrushBot", "MJ12bot", "DotBot", "BLEXBot", "DataForSeoBot",
)  # fmt: skip

SHUT_OUT, RESTRICTED, WELCOME, AS_ALL = "shut out", "restricted", "welcome", "shut out as all"
"""How a site treats a crawler: it disallows ``/`` to its name, disallows something else to its name,
disallows nothing to its name, or disallows ``/`` to every crawler that it does not name."""


class Treatment(TypedDict):
    """How a file treats a crawler that it names.

    ``line`` is that of the rule that decides about ``/``, or of the user-agent line when no rule does.
    """

    treatment: str
    line: int


def known_crawlers() -> tuple[str, ...]:
    """The product tokens of well-known crawlers, those of AI first. The one place that says which they are."""
    return AI_CRAWLERS + _OTHERS


def named_crawlers(robotstxt: RobotsTxt) -> dict[str, Treatment]:
    """How *robotstxt* treats each of `known_crawlers` that it names."""
    return {
        name: {"treatment": treatment(robotstxt, name), "line": _line(robotstxt, name)}
        for name in known_crawlers()
        if robotstxt.has_group(name)
    }


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
