"""What is read of a log that anyone may have written, within bounds: fields, counts, and the bodies it names."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from scrapy_rep.protocol.display import shown

K = TypeVar("K", bound=Hashable)

_LONGEST_TEXT: Final = 400  # characters
_MOST_ENTRIES: Final = 1_000  # of a list or a dict
_LARGEST: Final = 10**15
_TIME: Final = re.compile(r"\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-6]\dZ")
_MOST_KEYS: Final = 1_000
_MOST_EXAMPLES: Final = 3
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_MOST_KNOWN: Final = 200_000
_CHUNK: Final = 1_048_576  # octets


def clip(value: object) -> str:
    """*value* as text that can be shown, cut where it is long; empty if it is no string."""
    if not isinstance(value, str):
        return ""
    return shown(value) if len(value) <= _LONGEST_TEXT else f"{shown(value[:_LONGEST_TEXT])}…"


class Fields:
    """The fields of one JSON object; the text in them can be shown."""

    __slots__ = ("_values",)

    def __init__(self, values: Any) -> None:
        self._values: Mapping[str, Any] = values if isinstance(values, Mapping) else {}

    def text(self, name: str) -> str:
        """The string *name*, or an empty one."""
        return clip(self._values.get(name))

    def time(self, name: str) -> str:
        """The time *name* in ISO 8601, or an empty string."""
        value = self._values.get(name)
        return value if isinstance(value, str) and _TIME.fullmatch(value) else ""

    def number(self, name: str) -> int:
        """The number *name*, from 0 to 10 to the power of 15, or 0."""
        value = self._values.get(name)
        return value if type(value) is int and 0 <= value <= _LARGEST else 0

    def flag(self, name: str) -> bool | None:
        """The boolean *name*, or None."""
        value = self._values.get(name)
        return value if isinstance(value, bool) else None

    def texts(self, name: str) -> list[str]:
        """The strings in the list *name*."""
        return [clip(each) for each in self._list(name) if isinstance(each, str)]

    def tables(self, name: str) -> list[Fields]:
        """The objects in the list *name*."""
        return [Fields(each) for each in self._list(name) if isinstance(each, Mapping)]

    def table(self, name: str) -> Fields | None:
        """The object *name*, or None."""
        value = self._values.get(name)
        return Fields(value) if isinstance(value, Mapping) else None

    def pairs(self, name: str) -> dict[str, str]:
        """The strings in the object *name*, by their keys."""
        value = self._values.get(name)
        pairs = islice(value.items(), _MOST_ENTRIES) if isinstance(value, Mapping) else ()
        return {clip(key): clip(text) for key, text in pairs if isinstance(text, str)}

    def _list(self, name: str) -> list[Any]:
        value = self._values.get(name)
        return value[:_MOST_ENTRIES] if isinstance(value, list) else []


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


class Bodies:
    """Checks bodies, each once; ``checked`` is the number of those that are there and unchanged."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.checked = 0
        self._known: set[bytes] = set()

    def check(self, digest: str) -> str:
        """What is wrong with the body whose SHA-256 is *digest*; empty if nothing is, or *digest* is empty."""
        if not digest:
            return ""
        if not _SHA256.fullmatch(digest):
            return f"{digest} is not a SHA-256: the line was changed"
        key = bytes.fromhex(digest)
        if key in self._known:
            return ""
        if len(self._known) < _MOST_KNOWN:
            self._known.add(key)
        problem = self._problem(digest)
        self.checked += not problem
        return problem

    def _problem(self, digest: str) -> str:
        path = self.folder / f"{digest}.txt"
        try:
            if not path.is_file():
                return f"the robots.txt {path} is missing"
            found = _hash_of(path)
        except OSError as error:
            return f"the robots.txt {path} cannot be read: {error.strerror}"
        return "" if found == digest else f"the robots.txt {path} was changed: its SHA-256 is {found}"


def _hash_of(path: Path) -> str:
    digest = sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
