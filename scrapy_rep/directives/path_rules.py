"""Statements of a robots.txt that hold for a path: the rule with the longest matching path decides.

draft-ietf-aipref-attach-05 (2026-08-19), "Content-Usage Rule Semantics": paths match as those of Allow and
Disallow do (RFC 9309 section 2.2.2), and the length is the number of octets of the encoded path. Rules with
identical paths all apply. Different patterns may be equally long and match the same URL, which the draft does not
mention: neither is the longer one, so both apply, as identical ones do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from scrapy_rep.protocol import Record
from scrapy_rep.protocol.path_pattern import Pattern, canonical, is_plain

from .answers import Statement, without_repetitions

MAX_PATTERNS: Final = 1_000
"""Patterns with wildcards of one length that are tried when one of them matches; no honest file has as many."""


class PathRules:
    """Records by their paths; *read* makes statements of a record when a URL first needs them.

    Building takes time linear in the *rules*. Finding those for a path takes a bisection; only patterns with
    wildcards that are as long as the longest match are tried one by one.
    """

    __slots__ = ("_by_length", "_index", "_read", "_records", "_statements")

    def __init__(
        self, rules: Iterable[tuple[bytes, Record]], read: Callable[[Record], Iterable[Statement]]
    ) -> None:
        self._read = read
        self._records: dict[bytes, dict[object, Record]] = {}  # a repetition says nothing new
        self._statements: dict[bytes, tuple[Statement, ...]] = {}
        for path, record in rules:
            self._records.setdefault(canonical(path), {}).setdefault((record.key, record.value), record)
        paths = [path for path in self._records if path]
        self._index = sorted(((Pattern.of(p), p) for p in paths), key=lambda e: -e[0].specificity)
        self._by_length: dict[int, list[tuple[bytes, Pattern]]] = {}
        for path in paths:
            if not is_plain(path):
                patterns = self._by_length.setdefault(len(path), [])
                if len(patterns) < MAX_PATTERNS:
                    patterns.append((path, Pattern.of(path)))

    def __bool__(self) -> bool:
        return bool(self._records)

    def statements(self, path: bytes) -> tuple[Statement, ...]:
        """Return the statements for *path*, an answer of `path_of`; an absent path has length 0."""
        longest = next((p for e, p in self._index if e.matches(path)), None)
        if longest is None:
            return self._of(b"") if b"" in self._records else ()
        paths = dict.fromkeys([longest, *self._as_long_as(longest, path)])
        if len(paths) == 1:
            return self._of(longest)
        return without_repetitions(one for each in paths for one in self._of(each))

    def _as_long_as(self, longest: bytes, path: bytes) -> Iterator[bytes]:
        """The patterns with the length of *longest* that match *path*."""
        length = len(longest)
        prefix = path[:length]
        if len(prefix) == length and prefix in self._records and is_plain(prefix):
            yield prefix
        for other, pattern in self._by_length.get(length, ()):
            if pattern.matches(path):
                yield other

    def _of(self, path: bytes) -> tuple[Statement, ...]:
        known = self._statements.get(path)
        if known is None:
            records = self._records[path].values()
            known = without_repetitions(one for record in records for one in self._read(record))
            self._statements[path] = known
        return known
