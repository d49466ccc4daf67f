"""``Content-Usage`` and ``Content-Signal``, records of a robots.txt and header fields; and ``DisallowAITraining``.

- ``Content-Usage`` of the IETF working group AIPREF, read strictly: draft-ietf-aipref-attach-05 (2026-08-19) says
  where it stands, draft-ietf-aipref-vocab-08 (2026-09-14) section 6 how it is read. Neither is an RFC.
- ``Content-Signal`` of Cloudflare, read leniently: https://contentsignals.org (2025-09), and
  draft-romm-aipref-contentsignals (2025-10). It holds for a group, not for a path. ``use`` came on 2026-07-01.
- ``DisallowAITraining`` and ``AllowAITraining`` of draft-canel-robots-ai-control-00 (Microsoft, 2024-10-21), which
  expired: every statement is irregular. Keys count by their prefix, so such a line is a rule about crawling as
  well, and a URL that may be crawled meets a ``DisallowAITraining`` only where an Allow wins.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from typing import Final

from scrapy_rep.protocol import Kind, Record, RobotsTxt, path_of
from scrapy_rep.protocol.other_records import outside_groups
from scrapy_rep.protocol.path_pattern import Pattern

from .structured_fields import Token, parse_dictionary
from .terms import MAX_LICENSES, is_url
from .vocabulary import Category, Signal, Statement, label_of, level_of, shortened, without_repetitions

MAX_ITEMS: Final = 100
"""Items of one Content-Signal line that are read."""

MAX_PATTERNS: Final = 1_000
"""Patterns of one length that count when they match the same path; no honest file has as many."""

AI_TRAINING: Final = {b"disallowaitraining": False, b"allowaitraining": True}
"""The keys of the rules about training, in lower case, and whether they allow it."""

_PATH: Final = re.compile(rb"(/[^ \t]*)[ \t]*(.*)", re.DOTALL)
_Y_OR_N: Final = {"y": True, "n": False}
_YES_OR_NO: Final = {"yes": True, "no": False}
_USAGE: Final = b"content-usage"
_SIGNAL: Final = b"content-signal"
_LICENSE: Final = b"license"


def read_usage(fields: Iterable[str]) -> tuple[Statement, ...]:
    """Return the statements of all ``Content-Usage`` header *fields* of a response, which make one Dictionary."""
    return without_repetitions(_of_usage(", ".join(field for field in fields if field.strip()), "header", 0))


def read_signal(fields: Iterable[str]) -> tuple[Statement, ...]:
    """Return the statements of all ``Content-Signal`` header *fields* of a response."""
    return without_repetitions(one for field in fields for one in _of_signal(field, "header", 0))


def split_usage(value: bytes) -> tuple[bytes, bytes]:
    """Return the path of a rule, empty for none, and its preference (attach-05, "Content-Usage Rules")."""
    found = _PATH.fullmatch(value)
    return (found[1], found[2]) if found else (b"", value)


def _of_usage(text: str, source: str, line: int) -> Iterator[Statement]:
    """A statement for each member that says y or n, one without a category for each other one."""
    try:
        members = parse_dictionary(text)
    except ValueError:
        yield Statement(Signal.CONTENT_USAGE, None, None, source, shortened(text), line, irregular=True)
        return
    for key, item in members.items():
        says = _Y_OR_N.get(item.value) if isinstance(item.value, Token) else None
        read = Statement(Signal.CONTENT_USAGE, None, says, source, shortened(f"{key}={item.value}"), line)
        yield from _by_category(read, key)


def _of_signal(text: str, source: str, line: int, *, irregular: bool = False) -> Iterator[Statement]:
    for item in map(str.strip, text.split(",", MAX_ITEMS)[:MAX_ITEMS]):
        key, _, value = (part.strip() for part in item.lower().partition("="))
        says = _YES_OR_NO.get(value)
        read = Statement(Signal.CONTENT_SIGNAL, None, says, source, shortened(item), line, irregular)
        if level_of(item):
            yield read
        elif key:
            yield from _by_category(read, key)


def _by_category(read: Statement, key: str) -> Iterator[Statement]:
    """The statement that was *read* for each category of the label *key*; one without if none is meant."""
    label = label_of(read.signal, key)
    if label is None or not label.categories or read.allows is None:
        yield replace(read, allows=None, irregular=True)
    else:
        yield from (replace(read, category=category) for category in sorted(label.categories))


class PathRules:
    """Records by their paths; *read* makes statements of a record when a URL first needs them.

    The rule with the longest matching path decides, as a whole: paths match as those of Allow and Disallow do, and
    the length is the number of octets of the encoded path (attach-05, "Content-Usage Rule Semantics"). Rules with
    identical paths all apply. Different patterns may be equally long and match the same URL, which the draft does
    not mention: neither is the longer one, so both apply. An absent path has length 0.
    """

    __slots__ = ("_by_length", "_read", "_records", "_statements")

    def __init__(
        self, rules: Iterable[tuple[bytes, Record]], read: Callable[[Record], Iterable[Statement]]
    ) -> None:
        self._read = read
        self._records: dict[Pattern, dict[object, Record]] = {}  # a repetition says nothing new
        self._statements: dict[Pattern, tuple[Statement, ...]] = {}
        for path, record in rules:
            self._records.setdefault(_pattern(path), {}).setdefault((record.key, record.value), record)
        longest_first = sorted(self._records, key=_length, reverse=True)
        self._by_length = [[*patterns] for _, patterns in groupby(longest_first, _length)]

    def __bool__(self) -> bool:
        return bool(self._records)

    def statements(self, path: bytes) -> tuple[Statement, ...]:
        """Return the statements for *path*, an answer of `path_of`."""
        for patterns in self._by_length:
            found = [pattern for pattern in patterns if pattern.matches(path)]
            if len(found) == 1:
                return self._of(found[0])
            if found:
                return without_repetitions(one for pattern in found[:MAX_PATTERNS] for one in self._of(pattern))
        return ()

    def _of(self, pattern: Pattern) -> tuple[Statement, ...]:
        if pattern not in self._statements:
            records = self._records[pattern].values()
            self._statements[pattern] = without_repetitions(
                one for record in records for one in self._read(record)
            )
        return self._statements[pattern]


_length: Final = attrgetter("specificity")


def _pattern(path: bytes) -> Pattern:
    """The pattern of *path*, with the length that counts here: that of its encoded octets."""
    pattern = Pattern.of(path)
    return pattern._replace(specificity=sum(map(len, pattern.pieces)) + path.count(b"*") + pattern.anchored)


class RobotsSignals:
    """Everything that one robots.txt says to the crawler with one product token, ready for many URLs.

    ``licenses`` are the URLs of its RSL licenses. What belongs to the group is read once. A URL costs a look into
    the rules with paths, and nothing where the file has none. Whoever keeps the parsed file may keep this as long:
    the file at the time of the fetch counts (attach-05, "When Preferences Apply").
    """

    __slots__ = ("_by_path", "_of_group", "licenses")

    def __init__(
        self, by_path: Iterable[PathRules] = (), of_group: Iterable[Statement] = (), licenses: Iterable[str] = ()
    ) -> None:
        self.licenses = tuple(licenses)
        self._by_path = tuple(rules for rules in by_path if rules)
        self._of_group = tuple(of_group)

    @classmethod
    def of(cls, robotstxt: RobotsTxt, token: str) -> RobotsSignals:
        """Return the signals for the crawler called *token*; `NO_SIGNALS` where there are none.

        Where its group has no Content-Signal, lines before any user-agent line stand in; they are irregular. So do
        its licenses (RSL 1.0 section 4.4.2: the lines of a group replace the global ones).
        """
        text = robotstxt.body.lower()  # most files hold none of the keys, and are not read any further
        training = [_training_rules(robotstxt, token)] if b"allowaitraining" in text else []
        if not any(key in text for key in (_USAGE, _SIGNAL, _LICENSE)):
            return cls(training) or NO_SIGNALS
        own = [*robotstxt.extensions_for(token)]
        of_group, licenses = _signals_in(own), _licenses_in(own)
        if (_SIGNAL in text and not of_group) or (_LICENSE in text and not licenses):
            outside = outside_groups(robotstxt.extensions)
            of_group = of_group or _signals_in(outside, irregular=True)
            licenses = licenses or _licenses_in(outside)
        return cls([_usage_rules(own), *training], of_group, licenses) or NO_SIGNALS

    def __bool__(self) -> bool:
        return bool(self._by_path or self._of_group or self.licenses)

    def statements(self, url: str) -> tuple[Statement, ...]:
        """Return the statements about *url*, which may be crawled: a forbidden one has no preferences."""
        if not self._by_path:
            return self._of_group
        path = path_of(url)
        return (*(one for rules in self._by_path for one in rules.statements(path)), *self._of_group)


NO_SIGNALS: Final = RobotsSignals()
"""The signals of every file without any."""


def _signals_in(records: Iterable[Record], *, irregular: bool = False) -> tuple[Statement, ...]:
    return without_repetitions(
        one
        for record in records
        if record.kind is Kind.CONTENT_SIGNAL
        for one in _of_signal(record.text, "robots.txt", record.line, irregular=irregular)
    )


def _licenses_in(records: Iterable[Record]) -> tuple[str, ...]:
    """The URLs of the License lines among *records*; a line that holds none means nothing."""
    texts = dict.fromkeys(record.text for record in records if record.kind is Kind.LICENSE)
    return tuple(filter(is_url, texts))[:MAX_LICENSES]


def _usage_rules(records: Iterable[Record]) -> PathRules:
    def read(record: Record) -> Iterator[Statement]:
        return _of_usage(split_usage(record.value)[1].decode("utf-8", "replace"), "robots.txt", record.line)

    usages = (record for record in records if record.kind is Kind.CONTENT_USAGE)
    return PathRules(((split_usage(record.value)[0], record) for record in usages), read)


def _training_rules(robotstxt: RobotsTxt, token: str) -> PathRules:
    """The rules about training in the group; one with an empty path says nothing."""

    def read(record: Record) -> Iterator[Statement]:
        text, allows = shortened(f"{record.key.decode()}: {record.text}"), AI_TRAINING[record.key.lower()]
        yield Statement(
            Signal.DISALLOW_AI_TRAINING, Category.AI_TRAIN, allows, "robots.txt", text, record.line, irregular=True
        )

    lines = {rule.line for rule in robotstxt.rules(token) if rule.value}
    records = (one for one in robotstxt.records if one.line in lines and one.key.lower() in AI_TRAINING)
    return PathRules(((record.value, record) for record in records), read)
