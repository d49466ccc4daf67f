"""What one robots.txt says to one crawler: its rules, their index, the verdicts and lines found so far.

All of this can be worked out again from the body, so the process keeps it for the files that were asked most
recently, within one bound for all files together.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from threading import RLock
from typing import Any, Final, Protocol
from weakref import ref

from .other_records import extensions_for
from .plain_reader import Reader, agent_filter
from .product_token import Token
from .records import Kind, Record
from .rule_index import RuleIndex, best_by_walk
from .verdict import Reason, Rule, Verdict

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
    """What a robots.txt says to one crawler, as `RobotsTxt` asks for it.

    ``best`` finds what decides about a path, ``verdicts`` are those already made, by what decides.
    """

    @property
    def best(self) -> Callable[[bytes], Any]: ...
    @property
    def verdicts(self) -> Mapping[Any, Verdict]: ...
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

    def verdict(self, best: Any, /) -> Verdict:
        """The verdict that follows from the answer *best*."""

    def values(self, kind: Kind) -> Sequence[bytes]:
        """The values of the other records of *kind* that apply to the crawler, in the order of their lines."""


class CrawlerRules:
    """The rules of one robots.txt for one token.

    ``best`` finds the rule that decides about a path, ``verdicts`` are those already made, by rule. *is_first*
    says that the file has none for another token.
    """

    __slots__ = ("_canonical_octets", "_file", "_lines", "_reader", "best", "scan", "token", "verdicts")

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
        self.best: Callable[[bytes], bytes | None] = self._best_by_walk
        self.verdicts: dict[bytes | None, Verdict] = {}
        self._file = ref(file), name
        self._reader = reader
        self._canonical_octets = canonical_octets
        self._lines: dict[bool, array[int]] | None = None
        if not is_first or len(self.scan.spans) > _FEW_SPANS:  # else `RobotsTxt.octets` covers them
            spans = _OCTETS_PER_SPAN * len(self.scan.spans)
            shared_memory.charge(self._file, _OCTETS_EMPTY + self.scan.rules.octets + spans)

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

    def verdict(self, rule: bytes | None) -> Verdict:
        """The verdict when *rule* decides, kept for the next time."""
        if rule is None:
            verdict = _NO_RULE
        else:
            allow = self.scan.rules.has_allow(rule)
            # An empty rule forbids nothing, though it matches.
            verdict = Verdict(allow or not rule, Rule(allow, rule, self), Reason.RULE)
        if len(self.verdicts) >= _VERDICTS_KEPT:
            self.verdicts = {}
        self.verdicts[rule] = verdict
        return verdict

    def _best_by_walk(self, path: bytes) -> bytes | None:
        """The first decision walks over the rules: an index pays from the second one on."""
        if not self.verdicts:
            return best_by_walk(self.scan.rules, path, canonical_octets=self._canonical_octets)
        index = RuleIndex(self.scan.rules, canonical_octets=self._canonical_octets)
        # Before there is an index, there is one verdict. The kept ones hold each path once at most.
        verdicts = _OCTETS_PER_VERDICT * _VERDICTS_KEPT + self.scan.rules.octets
        shared_memory.charge(self._file, index.octets + verdicts)
        self.best = index.best
        return index.best(path)

    def line(self, allow: bool, path: bytes) -> int:
        """The first line of a rule; once the lines of all rules have been read, they are kept."""
        line = None if self._lines else self._reader.line(allow, path, self.scan)
        if line is None:
            lines = self._lines or self._line_numbers()
            self._lines = lines  # only when complete: other threads read it
            line = lines[allow][self.scan.rules.position_of(allow, path)]
        return line

    def _line_numbers(self) -> dict[bool, array[int]]:
        """The lines of the rules that allow, and of those that disallow, in the order of the rules."""
        lines: dict[bool, array[int]] = {True: array("I"), False: array("I")}
        for allow, _, number in self._reader.by_line(self.token, self.scan):
            lines[allow].append(number)
        count = len(lines[True]) + len(lines[False])
        shared_memory.charge(self._file, _OCTETS_PER_LINE_NUMBER * count)
        return lines


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
