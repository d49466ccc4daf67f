"""Checks of Sitemap records, and of records that RFC 9309 does not define, such as Crawl-delay and Host."""

from __future__ import annotations

import re
from typing import Final

from scrapy_rep.protocol import Extension, Kind, Record
from scrapy_rep.protocol.other_records import seconds
from scrapy_rep.protocol.path_pattern import Pattern
from scrapy_rep.protocol.product_token import is_global, token_in

from .finding import Code, Findings, Severity
from .subject import RULES, UNNAMED, Subject

CODES: Final[dict[str, Code]] = {
    "relative-sitemap": Code(
        Severity.ERROR,
        "Sitemap without a complete URL",
        "{0} is not a complete URL, so crawlers may ignore it.",
        "Write the complete URL, such as https://example.com/sitemap.xml.",
    ),
    "sitemap-not-http": Code(
        Severity.WARNING,
        "Sitemap without an HTTP URL",
        "{0} is not an HTTP or HTTPS URL, so crawlers do not fetch it.",
        "Serve the sitemap over HTTPS.",
    ),
    "no-sitemap": Code(
        Severity.NOTE,
        "No sitemap",
        "No Sitemap line tells crawlers where to find the list of the site's pages.",
        "Add “Sitemap: ” with the complete URL of the sitemap, if there is one.",
    ),
    "bad-crawl-delay": Code(
        Severity.ERROR,
        "Unreadable Crawl-delay",
        "{0} is not a delay: crawlers expect a number of seconds, 0 or more.",
        "Write a number, such as 2 or 0.5.",
    ),
    "long-crawl-delay": Code(
        Severity.WARNING,
        "Very long Crawl-delay",
        "With {0} seconds between requests a crawler gets at most {1} pages per day.",
        "Write a delay of a few seconds, or disallow the crawler.",
    ),
    "record-before-user-agent": Code(
        Severity.WARNING,
        "Record before any user-agent line",
        "{0} comes before the first user-agent line, so it applies to no crawler.",
        "Move it below a user-agent line.",
    ),
    "record-before-rules": Code(
        Severity.NOTE,
        "Record before the rules of its group",
        "{0} comes before the first rule of its group, where parsers of the 1994 standard expect rules.",
        "Move it after the rules of the group.",
    ),
    "record-of-another-engine": Code(
        Severity.WARNING,
        "Record of one search engine in the group of another",
        "The crawlers that this group names do not read {0}.",
        "Move it to the group of a crawler that reads it.",
    ),
    "record-google-ignores": Code(
        Severity.NOTE,
        "Record that Google ignores",
        "Google does not read {0}; other crawlers do.",
        "Do not rely on it for Google.",
    ),
    "host-record": Code(
        Severity.NOTE,
        "Host",
        "Only Yandex read Host, until 2018.",
        "Redirect to the preferred host with status 301.",
    ),
    "noindex-record": Code(
        Severity.WARNING,
        "Noindex",
        "No search engine reads Noindex in robots.txt; Google stopped in 2019.",
        "Use the X-Robots-Tag header or a robots meta tag on pages that are not disallowed.",
    ),
    "noindex-behind-disallow": Code(
        Severity.WARNING,
        "Noindex behind a Disallow",
        "No search engine reads Noindex in robots.txt, and line {1} disallows {0}, so none sees a noindex there.",
        "Allow the page and put the noindex in its X-Robots-Tag header or robots meta tag; remove this line.",
    ),
    "misplaced-content-signal": Code(
        Severity.WARNING,
        "Content-Signal outside a group",
        "{0} comes before the first user-agent line, {1}.",
        "Move it below “User-agent: *”.",
    ),
}

_OUTSIDE: Final = {
    Kind.CONTENT_SIGNAL: "so crawlers that look only in their group miss it",
    Kind.CONTENT_USAGE: "so it applies to no crawler",
}
_MOST_ASKED: Final = 100  # Noindex records of a file that the engine is asked about
_LONG_DELAY: Final = 300.0  # seconds: 288 pages a day
_DAY: Final = 86_400.0
_SCHEME: Final = re.compile(rb"([a-z][a-z0-9+.-]*)://[^/]", re.IGNORECASE)
_SIGNALS: Final = frozenset({Kind.CONTENT_SIGNAL, Kind.CONTENT_USAGE})
_DELAYS: Final = frozenset({Kind.CRAWL_DELAY, Kind.REQUEST_RATE, Kind.VISIT_TIME})
_OF_YANDEX: Final = frozenset({Kind.HOST, Kind.CLEAN_PARAM})
_GOOGLE: Final = re.compile(rb"[a-z-]*google", re.IGNORECASE)
_YANDEX: Final = re.compile(rb"yandex", re.IGNORECASE)


