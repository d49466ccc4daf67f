"""Parse structured field values for HTTP: Lists and Dictionaries, strictly by RFC 9651 section 4.2.

Takes linear time: one regular expression reads each character, and no expression can match in two ways.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote_to_bytes

MAX_FIELD: Final = 65_536  # characters of a field; a longer one fails
_KEY: Final = re.compile(r"[a-z*][a-z0-9_.*-]*")
_SPACES: Final = re.compile(r" *")
_COMMA: Final = re.compile(r"[ \t]*(?:,[ \t]*(?=[^ \t])|$)")  # no trailing comma
_BARE_ITEM: Final = re.compile(
    r"(?P<decimal>-?[0-9]{1,12}\.[0-9]{1,3})(?![.0-9])"
    r"|(?P<integer>-?[0-9]{1,15})(?![.0-9])"
    r'|"(?P<string>(?:[ !#-\[\]-~]|\\["\\])*)"'
    r"|(?P<token>[A-Za-z*][!#$%&'*+.^_`|~0-9A-Za-z:/-]*)"
    r"|\?(?P<boolean>[01])"
    r"|@(?P<date>-?[0-9]{1,15})(?![.0-9])"
    r"|(?P<octets>:[A-Za-z0-9+/=]*:)"
    r'|%"(?P<display>(?:[ !#$&-~]|%[0-9a-f]{2})*)"'
)


class Token(str):
    """A Token, which differs from a String with the same characters."""

    __slots__ = ()


BareItem = bool | int | float | str | None
"""A Boolean, Integer, Decimal, Date (an integer), String or Token; None for a Byte Sequence or Display String."""


@dataclass(frozen=True, slots=True)
class Member:
    """A ``value`` with its ``parameters``; the value of an inner list is None."""

    value: BareItem
    parameters: Mapping[str, BareItem] = field(default_factory=dict)


def parse_list(text: str) -> list[Member]:
    """Parse the members of a List. Raises ``ValueError`` if *text* is not a List."""
    reader, found = _Reader(text), []
    while reader.is_left:
        found.append(reader.member())
        reader.take(_COMMA)
    return found


def parse_dictionary(text: str) -> dict[str, Member]:
    """Parse the members of a Dictionary; the last of repeated keys counts. Raises ``ValueError``."""
    reader, found = _Reader(text), dict[str, Member]()
    while reader.is_left:
        key = reader.take(_KEY)[0]
        found.pop(key, None)
        found[key] = reader.member() if reader.skip("=") else Member(True, reader.parameters())
        reader.take(_COMMA)
    return found


class _Reader:
    """Reads *text* from left to right."""

    def __init__(self, text: str) -> None:
        if len(text) > MAX_FIELD or not text.isascii():
            raise ValueError("too long, or not ASCII")
        self._text = text.strip(" ")
        self._position = 0

    @property
    def is_left(self) -> bool:
        """Whether anything is left to read."""
        return self._position < len(self._text)

    def take(self, pattern: re.Pattern[str]) -> re.Match[str]:
        found = pattern.match(self._text, self._position)
        if not found:
            raise ValueError(f"unexpected text at {self._position}")
        self._position = found.end()
        return found

    def skip(self, character: str) -> bool:
        is_there = self._text.startswith(character, self._position)
        self._position += is_there
        return is_there

    def member(self) -> Member:
        if not self.skip("("):
            return Member(self._bare_item(), self.parameters())
        is_first = True
        while True:
            spaces = self.take(_SPACES)[0]
            if self.skip(")"):
                return Member(None, self.parameters())
            if not (is_first or spaces):
                raise ValueError("missing space in an inner list")
            self._bare_item()
            self.parameters()
            is_first = False

    def parameters(self) -> dict[str, BareItem]:
        found: dict[str, BareItem] = {}
        while self.skip(";"):
            self.take(_SPACES)
            key = self.take(_KEY)[0]
            found[key] = self._bare_item() if self.skip("=") else True
        return found

    def _bare_item(self) -> BareItem:
        found = self.take(_BARE_ITEM)
        kind, text = found.lastgroup, found[found.lastgroup or 0]
        if kind in {"integer", "date"}:
            return int(text)
        if kind == "decimal":
            return float(text)
        if kind == "string":
            return re.sub(r"\\(.)", r"\1", text)
        if kind == "display":
            unquote_to_bytes(text).decode()  # section 4.2.10: invalid UTF-8 is an error
        return Token(text) if kind == "token" else text == "1" if kind == "boolean" else None
