"""The answer in sentences, for people new to robots.txt: who is shut out of what, what is wrong, what to do first.

`sentences` is told everything: it reads no file, asks no linter and knows no HTML.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from scrapy_rep.census.restriction import ALL, NONE, OTHERS, Restriction, decisive, is_rest_open, restrictions
from scrapy_rep.protocol import Access, Dialect, RobotsTxt, Rule
from scrapy_rep.protocol.display import abridged, number_of, shown
from scrapy_rep.protocol.product_token import is_global, token_in
from scrapy_rep.protocol.records import as_text
from scrapy_rep.tools.answers import listed, some
from scrapy_rep.tools.crawlers import (
    CRAWLERS,
    SEARCH_CRAWLERS,
    Category,
    crawler_of,
)
from scrapy_rep.tools.lint import CODES, Consequence, Finding, Severity
from scrapy_rep.tools.profiles import DISOBEYS, special, token_for
from scrapy_rep.tools.writer import TRAINING

from .verdicts import UrlVerdict

_MOST_NAMES: Final = 3
_MOST_PATHS: Final = 3
_MOST_LINES: Final = 4
MOST_URLS: Final = 3
"""URLs that sentences are made about."""

_MOST_WHO: Final = 6
"""Sentences about crawlers that differ from all others."""

_MOST_PROBLEMS: Final = 8
_MOST_NOTES: Final = 3
"""Crawlers that do not read the file literally, of which a sentence speaks."""

_MOST_CONSEQUENCES: Final = 2
"""Consequences of a fault that are spoken of."""

_MOST_UNKNOWN: Final = 10
"""Crawlers that nobody knows, of those that the file names."""

_MOST_COMPARED: Final = 100
"""Rules that close and rules that open, which are compared to tell what is an exception."""

_LONGEST_PATH: Final = 60
_TYPOS: Final = frozenset({"misspelt-key", "misspelt-key-ignored", "misspelt-agent"})
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


def sentences(
    robotstxt: RobotsTxt,
    findings: Sequence[Finding],
    verdicts: Sequence[UrlVerdict] = (),
    notes: Sequence[str] = (),
    *,
    access: Access = Access.SUCCESSFUL,
    status: int | None = None,
) -> list[str]:
    """What *robotstxt* means, in sentences: who is shut out of what, what is wrong, and what to do first.

    *findings* are those of the linter. *verdicts*, in the order of their URLs, are those that were asked for; if
    they are about a few URLs, a sentence says what they are. *notes* say which of the crawlers that were asked
    about follow another group than one would think. *access* and *status* are those of the fetch.
    """
    if access is Access.SUCCESSFUL:
        apart = [f"{note}." for note in notes[:_MOST_NOTES] if note]
        return [*_who(_Paths(robotstxt)), *apart, *_asked(verdicts), *_problems(findings)]
    answered = f"The server answers with status {status}" if status else "The server gives no answer"
    if access is Access.UNAVAILABLE:
        return [f"{answered}: there is no robots.txt, so all crawlers may fetch everything."]
    return [
        f"{answered}: what its robots.txt would say is unknown, so all crawlers stay away for now.",
        *_first(findings),
    ]


# Who is shut out of what.


def _who(paths: _Paths) -> Iterator[str]:
    """A few sentences for the crawlers that differ, and one for all others."""
    found = restrictions(paths.robotstxt, paths.groups, (*paths.unknown, *_SPECIAL)).of
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
        so_are = _followers([one for agent in agents for one in following.pop(agent, ())], len(agents), closed)
        where = _on([found[agent].line for agent in agents]) if closed else ""
        yield _about(agents, kind, closed, where, disobeys=disobeys, so_are=so_are)
    if ranked[_MOST_WHO:]:
        more = number_of(
            sum(len(agents) for _, agents in ranked[_MOST_WHO:]), "more crawler has", "more crawlers have"
        )
        followers = [agent for agents in following.values() for agent in agents]
        follow = f", which {_listed(followers, _MOST_NAMES)} follow too" if followers else ""
        yield f"{more} other rules{follow}."
    subject = "All other crawlers" if apart else "All crawlers"
    if without:
        subject += f" but those that ignore groups for * ({_listed(without, _MOST_NAMES)})"
    yield _fate(subject, "are", others, _on([found[OTHERS].line]) if others else "")


def _followers(agents: Sequence[str], leaders: int, closed: str) -> str:
    """That *agents* have the fate of the *leaders* whose groups they follow; empty without any."""
    if not agents:
        return ""
    verb = f"so {'is' if len(agents) == 1 else 'are'}" if closed else "so may"
    follow = "follows" if len(agents) == 1 else "follow"
    groups = "its group" if leaders == 1 else "their groups"
    return f", and {verb} {_listed(agents, _MOST_NAMES)}, which {follow} {groups}"


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

    def of(self, token: str) -> _Texts:
        """The different paths that are closed to *token*, those that are opened, and those of them that are
        exceptions to what is closed, fit to be shown; and whether a URL that no rule spells out is open.
        """
        key = tuple(self._own.get(token) or self._own[OTHERS])  # crawlers of one group share its paths
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
    but = f", but not of {_listed(exceptions, _MOST_PATHS, 'path')}" if exceptions else ""
    return f"{_listed(shut, _MOST_PATHS, 'path') or 'a part'}{but}"


def _about(
    agents: Sequence[str], kind: str, closed: str, where: str, *, disobeys: str = "", so_are: str = ""
) -> str:
    """What is *closed* to *agents*, all of one *kind*; and of those who train AI, whom the file does not name.

    *disobeys* says that they do not follow robots.txt, if they do not, and *so_are* who follows their groups.
    """
    if kind == _KINDS[Category.TRAINING] and len(agents) > 1:
        missing = [token for token in TRAINING if token not in agents]
        if not missing:
            return _fate(f"All {len(TRAINING)} known {kind}", "are", closed, where)
        if closed == _EVERYTHING:
            where += f"; {number_of(len(missing), 'other that is known is', 'others that are known are')} not"
            where += f", such as {missing[0]}" if len(missing) > 1 else f": {missing[0]}"
    is_one = len(agents) == 1
    names = shown(agents[0]) if is_one else _listed(agents, _MOST_NAMES)
    crawler = crawler_of(agents[0])
    about = (f" ({crawler.about})" if crawler else ", which is no known crawler,") if is_one else ""
    if disobeys and closed:
        they = f"it {disobeys}" if is_one else f"they {disobeys.replace('does', 'do', 1)}"
        return f"The file asks {names}{about} to stay out of {closed}{where}, but {they} robots.txt."
    of_kind = f"Of the {kind}, " if kind and not is_one else ""
    return _fate(f"{of_kind}{names}{about}", "is" if is_one else "are", closed, f"{where}{so_are}")


def _fate(subject: str, verb: str, closed: str, where: str) -> str:
    return (
        f"{subject} {verb} shut out of {closed}{where}." if closed else f"{subject} may fetch everything{where}."
    )


def _asked(verdicts: Sequence[UrlVerdict]) -> Iterator[str]:
    """What a few URLs are answered; the home page, which is asked about by default, has been spoken of."""
    by_url: defaultdict[str, list[UrlVerdict]] = defaultdict(list)
    for one in verdicts:
        if one.url != "/":
            by_url[one.url].append(one)
    together: defaultdict[str, list[str]] = defaultdict(list)
    for url, of_url in by_url.items():
        together[_answer(of_url)].append(abridged(shown(url), _LONGEST_PATH))
    for answer, urls in together.items() if len(by_url) <= MOST_URLS else ():
        yield f"{_listed(urls, MOST_URLS)} {'is' if len(urls) == 1 else 'are'} {answer}."


def _answer(of_url: Sequence[UrlVerdict]) -> str:
    """What all *of_url*, the verdicts on one URL, come to."""
    number, shut = len(of_url), sorted((one for one in of_url if not one.allowed), key=lambda one: one.line)
    all_of = "both" if number == 2 else f"all {number:,}"
    everyone = f"{'the crawler' if number == 1 else f'{all_of} crawlers'} that you asked about"
    if not shut:
        return f"open to {everyone}"
    where = _on([one.line for one in shut])
    if len(shut) == number:
        return f"closed to {everyone}{where}"
    agents = ["crawlers without a group" if one.agent == OTHERS else shown(one.agent) for one in shut]
    names = _listed(agents, _MOST_NAMES)
    return f"closed to {names}{where} and open to the {number_of(number - len(shut), 'other', 'others')}"


# What is wrong, and what to do first.


def order_of(finding: Finding) -> tuple[int, int, int]:
    """What to sort by so that the worst findings come first, in the order in which a person deals with them."""
    return finding.severity.rank, finding.line, finding.column


def _problems(findings: Sequence[Finding]) -> Iterator[str]:
    """What the linter found."""
    serious = sorted((one for one in findings if one.severity in _SERIOUS), key=order_of)
    if not serious:
        yield "The linter finds no error and nothing to warn of."
        return
    together: defaultdict[tuple[str, str, tuple[Consequence, ...]], list[int]] = defaultdict(list)
    for one in serious:
        together[one.code, one.message, one.consequences].append(one.line)
    said = list(together.items())
    for (code, message, consequences), lines in said[:_MOST_PROBLEMS]:
        yield _problem(code, message, sorted(lines))
        yield from _follows(consequences)
    if more := sum(len(lines) for _, lines in said[_MOST_PROBLEMS:]):
        yield f"{number_of(more, 'more error or warning is', 'more errors and warnings are')} in the list below."
    yield from _first(serious)


def _problem(code: str, message: str, lines: Sequence[int]) -> str:
    if not lines[0]:
        return message
    where = _lines(lines)
    return f"{where[0].upper()}{where[1:]}{' has a typo' if code in _TYPOS else ''}: {message}"


def _follows(consequences: Sequence[Consequence]) -> Iterator[str]:
    """What follows from a fault, the worst first."""
    ranked = sorted(consequences, key=lambda one: CODES[one.code].severity.rank)
    for one in ranked[:_MOST_CONSEQUENCES]:
        where = f", line {one.line:,}" if one.line else ""
        yield f"A consequence{where}: {one.message}"


def _first(findings: Sequence[Finding]) -> Iterator[str]:
    """What to do first about *findings*."""
    for one in sorted(findings, key=order_of)[:1]:
        where = f"Start with line {one.line:,}" if one.line else "Start here"
        yield f"{where}: {one.advice[:1].lower()}{one.advice[1:]}"


# Lists.


def _on(lines: Sequence[int]) -> str:
    """`` (lines 3 and 4)``; empty where no line shows it."""
    found = sorted({line for line in lines if line})
    return f" ({_lines(found)})" if found else ""


def _lines(lines: Sequence[int]) -> str:
    return f"line{'s' if len(lines) > 1 else ''} {_listed([f'{line:,}' for line in lines], _MOST_LINES)}"


def _listed(names: Sequence[str], most: int, noun: str = "") -> str:
    return listed(some([*map(shown, names)], most, noun))
