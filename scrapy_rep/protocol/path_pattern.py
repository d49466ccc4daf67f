"""Normalize the path of a URL, and match it against a rule's pattern: RFC 9309 sections 2.2.2 and 2.2.3.

A match takes time linear in the pattern and the path. One pass places each piece between wildcards leftmost. That
is enough: a later place never helps, because the last wildcard leaves the end free.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from typing import Final, NamedTuple

from .dialect import GOOGLE, GOOGLE_EXACT, Dialect, Octets

_HEX: Final = rb"[0-9A-Fa-f]"
_ESCAPE: Final = re.compile(b"%(" + _HEX + b"{2})")
# The digits of escapes that may be decoded. An escape after a stray "%" is left alone: decoding "%%341" would
# create a new escape, and a second pass another path. The expression finds an escape first and then looks at the
# bytes before it, which is fifty times as fast.
_DECODABLE: Final = re.compile(
    rb"%(2[DdEe]|3[0-9]|4[1-9A-Fa-f]|5[0-9AaFf]|6[1-9A-Fa-f]|7[0-9AaEe])(?<!%%..)(?<!%" + _HEX + rb"%..)"
)
_DIGITS: Final = [bytes(digits) for digits in product(b"0123456789abcdefABCDEF", repeat=2)]
_KEPT: Final = {digits: b"%" + digits.upper() for digits in _DIGITS}
_OCTETS: Final = {digits: bytes((int(digits, 16),)) for digits in _DIGITS} | {b"2F": b"%2F", b"2f": b"%2F"}
_ESCAPES: Final = {bytes((octet,)): b"%%%02X" % octet for octet in range(0x100)}
_BEYOND_ASCII: Final = re.compile(rb"([\x80-\xff])")
_NEVER_PLAIN: Final = re.compile(rb"([\x00-\x20\"<>\[\\\]^`{|}'\x7f-\xff])")  # Scrapy's Request escapes them
COMMON: Final = b"/-_.~?=&+,:;@!()0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""The bytes of most paths and patterns, which have only one spelling."""
_COMMON_OR_STAR: Final = COMMON + b"*"

_RUN: Final = b"[" + re.escape(COMMON) + b"]*"
_CANONICAL: Final = re.compile(
    _RUN + rb"(?:%(?:[0189A-F][0-9A-F]|2[0-9A-CF]|3[A-F]|40|5[B-E]|60|7[B-DF])" + _RUN + rb")*"
)
_COMMON_URL: Final = re.compile(rf"https?://[^/?#;]*(/{_RUN.decode()})(?:#|\Z)")
_BEFORE_PATH: Final = re.compile(rb"(?://)?(?:[^/?;]*?://)?[^/?;]*")
_ASCII: Final = bytes(range(0x80))
_WILDCARDS: Final = re.compile(rb"\*+")


def octets(text: str | bytes) -> bytes:
    """*text* as UTF-8; surrogate escapes become the bytes they stand for."""
    if isinstance(text, bytes):
        return text
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def path_of(url: str | bytes, *, canonical_octets: bool = True) -> bytes:
    """The part of *url* that rules match: path, params and query, never empty.

    Scheme, authority and fragment are dropped; dot segments and double slashes are kept. A URL without a scheme is
    a path, as for Google: ``a/b`` is ``/b``. With *canonical_octets*, the path is in `canonical` spelling, and a
    literal ``*`` or ``$`` is escaped to equal ``%2A`` or ``%24`` in a pattern. Without, the path ends at a NUL, as
    in Google's parser.
    """
    path = find_path(url)
    if path is not None:
        return path
    raw = octets(url)
    before = _BEFORE_PATH.match(raw)
    start = before.end() if before else 0
    if start == len(raw) or b"#" in raw[:start]:
        return b"/"
    return path_behind(raw[start:] if raw.startswith(b"/", start) else b"/" + raw[start:], canonical_octets)


def _find_path(url: str | bytes, /) -> bytes | None:
    found = _COMMON_URL.match(url) if type(url) is str else None
    return found[1].encode() if found else None


try:
    from ._speedups import path_of as _compiled_path_of

    find_path = _compiled_path_of
except ImportError:  # not built on this platform
    find_path = _find_path
"""The path of a URL if it is in canonical spelling, as nearly all paths are; else None."""


def path_behind(rest: bytes, canonical_octets: bool) -> bytes:
    """The path of a URL as returned by `path_of`; *rest* is the URL from the slash after the authority."""
    if not rest.translate(None, COMMON):
        return rest
    path = rest.partition(b"#")[0]
    if not canonical_octets:  # Google's parser passes the path on as a C string
        return path.partition(b"\0")[0]
    return path if _CANONICAL.fullmatch(path) else _literal(path)


def canonical(path: bytes) -> bytes:
    """The canonical spelling of *path* for comparisons (RFC 9309 section 2.2.2).

    Hexadecimal digits are put in upper case, unreserved characters decoded, and bytes that are invalid in URLs
    encoded. Everything else stays as written: ``%2F`` is not ``/``. Idempotent.
    """
    decoded = _substituted(_substituted(path, _ESCAPE, _KEPT), _DECODABLE, _OCTETS)
    return _substituted(decoded, _NEVER_PLAIN, _ESCAPES)


