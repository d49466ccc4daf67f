"""Counts by key, bounded in number, with a few examples of each."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

K = TypeVar("K", bound=Hashable)

_MOST_KEYS: Final = 1_000
_MOST_EXAMPLES: Final = 3


@dataclass(slots=True)
class Tally:
    """How often something was counted, and the first examples of it."""

    count: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, count: int, *examples: str) -> None:
        """Count *count* more, of which *examples* are some."""
        self.count += count
        for example in examples:
            if example and len(self.examples) < _MOST_EXAMPLES and example not in self.examples:
                self.examples.append(example)


class Tallies(Generic[K]):
    """A `Tally` for each of the first keys; ``more`` is what was counted for all further ones."""

    def __init__(self) -> None:
        self.more = 0
        self._found: dict[K, Tally] = {}

    def add(self, key: K, count: int, *examples: str) -> None:
        """Count *count* more for *key*."""
        tally = self._found.get(key)
        if tally is None:
            if len(self._found) >= _MOST_KEYS:
                self.more += count
                return
            tally = self._found[key] = Tally()
        tally.add(count, *examples)

    def merge(self, other: Tallies[K]) -> None:
        """Count what *other* has counted, too."""
        self.more += other.more
        for key, tally in other._found.items():
            self.add(key, tally.count, *tally.examples)

    def ranked(self) -> list[tuple[K, Tally]]:
        """The keys, those counted most often first."""
        return sorted(self._found.items(), key=lambda pair: -pair[1].count)

    def total(self) -> int:
        """All that was counted."""
        return self.more + sum(tally.count for tally in self._found.values())

    def __len__(self) -> int:
        return len(self._found)
