"""Checks of user-agent lines: which crawlers they name, which rules those miss, and how those read the file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice, pairwise
from typing import Final

from scrapy_rep.protocol import DIALECTS, Group, Record, Rule, Verdict, parse
from scrapy_rep.protocol.product_token import is_global, token_in
from scrapy_rep.protocol.records import as_text
from scrapy_rep.tools.crawlers import Crawler, crawler_like, crawler_of, is_misnomer
from scrapy_rep.tools.profiles import DISOBEYS, reading

from .finding import Findings, Prose
from .subject import Subject

_LIST: Final = re.compile(rb"[,;|]")
_NAME: Final = re.compile(rb"[A-Za-z][A-Za-z0-9_. -]*(?:/[0-9.]*)?|\*")
_STARRED: Final = re.compile(rb"\*([A-Za-z][A-Za-z_-]*[A-Za-z])\*?|([A-Za-z][A-Za-z_-]*[A-Za-z])\*")
_PRODUCT: Final = re.compile(rb"compatible;\s*(?!MSIE)([A-Za-z][A-Za-z_-]*[A-Za-z])\b", re.IGNORECASE)
_WORDS: Final = re.compile(rb"[A-Za-z][A-Za-z_-]*[A-Za-z]")
_WITH_VERSION: Final = re.compile(rb"([A-Za-z_-]+)/[0-9.]*")
_HEADER: Final = re.compile(rb"mozilla/|\(", re.IGNORECASE)
_STAR_RULES: Final = 8  # rules for * that are looked for in each named group
_STEPS: Final = 100_000  # rules of named groups that are compared with those for *
_STEPS_OF_AN_OCTET: Final = 2
_OCTETS_OF_A_STEP: Final = 1_024
_NAMES: Final = Prose("Write the whole name of one crawler, without wildcards, or * alone for all crawlers.")
_ALL: Final = Prose("If you mean all crawlers, write * alone.")
_FREE: Final = Prose(", so it may request everything")
BROWSER: Final = b"mozilla"
"""The token of a browser's User-Agent header, in lower case: no crawler goes by it."""


def check(subject: Subject, found: Findings) -> None:
    """Check the user-agent lines and groups of *subject*."""
    _check_order(subject, found)
    _check_empty_groups(subject, found)
    by_token = _by_token(subject)
    for group in subject.groups:
        for agent in group.agents:
            token = token_in(agent.value, wide=False)
            if code := _agent_code(agent.value, token_in(agent.value, wide=subject.dialect.wide_tokens)):
                write = _written(code, agent, token, subject)
                facts = agent.value, token, _NAMES if _WORDS.search(agent.value) else _ALL
                found.add(code, agent.line, subject.value_column(agent), *facts, write=write)
            first = by_token.get(_token(agent, subject), [group])[0]
            if first is not group and _full_name(agent) in map(_full_name, first.agents):
                place = agent.line, subject.value_column(agent)
                found.add("agent-in-several-groups", *place, agent.value, str(first.agents[0].line))
    if subject.groups and not subject.groups_for_all:
        found.add("no-star-group")
    _check_dropped(subject, by_token, found)
    _check_names(subject, found)
    _check_readers(subject, found)


def _full_name(agent: Record) -> bytes:
    """The name on a user-agent line without a version; others may share its first word."""
    return agent.value.partition(b"/")[0].strip().lower()


def _check_order(subject: Subject, found: Findings) -> None:
    if not subject.groups:
        if subject.rules:
            found.add("no-user-agent")
        return
    first = subject.groups[0].agents[0].line
    for rule in subject.rules:
        if rule.line > first:
            return
        found.add("rule-before-user-agent", rule.line, subject.column(rule))


def _check_empty_groups(subject: Subject, found: Findings) -> None:
    """Find user-agent lines that are separated from the next one by a blank line, but by no rule."""
    for group in subject.groups:
        for agent, other in pairwise(group.agents) if group.rules else ():
            if subject.first_blank(agent.line, other.line):
                shared = Prose(f", so it shares the rules that begin at line {group.rules[0].line}")
                found.add("group-without-rules", agent.line, subject.column(agent), agent.value, shared)
    if subject.groups and not subject.groups[-1].rules:
        agent = subject.groups[-1].agents[-1]
        found.add("group-without-rules", agent.line, subject.column(agent), agent.value, _FREE)


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
    return "several-agents" if len(_listed(value)) > 1 else "agent-with-other-text"