def is_plain(value: bytes) -> bool:
    """Whether the pattern *value* matches exactly the paths that start with its bytes, in either spelling."""
    return not value.translate(None, COMMON) or bool(_CANONICAL.fullmatch(value))


def specificity(value: bytes) -> int:
    """The rank of a rule with the path *value*: its bytes, where a non-ASCII byte counts three, as for Google."""
    return len(value) if value.isascii() else len(value) + 2 * len(value.translate(None, _ASCII))


class Pattern(NamedTuple):
    """The path of a rule, prepared for matching.

    ``pieces`` are the bytes between the wildcards ``*``; ``anchored`` is true if the pattern ends with ``$``;
    ``specificity`` ranks rules.
    """

    pieces: tuple[bytes, ...]
    anchored: bool
    specificity: int

    @staticmethod
    def of(value: bytes, *, canonical_octets: bool = True) -> Pattern:
        """Prepare the pattern *value*, as written in a robots.txt.

        ``$`` anchors only as the last byte; elsewhere it is a literal.
        """
        return _pattern(value, GOOGLE if canonical_octets else GOOGLE_EXACT)

    def matches(self, path: bytes) -> bool:
        """Whether the pattern matches *path*, a result of `path_of`, from its first byte.

        An empty pattern matches everything; a pattern that starts with neither ``/`` nor ``*`` matches nothing.
        """
        pieces, anchored, _ = self
        first, last = pieces[0], pieces[-1]
        if not path.startswith(first):
            return False
        position = len(first)
        if len(pieces) == 1:
            return not anchored or position == len(path)
        if anchored and not path.endswith(last):  # the cheapest check, at which most patterns fail
            return False
        for piece in pieces[1:-1]:
            position = path.find(piece, position)
            if position < 0:
                return False
            position += len(piece)
        return path.endswith(last, position) if anchored else path.find(last, position) >= 0


def patterns_of(value: bytes, allow: bool, dialect: Dialect) -> list[Pattern]:
    """The patterns for the *value* of a rule, longest first; the rule matches if any of them does."""
    patterns = [_pattern(value, dialect)]
    if dialect.folder_without_slash and value.endswith(b"/"):
        patterns.append(Pattern(_pattern(value[:-1], dialect).pieces, True, specificity(value)))
    folder = folder_of_index_page(value) if allow and dialect.index_pages else None
    if folder:
        patterns.append(_pattern(folder, dialect))
    return patterns


def folder_of_index_page(value: bytes) -> bytes | None:
    """A pattern for the folder of the index page that *value* allows, or None.

    Google's parser also tries ``…/index.htm…`` as ``…/$``, for allow only.
    """
    folder, slash, page = value.rpartition(b"/")
    return folder + b"/$" if slash and page.startswith(b"index.htm") else None


def compared_path(path: bytes, dialect: Dialect) -> bytes:
    """The spelling of *path*, a result of `path_of` for this *dialect*, to match against `patterns_of` a rule."""
    subject = path if dialect.query_counts else path.partition(b"?")[0]
    return _SPELLINGS[dialect.octets](subject) if dialect.octets in _SPELT_AGAIN else subject


def _pattern(value: bytes, dialect: Dialect) -> Pattern:
    text = value
    if dialect.slash_added and value and not value.startswith((b"/", *map(str.encode, dialect.wildcards))):
        text = b"/" + value
    anchored = "$" in dialect.wildcards and text.endswith(b"$")
    text = text.removesuffix(b"$") if anchored else text
    pieces = _WILDCARDS.split(text) if "*" in dialect.wildcards else [text]
    if dialect.is_googles and not text.translate(None, _COMMON_OR_STAR):  # nearly every pattern
        return Pattern(tuple(pieces), anchored, len(value))
    return Pattern(tuple(map(_SPELLINGS[dialect.octets], pieces)), anchored, specificity(value))


def _substituted(text: bytes, what: re.Pattern[bytes], spellings: dict[bytes, bytes]) -> bytes:
    """*text* with each match of *what*, an expression with one group, replaced by that group's *spellings*.

    Uses look-ups, which stay fast in a hostile text full of matches.
    """
    parts = what.split(text)
    if len(parts) == 1:
        return text
    parts[1::2] = map(spellings.__getitem__, parts[1::2])
    return b"".join(parts)


def _literal(text: bytes) -> bytes:
    """*text* in canonical spelling, with ``*`` and ``$`` escaped, because they are literals here."""
    if not text.translate(None, COMMON):
        return text
    return canonical(text).replace(b"*", b"%2A").replace(b"$", b"%24")


def _decoded(text: bytes) -> bytes:
    return _substituted(text, _ESCAPE, _OCTETS)


_SPELLINGS: Final[dict[Octets, Callable[[bytes], bytes]]] = {
    Octets.CANONICAL: _literal,
    Octets.GOOGLE: lambda text: _substituted(_substituted(text, _ESCAPE, _KEPT), _BEYOND_ASCII, _ESCAPES),
    Octets.WRITTEN: lambda text: text,
    Octets.DECODED: _decoded,
    Octets.FORM_DECODED: lambda text: _decoded(text.replace(b"+", b" ")),
}
"""How to normalize the bytes between the wildcards of a pattern before they are compared."""

_SPELT_AGAIN: Final = (Octets.DECODED, Octets.FORM_DECODED)  # for paths; `path_of` already normalizes the others
