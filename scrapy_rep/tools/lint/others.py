"""Checks on the records beside rules: sitemaps, delays, and what one search engine alone reads."""

from __future__ import annotations

import re
from typing import Final

from scrapy_rep.protocol.other_records import Extension, seconds
from scrapy_rep.protocol.product_token import is_global
from scrapy_rep.protocol.records import Kind, Record

from .finding import Code, Findings, Severity
from .subject import RULES, Subject

CODES: Final[dict[str, Code]] = {
    "relative-sitemap": Code(
        Severity.ERROR,
        "Sitemap that is no complete URL",
        "{0} is no complete URL, and crawlers may ignore it.",
        "Write the whole URL, such as https://example.com/sitemap.xml.",
    ),
    "sitemap-not-http": Code(
        Severity.WARNING,
        "Sitemap that is not at an HTTP URL",
        "{0} is not at http or https, and crawlers do not fetch it.",
        "Serve the sitemap by https.",
    ),
    "bad-crawl-delay": Code(
        Severity.ERROR,
        "Unreadable Crawl-delay",
        "{0} is not a delay: crawlers read a number of seconds, 0 or more.",
        "Write a number, such as 2 or 0.5.",
    ),
    "long-crawl-delay": Code(
        Severity.WARNING,
        "Crawl-delay that makes a crawl impossible",
        "With {0} seconds between requests a crawler gets at most {1} pages a day.",
        "Write a delay of some seconds, or disallow the crawler.",
    ),
    "record-before-user-agent": Code(
        Severity.WARNING,
        "Record before any user-agent line",
        "{0} belongs into a group, and here it is for nobody.",
        "Put it below a user-agent line.",
    ),
    "record-before-rules": Code(
        Severity.NOTE,
        "Record before the rules of its group",
        "{0} stands before the first rule of its group; parsers of the standard of 1994 want rules there.",
        "Put it behind the rules of the group.",
    ),
    "record-of-another-engine": Code(
        Severity.WARNING,
        "Record of one search engine in the group of another",
        "{0} means nothing to the crawlers that this group names.",
        "Put it into the group of a crawler that reads it.",
    ),
    "record-google-ignores": Code(
        Severity.NOTE,
        "Record that Google ignores",
        "Google does not read {0}; other crawlers do.",
        "Do not count on it for Google.",
    ),
    "host-record": Code(
        Severity.NOTE,
        "Host",
        "Host was read by Yandex alone, until 2018.",
        "Redirect to the host that you prefer, with the status 301.",
    ),
    "noindex-record": Code(
        Severity.WARNING,
        "Noindex",
        "No search engine reads Noindex in robots.txt; Google stopped in 2019.",
        "Use the header X-Robots-Tag or a robots meta tag, on pages that are not disallowed.",
    ),
    "misplaced-content-signal": Code(
        Severity.WARNING,
        "Content-Signal where nobody looks",
        "{0} stands before any user-agent line, and its readers look for it in a group.",
        "Put it right below “User-agent: *”.",
    ),
}

_LONG_DELAY: Final = 300.0  # seconds: 288 pages a day
_DAY: Final = 86_400.0
_SCHEME: Final = re.compile(rb"([a-z][a-z0-9+.-]*)://[^/]", re.IGNORECASE)
_SIGNALS: Final = frozenset({Kind.CONTENT_SIGNAL, Kind.CONTENT_USAGE})
_DELAYS: Final = frozenset({Kind.CRAWL_DELAY, Kind.REQUEST_RATE, Kind.VISIT_TIME})
_OF_YANDEX: Final = frozenset({Kind.HOST, Kind.CLEAN_PARAM})
_GOOGLE: Final = re.compile(rb"[a-z-]*google", re.IGNORECASE)
_YANDEX: Final = re.compile(rb"yandex", re.IGNORECASE)


def check(subject: Subject, found: Findings) -> None:
    """All checks of this file."""
    for record in subject.records:
        if record.kind is Kind.SITEMAP:
            _check_sitemap(record, subject, found)
        elif record.kind is Kind.CRAWL_DELAY:
            _check_delay(record, subject, found)
        elif record.kind is Kind.HOST:
            found.add("host-record", record.line, subject.column(record))
        elif record.kind is Kind.NOINDEX:
            found.add("noindex-record", record.line, subject.column(record))
    readers = _Readers()
    for extension in subject.extensions:
        code = _about(extension, readers)
        if code:
            found.add(code, extension.record.line, subject.column(extension.record), extension.record.key)
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
    """Whom runs of user-agent lines address; each is looked at once, as many records may share one."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], tuple[bool, bool, bool]] = {}

    def of(self, agents: tuple[Record, ...]) -> tuple[bool, bool, bool]:
        """Whether they address all, Google's crawlers alone, and one of Yandex."""
        run = agents[0].line, agents[-1].line
        if run not in self._known:
            self._known[run] = (
                any(is_global(agent.value) for agent in agents),
                all(_GOOGLE.match(agent.value) for agent in agents),
                any(_YANDEX.match(agent.value) for agent in agents),
            )
        return self._known[run]


def _about(extension: Extension, readers: _Readers) -> str:
    """The code for the place of a record beside the protocol; nothing for a good one."""
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


def _check_before_rules(subject: Subject, found: Findings) -> None:
    """Delays between the user-agent lines of a group and its first rule."""
    waiting: list[Record] = []
    in_head = False
    for record in subject.records:
        if record.kind is Kind.USER_AGENT:
            waiting, in_head = [], True
        elif record.kind in RULES:
            for early in waiting:
                found.add("record-before-rules", early.line, subject.column(early), early.key)
            waiting, in_head = [], False
        elif in_head and record.kind in _DELAYS | _OF_YANDEX:
            waiting.append(record)
