"""What one robots.txt says to one crawler: its rules, their index, the verdicts and lines found so far.

All of this can be worked out again from the body, so the process keeps it for the files that were asked most
recently, within one bound for all files together.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Sequence
from threading import RLock
from typing import Final, Protocol
from weakref import ref

from .other_records import extensions_for
from .plain_reader import Reader, TokenScan, agent_filter
from .product_token import Token
from .records import Kind, Record
from .rule_index import RuleIndex, best_by_walk
from .verdict import LineFinder, Reason, Rule, RulePaths, Verdict

SHARED_MEMORY: Final = 67_108_864
"""Octets that the rules for crawlers may take, those of all files of a process together: 64 MiB.

They come on top of `RobotsTxt.octets`. The latest rules are kept even if they alone exceed the bound.
"""

# At most, measured with tracemalloc on CPython 3.11.
_OCTETS_EMPTY: Final = 2_048
_OCTETS_PER_VERDICT: Final = 300
_OCTETS_PER_SPAN: Final = 160
_FEW_SPANS: Final = 4
_OCTETS_PER_LINE_NUMBER: Final = 5  # an array grows by an eighth
_VERDICTS_KEPT: Final = 32


class KeepsRules(Protocol):
    """A file that keeps `CrawlerRules` by token."""

    def forget(self, token: str) -> None:
        """Drop the rules for *token*; the next question works them out again."""


class RulesForCrawler(Protocol):
    """What a robots.txt says to one crawler, as `RobotsTxt` asks for it."""

    @property
    def by_name(self) -> bool: ...
    @property
    def agents(self) -> tuple[Record, ...]: ...
    @property
    def rules(self) -> tuple[Rule, ...]: ...
    @property
    def extensions(self) -> tuple[Record, ...]: ...
    @property
    def delays(self) -> tuple[Record, ...]: ...

    def verdict(self, path: bytes) -> Verdict:
        """The verdict on *path*, an answer of `path_of` for the dialect."""

    def values(self, kind: Kind) -> Sequence[bytes]:
        """The values of the other records of *kind* that apply to the crawler, in the order of their lines."""


class CrawlerRules:
    """The rules of one robots.txt for one token.

    Many files are asked once, so the first decision keeps nothing; the second one makes an index. *is_first* says
    that the file has no rules for another token.
    """

    __slots__ = (
        "_canonical_octets", "_file", "_index", "_is_asked", "_lines", "_reader", "_verdicts", "scan", "token"
    )  # fmt: skip

    def __init__(
        self,
        file: KeepsRules,
        name: str,
        reader: Reader,
        token: Token,
        *,
        canonical_octets: bool,
        is_first: bool,
    ) -> None:
        self.token = token
        self.scan = reader.scan(token)
        self._file = ref(file), name
        self._reader = reader
        self._canonical_octets = canonical_octets
        self._is_asked = False
        self._index: RuleIndex | None = None
        if not is_first or len(self.scan.spans) > _FEW_SPANS:  # else `RobotsTxt.octets` covers them
            shared_memory.charge(self._file, _OCTETS_EMPTY + _OCTETS_PER_SPAN * len(self.scan.spans))

    @property
    def by_name(self) -> bool:
        """Whether a user-agent line names the crawler."""
        return self.scan.by_name

    @property
    def agents(self) -> tuple[Record, ...]:
        """The user-agent lines that address the crawler."""
        agents = (record for record in self._reader.records() if record.kind is Kind.USER_AGENT)
        return tuple(filter(self._is_for, agents))

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules in the order of their lines."""
        return tuple(Rule(*rule) for rule in self._reader.by_line(self.token, self.scan))

    @property
    def extensions(self) -> tuple[Record, ...]:
        """The other records that apply to the crawler."""
        return tuple(extensions_for(self._reader.records(), self._is_for))

    @property
    def delays(self) -> tuple[Record, ...]:
        """The Crawl-delay records that apply to the crawler."""
        return tuple(record for record in self.extensions if record.kind is Kind.CRAWL_DELAY)

    def values(self, kind: Kind) -> Sequence[bytes]:
        """The values of the other records of *kind* that apply to the crawler, in the order of their lines."""
        return self._reader.values(kind, self.token, by_name=self.by_name)

    @property
    def _is_for(self) -> Callable[[Record], bool]:
        return agent_filter(self.token, by_name=self.by_name)

    def verdict(self, path: bytes) -> Verdict:
        """The verdict on *path*, an answer of `path_of` for the dialect."""
        index = self._index
        if index is None:
            return self._early_verdict(path)
        rule = index.best(path)
        return self._verdicts.get(rule) or self._keep(rule, index)

    def _early_verdict(self, path: bytes) -> Verdict:
        """The first verdict, by a walk over the rules; from the second one on an index pays."""
        allow, disallow = self._reader.paths(self.token, self.scan)
        if not self._is_asked:
            self._is_asked = True
            rule = best_by_walk(allow, disallow, path, canonical_octets=self._canonical_octets)
            return _verdict(rule, rule in allow, self._line_finder())
        index = RuleIndex(RulePaths.of(allow, disallow), canonical_octets=self._canonical_octets)
        shared_memory.charge(self._file, index.octets + _OCTETS_PER_VERDICT * _VERDICTS_KEPT)
        self._lines = self._line_finder()
        self._verdicts: dict[bytes | None, Verdict] = {}
        self._index = index  # the last one: other threads look at it
        return self.verdict(path)

    def _keep(self, rule: bytes | None, index: RuleIndex) -> Verdict:
        """The verdict when *rule* decides, kept for the next time."""
        verdict = _verdict(rule, rule is not None and index.rules.has_allow(rule), self._lines)
        if len(self._verdicts) >= _VERDICTS_KEPT:
            self._verdicts = {}
        self._verdicts[rule] = verdict
        return verdict

    def _line_finder(self) -> _LineFinder:
        return _LineFinder(self._file, self._reader, self.token, self.scan)


