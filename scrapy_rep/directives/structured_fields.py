"""Structured field values for HTTP: Lists and Dictionaries, parsed as RFC 9651 section 4.2 says, strictly.

Takes linear time: every character is read by one regular expression that cannot match in two ways.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote_to_bytes

MAX_FIELD: Final = 65_536
"""Characters of a field that are parsed; a longer one fails."""

_KEY: Final = re.compile(r"[a-z*][a-z0-9_.*-]*")
_SPACES: Final = re.compile(r" *")
_BLANKS: Final = re.compile(r"[ \t]*")
_NUMBER: Final = re.compile(r"-?(\d+)(?:\.(\d+))?(?![.\d])")
_STRING: Final = re.compile(r'"((?:[ !#-\[\]-~]|\\["\\])*)"')
_TOKEN: Final = re.compile(r"[A-Za-z*][!#$%&'*+.^_`|~0-9A-Za-z:/-]*")
_OCTETS: Final = re.compile(r":[A-Za-z0-9+/=]*:")
_BOOLEAN: Final = re.compile(r"\?([01])")
_DATE: Final = re.compile(r"@(-?\d{1,15})(?![.\d])")
_DISPLAY: Final = re.compile(r'%"(?:[ !#$&-~]|%[0-9a-f]{2})*"')


class Token(str):
    """A Token: it differs from a String with the same characters."""

    __slots__ = ()


BareItem = bool | int | float | str | None
"""A Boolean, Integer, Decimal, Date (as an integer), String or Token; None for octets and Display Strings."""


@dataclass(frozen=True, slots=True)
class Item:
    """A ``value`` with its ``parameters``; the value of an inner list is None."""

    value: BareItem
    parameters: Mapping[str, BareItem] = field(default_factory=dict)


def parse_list(text: str) -> list[Item]:
    """The members of a List. Raises ``ValueError`` if *text* is none."""
    return _Reader(text).members()


def parse_dictionary(text: str) -> dict[str, Item]:
    """The members of a Dictionary; of a repeated key the last one counts. Raises ``ValueError``."""
    return _Reader(text).dictionary()


class _Reader:
    """Reads *text* from left to right."""

    def __init__(self, text: str) -> None:
        if len(text) > MAX_FIELD or not text.isascii():
            raise ValueError("too long, or not ASCII")
        self._text = text.strip(" ")
        self._position = 0

    def members(self) -> list[Item]:
        found = []
        while not self._is_at_end:
            found.append(self._member())
            self._separator()
        return found

    def dictionary(self) -> dict[str, Item]:
        found: dict[str, Item] = {}
        while not self._is_at_end:
            key = self._take(_KEY)
            found.pop(key, None)
            found[key] = self._member() if self._skip("=") else Item(True, self._parameters())
            self._separator()
        return found

    @property
    def _is_at_end(self) -> bool:
        return self._position == len(self._text)

    def _separator(self) -> None:
        """A comma between two members; none at the end."""
        self._take(_BLANKS)
        if self._is_at_end:
            return
        if not self._skip(","):
            raise ValueError("no comma")
        self._take(_BLANKS)
        if self._is_at_end:
            raise ValueError("a comma at the end")

    def _member(self) -> Item:
        if not self._skip("("):
            return Item(self._bare_item(), self._parameters())
        while True:
            self._take(_SPACES)
            if self._skip(")"):
                return Item(None, self._parameters())
            self._bare_item()
            self._parameters()
            if self._peek not in {" ", ")"}:
                raise ValueError("no space in an inner list")

    def _parameters(self) -> dict[str, BareItem]:
        found: dict[str, BareItem] = {}
        while self._skip(";"):
            self._take(_SPACES)
            key = self._take(_KEY)
            found[key] = self._bare_item() if self._skip("=") else True
        return found

    def _bare_item(self) -> BareItem:
        first = self._peek
        if first == "-" or first.isdigit():
            return self._number()
        if first == '"':
            return re.sub(r"\\(.)", r"\1", self._take(_STRING)[1:-1])
        if first == "*" or first.isalpha():
            return Token(self._take(_TOKEN))
        if first == "?":
            return self._take(_BOOLEAN) == "?1"
        if first == "@":
            return int(self._take(_DATE)[1:])
        if first == ":":
            self._take(_OCTETS)
        else:
            unquote_to_bytes(self._take(_DISPLAY)).decode()  # section 4.2.10: no UTF-8 is an error
        return None

    def _number(self) -> int | float:
        text = self._take(_NUMBER)
        whole, point, fraction = text.lstrip("-").partition(".")
        if len(whole) > (12 if point else 15) or len(fraction) > 3:
            raise ValueError("too many digits")
        return float(text) if point else int(text)

    @property
    def _peek(self) -> str:
        return self._text[self._position : self._position + 1]

    def _skip(self, character: str) -> bool:
        is_there = self._peek == character
        self._position += is_there
        return is_there

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._text, self._position)
        if not found:
            raise ValueError(f"unexpected text at {self._position}")
        self._position = found.end()
        return found[0]
