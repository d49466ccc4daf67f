"""The answer in sentences, for people new to robots.txt: the verdict, who is blocked from what, what to do first.

`sentences` is told everything: it reads no file, asks no linter and knows no HTML.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from scrapy_rep.census.restriction import (
    ALL,
    NONE,
    OTHERS,
    PART,
    Restriction,
    Restrictions,
    decisive,
    is_rest_open,
    restrictions,
)
from scrapy_rep.directives.robots_signals import RobotsSignals
from scrapy_rep.directives.vocabulary import Permission, Purpose, answers
from scrapy_rep.protocol import Access, Dialect, RobotsTxt, Rule
from scrapy_rep.protocol.display import abridged, number_of, shown
from scrapy_rep.protocol.product_token import is_global, token_in
from scrapy_rep.protocol.records import as_text
from scrapy_rep.tools.answers import listed, some
from scrapy_rep.tools.crawlers import CRAWLERS, SEARCH_CRAWLERS, Category, crawler_of
from scrapy_rep.tools.lint import Finding, Severity
from scrapy_rep.tools.profiles import DISOBEYS, special, token_for
from scrapy_rep.tools.writer import TRAINING

_MOST_NAMES: Final = 3
_MOST_PATHS: Final = 3
_MOST_LINES: Final = 4
_MOST_WHO: Final = 6
"""Sentences about crawlers that differ from all others."""

_MOST_UNKNOWN: Final = 10
"""Crawlers that nobody knows, of those that the file names."""

_MOST_ASKED: Final = 50
"""Groups that are asked what they say about AI, each by reading the whole file."""

_MOST_COMPARED: Final = 100
"""Rules that close and rules that open, which are compared to tell what is an exception."""

_LONGEST_PATH: Final = 60
_SERIOUS: Final = (Severity.ERROR, Severity.WARNING)

_SPECIAL: Final = tuple(
    sorted(
        (crawler.token for crawler in CRAWLERS if special(crawler.token) and not crawler.until),
        key=lambda token: (token not in SEARCH_CRAWLERS, "AdsBot" not in token),
    )
)
"""The crawlers in use for which groups count otherwise than RFC 9309 says, the best known first."""

_KINDS: Final = {
    Category.TRAINING: "crawlers that train AI",
    Category.SEARCH: "search engines",
    Category.USER_REQUEST: "programs that fetch what a user asks for",
    Category.ARCHIVE: "archives",
    Category.SEO: "SEO tools",
    Category.ADVERTISING: "crawlers for ads",
    Category.PREVIEW: "crawlers for previews of links",
}

_USES: Final = {
    Purpose.SEARCH: "search",
    Purpose.AI_INPUT: "answers by AI",
    Purpose.AI_TRAIN: "AI training",
    Purpose.AI_INDEX: "indexing for AI",
}


def sentences(
    robotstxt: RobotsTxt,
    findings: Sequence[Finding],
    *,
    access: Access = Access.SUCCESSFUL,
    status: int | None = None,
) -> list[str]:
    """What *robotstxt* means: in short, then who is blocked from what, what it says about AI, what to do first.

    *findings* are those of the linter, *access* and *status* those of the fetch.
    """
    if access is Access.SUCCESSFUL:
        paths = _Paths(robotstxt)
        found = restrictions(robotstxt, paths.groups, (*paths.unknown, *_SPECIAL))
        said = (*_who(paths, found.of), *_about_ai(paths, found.named), *_first(findings))
        return [_plain(paths, found, findings), *said]
    answered = f"The server answers with status {status}" if status else "The server gives no answer"
    if access is Access.UNAVAILABLE:
        return ["Blocks nothing.", f"{answered}: there is no robots.txt, so all crawlers may fetch everything."]
    return [
        "Blocks everything for now.",
        f"{answered}: what its robots.txt would say is unknown, so all crawlers stay away for now.",
        *_first(findings),
    ]


# Who is blocked from what.


def _who(paths: _Paths, found: dict[str, Restriction]) -> Iterator[str]:
    """A few sentences for the crawlers that differ, and one for all others."""
    others = _closed(paths, OTHERS, found[OTHERS])
    apart: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
    following: defaultdict[str, list[str]] = defaultdict(list)
    without: list[str] = []
    for agent in sorted(found, key=lambda agent: found[agent].line):
        token = paths.token_for(agent)
        closed = _closed(paths, token, found[agent]) if token else ""
        if closed == others:
            continue
        if token is None:
            without.append(agent)
        elif token != agent:
            following[token].append(agent)
        else:
            crawler = crawler_of(agent)
            kind = _KINDS.get(crawler.category, "") if crawler else ""
            disobeys = DISOBEYS.get(crawler.follows, "") if crawler else ""
            apart[closed, kind, disobeys].append(agent)
    ranked = sorted(apart.items(), key=lambda one: (one[0][0] != _EVERYTHING, -len(one[1])))
    for (closed, kind, disobeys), agents in ranked[:_MOST_WHO]:
        yield _about(agents, kind, closed, _on([found[agent].line for agent in agents]), disobeys)
        if followers := [one for agent in agents for one in following[agent]]:
            verb = "follows" if len(followers) == 1 else "follow"
            yield f"{_listed(followers)} {verb} {'its group' if len(agents) == 1 else 'them'}."
    if more := sum(len(agents) for _, agents in ranked[_MOST_WHO:]):
        yield f"{number_of(more, 'more crawler has', 'more crawlers have')} other rules."
    if others:
        some = (agent for (closed, *_), agents in ranked if closed != _EVERYTHING for agent in agents)
        yield from _has_own([*some], "the rules for * do")
    yield f"All {'other ' * bool(apart)}crawlers {_fate('are', others, _on([found[OTHERS].line]))}."
    if without:
        yield f"{_listed(without)} ignore groups for *, so they may fetch everything."


_Texts = tuple[list[str], list[str], list[str], bool]


class _Paths:
    """The paths of the rules for each crawler that *robotstxt* names; ``unknown`` are some that nobody knows."""

    def __init__(self, robotstxt: RobotsTxt) -> None:
        self.robotstxt = robotstxt
        self.groups = robotstxt.groups
        self._own: defaultdict[str, dict[int, None]] = defaultdict(dict)
        self.unknown: list[str] = []
        for position, group in enumerate(self.groups):
            for agent in group.agents:
                known = crawler_of(agent.text)
                name = known.token if known else as_text(token_in(agent.value, wide=robotstxt.dialect.wide_tokens))
                if not known and name and len(self.unknown) < _MOST_UNKNOWN and name not in self.unknown:
                    self.unknown.append(name)
                self._own[OTHERS if is_global(agent.value) else name][position] = None
        self._texts: dict[tuple[int, ...], _Texts] = {}

    def token_for(self, agent: str) -> str | None:
        """The token by which *agent* reads the file; None for one for which no group counts."""
        return token_for(agent, self._own.__contains__)

    def groups_of(self, token: str) -> tuple[int, ...]:
        """The groups that count for *token*; crawlers with the same ones share its paths."""
        return tuple(self._own.get(token) or self._own[OTHERS])

    def of(self, token: str) -> _Texts:
        """The different paths that are closed to *token*, those that are opened, and those of them that are
        exceptions to what is closed, fit to be shown; and whether a URL that no rule spells out is open.
        """
        key = self.groups_of(token)
        if not self.robotstxt.dialect.is_googles:
            return _texts(self.robotstxt, token, self.robotstxt.rules(token))
        if key not in self._texts:
            rules = [rule for position in key for rule in self.groups[position].rules]
            self._texts[key] = _texts(self.robotstxt, token, rules)
        return self._texts[key]


def _texts(robotstxt: RobotsTxt, token: str, rules: Sequence[Rule]) -> _Texts:
    """What `_Paths.of` returns; of very many rules, it asks only of the first whether they decide anything."""
    paths: dict[bool, dict[bytes, Rule]] = {True: {}, False: {}}
    for rule in rules:
        if rule.value.startswith((b"/", b"*")):  # others match nothing
            paths[rule.allow].setdefault(rule.value, rule)
    counted = {}
    for allow, by_value in paths.items():
        compared = [*by_value.values()][:_MOST_COMPARED]
        deciding = [rule.value for rule in decisive(robotstxt, token, compared)]
        counted[allow] = [*deciding, *[*by_value][_MOST_COMPARED:]]
    starts = tuple(counted[False][:_MOST_COMPARED])
    exceptions = [value for value in counted[True][:_MOST_COMPARED] if value.startswith(starts)]
    shut, opened, excepted = (
        [*dict.fromkeys(_path(value, robotstxt.dialect) for value in values)]
        for values in (counted[False], counted[True], exceptions)
    )
    return shut, opened, excepted, is_rest_open(robotstxt, token, rules)


def _path(value: bytes, dialect: Dialect) -> str:
    if value == b"/$" and "$" in dialect.wildcards:
        return "the home page"
    return abridged(as_text(value), _LONGEST_PATH)


_EVERYTHING: Final = "everything"


def _closed(paths: _Paths, token: str, restriction: Restriction) -> str:
    """What is closed to the crawler that reads the file by *token*, as a noun; empty for nothing."""
    if restriction.closes == NONE:
        return ""
    if restriction.closes == ALL:
        return _EVERYTHING
    shut, opened, exceptions, is_open = paths.of(token)
    if not is_open:
        return f"{_EVERYTHING} but {_listed(opened, _MOST_PATHS, 'path') or 'a part'}"
    but = f", but not from {_listed(exceptions, _MOST_PATHS, 'path')}" if exceptions else ""
    return f"{_listed(shut, _MOST_PATHS, 'path') or 'a part'}{but}"


def _about(agents: Sequence[str], kind: str, closed: str, where: str, disobeys: str) -> str:
    """What is *closed* to *agents*, all of one *kind*; and of those who train AI, whom the file does not name.

    *disobeys* says that they do not follow robots.txt, if they do not.
    """
    is_one = len(agents) == 1
    fate = _fate("is" if is_one else "are", closed, where)
    if disobeys and closed:
        verb = disobeys if is_one else disobeys.replace("does", "do", 1)
        fate += f", but {'it' if is_one else 'they'} {verb} robots.txt"
    if is_one:
        crawler = crawler_of(agents[0])
        return f"{shown(agents[0])}{f' ({crawler.about})' if crawler else ', which is no known crawler,'} {fate}."
    if kind == _KINDS[Category.TRAINING]:
        missing = [token for token in TRAINING if token not in agents]
        if not missing:
            return f"All {len(TRAINING)} known {kind} {fate}."
        if closed == _EVERYTHING:
            fate += f"; {number_of(len(missing), 'other that is known is', 'others that are known are')} not"
            fate += f", such as {missing[0]}" if len(missing) > 1 else f": {missing[0]}"
    return f"{f'Of the {kind}, ' if kind else ''}{_listed(agents)} {fate}."


def _fate(verb: str, closed: str, where: str) -> str:
    return f"{verb} blocked from {closed}{where}" if closed else "may fetch everything"


# What it comes to, and what to do first.


def _plain(paths: _Paths, found: Restrictions, findings: Sequence[Finding]) -> str:
    """The whole file in two short sentences: ``Works. Blocks 2 paths.``"""
    counts = Counter(one.severity for one in findings)
    faults = listed([number_of(counts[each], each.noun, f"{each.noun}s") for each in _SERIOUS if counts[each]])
    works = f"Has {faults}" if counts[Severity.ERROR] else f"Works, with {faults}" if faults else "Works"
    others = found.of[OTHERS].closes
    shut = [agent for agent in found.named if found.of[agent].closes == ALL]
    if others == ALL:
        welcome = [agent for agent in found.named if agent not in shut]
        return f"{works}. Blocks the whole site{f' for all but {_listed(welcome)}' if welcome else ''}."
    blocked = [_amount(paths)] if others == PART else []
    blocked += [f"the whole site for {_listed(shut)}"] if shut else []
    some = [] if blocked else [agent for agent in found.named if found.of[agent].closes == PART]
    blocked += [f"a part of the site for {_listed(some)}"] if some else []
    return f"{works}. Blocks {', and '.join(blocked) or 'nothing'}."


def _amount(paths: _Paths) -> str:
    """How much is closed to the crawlers that no group names."""
    shut, opened, _, is_open = paths.of(OTHERS)
    number = number_of(len(shut if is_open else opened), "path", "paths")
    return number if is_open else f"everything but {number}"


def order_of(finding: Finding) -> tuple[int, int, int]:
    """What to sort by so that the worst findings come first, in the order in which a person deals with them."""
    return finding.severity.rank, finding.line, finding.column


def _first(findings: Sequence[Finding]) -> Iterator[str]:
    """What to do first about *findings*."""
    for one in sorted((one for one in findings if one.severity in _SERIOUS), key=order_of)[:1]:
        where = f"Start with line {one.line:,}" if one.line else "Start here"
        yield f"{where}: {one.message} {one.advice}"


# What it says about AI.


def _about_ai(paths: _Paths, named: Iterable[str]) -> Iterator[str]:
    """What the file says about the use of its home page, and to whom it does not say that.

    Such a record holds for a group. Whoever adds one to the group for ``*`` rarely knows that a crawler with its
    own group does not read it.
    """
    together: defaultdict[tuple[int, ...], list[str]] = defaultdict(list)
    for agent in (OTHERS, *named):
        together[paths.groups_of(agent)].append(agent)
    shared, *own = together.values()
    # A crawler that is named below a Content-Signal for * shares the rules of that group, and not the signal.
    own += [[agent] for agent in shared if agent != OTHERS]
    general = _uses(paths, OTHERS)
    said: defaultdict[str, list[str]] = defaultdict(list)
    for agents in own[:_MOST_ASKED]:
        said[_uses(paths, agents[0])] += agents
    said.pop(general, None)
    if general:
        yield f"{general}."
        yield from _has_own([agent for agents in said.values() for agent in agents], "this does")
    for uses, agents in [*said.items()][:_MOST_WHO]:
        if uses:
            yield f"For {_listed(agents)}: {uses}."


def _uses(paths: _Paths, token: str) -> str:
    """What *token* is told, such as ``Content-Signal says no to AI training (line 4)``; empty for nothing."""
    statements = RobotsSignals.of(paths.robotstxt, token).statements("/")
    said = answers(statements)
    parts = [
        f"{answer.value} to {listed([_USES[use] for use in _USES if said[use] is answer])}"
        for answer in (Permission.YES, Permission.NO)
        if answer in said.values()
    ]
    signals = dict.fromkeys(one.signal.value for one in statements if one.category)
    verb = "says" if len(signals) == 1 else "say"
    where = _on([one.line for one in statements if one.category])
    return f"{listed([*signals])} {verb} {' and '.join(parts)}{where}" if parts else ""


def _has_own(agents: Sequence[str], what: str) -> Iterator[str]:
    """That *what* does not apply to *agents*, which have their own groups."""
    if agents:
        has, it = ("has its own group", "it") if len(agents) == 1 else ("have their own groups", "them")
        yield f"{_listed(agents)} {has}, so {what} not apply to {it}."


# Lists.


def _on(lines: Sequence[int]) -> str:
    """`` (lines 3 and 4)``; empty where no line shows it."""
    found = [f"{line:,}" for line in sorted({*lines} - {0})]
    return f" (line{'s' * (len(found) > 1)} {_listed(found, _MOST_LINES)})" if found else ""


def _listed(names: Sequence[str], most: int = _MOST_NAMES, noun: str = "") -> str:
    return listed(some([*map(shown, names)], most, noun))
