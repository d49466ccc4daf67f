"""Read AI signals: ``Content-Usage`` and ``Content-Signal``, as records or header fields; ``DisallowAITraining``.

- ``Content-Usage`` of the IETF working group AIPREF, read strictly: draft-ietf-aipref-attach-05 (2026-08-19)
  defines its place, draft-ietf-aipref-vocab-08 (2026-09-14) section 6 its syntax. Neither is an RFC.
- ``Content-Signal`` of Cloudflare, read leniently: https://contentsignals.org (2025-09), and
  draft-romm-aipref-contentsignals (2025-10). It applies to a group, not a path. ``use`` was added on 2026-07-01.
- ``DisallowAITraining`` and ``AllowAITraining`` of draft-canel-robots-ai-control-00 (Microsoft, 2024-10-21), which
  expired: every statement is irregular. Keys match by prefix, and these lines are also crawl rules. A URL that
  may be crawled matches a ``DisallowAITraining`` only where an Allow wins.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import accumulate
from operator import attrgetter
from sys import getsizeof
from typing import Final

from scrapy_rep.protocol import Kind, Record, RobotsTxt, path_of
from scrapy_rep.protocol.path_pattern import Pattern
from scrapy_rep.protocol.reader import outside_groups
from scrapy_rep.protocol.records import kind_of

from .rsl import MAX_LICENSES, is_url
from .structured_fields import Token, parse_dictionary
from .vocabulary import USE_LEVELS, Purpose, Signal, Statement, label_of, shortened, without_repetitions

MAX_ITEMS: Final = 100  # items of one Content-Signal line that are read
MAX_PATTERNS: Final = 1_000  # patterns with a wildcard per file, first come; no honest file has as many
_MAX_PIECES: Final = 4_000  # pieces between the wildcards of these patterns
_MAX_SAID: Final = 32  # statements of one path; statements with a category are fewer, and come first
_MAX_KEPT: Final = 512  # cached statements, for the paths of recent URLs
_LEAST_STATEMENT: Final = 16  # bytes of text per statement, roughly
_OCTETS_OF_STATEMENT: Final = 320
_OCTETS_OF_PATTERN: Final = 160
_NOTHING_NEW: Final = 2**32 - 1  # replaces the number of a text that repeats others

AI_TRAINING: Final = {b"disallowaitraining": False, b"allowaitraining": True}
"""The keys of the rules about training, in lower case, and whether they allow it."""

_PATH: Final = re.compile(rb"(/[^ \t]*)[ \t]*(.*)", re.DOTALL)
_Y_OR_N: Final = {"y": True, "n": False}
_YES_OR_NO: Final = {"yes": True, "no": False}
_USAGE: Final = b"content-usage"
_SIGNAL: Final = b"content-signal"
_LICENSE: Final = b"license"


def read_usage(fields: Iterable[str]) -> tuple[Statement, ...]:
    """Return the statements of all ``Content-Usage`` header *fields* of a response, which form one Dictionary."""
    return without_repetitions(_of_usage(", ".join(field for field in fields if field.strip()), "header", 0))


def read_signal(fields: Iterable[str]) -> tuple[Statement, ...]:
    """Return the statements of all ``Content-Signal`` header *fields* of a response."""
    return without_repetitions(one for field in fields for one in _of_signal(field, "header", 0))


def split_usage(value: bytes) -> tuple[bytes, bytes]:
    """Return the path of a rule, or an empty path, and its preference (attach-05, "Content-Usage Rules")."""
    found = _PATH.fullmatch(value)
    return (found[1], found[2]) if found else (b"", value)


def _of_usage(text: str, source: str, line: int) -> Iterator[Statement]:
    """A statement for each member with y or n; the other members make statements without a category."""
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
        if key == "use" and value in USE_LEVELS:
            yield read
        elif key:
            yield from _by_category(read, key)


def _by_category(read: Statement, key: str) -> Iterator[Statement]:
    """The statement *read* for each category of the label *key*, or once without a category if it has none."""
    label = label_of(read.signal, key)
    if label is None or not label.categories or read.allows is None:
        yield replace(read, allows=None, irregular=True)
    else:
        yield from (replace(read, category=category) for category in sorted(label.categories))


class PathRules:
    """Records by path; *read* turns a record into statements when a URL first needs them.

    The rule with the longest matching path decides as a whole. Paths match as in Allow and Disallow; the length is
    the number of bytes of the encoded path (attach-05, "Content-Usage Rule Semantics"). Rules with identical paths
    all apply. So do patterns of equal length that match a URL, a case that the draft does not mention. An absent
    path has length 0.

    A file may have 25,000 rules. A rule takes 16 bytes: an index into three arrays, sorted by the hash of the
    pattern. A URL is looked up once per path length, longest first, and matched against each pattern with a
    wildcard, of which the first `MAX_PATTERNS` in a file count.
    """

    __slots__ = (
        "_hashes",
        "_kept",
        "_lengths",
        "_lines",
        "_read",
        "_said",
        "_text_ends",
        "_text_of",
        "_texts",
        "_wild",
    )

    def __init__(
        self, rules: Iterable[tuple[bytes, Record]], read: Callable[[Record], Iterable[Statement]]
    ) -> None:
        hashes, lines, text_of = array("q"), array("I"), array("I")
        texts: dict[bytes, int] = {}  # thousands of rules may repeat a text
        lengths: set[int] = set()
        wild: dict[Pattern, None] = {}
        pieces = 0
        for path, record in rules:
            pattern = Pattern.of(path)
            length = sum(map(len, pattern.pieces)) + path.count(b"*") + pattern.anchored  # of the encoded path
            pattern = pattern._replace(specificity=length)
            if len(pattern.pieces) > 1 and pattern not in wild:
                pieces += len(pattern.pieces)
                if len(wild) >= MAX_PATTERNS or pieces > _MAX_PIECES:
                    continue
                wild[pattern] = None
            elif len(pattern.pieces) == 1 and not pattern.anchored:
                lengths.add(len(pattern.pieces[0]))
            hashes.append(_hash(pattern))
            lines.append(record.line)
            text_of.append(texts.setdefault(record.key + b":" + record.value, len(texts)))
        order = sorted(range(len(hashes)), key=hashes.__getitem__)
        self._hashes = array("q", (hashes[at] for at in order))
        self._lines = array("I", (lines[at] for at in order))
        self._text_of = array("I", (text_of[at] for at in order))
        self._texts, self._text_ends = b"".join(texts), array("I", accumulate(map(len, texts), initial=0))
        self._lengths = array("I", sorted(lengths, reverse=True))
        self._wild = sorted(wild, key=attrgetter("specificity"), reverse=True)
        self._read = read
        self._said: dict[int, tuple[Statement, ...]] = {}  # by the hash of the pattern
        self._kept = 0  # statements in _said

    def __bool__(self) -> bool:
        return bool(self._hashes)

    @property
    def octets(self) -> int:
        """An estimate of the memory in bytes, including statements that may be cached later."""
        arrays = (self._hashes, self._lines, self._text_of, self._text_ends, self._lengths)
        wild = sum(_OCTETS_OF_PATTERN + sum(map(getsizeof, pattern.pieces)) for pattern in self._wild)
        statements = min(_MAX_KEPT, len(self._hashes) + len(self._texts) // _LEAST_STATEMENT)
        return sum(map(getsizeof, arrays)) + len(self._texts) + wild + _OCTETS_OF_STATEMENT * statements

    def statements(self, path: bytes) -> tuple[Statement, ...]:
        """Return the statements for *path*, a result of `path_of`."""
        longest, found = -1, list[int]()
        for pattern in self._wild:
            if pattern.specificity < longest:
                break
            if pattern.matches(path):
                longest = pattern.specificity
                found.append(_hash(pattern))
        if self._has(whole := hash((path, True))) and len(path) + 1 >= longest:
            longest, found = len(path) + 1, [whole, *(found if len(path) + 1 == longest else ())]
        for length in self._lengths:
            if length < longest:
                break
            if length <= len(path) and self._has(start := hash((path[:length], False))):
                found = [start, *(found if length == longest else ())]
                break
        if len(found) == 1:
            return self._of(found[0])
        said = (one for each in found for one in self._of(each))
        return without_repetitions(sorted(said, key=attrgetter("line")))

    def _has(self, pattern: int) -> bool:
        at = bisect_left(self._hashes, pattern)
        return at < len(self._hashes) and self._hashes[at] == pattern

    def _of(self, pattern: int) -> tuple[Statement, ...]:
        """The statements of all rules whose pattern has the hash *pattern*."""
        found = self._said.get(pattern)
        if found is None:
            places = range(bisect_left(self._hashes, pattern), bisect_right(self._hashes, pattern))
            first = {self._text_of[at]: at for at in reversed(places)}  # skip repetitions
            said = (one for at in reversed(first.values()) for one in self._read_at(at))
            found = without_repetitions(said)[:_MAX_SAID]
            lines = {one.line for one in found}
            for at in places:  # next time, read only rules that add a statement
                if self._lines[at] not in lines:
                    self._text_of[at] = _NOTHING_NEW
            if self._kept + len(found) > _MAX_KEPT:
                self._said.clear()
                self._kept = 0
            self._said[pattern] = found
            self._kept += len(found)
        return found

    def _read_at(self, at: int) -> Iterable[Statement]:
        number = self._text_of[at]
        if number == _NOTHING_NEW:
            return ()
        key, _, value = self._texts[self._text_ends[number] : self._text_ends[number + 1]].partition(b":")
        return self._read(Record(self._lines[at], kind_of(key), key, value))


def _hash(pattern: Pattern) -> int:
    """A key for *pattern*: 64 bits with a seed per process, in practice unique."""
    return hash(pattern if len(pattern.pieces) > 1 else (pattern.pieces[0], pattern.anchored))


class RobotsSignals:
    """All AI signals of one robots.txt for one product token, prepared for many URLs.

    ``licenses`` are the URLs of its RSL licenses. Signals of the group are read once; a URL costs one look-up in
    the rules with paths, if there are any. An instance may be cached as long as the parsed file: the file at the
    time of the fetch applies (attach-05, "When Preferences Apply").
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
        """Return the signals for the crawler *token*, or `NO_SIGNALS`.

        If its group has no Content-Signal, lines before the first user-agent line count, as irregular. If it has
        no License, the global License lines count (RSL 1.0 section 4.4.2: the lines of a group replace them).
        """
        text = robotstxt.body.lower()  # most files have none of the keys and are read no further
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

    @property
    def octets(self) -> int:
        """An estimate of the memory in bytes."""
        known = _OCTETS_OF_STATEMENT * len(self._of_group) + sum(map(getsizeof, self.licenses))
        return known + sum(rules.octets for rules in self._by_path)

    def statements(self, url: str) -> tuple[Statement, ...]:
        """Return the statements about *url*, which must be allowed: a disallowed URL has no preferences."""
        if not self._by_path:
            return self._of_group
        path = path_of(url)
        return (*(one for rules in self._by_path for one in rules.statements(path)), *self._of_group)


