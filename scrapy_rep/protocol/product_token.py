"""Product tokens: a crawler's name, and the user-agent lines that name it. RFC 9309 section 2.2.1."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final, NamedTuple

from .dialect import AgentMatch, Dialect
from .path_pattern import octets

_RFC_RUN: Final = re.compile(rb"[A-Za-z_-]*")
_WIDE_RUN: Final = re.compile(rb"[A-Za-z0-9._\x80-\xff-]*")

_OCTET: Final = rb"[A-Za-z0-9._\x80-\xff-]"
_NAME: Final = _OCTET + rb"+"
# The first product of a header (RFC 9110 section 10.1.5), perhaps in quotes, but not what people also write there:
# a field name, a URL, an e-mail address, a comment, a number.
_FIRST_PRODUCT: Final = re.compile(
    rb"[\s\"']*(?!www\.|compatible;)(?=[0-9._-]*[A-Z\x80-\xff])(%s)(?!%s|\s*[:=]|@)" % (_NAME, _OCTET),
    re.IGNORECASE,
)
_COMPATIBLE: Final = re.compile(rb"\bcompatible;\s*(%s)(?!%s|:)" % (_NAME, _OCTET), re.IGNORECASE)
_MEANT: Final = re.compile(
    rb"(?:\buser[ _-]?agent\s*[:=]|\bcompatible;)[\s\"']*(%s)(?!%s|[:;])" % (_NAME, _OCTET), re.IGNORECASE
)
_SELF_NAMED_COMMENT: Final = re.compile(rb"[(;]\s*(" + _NAME + rb")/[^\s;()]+;\s*\+?https?:", re.IGNORECASE)


def product_token(header: str | bytes) -> str:
    """The product token at the start of a User-Agent *header* or bare token; empty if there is none.

    This is the first product; URLs, e-mail addresses, ``User-Agent: …`` and ``(compatible; …)`` are not products.
    If it is ``Mozilla``, as in every browser's header, the name after ``compatible;`` wins, then the name in a
    comment ``name/version; +http…``, then ``Mozilla``.
    """
    raw = octets(header)
    first = _FIRST_PRODUCT.match(raw)
    if not first:
        return ""
    token = first[1]
    if token.lower() == b"mozilla":
        named = _COMPATIBLE.search(raw) or _SELF_NAMED_COMMENT.search(raw)
        token = named[1] if named and _FIRST_PRODUCT.fullmatch(named[1]) else token
    return token.decode("utf-8", "surrogateescape")


def meant_token(header: str | bytes) -> str:
    """A name to suggest for a *header* without a product token, or an empty string."""
    found = _MEANT.search(octets(header))
    return found[1].decode("utf-8", "surrogateescape") if found else ""


def asked_token(agent: str) -> str:
    """The product token in *agent*, the input of a user; ``*`` stays; empty if no character is usable."""
    return agent if agent == "*" else product_token(agent)


def is_global(value: bytes) -> bool:
    """Whether the *value* of a user-agent line is ``*``, alone or followed by white space and anything."""
    return value[:1] == b"*" and (len(value) == 1 or value[1:2].isspace())


def token_in(value: bytes, *, wide: bool) -> bytes:
    """The token in the *value* of a user-agent line, with digits, dots and non-ASCII bytes if *wide*."""
    found = (_WIDE_RUN if wide else _RFC_RUN).match(value)
    return found.group() if found else b""


class ProductToken(NamedTuple):
    """A crawler's product token, prepared for comparison with user-agent lines.

    ``name`` is in lower case, None if no line can name the crawler; ``wide`` is as in `token_in`.
    """

    name: bytes | None
    wide: bool

    @staticmethod
    def of(token: str | bytes, dialect: Dialect) -> ProductToken:
        """Prepare the name *token* of a crawler.

        With ``wide_tokens``, digits, dots and non-ASCII bytes also count on both sides if the name has characters
        outside ``[A-Za-z_-]``: ``MJ12bot`` then matches the group ``MJ12bot``, not ``MJ``. With ``empty_token``,
        lines with an empty token name a crawler without a name.
        """
        return _product_token(token, dialect.wide_tokens, dialect.empty_token)

    def is_named_by(self, value: bytes) -> bool:
        """Whether a user-agent line with *value* names exactly this token; case is ignored."""
        name = self.name
        if name is None or not value.lower().startswith(name):  # nearly all lines
            return False
        return token_in(value, wide=self.wide).lower() == name and not is_global(value)


@lru_cache(maxsize=64)  # a crawl uses the same few names on every site
def _product_token(token: str | bytes, wide_tokens: bool, empty_token: bool) -> ProductToken:
    raw = octets(token)
    wide = wide_tokens and not _RFC_RUN.fullmatch(raw)
    name = token_in(raw, wide=True).lower() if wide else raw.lower()
    return ProductToken(name if name or empty_token else None, wide)


IsNamedBy = Callable[[bytes], bool]
"""A function that tells whether the value of a user-agent line names a crawler."""


def agent_matcher(name: str, dialect: Dialect) -> IsNamedBy:
    """A function that tells whether a value names the crawler *name* in *dialect*; ``*`` names no crawler."""
    if dialect.agent_match is AgentMatch.EQUAL_TOKEN:
        return ProductToken.of(name, dialect).is_named_by
    own, is_named_by = octets(name).lower(), _MATCHERS[dialect.agent_match]
    return lambda value: bool(own) and is_named_by(own, value.lower()) and not is_global(value)


def name_in(value: bytes) -> bytes:
    """The name in the *value* of a user-agent line, without a version."""
    return value.partition(b"/")[0].strip()


_MATCHERS: Final[dict[AgentMatch, Callable[[bytes, bytes], bool]]] = {
    AgentMatch.EQUAL_VALUE: lambda own, value: value == own,
    AgentMatch.VALUE_IN_NAME: lambda own, value: bool(name_in(value)) and name_in(value) in own,
    AgentMatch.NAME_IN_VALUE: lambda own, value: own in value,
}
"""Whether a value names a crawler; value and name are in lower case."""