def _listed(value: bytes) -> list[bytes]:
    """The names in a *value* that is a list of names of crawlers; none in any other."""
    names = [name.strip() for name in _LIST.split(value) if name.strip()]
    return names if all(map(_NAME.fullmatch, names)) else []


def _written(code: str, agent: Record, token: bytes, subject: Subject) -> bytes | None:
    """What to write in place of *agent*, which has a finding of *code* and is read as *token*."""
    if code == "several-agents":
        names = {name.lower(): name for name in reversed(_listed(agent.value))}
        return b"\n".join(agent.key + b": " + name for name in reversed(names.values()))
    name = b""
    if code == "agent-with-other-text":
        name = token if _WITH_VERSION.fullmatch(agent.value) else b""
    elif code == "star-agent-with-text":
        starred = _STARRED.fullmatch(agent.value)
        name = (starred[1] or starred[2]) if starred else b""
    elif code == "user-agent-header":
        product = _PRODUCT.search(agent.value)
        is_product = token.lower() != BROWSER and agent.value[len(token) : len(token) + 1] in b"/ ("
        name = product[1] if product else token if is_product else b""
    elif code == "agent-names-nobody":
        known = [word for word in _WORDS.findall(agent.value) if crawler_of(as_text(word))]
        name = known[0] if known and agent.value.lstrip(b'+^"').startswith(known[0]) else b""
    is_new = name and (name == token or name.lower() not in subject.named)  # or else the name has a group
    is_clear = is_new and _WORDS.fullmatch(name) and not is_misnomer(as_text(name))
    return subject.with_value(agent, name) if is_clear and b"#" not in subject.raw(agent) else None


def _is_header(value: bytes) -> bool:
    """Whether *value* looks like a User-Agent header: of a browser, with a comment, or with several products."""
    words = value.split()
    return bool(_HEADER.search(value)) or any(
        b"/" in product and b"/" in other[1:] for product, other in pairwise(words)
    )


def _token(agent: Record, subject: Subject) -> bytes:
    """The token that *agent* addresses, in lower case; empty when it names no crawler."""
    return b"*" if is_global(agent.value) else token_in(agent.value, wide=subject.dialect.wide_tokens).lower()


def _by_token(subject: Subject) -> dict[bytes, list[Group]]:
    """The groups of each token, in the order of their lines."""
    by_token: dict[bytes, list[Group]] = {}
    for group in subject.groups:
        for token in dict.fromkeys(_token(agent, subject) for agent in group.agents):
            if token:
                by_token.setdefault(token, []).append(group)
    return by_token


def _check_dropped(subject: Subject, by_token: dict[bytes, list[Group]], found: Findings) -> None:
    """Find named groups that lack the rules for *, but for crawlers that would ignore those."""
    samples = _samples(subject, by_token.get(b"*", []))
    if not samples:
        return
    steps_of_a_rule = 1 + sum(len(path) for _, path in samples) // _OCTETS_OF_A_STEP
    open_to_all = set(map(id, subject.groups_for_all))
    left = subject.steps(_STEPS_OF_AN_OCTET, _STEPS)
    for token, groups in by_token.items():
        left -= 1 + sum(len(group.rules) for group in groups) * steps_of_a_rule
        if left < 0:
            return
        dropped = _dropped(samples, groups, subject) if open_to_all.isdisjoint(map(id, groups)) else None
        crawler = crawler_of(as_text(token)) if dropped else None
        if dropped and not (crawler and crawler.ignores_star):
            agent = next(each for each in groups[0].agents if _token(each, subject) == token)
            facts = agent.value, str(dropped), str(dropped.line)
            found.add("named-group-drops-star-rules", agent.line, subject.column(agent), *facts)


def _samples(subject: Subject, groups: list[Group]) -> list[tuple[Rule, bytes]]:
    """Some rules of *groups* that disallow a part of the site, not all of it, each with a path that it matches."""
    rules = (
        rule
        for group in groups
        for rule in group.rules
        if not rule.allow and rule.value[:1] in b"/*" and rule.value.strip(b"/*$")
    )
    return [(rule, b"/a".join(subject.pattern(rule.value).pieces)) for rule in islice(rules, _STAR_RULES)]


def _dropped(samples: list[tuple[Rule, bytes]], groups: list[Group], subject: Subject) -> Rule | None:
    """The first rule of *samples* whose path no rule of *groups* matches, if *groups* disallow anything."""
    rules = [rule for group in groups for rule in group.rules if rule.value]
    if all(rule.allow for rule in rules):
        return None  # it allows everything on purpose
    for rule in rules:
        pattern = subject.pattern(rule.value)
        samples = [sample for sample in samples if not pattern.matches(sample[1])]
        if not samples:
            return None
    return samples[0][0]