NO_SIGNALS: Final = RobotsSignals()
"""Shared by all files without signals."""


def _signals_in(records: Iterable[Record], *, irregular: bool = False) -> tuple[Statement, ...]:
    return without_repetitions(
        one
        for record in records
        if record.kind is Kind.CONTENT_SIGNAL
        for one in _of_signal(record.text, "robots.txt", record.line, irregular=irregular)
    )


def _licenses_in(records: Iterable[Record]) -> tuple[str, ...]:
    """The URLs of the License lines among *records*; lines without a URL are ignored."""
    texts = dict.fromkeys(record.text for record in records if record.kind is Kind.LICENSE)
    return tuple(filter(is_url, texts))[:MAX_LICENSES]


def _usage_rules(records: Iterable[Record]) -> PathRules:
    def read(record: Record) -> Iterator[Statement]:
        return _of_usage(record.value.decode("utf-8", "replace"), "robots.txt", record.line)

    usages = (record for record in records if record.kind is Kind.CONTENT_USAGE)
    split = ((record, *split_usage(record.value)) for record in usages)
    return PathRules(((path, record._replace(value=preference)) for record, path, preference in split), read)


def _training_rules(robotstxt: RobotsTxt, token: str) -> PathRules:
    """The rules about training in the group; a rule with an empty path is ignored."""

    def read(record: Record) -> Iterator[Statement]:
        text, allows = shortened(f"{record.key.decode()}: {record.text}"), AI_TRAINING[record.key.lower()]
        yield Statement(
            Signal.DISALLOW_AI_TRAINING, Purpose.AI_TRAIN, allows, "robots.txt", text, record.line, irregular=True
        )

    lines = {rule.line for rule in robotstxt.rules(token) if rule.value}
    records = (one for one in robotstxt.records if one.line in lines and one.key.lower() in AI_TRAINING)
    return PathRules(((record.value, record) for record in records), read)
