"""Product tokens: the name of a crawler, and which crawlers a user-agent line addresses. RFC 9309 section 2.2.1.

Knows nothing of groups; `plain_reader` and `fast_reader` decide which group wins.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from .path_pattern import octets

_RFC_RUN: Final = re.compile(rb"[A-Za-z_-]*")
_WIDE_RUN: Final = re.compile(rb"[A-Za-z0-9._\x80-\xff-]*")

_NAME: Final = rb"[A-Za-z0-9._\x80-\xff-]+"
_FIRST_PRODUCT: Final = re.compile(_NAME)
_COMPATIBLE: Final = re.compile(rb"\bcompatible;\s*(" + _NAME + rb")", re.IGNORECASE)
_SELF_NAMED_COMMENT: Final = re.compile(rb"[(;]\s*(" + _NAME + rb")/[^\s;()]+;\s*\+?https?:", re.IGNORECASE)


def product_token(header: str | bytes) -> str:
    """The product token in a User-Agent *header*, or in a bare token; empty when no character is usable.

    The first product. Where that is ``Mozilla``, as in every browser's header: the name after
    ``compatible;``, else the name in a comment ``name/version; +http…``, else ``Mozilla`` itself.
    """
    raw = octets(header)
    first = _FIRST_PRODUCT.search(raw)
    if not first:
        return ""
    token = first.group()
    if token.lower() == b"mozilla":
        named = _COMPATIBLE.search(raw) or _SELF_NAMED_COMMENT.search(raw)
        token = named.group(1) if named else token
    return token.decode("utf-8", "surrogateescape")


def is_global(value: bytes) -> bool:
    """Whether the *value* of a user-agent line is ``*``, alone or followed by white space and anything."""
    return value[:1] == b"*" and (len(value) == 1 or value[1:2].isspace())


def token_in(value: bytes, *, wide: bool) -> bytes:
    """The token in the *value* of a user-agent line, as crawlers with a *wide* name or all others compare it."""
    found = (_WIDE_RUN if wide else _RFC_RUN).match(value)
    return found.group() if found else b""


@dataclass(frozen=True, slots=True)
class Token:
    """A crawler's own product token, ready to be compared with user-agent lines.

    ``name`` is in lower case, None for a crawler that no line can name; ``run`` matches the octets
    of a line that count.
    """

    name: bytes | None
    run: re.Pattern[bytes]

    @classmethod
    def of(cls, token: str | bytes, *, wide: bool, empty: bool = True) -> Token:
        """The token to compare for a crawler called *token*.

        With *wide*, a name beyond ``[A-Za-z_-]`` is compared on its digits, dots and octets beyond
        ASCII too, on both sides: ``MJ12bot`` is then the group ``MJ12bot``, not ``MJ``. With *empty*, a
        crawler without a name is addressed by lines whose token is empty.
        """
        raw = octets(token)
        if not wide or _RFC_RUN.fullmatch(raw):
            name, run = raw.lower(), _RFC_RUN
        else:
            name, run = _leading(_WIDE_RUN, raw), _WIDE_RUN
        return cls(name if name or empty else None, run)

    def is_named_by(self, value: bytes) -> bool:
        """Whether a user-agent line with *value* names exactly this token, whatever the case."""
        return _leading(self.run, value) == self.name and not is_global(value)


def _leading(run: re.Pattern[bytes], value: bytes) -> bytes:
    found = run.match(value)
    return found.group().lower() if found else b""
