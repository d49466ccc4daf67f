"""The fields of an event that anyone may have written: read as what they should be, or as blank."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice
from typing import Any, Final

from scrapy_rep.protocol.display import shown

_LONGEST_TEXT: Final = 400  # characters
_MOST_ENTRIES: Final = 1_000  # of a list or a dict
_LARGEST: Final = 10**15
_TIME: Final = re.compile(r"\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-6]\dZ")


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
