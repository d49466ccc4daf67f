"""What is read of a log that anyone may have written, within bounds: fields, counts, and the bodies it names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, Final

from scrapy_rep.protocol.display import shown
from scrapy_rep.tools.files import read_file

_LONGEST_TEXT: Final = 400  # characters
_MOST_ENTRIES: Final = 1_000  # of a list or a dict
_LARGEST: Final = 10**15
_TIME: Final = re.compile(r"\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-6]\dZ")
_MOST_KEYS: Final = 1_000
_MOST_EXAMPLES: Final = 3
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_MOST_KNOWN: Final = 200_000


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


class Tallies:
    """How often something was counted, by key, with the first examples of it; ``more`` is for all further keys.

    A key has a text for each of *names*.
    """

    def __init__(self, *names: str) -> None:
        self.more = 0
        self._names = names
        self._found: dict[tuple[str, ...], tuple[int, list[str]]] = {}

    def add(self, key: tuple[str, ...], count: int, *examples: str) -> None:
        """Count *count* more for *key*, of which *examples* are some."""
        if key not in self._found and len(self._found) >= _MOST_KEYS:
            self.more += count
            return
        before, known = self._found.get(key, (0, []))
        named = filter(None, dict.fromkeys([*known, *examples]))
        self._found[key] = before + count, [*islice(named, _MOST_EXAMPLES)]

    def update(self, other: Tallies) -> None:
        """Count what *other* has counted, too."""
        self.more += other.more
        for key, (count, examples) in other._found.items():
            self.add(key, count, *examples)

    def facts(self) -> list[dict[str, Any]]:
        """Each key by its names, with its ``count`` and ``examples``, those counted most often first."""
        return [
            {**dict(zip(self._names, key, strict=True)), "count": count, "examples": examples}
            for key, (count, examples) in sorted(self._found.items(), key=lambda found: -found[1][0])
        ]

    def total(self) -> int:
        """All that was counted."""
        return self.more + sum(count for count, _ in self._found.values())


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
            found = sha256(read_file(path)).hexdigest() if path.is_file() else None
        except OSError as error:
            return f"the robots.txt {path} cannot be read: {error.strerror}"
        if found is None:
            return f"the robots.txt {path} is missing"
        return "" if found == digest else f"the robots.txt {path} was changed: its SHA-256 is {found}"
