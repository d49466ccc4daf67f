"""Pages of templates; and reports as one that loads nothing: charts of figures, items to list, filter and show.

The templates hold the looks and the charts; ``explorer.js`` shows the items, its data packed by `Explorer`. Needs
Jinja2, which escapes everything; knows nothing of robots.txt.
"""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import accumulate
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from scrapy_rep.protocol.display import number_of, shown

CHUNK: Final = 64
"""Items that are packed, and unpacked, together."""

MOST_ITEMS: Final = 50_000
"""Items that a page lists."""

_MOST_CHARACTERS: Final = 60_000_000  # of the sources of all items
_LINE_ENDS_AND_TABS: Final = str.maketrans("", "", "\n\r\t")

Cell = str | int | float | None
Mark = tuple[str, str, list[int]]
"""An entry of a list about an item: a colour, a text, and lines of its source."""


@cache
def page_template(package: str, name: str = "report.html") -> Template:
    """The template called *name* of *package*, which may extend ``base.html`` and import ``charts.html``."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package, ""), PackageLoader(__package__, "")]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(number="{:,}".format, decimal="{:,.1f}".format, whole="{:,.0f}".format)
    environment.filters.update(percent=percent, size=_size, with_noun=number_of)
    return environment.get_template(name)


def _printable(value: object) -> object:
    """*value* without characters that could reorder or break the text around them; what is escaped stays."""
    is_safe = type(value) is not str or value.translate(_LINE_ENDS_AND_TABS).isprintable()
    return value if is_safe else shown(str(value))


# Figures


@dataclass(frozen=True, slots=True)
class Part:
    """A bar, or a part of one; ``link`` is where its name leads, if anywhere."""

    name: str
    count: int
    colour: str
    link: str = ""


@dataclass(frozen=True, slots=True)
class Share:
    """A cell of a table: a number, and its share of a whole; ``href`` is where it leads, if anywhere."""

    value: int
    whole: int
    href: str = ""


def median(values: Mapping[float, int]) -> float:
    """The median of *values*, each of which counts as often as it says; 0 without any."""
    ranked = sorted(values)
    ends = [*accumulate(values[value] for value in ranked)]
    if not ends:
        return 0.0
    middle = [ranked[bisect_right(ends, rank)] for rank in ((ends[-1] - 1) // 2, ends[-1] // 2)]
    return sum(middle) / 2


def percent(part: float, whole: float) -> str:
    """Return the share of *part* in *whole*, with a decimal where it is small; 0% of nothing."""
    share = 100.0 * part / whole if whole else 0.0
    if 0.0 < share < 0.1:
        return "<0.1%"
    return f"{share:.1f}%" if 0.0 < share < 9.95 else f"{share:.0f}%"


def _size(octets: float) -> str:
    return f"{octets / 1_000:,.1f} kB" if octets >= 1_000 else f"{octets:,.0f} B"


# Items


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

    @property
    def href(self) -> str:
        """The reference to the list of what has this tag."""
        return "#list?" + urlencode({"tag": self.key})


class ItemDetails(NamedTuple):
    """What the page of one item shows.

    ``facts`` are a label and values, ``marks`` are lists below a heading. ``text`` is a sentence about the
    ``source``, its lines; ``notes`` are colours and texts beside a line, by its number.
    """

    facts: Sequence[tuple[str, ...]] = ()
    marks: Sequence[tuple[str, list[Mark]]] = ()
    text: str = ""
    source: Sequence[str] = ()
    notes: Mapping[int, list[tuple[str, str]]] = {}


class Explorer:
    """Collects the items of a page and packs them: JSON, compressed, in base64.

    So a page of thousands of items stays small, and no text of theirs can end the element that holds it. Items are
    in chunks, each unpacked when one of its items is shown.

    *noun* is their name in the plural, *groups* are those of tags in order.
    """

    def __init__(self, noun: str, columns: Iterable[Column], groups: Iterable[str] = ()) -> None:
        self._about = {"noun": noun, "columns": [asdict(each) for each in columns]}
        self._ranks = {group: rank for rank, group in enumerate(groups)}
        self._rows: list[list[Cell]] = []
        self._tags: dict[Tag, list[int]] = {}
        self._waiting: list[dict[str, Any]] = []
        self._chunks: list[str] = []
        self._room = _MOST_CHARACTERS

    @property
    def is_full(self) -> bool:
        """Whether it lists `MOST_ITEMS`."""
        return len(self._rows) >= MOST_ITEMS

    @property
    def has_room(self) -> bool:
        """Whether there is room for the source of another item."""
        return self._room > 0

    def add(self, row: Iterable[Cell], tags: Iterable[Tag], item: ItemDetails) -> None:
        """Add an *item*, its *row* in the list and what it has in common with others."""
        for tag in dict.fromkeys(tags):
            self._tags.setdefault(tag, []).append(len(self._rows))
        self._rows.append([*row])
        self._room -= sum(map(len, item.source))
        self._waiting.append(item._asdict())
        if len(self._waiting) == CHUNK:
            self._pack_items()

    def _pack_items(self) -> None:
        self._chunks.append(_pack(self._waiting))
        self._waiting = []

    def packed(self) -> Mapping[str, Any]:
        """What ``explorer.html`` takes: the index, with the tags by group and label, all items, and the script."""
        if self._waiting:
            self._pack_items()
        tags = sorted(self._tags, key=lambda tag: (self._ranks.get(tag.group, -1), tag.label.lower()))
        listed = [{**asdict(tag), "rows": self._tags[tag]} for tag in tags]
        index = _pack({**self._about, "rows": self._rows, "tags": listed, "chunk": CHUNK})
        script = files(__package__).joinpath("explorer.js").read_text("utf-8")
        policy = f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"
        return {"index": index, "chunks": self._chunks, "script": Markup(script), "script_hash": policy}  # noqa: S704


def _pack(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return b64encode(gzip.compress(text.encode("utf-8", "backslashreplace"), compresslevel=6, mtime=0)).decode()
