"""What a robots.txt effectively closes to a crawler: nothing, a part of the site, or all of it, and by which line.

Effective is what RFC 9309 section 2.2.2 makes of all groups that count for the crawler: those that name it, or
else those of ``*``, unless its owner documents otherwise (`scrapy_rep.tools.profiles`). A rule counts when it
decides about a URL: an Allow that wins everywhere undoes a Disallow.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from scrapy_rep.protocol import Dialect, Group, RobotsTxt, Rule, Verdict, path_of
from scrapy_rep.protocol.dialect import EmptyRule
from scrapy_rep.protocol.product_token import agent_matcher, is_global
from scrapy_rep.tools.crawlers import crawler_of
from scrapy_rep.tools.profiles import special, token_for

NONE: Final = "none"
"""No URL is closed to the crawler."""

PART: Final = "part"
"""Some URLs are closed to the crawler, and some are not."""

ALL: Final = "all"
"""Each URL is closed to the crawler but that of robots.txt itself."""

RESTRICTIONS: Final = (NONE, PART, ALL)
"""What is closed to a crawler: no URL, some but not all, or each but that of robots.txt itself."""

OTHERS: Final = "*"
"""Stands for the crawlers that no group names."""

_ROBOTS_TXT: Final = re.compile(rb"/robots\.txt[$*]*")  # it is open whatever the rules say
_UNNAMED: Final = "any-other-crawler"
_OCTETS: Final = tuple(bytes((octet,)) for octet in b"!();:@,~_+=.-&qzxjQZXJ0123456789")  # the rarest first
_RULES_TRIED: Final = 1_000  # of those that allow, or disallow: hostile files have a hundred thousand
_VALUES_KEPT: Final = 10_000


class Restriction(NamedTuple):
    """What is closed to a crawler, and the line that shows it.

    ``line`` is that of the rule that decides about ``/``, or, where a part is closed and ``/`` is not, of the
    first rule that closes a URL; without such a rule that of the user-agent line, and 0 without that.
    ``is_home_open`` says whether the crawler may request ``/``.
    """

    closes: str
    line: int
    is_home_open: bool


class Restrictions(NamedTuple):
    """What a file closes to crawlers, and the first line that names each that has a group of its own."""

    of: dict[str, Restriction]
    named: dict[str, int]


def restrictions(robotstxt: RobotsTxt, groups: Sequence[Group], agents: tuple[str, ...]) -> Restrictions:
    """What *robotstxt* with these *groups* closes to each of *agents*, to each known crawler that it names, and to
    `OTHERS`.
    """
    names = named_by(agents, robotstxt.dialect)
    named: dict[str, int] = {}
    own: defaultdict[str, dict[int, None]] = defaultdict(dict)  # the groups of each name, in order
    line_of_others = 0
    for position, group in enumerate(groups):
        for agent in group.agents:
            if is_global(agent.value):
                own[OTHERS][position] = None
                line_of_others = line_of_others or agent.line
            for name in names[agent.value]:
                named.setdefault(name, agent.line)
                own[name][position] = None
    # To "google-exact", a line without a token names a crawler without a name.
    unnamed = _UNNAMED if robotstxt.has_group("") else ""
    others = _restriction(robotstxt, unnamed, _rules(robotstxt, unnamed, groups, own[OTHERS]), line_of_others)
    found = {OTHERS: others, **dict.fromkeys(agents, others)}
    same: dict[tuple[int, ...], Restriction] = {}  # most files have one group for all whom they shut out
    for name, line in named.items():
        key = (*own[name],)
        if key not in same or not robotstxt.dialect.is_googles:
            same[key] = _restriction(robotstxt, name, _rules(robotstxt, name, groups, key), 0)
        found[name] = same[key] if same[key].line else same[key]._replace(line=line)
    for name in filter(special, agents):
        token = token_for(name, named.__contains__)
        found[name] = Restriction(NONE, 0, is_home_open=True) if token is None else found[token]
    return Restrictions(found, named)


def _rules(robotstxt: RobotsTxt, name: str, groups: Sequence[Group], own: Iterable[int]) -> Sequence[Rule]:
    if robotstxt.dialect.is_googles:
        return [rule for position in own for rule in groups[position].rules]
    return robotstxt.rules(name)


def _restriction(robotstxt: RobotsTxt, name: str, rules: Sequence[Rule], line: int) -> Restriction:
    """What *rules*, those for the crawler called *name*, close to it; *line* where no rule decides."""
    closing = [rule for rule in rules if _may_close(rule, robotstxt.dialect)]
    if not closing:
        return Restriction(NONE, line, is_home_open=True)
    home, anything = robotstxt.verdict_on_path(name, b"/"), _in_no_rule(rules)
    if home.allowed:
        shut = next((each for each in _verdicts(robotstxt, name, closing, anything) if not each.allowed), None)
        if shut is None:
            return Restriction(NONE, home.line or line, is_home_open=True)
        return Restriction(PART, shut.line, is_home_open=True)
    opening = [rule for rule in rules if rule.allow and rule.value and not _ROBOTS_TXT.fullmatch(rule.value)]
    is_open = is_rest_open(robotstxt, name, rules) or any(
        each.allowed for each in _verdicts(robotstxt, name, opening, anything)
    )
    return Restriction(PART if is_open else ALL, home.line, is_home_open=False)


def _may_close(rule: Rule, dialect: Dialect) -> bool:
    if rule.value:
        return not rule.allow
    return (dialect.empty_allow if rule.allow else dialect.empty_disallow) is EmptyRule.DISALLOWS


def _in_no_rule(rules: Iterable[Rule]) -> bytes:
    """An octet that stands in none of *rules*, and so for what they do not spell out."""
    values = b"".join(rule.value for rule in rules)
    return next((octet for octet in _OCTETS if octet not in values), _OCTETS[0])


def is_rest_open(robotstxt: RobotsTxt, name: str, rules: Iterable[Rule]) -> bool:
    """Whether the crawler called *name*, for which these are the *rules*, may request what none spells out."""
    return robotstxt.verdict_on_path(name, b"/" + _in_no_rule(rules)).allowed


def decisive(robotstxt: RobotsTxt, name: str, rules: Sequence[Rule]) -> Iterator[Rule]:
    """Those of *rules*, all for the crawler called *name*, that do what they say to a URL that they match."""
    anything = _in_no_rule(rules)
    for rule in rules:
        if any(each.allowed == rule.allow for each in _verdicts(robotstxt, name, [rule], anything)):
            yield rule


def _verdicts(robotstxt: RobotsTxt, name: str, rules: Sequence[Rule], anything: bytes) -> Iterator[Verdict]:
    """The verdicts on URLs that the patterns of *rules* match."""
    dialect = robotstxt.dialect
    for rule in rules[:_RULES_TRIED]:
        for url in _urls(rule.value, dialect.wildcards, anything):
            yield robotstxt.verdict_on_path(name, path_of(url, canonical_octets=dialect.canonical_octets))


@lru_cache(maxsize=_VALUES_KEPT)  # thousands of files have the same few rules
def _urls(value: bytes, wildcards: str, anything: bytes) -> tuple[bytes, ...]:
    """Two URLs that the pattern *value* matches, if any: with nothing, and with *anything*, for each wildcard."""
    is_anchored = "$" in wildcards and value.endswith(b"$")
    pieces = (value[:-1] if is_anchored else value).split(b"*") if "*" in wildcards else [value]
    shortest, longer = b"".join(pieces), anything.join(pieces)
    if not is_anchored:
        longer += anything
    return tuple(b"http://host/" + path.removeprefix(b"/") for path in (shortest, longer))


class _Names(dict[bytes, tuple[str, ...]]):
    """Which crawlers the value of a user-agent line names: those asked about, and well-known ones."""

    def __init__(self, agents: Iterable[str], dialect: Dialect) -> None:
        self._dialect = dialect
        self._matchers = {agent: agent_matcher(agent, dialect) for agent in agents}

    def __missing__(self, value: bytes) -> tuple[str, ...]:
        names = dict.fromkeys(agent for agent, is_named in self._matchers.items() if is_named(value))
        known = crawler_of(value.decode("utf-8", "surrogateescape"))
        if known and agent_matcher(known.token, self._dialect)(value):
            names[known.token] = None
        if len(self) >= _VALUES_KEPT:
            self.clear()
        self[value] = found = (*names,)
        return found


@lru_cache(maxsize=8)
def named_by(agents: tuple[str, ...], dialect: Dialect) -> _Names:
    """Which of *agents* and of the well-known crawlers a value names in *dialect*; kept for the next file."""
    return _Names(agents, dialect)