def check(subject: Subject, found: Findings) -> None:
    """Check the sitemaps and extensions of *subject*."""
    for record in subject.records:
        if record.kind is Kind.SITEMAP:
            _check_sitemap(record, subject, found)
        elif record.kind is Kind.CRAWL_DELAY:
            _check_delay(record, subject, found)
        elif record.kind is Kind.HOST:
            found.add("host-record", record.line, subject.column(record))
    if (
        subject.groups
        and not subject.closing_rule
        and all(each.kind is not Kind.SITEMAP for each in subject.records)
    ):
        found.add("no-sitemap")
    readers = _Readers()
    for extension in subject.extensions:
        record = extension.record
        code = _extension_code(extension, readers)
        if code:
            found.add(code, record.line, subject.column(record), record.key, _OUTSIDE.get(record.kind, ""))
    _check_noindex(subject, found)
    _check_before_rules(subject, found)


def _check_sitemap(record: Record, subject: Subject, found: Findings) -> None:
    scheme = _SCHEME.match(record.value)
    if not scheme:
        found.add("relative-sitemap", record.line, subject.value_column(record), record.value or record.key)
    elif scheme[1].lower() not in {b"http", b"https"}:
        found.add("sitemap-not-http", record.line, subject.value_column(record), record.value)


def _check_delay(record: Record, subject: Subject, found: Findings) -> None:
    delay = seconds(record.value)
    if delay is None:
        found.add("bad-crawl-delay", record.line, subject.value_column(record), record.value or record.key)
    elif delay > _LONG_DELAY:
        found.add("long-crawl-delay", record.line, subject.value_column(record), record.value, int(_DAY / delay))


class _Readers:
    """Which crawlers runs of user-agent lines address; each run is checked once, as many records may share it."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], tuple[bool, bool, bool]] = {}

    def of(self, agents: tuple[Record, ...]) -> tuple[bool, bool, bool]:
        """Whether *agents* address all crawlers, only Google's, and one of Yandex's."""
        run = agents[0].line, agents[-1].line
        if run not in self._known:
            self._known[run] = (
                any(is_global(agent.value) for agent in agents),
                all(_GOOGLE.match(agent.value) for agent in agents),
                any(_YANDEX.match(agent.value) for agent in agents),
            )
        return self._known[run]


def _extension_code(extension: Extension, readers: _Readers) -> str:
    """The code for the position of *extension*; empty when it is fine."""
    kind = extension.record.kind
    if not extension.agents:
        if kind in _SIGNALS:
            return "misplaced-content-signal"
        return "record-before-user-agent" if kind in _DELAYS else ""
    is_for_all, is_for_google, is_for_yandex = readers.of(extension.agents)
    if is_for_google and kind in _DELAYS | _OF_YANDEX:
        return "record-of-another-engine"
    if kind in _OF_YANDEX and not (is_for_all or is_for_yandex):
        return "record-of-another-engine"
    return "record-google-ignores" if is_for_all and kind in _DELAYS | {Kind.CLEAN_PARAM} else ""


def _check_noindex(subject: Subject, found: Findings) -> None:
    asked = 0
    for extension in subject.extensions:
        record = extension.record
        if record.kind is not Kind.NOINDEX:
            continue
        asked += 1
        path, line = _disallowed(extension, subject) if asked <= _MOST_ASKED else (b"", 0)
        code = "noindex-behind-disallow" if line else "noindex-record"
        found.add(code, record.line, subject.column(record), path, str(line))


def _disallowed(extension: Extension, subject: Subject) -> tuple[bytes, int]:
    """A path of the Noindex in *extension*, and the line that disallows it to the first crawler of its group."""
    value = extension.record.value
    if not extension.agents or value[:1] not in {b"/", b"*"} or value[:2] == b"//":
        return b"", 0
    pieces = Pattern.of(value, canonical_octets=subject.dialect.canonical_octets).pieces
    path = b"/" + b"a".join(pieces).lstrip(b"/")
    agent = extension.agents[0].value
    token = token_in(agent, wide=subject.dialect.wide_tokens).decode("utf-8", "surrogateescape")
    verdict = subject.verdict(UNNAMED if is_global(agent) else token, path)
    return path, 0 if verdict.allowed else verdict.line


def _check_before_rules(subject: Subject, found: Findings) -> None:
    """Find delays between the user-agent lines of a group and its first rule."""
    early_records: list[Record] = []
    in_head = False
    for record in subject.records:
        if record.kind is Kind.USER_AGENT:
            early_records, in_head = [], True
        elif record.kind in RULES:
            for early in early_records:
                found.add("record-before-rules", early.line, subject.column(early), early.key)
            early_records, in_head = [], False
        elif in_head and record.kind in _DELAYS | _OF_YANDEX:
            early_records.append(record)
