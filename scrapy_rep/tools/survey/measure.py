"""Measure one robots.txt: from its body, and facts of the fetch, to its record.

`measure` is a function of its arguments alone. It needs no Scrapy, opens no file, and goes, as its arguments and
its answer do, to another process.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final

from scrapy_rep.directives.robots_signals import RobotsSignals
from scrapy_rep.directives.terms import is_url
from scrapy_rep.directives.vocabulary import Answer, Signal
from scrapy_rep.protocol import GOOGLE, MAX_SIZE, Dialect, Extension, Group, Kind, Record, RobotsTxt, Rule, parse
from scrapy_rep.protocol.access import is_html
from scrapy_rep.protocol.other_records import seconds
from scrapy_rep.protocol.product_token import is_global, token_in
from scrapy_rep.protocol.records import bom_length
from scrapy_rep.tools.answers import uses
from scrapy_rep.tools.crawlers import AI_CRAWLERS, crawler_of
from scrapy_rep.tools.lint import Finding, findings_in, subject_of
from scrapy_rep.tools.lint.subject import UNNAMED

from . import AS_ALL, RESTRICTED, SHUT_OUT, WELCOME, Counts, SiteRecord, Treatment
from .sketch import sketch

SIGNALS: Final = {
    Kind.CONTENT_SIGNAL: "Content-Signal", Kind.CONTENT_USAGE: "Content-Usage", Kind.LICENSE: "License",
}  # fmt: skip
"""The records about the use by AI that are counted, and their names."""

CONTROL_TOKENS: Final = {"Google-Extended": "Google, 2023-09", "Applebot-Extended": "Apple, 2024-06"}
"""Product tokens that no crawler sends: a group only says what their owner may do with what it crawled. With the
owner, and the month in which it announced the token. Checked on 2026-09-21."""

_LONGEST_NAME: Final = 64  # octets
_LINES_OF_A_FINDING: Final = 100
_RULES: Final = frozenset({Kind.ALLOW, Kind.DISALLOW})

RulesFor = Callable[[str], Iterable[Rule]]
"""What gives the rules for the crawler of a name."""


def measure(
    site: str, body: bytes | None, *, dialect: Dialect = GOOGLE, limit: int = MAX_SIZE, **fetched: Any
) -> SiteRecord:
    """Return the record of *site*, whose robots.txt is *body*, None when there is none.

    *limit* is the number of octets that are parsed; *fetched* holds the record's fields about the fetch.
    """
    if body is None:
        return SiteRecord(site, **fetched)
    subject = subject_of(body, dialect, limit=limit, **_source(site, fetched))
    findings = findings_in(subject)
    # The linter has read it, in one of Google's dialects.
    robotstxt = subject.robotstxt if dialect.is_googles else parse(body, dialect, limit=limit)
    read, rules_for = (subject, subject.rules_for) if dialect.is_googles else (robotstxt, robotstxt.rules)
    records, is_page = read.records, is_html(body)
    kinds = Counter(record.kind for record in records)
    signals = {} if is_page else _signals(records, kinds)
    return SiteRecord(
        site,
        bytes=len(body),
        sha256=sha256(body).hexdigest(),
        is_html=is_page,
        **_line_figures(body, kinds),
        **_record_figures(records, kinds),
        groups=len(read.groups),
        agents=_rules_by_name(read.groups),
        crawl_delays=_crawl_delays(read.extensions) if kinds[Kind.CRAWL_DELAY] else {},
        sitemaps=len({record.value for record in records if record.kind is Kind.SITEMAP}),
        findings=dict(Counter(finding.code for finding in findings)),
        finding_lines=_finding_lines(findings),
        **_treatments(robotstxt, rules_for, [agent for group in read.groups for agent in group.agents]),
        ai_signals=signals,
        ai_answers=_answers(robotstxt, signals),
        sketch="" if is_page else sketch(records),
        **fetched,
    )


def _source(site: str, fetched: Mapping[str, Any]) -> dict[str, Any]:
    """What the linter needs to know about the fetch, if there was one."""
    if not fetched.get("url"):
        return {}
    return {"url": f"{site}/robots.txt", "hops": fetched.get("hops", ()), "status": fetched.get("status")}


def _line_figures(body: bytes, kinds: Mapping[Kind, int]) -> dict[str, Any]:
    lines = body[bom_length(body) :].splitlines()
    if b"\0" in body:  # which ends a line, as for the parser
        lines = [line.partition(b"\0")[0] for line in lines]
    lines = [line.strip() for line in lines]
    blank, comments = lines.count(b""), sum(line.startswith(b"#") for line in lines)
    unread = len(lines) - blank - comments - sum(kinds.values()) + kinds[Kind.UNKNOWN]
    return {
        "lines": len(lines),
        "blank_lines": blank,
        "comment_lines": comments,
        "lines_with_comment": sum(b"#" in line for line in lines) - comments,
        "unread_lines": unread,
        "unread_share": round(unread / len(lines), 6) if lines else 0.0,
    }


def _record_figures(records: Iterable[Record], kinds: Mapping[Kind, int]) -> dict[str, Any]:
    paths = [record.value for record in records if record.kind in _RULES]
    return {
        "records": {kind.value: count for kind, count in kinds.items()},
        "user_agent_fields": kinds[Kind.USER_AGENT],
        "allow": kinds[Kind.ALLOW],
        "disallow": kinds[Kind.DISALLOW],
        "wildcards": sum(b"*" in path for path in paths),
        "anchors": sum(path.endswith(b"$") for path in paths),
    }


def _rules_by_name(groups: Iterable[Group]) -> dict[str, Counts]:
    """The numbers of rules for each name, in its first spelling."""
    found: dict[str, Counts] = {}
    spellings: dict[str, str] = {}
    for group in groups:
        allow = sum(rule.allow for rule in group.rules)
        group_names = (_name(agent.value) for agent in group.agents)
        for name in dict.fromkeys(spellings.setdefault(name.lower(), name) for name in group_names):
            counts = found.setdefault(name, {"allow": 0, "disallow": 0})
            counts["allow"] += allow
            counts["disallow"] += len(group.rules) - allow
    return found


@lru_cache(maxsize=1_024)  # thousands of files name the same few
def _name(value: bytes) -> str:
    """The crawler that a user-agent line with *value* names: ``*``, a token, or empty when it names none."""
    name = b"*" if is_global(value) else token_in(value, wide=True)[:_LONGEST_NAME]
    return name.decode("utf-8", "backslashreplace")


@lru_cache(maxsize=1_024)
def _known_token(value: bytes) -> str | None:
    """The product token of the well-known crawler that a user-agent line with *value* names."""
    crawler = crawler_of(value.decode("utf-8", "surrogateescape"))
    return crawler.token if crawler else None


def _crawl_delays(extensions: Iterable[Extension]) -> dict[str, float]:
    """The last readable Crawl-delay for each name."""
    by_run: dict[int, tuple[tuple[Record, ...], float]] = {}  # thousands of records may share thousands of lines
    for extension in extensions:
        delay = seconds(extension.record.value) if extension.record.kind is Kind.CRAWL_DELAY else None
        if delay is not None:
            by_run[id(extension.agents)] = extension.agents, delay
    return {_name(agent.value): delay for agents, delay in by_run.values() for agent in agents}


def _finding_lines(findings: Iterable[Finding]) -> dict[str, list[int]]:
    """The first lines of each code; line 0 is the whole file."""
    found: dict[str, list[int]] = {}
    for finding in findings:
        lines = found.setdefault(finding.code, [])
        if len(lines) < _LINES_OF_A_FINDING and finding.line not in lines:
            lines.append(finding.line)
    return found


# How crawlers are treated


def _treatments(robotstxt: RobotsTxt, rules_for: RulesFor, agents: Sequence[Record]) -> dict[str, Any]:
    """How the file, with the user-agent lines *agents*, treats crawlers: known ones, those of AI, all others."""
    lines: dict[str, int] = {}
    for agent in agents:
        if token := _known_token(agent.value):
            lines.setdefault(token, agent.line)
    names = {_name(agent.value).lower() for agent in agents}
    control = [name for name in CONTROL_TOKENS if name.lower() in names]
    others = _of_others(robotstxt)
    named = b"\n".join(agent.value for agent in agents).lower()
    found = {}
    for name in dict.fromkeys((*lines, *AI_CRAWLERS, *control)):
        # A line that names it, as Google reads it, starts with its token: most crawlers are in no line.
        may_be_named = _octets(name) in named or not robotstxt.dialect.is_googles
        is_named = may_be_named and robotstxt.has_group(name)
        found[name] = _of_named(name, robotstxt, rules_for) if is_named else others
    return {
        "crawlers": {
            token: {**found[token], "line": found[token]["line"] or line} for token, line in lines.items()
        },
        "ai_crawlers": {name: how for name in AI_CRAWLERS if (how := found[name]["treatment"])},
        "control_tokens": {name: found[name]["treatment"] for name in control},
        "shuts_out": others["treatment"] == AS_ALL,
    }


@lru_cache(maxsize=1_024)
def _octets(name: str) -> bytes:
    return token_in(name.encode(), wide=True).lower()


def _of_named(name: str, robotstxt: RobotsTxt, rules_for: RulesFor) -> Treatment:
    """How the file treats the crawler called *name*, which it names; line 0 if no rule decides about ``/``."""
    verdict = robotstxt.verdict(name, "/")
    if not verdict.allowed:
        how = SHUT_OUT
    else:
        is_restricted = any(not rule.allow and rule.value for rule in rules_for(name))
        how = RESTRICTED if is_restricted else WELCOME
    return {"treatment": how, "line": verdict.line}


def _of_others(robotstxt: RobotsTxt) -> Treatment:
    """How the file treats crawlers that it does not name; an empty treatment if it does not shut them out."""
    # To "google-exact", a line without a token names a crawler without a name.
    verdict = robotstxt.verdict(UNNAMED if robotstxt.has_group("") else "", "/")
    return {"treatment": "" if verdict.allowed else AS_ALL, "line": verdict.line}


# Signals about the use by AI


def _signals(records: Iterable[Record], kinds: Mapping[Kind, int]) -> Counts:
    """The number of lines of each signal; a License counts when it names a URL."""
    if not SIGNALS.keys() & kinds.keys():
        return {}
    signals = (record for record in records if record.kind in SIGNALS)
    return dict(
        Counter(SIGNALS[each.kind] for each in signals if each.kind is not Kind.LICENSE or is_url(each.text))
    )


def _answers(robotstxt: RobotsTxt, signals: Counts) -> dict[str, dict[str, str]]:
    """By signal, the answer for ``/`` to a crawler that no group names, for each category that has one.

    What may not be requested has no preferences. *signals* are what `_signals` counts.
    """
    if not signals or not robotstxt.verdict("", "/").allowed:
        return {}
    said = RobotsSignals.of(robotstxt, "").statements("/")
    stated = {}
    for signal in (Signal.CONTENT_SIGNAL, Signal.CONTENT_USAGE):
        found = uses(one for one in said if one.signal is signal)
        stated[str(signal)] = {use: answer for use, answer in found.items() if answer != Answer.UNKNOWN}
    return {signal: each for signal, each in stated.items() if each}
