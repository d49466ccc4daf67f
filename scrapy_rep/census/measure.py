"""Measure the body of one robots.txt: its lines, groups, rules, findings, restrictions and signals.

`measure` is a function of its arguments alone. It needs no Scrapy and opens no file, and its answer goes to
another process.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final

from scrapy_rep.directives.robots_signals import RobotsSignals
from scrapy_rep.directives.rsl import is_url
from scrapy_rep.directives.vocabulary import Permission, Signal, answers
from scrapy_rep.protocol import GOOGLE, Dialect, Extension, Group, Kind, Record, RobotsTxt
from scrapy_rep.protocol.body_kind import BodyKind, body_kind
from scrapy_rep.protocol.product_token import is_global, token_in
from scrapy_rep.protocol.records import as_text
from scrapy_rep.protocol.robotstxt import seconds
from scrapy_rep.tools.crawlers import crawler_of
from scrapy_rep.tools.lint import Finding, findings_in
from scrapy_rep.tools.lint.subject import Subject

from .capture import Capture, is_robots_url
from .restriction import OTHERS, restrictions

SIGNALS: Final = {
    Kind.CONTENT_SIGNAL: "Content-Signal", Kind.CONTENT_USAGE: "Content-Usage", Kind.LICENSE: "License",
}  # fmt: skip
"""The records about the use by AI that are counted, and their names."""

_LONGEST_NAME: Final = 64  # octets
_WORDS: Final = re.compile(rb"[\w.\x80-\xff'&+!-]+(?:[ \t]+[\w.\x80-\xff'&+!-]+)*")
_WITHOUT_VERSION: Final = re.compile(rb"(?:[ \t]+(?:[Vv]?\d[\d.]*[a-z]?|[^A-Za-z0-9\x80-\xff \t]+))+\Z")
_LINES_OF_A_FINDING: Final = 100
_OCTETS_KEPT: Final = 2**23  # of bodies whose columns are kept, which take about as much


def measure(
    capture: Capture, agents: tuple[str, ...], dialect: Dialect, limit: int, *, light: bool
) -> dict[str, Any]:
    """Return the columns of a row that the body of *capture* fills; *limit* octets of it are parsed.

    *light* leaves out the linter. Equal bodies share what their columns hold.
    """
    body = capture.body or b""
    digest = sha256(body).hexdigest()
    # The linter is told where the file is from if it has a site.
    url = capture.url if capture.url.startswith(("http:", "https:")) else ""
    is_usual = light or (not capture.hops and (not url or is_robots_url(url)))
    asked = digest, agents, dialect, limit, light, None if light else capture.status
    row = _measured.get(asked) if is_usual else None
    if row is None:
        subject = Subject(body, dialect, limit, url, capture.hops, capture.status)
        row = {"sha256": digest, **_columns(subject, agents)}
        if not light:
            row |= _linted(subject if dialect.is_googles else replace(subject, dialect=GOOGLE))
        if is_usual and "host" not in vars(subject):  # nothing the linter found depends on the site
            _measured.add(asked, row, len(body))
    return row


class _Measured:
    """The columns of the last bodies, within `_OCTETS_KEPT`: many sites serve the same file, or that of last week.

    Threads may share it: at worst two measure the same body.
    """

    def __init__(self) -> None:
        self._found: dict[Hashable, tuple[dict[str, Any], int]] = {}  # the last one asked for is the last
        self._octets = 0

    def get(self, asked: Hashable) -> dict[str, Any] | None:
        row, octets = self._found.pop(asked, (None, 0))
        if row is not None:
            self._found[asked] = row, octets
        return row

    def add(self, asked: Hashable, row: dict[str, Any], octets: int) -> None:
        self._found[asked] = row, octets
        self._octets += octets
        if self._octets > _OCTETS_KEPT:
            kept = [*self._found.items()]
            self._found = dict(kept[len(kept) // 2 :])
            self._octets = sum(octets for _, octets in self._found.values())


_measured: Final = _Measured()


def _columns(subject: Subject, agents: tuple[str, ...]) -> dict[str, Any]:
    robotstxt, dialect = subject.robotstxt, subject.dialect
    kind = subject.body_kind if subject.body is subject.octets else body_kind(subject.octets)
    groups = robotstxt.groups if dialect.blank_line_ends else subject.groups
    values = {kind: [record.value for record in found] for kind, found in subject.by_kind.items()}
    signals = _signals(values)
    return {
        "is_html": kind is BodyKind.HTML,
        "instead": None if kind.is_robots_txt else str(kind),
        "bytes": len(subject.octets),
        **_line_figures(subject, sum(len(found) for kind, found in values.items() if kind is not Kind.UNKNOWN)),
        "groups": len(groups),
        **_record_figures(values),
        **_rules_by_name(groups),
        "crawl_delays": _crawl_delays(subject.extensions) if Kind.CRAWL_DELAY in values else {},
        "sitemaps": len({*values.get(Kind.SITEMAP, ())}),
        **_restrictions(robotstxt, groups, agents),
        "ai_signals": signals,
        "ai_answers": _answers(robotstxt, signals),
    }


def _linted(subject: Subject) -> dict[str, Any]:
    findings = findings_in(subject)
    return {
        "findings": dict(Counter(finding.code for finding in findings)),
        "finding_lines": _finding_lines(findings),
    }


def _line_figures(subject: Subject, known: int) -> dict[str, Any]:
    """The numbers of lines, of which so many are *known* records; those beyond the limit count."""
    body = subject.octets
    read = subject.lines if subject.body is body else body[subject.bom_length :].splitlines()
    lines = [line.strip() for line in read]
    blank = lines.count(b"")
    if b"\0" in body:  # which ends a line, as for the parser
        lines = [line.partition(b"\0")[0] for line in lines]
    with_comment = [line for line in lines if b"#" in line] if b"#" in body else []
    comments = sum(line.startswith(b"#") for line in with_comment)
    unread = len(lines) - blank - comments - known
    return {
        "lines": len(lines),
        "blank_lines": blank,
        "comment_lines": comments,
        "lines_with_comment": len(with_comment) - comments,
        "unread_lines": unread,
        "unread_share": round(unread / len(lines), 6) if lines else 0.0,
    }


def _record_figures(values: Mapping[Kind, list[bytes]]) -> dict[str, Any]:
    allow, disallow = values.get(Kind.ALLOW, []), values.get(Kind.DISALLOW, [])
    paths = allow + disallow
    return {
        "records": {kind.value: len(found) for kind, found in values.items()},
        "user_agent_fields": len(values.get(Kind.USER_AGENT, ())),
        "allow": len(allow),
        "disallow": len(disallow),
        "wildcards": len([path for path in paths if b"*" in path]),
        "anchors": len([path for path in paths if path.endswith(b"$")]),
    }


def _rules_by_name(groups: Iterable[Group]) -> dict[str, dict[str, int]]:
    """The numbers of rules for each name, in its first spelling."""
    allow: dict[str, int] = {}
    disallow: dict[str, int] = {}
    spellings: dict[str, str] = {}
    for group in groups:
        allowing = sum(rule.allow for rule in group.rules)
        group_names = (_name(agent.value) for agent in group.agents)
        for name in {spellings.setdefault(name.lower(), name): None for name in group_names}:
            allow[name] = allow.get(name, 0) + allowing
            disallow[name] = disallow.get(name, 0) + len(group.rules) - allowing
    return {"agents_allow": allow, "agents_disallow": disallow}


@lru_cache(maxsize=1_024)  # thousands of files name the same few
def _name(value: bytes) -> str:
    """The crawler that a user-agent line with *value* names: ``*``, a name, or empty when it names none.

    The token that crawlers compare, and all words where the token is the first of several that no known crawler
    goes by alone: "The Knowledge AI", not "The". Without a version and a comment.
    """
    if is_global(value):
        return OTHERS
    name = token_in(value, wide=True)
    words = _WORDS.match(value[: 4 * _LONGEST_NAME]) if name else None
    if words and words.end() > len(name):
        all_words = b" ".join(_WITHOUT_VERSION.sub(b"", words.group()).split())
        known = crawler_of(all_words.decode("utf-8", "surrogateescape"))
        name = name if known and " " not in known.token else all_words
    return name[:_LONGEST_NAME].rstrip().decode("utf-8", "backslashreplace")


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


def _restrictions(robotstxt: RobotsTxt, groups: Sequence[Group], agents: tuple[str, ...]) -> dict[str, Any]:
    found = restrictions(robotstxt, groups, agents)
    return {
        "named": found.named,
        "restriction": {name: each.closes for name, each in found.of.items()},
        "restriction_lines": {name: each.line for name, each in found.of.items()},
        "home_closed": [name for name, each in found.of.items() if not each.is_home_open],
    }


# Signals about the use by AI


def _signals(values: Mapping[Kind, list[bytes]]) -> dict[str, int]:
    """The number of lines of each signal; a License counts when it names a URL."""
    found = {name: values[kind] for kind, name in SIGNALS.items() if kind in values}
    if Kind.LICENSE in values:
        name = SIGNALS[Kind.LICENSE]
        found[name] = [value for value in found[name] if is_url(as_text(value))]
    return {name: len(lines) for name, lines in found.items() if lines}


def _answers(robotstxt: RobotsTxt, signals: Mapping[str, int]) -> dict[str, str]:
    """What each signal and category answers about ``/`` to a crawler that no group names.

    What may not be requested has no preferences. *signals* are what `_signals` counts.
    """
    if not signals or not robotstxt.verdict("", "/").allowed:
        return {}
    said = RobotsSignals.of(robotstxt, "").statements("/")
    return {
        f"{signal} {category.value}": answer.value
        for signal in (Signal.CONTENT_SIGNAL, Signal.CONTENT_USAGE)
        for category, answer in answers(one for one in said if one.signal is signal).items()
        if answer is not Permission.UNKNOWN
    }
