"""One robots.txt to the figures of a record. Pure: body in, figures out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from typing import Any, Final

from scrapy_rep.protocol import GOOGLE, MAX_SIZE, Dialect, Group, Kind, Record, RobotsTxt, parse
from scrapy_rep.protocol.html import is_html
from scrapy_rep.protocol.other_records import extensions, seconds
from scrapy_rep.protocol.plain_reader import groups_in
from scrapy_rep.protocol.product_token import is_global, token_in
from scrapy_rep.protocol.records import bom_length
from scrapy_rep.tools.lint import lint

from .record import Counts, SiteRecord

AI_CRAWLERS: Final = (
    "GPTBot", "ChatGPT-User", "OAI-SearchBot", "ClaudeBot", "anthropic-ai", "Claude-Web", "CCBot",
    "Google-Extended", "PerplexityBot", "Bytespider", "Amazonbot", "Applebot-Extended", "meta-externalagent",
    "FacebookBot", "cohere-ai", "Diffbot", "YouBot",
)  # fmt: skip
"""Crawlers that gather text for language models, or answer with them."""

SHUT_OUT, RESTRICTED, WELCOME, AS_ALL = "shut out", "restricted", "welcome", "shut out as all"
"""What a site says to an AI crawler: named and not allowed ``/``, named with rules, named without, not named."""

_LONGEST_NAME: Final = 64  # octets
_RULES: Final = frozenset({Kind.ALLOW, Kind.DISALLOW})


def measure(
    site: str, body: bytes, *, dialect: Dialect = GOOGLE, limit: int = MAX_SIZE, **about: Any
) -> SiteRecord:
    """The record of *site*, whose robots.txt is *body*; *about* are the fields on how it was had."""
    robots = parse(body, dialect, limit=limit)
    records = robots.records
    groups = tuple(groups_in(records))
    return SiteRecord(
        site=site,
        bytes=len(body),
        sha256=sha256(body).hexdigest(),
        is_html=is_html(body),
        **_of_lines(body, records),
        **_of_records(records),
        groups=len(groups),
        agents=_agents(groups),
        crawl_delays=_crawl_delays(records),
        sitemaps=len(robots.sitemaps),
        findings=dict(
            Counter(finding.code for finding in lint(body, dialect, limit=limit, **_of_fetch(site, about)))
        ),
        ai_crawlers=_ai_crawlers(robots),
        shuts_out=not robots.verdict("", "/").allowed,
        **about,
    )


def _of_fetch(site: str, about: dict[str, Any]) -> dict[str, Any]:
    """What the linter may know of the fetch, if there was one."""
    if not about.get("url"):
        return {}
    return {"url": f"{site}/robots.txt", "hops": about.get("hops", ()), "status": about.get("status")}


def _of_lines(body: bytes, records: Iterable[Record]) -> dict[str, Any]:
    """What the lines are: a NUL ends one, as for the parser."""
    lines = [line.partition(b"\0")[0].strip() for line in body[bom_length(body) :].splitlines()]
    blank = lines.count(b"")
    comments = sum(line.startswith(b"#") for line in lines)
    known = sum(record.kind is not Kind.UNKNOWN for record in records)
    unread = len(lines) - blank - comments - known
    return {
        "lines": len(lines),
        "blank_lines": blank,
        "comment_lines": comments,
        "lines_with_comment": sum(b"#" in line for line in lines) - comments,
        "unread_lines": unread,
        "unread_share": round(unread / len(lines), 6) if lines else 0.0,
    }


def _of_records(records: Iterable[Record]) -> dict[str, Any]:
    kinds = Counter(record.kind.value for record in records)
    paths = [record.value for record in records if record.kind in _RULES]
    return {
        "records": dict(kinds),
        "user_agent_fields": kinds[Kind.USER_AGENT.value],
        "allow": kinds[Kind.ALLOW.value],
        "disallow": kinds[Kind.DISALLOW.value],
        "wildcards": sum(b"*" in path for path in paths),
        "anchors": sum(path.endswith(b"$") for path in paths),
    }


def _agents(groups: Iterable[Group]) -> dict[str, Counts]:
    """The rules for each name: the first spelling of a name stands for all."""
    found: dict[str, Counts] = {}
    spellings: dict[str, str] = {}
    for group in groups:
        allow = sum(rule.allow for rule in group.rules)
        named = (_named(agent.value) for agent in group.agents)
        for name in dict.fromkeys(spellings.setdefault(name.lower(), name) for name in named):
            counts = found.setdefault(name, {"allow": 0, "disallow": 0})
            counts["allow"] += allow
            counts["disallow"] += len(group.rules) - allow
    return found


def _named(value: bytes) -> str:
    """Whom a user-agent line with *value* names: ``*``, or a token with digits and dots; empty for nobody."""
    name = b"*" if is_global(value) else token_in(value, wide=True)[:_LONGEST_NAME]
    return name.decode("utf-8", "backslashreplace")


def _crawl_delays(records: Iterable[Record]) -> dict[str, float]:
    """The last readable Crawl-delay for each name."""
    delays: dict[str, float] = {}
    for each in extensions(records):
        delay = seconds(each.record.value) if each.record.kind is Kind.CRAWL_DELAY else None
        if delay is not None:
            delays.update((_named(agent.value), delay) for agent in each.agents)
    return delays


def _ai_crawlers(robots: RobotsTxt) -> dict[str, str]:
    said: dict[str, str] = {}
    for name in AI_CRAWLERS:
        shut_out = not robots.verdict(name, "/").allowed
        if not robots.has_group(name):
            said |= {name: AS_ALL} if shut_out else {}
        elif shut_out:
            said[name] = SHUT_OUT
        else:
            restricted = any(not rule.allow and rule.value for rule in robots.rules(name))
            said[name] = RESTRICTED if restricted else WELCOME
    return said
