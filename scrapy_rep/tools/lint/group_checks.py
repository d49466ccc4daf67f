"""Checks of user-agent lines and groups: which crawlers they address, and which rules those crawlers miss."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice, pairwise
from typing import Final

from scrapy_rep.protocol import Group, Kind, Record, Rule
from scrapy_rep.protocol.path_pattern import Pattern
from scrapy_rep.protocol.product_token import is_global, token_in

from .finding import Code, Findings, Severity
from .subject import RULES, Subject, is_for_all

CODES: Final[dict[str, Code]] = {
    "no-user-agent": Code(
        Severity.ERROR,
        "No user-agent line",
        "Without a user-agent line the rules apply to no crawler.",
        "Start with “User-agent: *”.",
    ),
    "rule-before-user-agent": Code(
        Severity.ERROR,
        "Rule before any user-agent line",
        "The rule comes before the first user-agent line, so it applies to no crawler.",
        "Move it below a user-agent line.",
    ),
    "empty-user-agent": Code(
        Severity.ERROR,
        "User-agent without a value",
        "The line names no crawler.",
        "Name a crawler, or write “User-agent: *” for all.",
    ),
    "agent-names-nobody": Code(
        Severity.ERROR,
        "User-agent that names no crawler",
        "{0} is not a product token, so it matches no crawler.",
        "Write the crawler's token, made of letters, - and _, such as ExampleBot.",
    ),
    "star-agent-with-text": Code(
        Severity.WARNING,
        "Text after the * of a user-agent line",
        "{0} is not a plain *, and crawlers disagree about its meaning.",
        "Write * alone, or the token of one crawler.",
    ),
    "several-agents": Code(
        Severity.ERROR,
        "Several crawlers on one line",
        "{0} names only {1}: a user-agent line takes one token.",
        "Write a separate user-agent line for each crawler.",
    ),
    "user-agent-header": Code(
        Severity.WARNING,
        "User-Agent header instead of a token",
        "{0} looks like a User-Agent header; crawlers read only the token {1}.",
        "Write only the crawler's token, such as ExampleBot.",
    ),
    "agent-with-other-text": Code(
        Severity.NOTE,
        "Text after a token",
        "Crawlers read only {1} of {0}.",
        "Write {1}.",
    ),
    "group-without-rules": Code(
        Severity.WARNING,
        "Group without rules",
        "No rule follows {0} before the next user-agent line or the end of the file{1}.",
        "Add the missing rules below it, or “Disallow:” to allow everything.",
    ),
    "agent-in-several-groups": Code(
        Severity.WARNING,
        "The same crawler in several groups",
        "{0} already has a group at line {1}; RFC 9309 merges them, but some crawlers use only one.",
        "Put all its rules in one group.",
    ),
    "no-star-group": Code(
        Severity.NOTE,
        "No * group",
        "Crawlers that no group names may request everything.",
        "Add “User-agent: *” with the rules for all other crawlers, or with “Disallow:”.",
    ),
    "named-group-drops-star-rules": Code(
        Severity.NOTE,
        "Named group without the rules for *",
        "{0} follows only its own group, and so ignores {1} at line {2}, which is for *.",
        "Repeat the rules for * that should apply to this group too.",
    ),
}

_LIST: Final = re.compile(rb"[,;|]")
_HEADER: Final = re.compile(rb"mozilla/|\(", re.IGNORECASE)
_STAR_RULES: Final = 8  # rules for * that are looked for in each named group
_STEPS: Final = 100_000  # rules of named groups that are compared with those for *
_STEPS_OF_AN_OCTET: Final = 2
_OCTETS_OF_A_STEP: Final = 1_024


def check(subject: Subject, found: Findings) -> None:
    """Check the user-agent lines and groups of *subject*."""
    _check_order(subject, found)
    for group in subject.groups:
        for agent in group.agents:
            _check_agent(agent, subject, found)
    _check_empty_groups(subject, found)
    by_token = _by_token(subject)
    _check_repeated(subject, by_token, found)
    if subject.groups and not any(map(is_for_all, subject.groups)):
        found.add("no-star-group")
    _check_dropped(subject, by_token, found)


def _check_order(subject: Subject, found: Findings) -> None:
    rules = [record for record in subject.records if record.kind in RULES]
    if not subject.groups:
        if rules:
            found.add("no-user-agent")
        return
    first = subject.groups[0].agents[0].line
    for rule in rules:
        if rule.line > first:
            return
        found.add("rule-before-user-agent", rule.line, subject.column(rule))


def _check_agent(agent: Record, subject: Subject, found: Findings) -> None:
    value = agent.value
    token = token_in(value, wide=subject.dialect.wide_tokens)
    code = _agent_code(value, token)
    if code:
        found.add(code, agent.line, subject.value_column(agent), value, token)


def _agent_code(value: bytes, token: bytes) -> str:
    """The code for the *value* of a user-agent line that is read as *token*; empty when it is fine."""
    if not value:
        return "empty-user-agent"
    if value[:1] == b"*":
        return "star-agent-with-text" if len(value) > 1 else ""
    if _is_header(value):
        return "user-agent-header"
    if not token:
        return "agent-names-nobody"
    if len(token) == len(value):
        return ""
    return "several-agents" if _LIST.search(value) else "agent-with-other-text"


def _is_header(value: bytes) -> bool:
    """Whether *value* looks like a User-Agent header: of a browser, with a comment, or with several products."""
    words = value.split()
    return bool(_HEADER.search(value)) or any(
        b"/" in product and b"/" in other[1:] for product, other in pairwise(words)
    )


def _check_empty_groups(subject: Subject, found: Findings) -> None:
    """Find user-agent lines that are separated from the next one by a blank line, but by no rule."""
    agent: Record | None = None
    for record in subject.records:
        if record.kind in RULES:
            agent = None
        elif record.kind is Kind.USER_AGENT:
            if agent and any(not line.strip() for line in subject.lines[agent.line : record.line - 1]):
                shared = f", so it shares the rules for {record.text} at line {record.line}"
                found.add("group-without-rules", agent.line, subject.column(agent), agent.value, shared)
            agent = record
    if agent:
        found.add("group-without-rules", agent.line, subject.column(agent), agent.value, "")


def _token(agent: Record, *, wide: bool) -> bytes:
    """The token that *agent* addresses, in lower case; empty when it names no crawler."""
    return b"*" if is_global(agent.value) else token_in(agent.value, wide=wide).lower()


def _by_token(subject: Subject) -> dict[bytes, list[Group]]:
    """The groups of each token, in the order of their lines."""
    by_token: dict[bytes, list[Group]] = {}
    for group in subject.groups:
        for token in {_token(agent, wide=subject.dialect.wide_tokens): None for agent in group.agents}:
            if token:
                by_token.setdefault(token, []).append(group)
    return by_token


def _check_repeated(subject: Subject, by_token: dict[bytes, list[Group]], found: Findings) -> None:
    for group in subject.groups:
        for agent in group.agents:
            token = _token(agent, wide=subject.dialect.wide_tokens)
            first = by_token[token][0] if token else group
            if first is not group:
                line = first.agents[0].line
                found.add(
                    "agent-in-several-groups", agent.line, subject.value_column(agent), agent.value, str(line)
                )


def _check_dropped(subject: Subject, by_token: dict[bytes, list[Group]], found: Findings) -> None:
    """Find named groups that lack the rules for *."""
    canonical, wide = subject.dialect.canonical_octets, subject.dialect.wide_tokens
    for_all = [rule for group in by_token.get(b"*", ()) for rule in group.rules]
    star = {rule: _sample(rule, canonical) for rule in _partial(for_all)}
    if not star:
        return
    steps_of_a_rule = 1 + sum(map(len, star.values())) // _OCTETS_OF_A_STEP
    open_to_all = {id(group) for group in subject.groups if is_for_all(group)}
    left = subject.steps(_STEPS_OF_AN_OCTET, _STEPS)
    for token, groups in by_token.items():
        left -= 1 + sum(len(group.rules) for group in groups) * steps_of_a_rule
        if left < 0:
            return
        if not open_to_all.isdisjoint(map(id, groups)):
            continue
        dropped = _dropped(star, groups, canonical)
        if dropped:
            agent = next(each for each in groups[0].agents if _token(each, wide=wide) == token)
            found.add(
                "named-group-drops-star-rules",
                agent.line,
                subject.column(agent),
                agent.value,
                str(dropped),
                str(dropped.line),
            )


def _partial(rules: Iterable[Rule]) -> Iterator[Rule]:
    """Some of *rules* that disallow a part of the site, not all of it."""
    return islice(
        (rule for rule in rules if not rule.allow and rule.value[:1] in b"/*" and rule.value.strip(b"/*$")),
        _STAR_RULES,
    )


def _sample(rule: Rule, canonical: bool) -> bytes:
    """A path that *rule* matches."""
    return b"/a".join(Pattern.of(rule.value, canonical_octets=canonical).pieces)


def _dropped(star: dict[Rule, bytes], groups: list[Group], canonical: bool) -> Rule | None:
    """The first rule in *star* whose sample path no rule of *groups* matches, if *groups* disallow anything."""
    rules = [rule for group in groups for rule in group.rules]
    if not any(rule.value and not rule.allow for rule in rules):
        return None  # it allows everything on purpose
    left = dict(star)
    for rule in rules:
        pattern = Pattern.of(rule.value, canonical_octets=canonical) if rule.value else None
        for each, path in list(left.items()):
            if pattern and pattern.matches(path):
                del left[each]
        if not left:
            return None
    return next(iter(left), None)