def _verdict(rule: bytes | None, allow: bool, lines: LineFinder) -> Verdict:
    if rule is None:
        return _NO_RULE
    # An empty rule forbids nothing, though it matches.
    return Verdict(allow or not rule, Rule(allow, rule, lines), Reason.RULE)


class _LineFinder:
    """Finds the lines of the rules for a crawler; once all have been read, they are kept.

    It knows no verdict: those know it, and whoever drops a file need not wait for a collection of garbage.
    """

    __slots__ = ("_file", "_known", "_reader", "_scan", "_token")

    def __init__(self, file: tuple[ref[KeepsRules], str], reader: Reader, token: Token, scan: TokenScan) -> None:
        self._file = file
        self._reader = reader
        self._token = token
        self._scan = scan
        self._known: tuple[RulePaths, dict[bool, array[int]]] | None = None

    def line(self, allow: bool, path: bytes) -> int:
        """The first line of a rule."""
        line = None if self._known else self._reader.line(allow, path, self._scan)
        if line is None:
            # Kept only when complete: other threads read it.
            rules, lines = self._known = self._known or self._read()
            line = lines[allow][rules.position_of(allow, path)]
        return line

    def _read(self) -> tuple[RulePaths, dict[bool, array[int]]]:
        """The rules, and the lines of those that allow and of those that disallow, in the same order."""
        paths: dict[bool, list[bytes]] = {True: [], False: []}
        lines: dict[bool, array[int]] = {True: array("I"), False: array("I")}
        for allow, path, number in self._reader.by_line(self._token, self._scan):
            paths[allow].append(path)
            lines[allow].append(number)
        rules = RulePaths.of(paths[True], paths[False])
        count = len(paths[True]) + len(paths[False])
        shared_memory.charge(self._file, rules.octets + _OCTETS_PER_LINE_NUMBER * count)
        return rules, lines


class _SharedMemory:
    """Which rules are kept, the oldest first: beyond ``most_octets`` the oldest are dropped."""

    def __init__(self, most_octets: int) -> None:
        self.most_octets = most_octets
        self.octets = 0
        self._charges: deque[tuple[tuple[ref[KeepsRules], str], int]] = deque()
        self._lock = RLock()  # the garbage collector may run code that asks a file

    def charge(self, file_and_name: tuple[ref[KeepsRules], str], octets: int) -> None:
        """Add *octets* for the rules of a file for a token, and drop what no longer fits.

        Rules are charged again when they get an index, and when they get line numbers. When the first charge is
        dropped, the rules are; the others count until their turn, so the sum never falls below what is in use.
        """
        with self._lock:
            self._charges.append((file_and_name, octets))
            self.octets += octets
            for _ in range(len(self._charges) if self.octets > self.most_octets else 0):
                if self.octets <= self.most_octets:
                    break
                oldest, freed = self._charges.popleft()
                if oldest is file_and_name:
                    self._charges.append((oldest, freed))
                else:
                    self.octets -= freed
                    _forget(*oldest)


def _forget(file: ref[KeepsRules], token: str) -> None:
    known = file()
    if known is not None:
        known.forget(token)


shared_memory: Final = _SharedMemory(SHARED_MEMORY)

_NO_RULE: Final = Verdict(allowed=True, rule=None, reason=Reason.NO_RULE)
