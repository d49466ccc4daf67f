"""The answer in sentences, for people new to robots.txt: who is shut out of what, what is wrong, what to do first.

`sentences` is told everything: it reads no file, asks no linter and knows no HTML.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from scrapy_rep.census.restriction import ALL, NONE, OTHERS, Restriction, restrictions
from scrapy_rep.protocol import Access, RobotsTxt, Rule
from scrapy_rep.protocol.display import abridged, number_of, shown
from scrapy_rep.protocol.product_token import is_global, token_in
from scrapy_rep.protocol.records import as_text
from scrapy_rep.tools.crawlers import AI_CRAWLERS, AI_CRAWLERS_IN_USE, Category, crawler_of
from scrapy_rep.tools.lint import CODES, Consequence, Finding, Severity

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
"""Paths that are closed and paths that are opened, which are compared to tell what is an exception."""

_LONGEST_PATH: Final = 60
_TYPOS: Final = frozenset({"misspelt-key", "misspelt-key-ignored", "misspelt-agent"})
_SERIOUS: Final = (Severity.ERROR, Severity.WARNING)

_TRAINING: Final = tuple(token for token in AI_CRAWLERS_IN_USE if AI_CRAWLERS[token] is Category.TRAINING)
"""All crawlers that are known to train AI."""

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
        return [*_who(robotstxt), *apart, *_asked(verdicts), *_problems(findings)]
    answered = f"The server answers with status {status}" if status else "The server gives no answer"
    if access is Access.UNAVAILABLE:
        return [f"{answered}: there is no robots.txt, so all crawlers may fetch everything."]
    return [
        f"{answered}: what its robots.txt would say is unknown, so all crawlers stay away for now.",
        *_first(findings),
    ]


# Who is shut out of what.


def _who(robotstxt: RobotsTxt) -> Iterator[str]:
    paths = _Paths(robotstxt)
    found = restrictions(robotstxt, paths.groups, paths.unknown).of
    others = _closed(paths, OTHERS, found[OTHERS])
    apart: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for agent, restriction in found.items():
        closed = _closed(paths, agent, restriction)
        if closed != others:
            apart[closed, _kind(agent)].append(agent)
    ranked = sorted(apart.items(), key=lambda one: (one[0][0] != _EVERYTHING, -len(one[1])))
    for (closed, kind), agents in ranked[:_MOST_WHO]:
        yield _about(agents, kind, closed, _on([found[agent].line for agent in agents]))
    if ranked[_MOST_WHO:]:
        more = sum(len(agents) for _, agents in ranked[_MOST_WHO:])
        yield f"{number_of(more, 'more crawler has its own rules', 'more crawlers have rules of their own')}."
    subject = "All other crawlers" if apart else "All crawlers"
    yield _fate(subject, "are", others, _on([found[OTHERS].line]))


class _Paths:
    """The paths of the rules for each crawler that *robotstxt* names; ``unknown`` are some that nobody knows."""

    def __init__(self, robotstxt: RobotsTxt) -> None:
        self._robotstxt = robotstxt
        self.groups = robotstxt.groups
        self._own: defaultdict[str, dict[int, None]] = defaultdict(dict)
        unknown: dict[str, None] = {}
        for position, group in enumerate(self.groups):
            for agent in group.agents:
                known = crawler_of(agent.text)
                name = known.token if known else as_text(token_in(agent.value, wide=robotstxt.dialect.wide_tokens))
                if not known and name and len(unknown) < _MOST_UNKNOWN:
                    unknown[name] = None
                self._own[OTHERS if is_global(agent.value) else name][position] = None
        self.unknown = tuple(unknown)
        self._texts: dict[tuple[int, ...], tuple[list[str], list[str]]] = {}

    def of(self, agent: str) -> tuple[list[str], list[str]]:
        """The different paths that are closed to *agent*, and those that are opened, fit to be shown."""
        if not self._robotstxt.dialect.is_googles:
            return _texts(self._robotstxt.rules(agent))
        key = tuple(self._own.get(agent) or self._own[OTHERS])  # crawlers of one group share its paths
        if key not in self._texts:
            self._texts[key] = _texts(rule for position in key for rule in self.groups[position].rules)
        return self._texts[key]


def _texts(rules: Iterable[Rule]) -> tuple[list[str], list[str]]:
    paths: dict[bool, dict[str, None]] = {True: {}, False: {}}
    for rule in rules:
        if rule.value.startswith((b"/", b"*")):  # others match nothing
            paths[rule.allow][abridged(as_text(rule.value), _LONGEST_PATH)] = None
    return [*paths[False]], [*paths[True]]


_EVERYTHING: Final = "everything"


def _closed(paths: _Paths, agent: str, restriction: Restriction) -> str:
    """What is closed to *agent*, as a noun; empty for nothing."""
    if restriction.closes == NONE:
        return ""
    if restriction.closes == ALL:
        return _EVERYTHING
    shut, opened = paths.of(agent)
    if not restriction.is_home_open:
        return f"{_EVERYTHING} but {_listed(opened, _MOST_PATHS, 'path') or 'a part'}"
    starts = tuple(shut[:_MOST_COMPARED])
    exceptions = [path for path in opened[:_MOST_COMPARED] if path.startswith(starts)]
    but = f", but not of {_listed(exceptions, _MOST_PATHS, 'path')}" if exceptions else ""
    return f"{_listed(shut, _MOST_PATHS, 'path') or 'a part'}{but}"


def _kind(agent: str) -> str:
    crawler = crawler_of(agent)
    return _KINDS.get(crawler.category, "") if crawler else ""


def _about(agents: Sequence[str], kind: str, closed: str, where: str) -> str:
    """What is *closed* to *agents*, all of one *kind*; and of those who train AI, whom the file does not name."""
    if kind == _KINDS[Category.TRAINING] and len(agents) > 1:
        missing = [token for token in _TRAINING if token not in agents]
        if not missing:
            return _fate(f"All {len(_TRAINING)} known {kind}", "are", closed, where)
        if closed == _EVERYTHING:
            where += f"; {number_of(len(missing), 'other that is known is', 'others that are known are')} not"
            where += f", such as {missing[0]}" if len(missing) > 1 else f": {missing[0]}"
    if len(agents) == 1:
        crawler = crawler_of(agents[0])
        about = f" ({crawler.about})" if crawler else ", which is no known crawler,"
        return _fate(f"{shown(agents[0])}{about}", "is", closed, where)
    of_kind = f"Of the {kind}, " if kind else ""
    return _fate(f"{of_kind}{_listed(agents, _MOST_NAMES)}", "are", closed, where)


def _fate(subject: str, verb: str, closed: str, where: str) -> str:
    return f"{subject} {verb} shut out of {closed}{where}." if closed else f"{subject} may fetch everything."


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
    shut, number = [one for one in of_url if not one.allowed], len(of_url)
    everyone = f"{'the crawler' if number == 1 else f'all {number:,} crawlers'} that you asked about"
    if not shut:
        return f"open to {everyone}"
    where = _on([one.line for one in shut])
    if len(shut) == number:
        return f"closed to {everyone}{where}"
    names = _listed([_spelt(one.agent) for one in shut], _MOST_NAMES)
    return f"closed to {names}{where} and open to the {number_of(number - len(shut), 'other', 'others')}"


def _spelt(agent: str) -> str:
    return "crawlers without a group" if agent == OTHERS else shown(agent)


# What is wrong, and what to do first.


def order_of(finding: Finding) -> tuple[int, int, int]:
    """What to sort by so that the worst findings come first, in the order in which a person deals with them."""
    return finding.severity.rank, finding.line, finding.column


def _problems(findings: Sequence[Finding]) -> Iterator[str]:
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
        yield f"As a result{f', on line {one.line:,}' if one.line else ''}: {one.message}"


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
    """*names* as a list with an "and"; of more than *most* the first ones, and how many more there are."""
    named, more = [shown(name) for name in names], len(names) - most
    if more > 1:
        named = [*named[:most], f"{more:,} more{f' {noun}s' if noun else ''}"]
    return " and ".join(filter(None, [", ".join(named[:-1]), *named[-1:]]))