def _check_names(subject: Subject, found: Findings) -> None:
    """Look up the crawlers that *subject* names, each once."""
    names = {token: named for token, named in subject.named.items() if token != BROWSER}
    unknown = []
    for agent, group in names.values():
        crawler = crawler_of(agent.text)
        meant = None if crawler else crawler_like(agent.text)
        if crawler:
            _check_known(crawler, agent, group, subject, found)
        elif meant and meant.token.lower().encode() not in names:  # or else both are meant
            write = None if is_misnomer(agent.text) else subject.with_value(agent, meant.token.encode())
            place = agent.line, subject.value_column(agent)
            found.add("misspelt-agent", *place, agent.value, meant.token, write=write)
        elif not meant:
            unknown.append(agent)
    if unknown:
        first, more = unknown[0], len(unknown) - 1
        neither = "neither is" if more == 1 else "neither are"
        others = f", and {neither} {more:,} more of the {len(names):,} names" if more else ""
        found.add("unknown-agent", first.line, subject.value_column(first), first.value, others)


def _check_known(crawler: Crawler, agent: Record, group: Group, subject: Subject, found: Findings) -> None:
    """Report what is known of the *crawler* that *agent* names."""
    place = agent.line, subject.value_column(agent)
    if crawler.until:
        has_successor = crawler.instead.lower().encode() in subject.named
        question = f"Remove the group of {crawler.token}"
        if crawler.instead and not has_successor:
            question = f"Name {crawler.instead}, its successor, if the rules are for it; or remove the group"
        # Without its line, the rules of a crawler that stands alone would be those of the group above.
        write = b"" if len(group.agents) > 1 and not crawler.instead else None
        facts = agent.value, crawler.owner, crawler.until, Prose(question)
        found.add("retired-agent", *place, *facts, write=write)
    elif crawler.follows in DISOBEYS and any(rule.value and not rule.allow for rule in group.rules):
        found.add("agent-ignores-rules", *place, agent.value, crawler.purpose, DISOBEYS[crawler.follows])


_READERS: Final = {
    "Microsoft": ("bingbot", "bing"), "Yandex": ("YandexBot", "yandex"), "Baidu": ("Baiduspider", "baidu"),
}  # fmt: skip
"""Owners of crawlers, each with the name of one and the dialect that it documents."""

# A dialect other than Google's is read the plain way, which tries each rule for each path.
_MOST_RULES: Final = 1_000
_MOST_PATHS: Final = 50
_MOST_OCTETS: Final = 2_000_000  # of rules that are tried, with all paths together
_LONGEST_PATH: Final = 2_000  # octets


def _check_readers(subject: Subject, found: Findings) -> None:
    """Find the first path that a crawler which *subject* names reads otherwise than Google would."""
    owners = {crawler.owner for crawler in map(crawler_of, map(as_text, subject.named)) if crawler}
    readers = [reader for owner, reader in _READERS.items() if owner in owners]
    if readers and sum(len(group.rules) for group in subject.groups) <= _MOST_RULES:
        for name, dialect in readers:
            _check_reader(name, dialect, subject, found)


def _check_reader(name: str, dialect: str, subject: Subject, found: Findings) -> None:
    body = subject.robotstxt.body
    own = reading(parse(body, DIALECTS[dialect], limit=None), name)
    as_google = reading(subject.robotstxt, name)
    most = min(_MOST_PATHS, _MOST_OCTETS // len(body))
    for path in _paths(subject.rules_for(as_google.token), most):
        theirs, googles = own.verdict(path), as_google.verdict(path)
        if theirs.allowed is not googles.allowed:
            (may, by), at_google = _said(theirs), _said(googles)
            line = theirs.line or googles.line or 0
            found.add("read-otherwise", line, 0, name, may, path, by, *at_google, dialect)
            return


def _paths(rules: Iterable[Rule], most: int) -> Iterator[bytes]:
    """Paths that some of the *rules* match, and such that begin with them."""
    rules = [rule for rule in rules if rule.value.startswith(b"/")]
    step = -(-len(rules) // most) | 1  # odd: rules often alternate between Allow and Disallow
    for rule in rules[::step]:
        path = rule.value.replace(b"*", b"x").removesuffix(b"$")
        if len(path) <= _LONGEST_PATH:
            yield path
            yield path + b"x"


def _said(verdict: Verdict) -> tuple[str, str]:
    may = "may" if verdict.allowed else "may not"
    return may, f"line {verdict.line}" if verdict.line else "no rule matches"
