"""Checks of what crawlers that read robots.txt in a dialect of their own make of a file that names them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from scrapy_rep.protocol import Dialect, RobotsTxt, Verdict, parse
from scrapy_rep.protocol.dialects import BAIDU, BING, YANDEX
from scrapy_rep.tools.crawlers import crawler_of

from .finding import Code, Findings, Severity
from .subject import Subject

CODES: Final[dict[str, Code]] = {
    "read-otherwise": Code(
        Severity.NOTE,
        "Crawler that reads the file in another way",
        "{0} {1} request {2} ({3}); as Google reads the file, it {4} ({5}).",
        "“scrapy robots diff robots.txt --dialect google --dialect {6}” lists such URLs.",
    ),
}


class _Reader(NamedTuple):
    """A crawler, whose ``owner`` documents its ``dialect``.

    A crawler of Google's kind would go by the first of its ``names`` that the file has a group for.
    """

    owner: str
    names: tuple[str, ...]
    dialect: Dialect


_READERS: Final = (
    _Reader("Microsoft", ("bingbot",), BING),
    _Reader("Yandex", ("YandexBot", "Yandex"), YANDEX),
    _Reader("Baidu", ("Baiduspider",), BAIDU),
)

# A dialect other than Google's is read the plain way, which tries each rule for each path.
_MOST_RULES: Final = 1_000
_MOST_PATHS: Final = 50
_MOST_OCTETS: Final = 2_000_000  # of rules that are tried, with all paths together
_LONGEST_PATH: Final = 2_000  # octets


def check(subject: Subject, found: Findings) -> None:
    """Find the first path that a crawler which *subject* names reads otherwise than Google would."""
    agents = {agent.text for group in subject.groups for agent in group.agents}
    owners = {crawler.owner for crawler in map(crawler_of, agents) if crawler}
    readers = [reader for reader in _READERS if reader.owner in owners]
    if not readers or sum(len(group.rules) for group in subject.groups) > _MOST_RULES:
        return
    for reader in readers:
        _check_reader(reader, subject.robotstxt, found)


def _check_reader(reader: _Reader, as_google: RobotsTxt, found: Findings) -> None:
    own, name = parse(as_google.body, reader.dialect, limit=None), reader.names[0]
    name_at_google = next(filter(as_google.has_group, reader.names), name)
    most = min(_MOST_PATHS, _MOST_OCTETS // len(own.body))
    for path in _paths(as_google, name_at_google, most):
        theirs, googles = own.verdict(name, path), as_google.verdict(name_at_google, path)
        if theirs.allowed is not googles.allowed:
            (may, by), at_google = _said(theirs), _said(googles)
            line = theirs.line or googles.line or 0
            found.add("read-otherwise", line, 0, name, may, path, by, *at_google, reader.dialect.name)
            return


def _paths(file: RobotsTxt, name: str, most: int) -> Iterator[bytes]:
    """Paths that some of the rules for the crawler called *name* match, and such that begin with them."""
    rules = [rule for rule in file.rules(name) if rule.value.startswith(b"/")]
    step = -(-len(rules) // most) | 1  # odd: rules often alternate between Allow and Disallow
    for rule in rules[::step]:
        path = rule.value.replace(b"*", b"x").removesuffix(b"$")
        if len(path) <= _LONGEST_PATH:
            yield path
            yield path + b"x"


def _said(verdict: Verdict) -> tuple[str, str]:
    may = "may" if verdict.allowed else "may not"
    return may, f"line {verdict.line}" if verdict.line else "no rule matches"
