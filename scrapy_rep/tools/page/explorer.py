"""Items that a page lists, sorts, filters and shows one by one: the data for ``explorer.js``, packed.

The data is JSON, compressed and in base64, so that a page of thousands of items stays small and no text of theirs
can end the element that holds it. Items are in chunks, each unpacked when one of its items is shown.
"""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, Final
from urllib.parse import urlencode

from markupsafe import Markup

CHUNK: Final = 64
"""Items that are packed, and unpacked, together."""

Cell = str | int | float | None
Mark = tuple[str, str, list[int]]
"""An entry of a list about an item: a colour, a text, and lines of its source."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the list; its ``kind`` is ``text`` or ``number``. The first names the item."""

    label: str
    kind: str = "text"


@dataclass(frozen=True, slots=True)
class Tag:
    """What items have in common: the list can show these alone. ``text`` explains it above the list."""

    key: str
    group: str
    label: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A numbered line of an item's source.

    A note has a colour and a text; ``sign`` is ``+``, ``-`` or empty.
    """

    number: int
    text: str
    notes: list[tuple[str, str]] = field(default_factory=list)
    sign: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """What the page of one item shows.

    ``facts`` are a label and values, ``marks`` are lists below a heading. ``text`` is a sentence about
    the ``source``.
    """

    facts: list[tuple[str, ...]] = field(default_factory=list)
    marks: list[tuple[str, list[Mark]]] = field(default_factory=list)
    text: str = ""
    source: list[Line] = field(default_factory=list)


class Explorer:
    """Collects items and packs them. *noun* is their name in the plural; with *has_signs* lines may have signs."""

    def __init__(self, noun: str, columns: Iterable[Column], *, has_signs: bool = False) -> None:
        self.noun = noun
        self._columns = [*columns]
        self._has_signs = has_signs
        self._rows: list[list[Cell]] = []
        self._tags: dict[Tag, list[int]] = {}
        self._waiting: list[object] = []
        self.chunks: list[str] = []
        """The packed items."""

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, row: Iterable[Cell], tags: Iterable[Tag], item: Item) -> None:
        """Add an *item*, its *row* in the list and what it has in common with others."""
        for tag in dict.fromkeys(tags):
            self._tags.setdefault(tag, []).append(len(self._rows))
        self._rows.append([*row])
        source = [(line.number, line.sign, line.text, line.notes) for line in item.source]
        self._waiting.append({"facts": item.facts, "marks": item.marks, "text": item.text, "source": source})
        if len(self._waiting) == CHUNK:
            self._pack_items()

    def _pack_items(self) -> None:
        self.chunks.append(pack(self._waiting))
        self._waiting = []

    def finish(self, rank: Callable[[Tag], Any]) -> str:
        """Pack what is left, and return the packed index, with the tags in the order of *rank*."""
        if self._waiting:
            self._pack_items()
        return pack(
            {
                "noun": self.noun,
                "columns": [asdict(column) for column in self._columns],
                "rows": self._rows,
                "tags": [{**asdict(tag), "rows": self._tags[tag]} for tag in sorted(self._tags, key=rank)],
                "chunk": CHUNK,
                "has_signs": self._has_signs,
            }
        )


def pack(value: object) -> str:
    """Return *value* as JSON, compressed, in base64."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return b64encode(gzip.compress(text.encode("utf-8", "backslashreplace"), compresslevel=6, mtime=0)).decode()


def link(key: str) -> str:
    """Return the reference to the list of what has the tag with this *key*."""
    return "#list?" + urlencode({"tag": key})


@cache
def script() -> Markup:
    """Return the script of a page with an explorer."""
    return Markup(files(__package__).joinpath("explorer.js").read_text("utf-8"))  # noqa: S704  # our own


def script_hash() -> str:
    """Return the source of `script` for a Content Security Policy."""
    return f"'sha256-{b64encode(sha256(script().encode()).digest()).decode()}'"
