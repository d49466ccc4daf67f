"""The octets of a path, and whether the pattern of a rule matches them: RFC 9309 sections 2.2.2 and 2.2.3.

A match takes time linear in the pattern and the path: the wildcards are walked once, leftmost first, which is
enough because a later start never helps a pattern whose last wildcard already leaves the end free.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from typing import Final, NamedTuple

from .dialect import GOOGLE, GOOGLE_EXACT, Dialect, Octets

_HEX: Final = rb"[0-9A-Fa-f]"
_ESCAPE: Final = re.compile(b"%(" + _HEX + b"{2})")
# The digits of what may be decoded. Decoding stops behind a stray "%": in "%%341" it would make an escape that was
# none, and a second pass another path. What is looked for comes first, what stands before it is looked at
# afterwards: that is fifty times as fast.
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
"""Octets of which most paths and patterns consist; they have one spelling."""
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
    """*text* as UTF-8; surrogate escapes become the octets they stand for."""
    if isinstance(text, bytes):
        return text
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def path_of(url: str | bytes, *, canonical_octets: bool = True) -> bytes:
    """The part of *url* that rules are matched with: path, params and query, never empty.

    Scheme, authority and fragment are dropped; nothing else is resolved (dot segments, double
    slashes). Without a scheme the URL is a path, as for Google: ``a/b`` is ``/b``. With
    *canonical_octets* the path is in `canonical` spelling and a literal ``*`` or ``$`` is escaped,
    so that it equals ``%2A`` or ``%24`` in a pattern; without, it ends at a NUL, as in Google's parser.
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
except ImportError:  # it was not built
    find_path = _find_path
"""The path of a URL if it is spelled as it is compared, which nearly every path is; else None."""


def path_behind(rest: bytes, canonical_octets: bool) -> bytes:
    """The path of a URL as `path_of` answers it; *rest* is what stands behind the authority, from a slash on."""
    if not rest.translate(None, COMMON):
        return rest
    path = rest.partition(b"#")[0]
    if not canonical_octets:  # Google's parser hands the path on as a C string
        return path.partition(b"\0")[0]
    return path if _CANONICAL.fullmatch(path) else _literal(path)


def canonical(path: bytes) -> bytes:
    """The one spelling of *path* in which octets are compared (RFC 9309 section 2.2.2).

    Hexadecimal digits in upper case, unreserved octets decoded, octets that no URL may hold
    encoded, everything else as written: ``%2F`` is not ``/``. Idempotent.
    """
    decoded = _substituted(_substituted(path, _ESCAPE, _KEPT), _DECODABLE, _OCTETS)
    return _substituted(decoded, _NEVER_PLAIN, _ESCAPES)


def is_plain(value: bytes) -> bool:
    """Whether a pattern matches the paths that start with just the octets of *value*, in either spelling."""
    return not value.translate(None, COMMON) or bool(_CANONICAL.fullmatch(value))


def specificity(value: bytes) -> int:
    """What ranks a rule with the path *value*: Google's count, its octets, where one beyond ASCII counts three."""
    return len(value) if value.isascii() else len(value) + 2 * len(value.translate(None, _ASCII))


class Pattern(NamedTuple):
    """The path of a rule, ready to be matched.

    ``pieces`` are the octets between the wildcards ``*``; ``anchored`` says that the pattern ended
    with ``$``; ``specificity`` ranks rules.
    """

    pieces: tuple[bytes, ...]
    anchored: bool
    specificity: int

    @staticmethod
    def of(value: bytes, *, canonical_octets: bool = True) -> Pattern:
        """The pattern that *value*, as written in a robots.txt, stands for.

        ``$`` anchors only as the last octet; elsewhere it is a literal.
        """
        return _pattern(value, GOOGLE if canonical_octets else GOOGLE_EXACT)

    def matches(self, path: bytes) -> bool:
        """Whether *path*, an answer of `path_of`, is matched from its first octet on.

        An empty pattern matches everything; one that starts with neither ``/`` nor ``*`` nothing.
        """
        pieces, anchored, _ = self
        first, last = pieces[0], pieces[-1]
        if not path.startswith(first):
            return False
        position = len(first)
        if len(pieces) == 1:
            return not anchored or position == len(path)
        if anchored and not path.endswith(last):  # most patterns fail by their end, which is the cheapest to know
            return False
        for piece in pieces[1:-1]:
            position = path.find(piece, position)
            if position < 0:
                return False
            position += len(piece)
        return path.endswith(last, position) if anchored else path.find(last, position) >= 0


def patterns_of(value: bytes, allow: bool, dialect: Dialect) -> list[Pattern]:
    """The patterns that stand for the *value* of a rule, the longest first; any of them may match."""
    patterns = [_pattern(value, dialect)]
    if dialect.folder_without_slash and value.endswith(b"/"):
        patterns.append(Pattern(_pattern(value[:-1], dialect).pieces, True, specificity(value)))
    folder = folder_of_index_page(value) if allow and dialect.index_pages else None
    if folder:
        patterns.append(_pattern(folder, dialect))
    return patterns


def folder_of_index_page(value: bytes) -> bytes | None:
    """A pattern for the folder of the index page that *value* allows, if it does.

    Google's parser tries ``…/index.htm…`` as ``…/$``, for allow only.
    """
    folder, slash, page = value.rpartition(b"/")
    return folder + b"/$" if slash and page.startswith(b"index.htm") else None


def compared_path(path: bytes, dialect: Dialect) -> bytes:
    """How *path*, an answer of `path_of` for this *dialect*, is compared with `patterns_of` a rule."""
    subject = path if dialect.query_counts else path.partition(b"?")[0]
    return _SPELLINGS[dialect.octets](subject) if dialect.octets in _SPELT_AGAIN else subject


def _pattern(value: bytes, dialect: Dialect) -> Pattern:
    text = value
    if dialect.slash_added and value and not value.startswith((b"/", *map(str.encode, dialect.wildcards))):
        text = b"/" + value
    anchored = "$" in dialect.wildcards and text.endswith(b"$")
    text = text.removesuffix(b"$") if anchored else text
    pieces = _WILDCARDS.split(text) if "*" in dialect.wildcards else [text]
    if dialect.is_googles and not text.translate(None, _COMMON_OR_STAR):  # nearly every one
        return Pattern(tuple(pieces), anchored, len(value))
    return Pattern(tuple(map(_SPELLINGS[dialect.octets], pieces)), anchored, specificity(value))


def _substituted(text: bytes, what: re.Pattern[bytes], spellings: dict[bytes, bytes]) -> bytes:
    """*text* with *what*, an expression with one group, as *spellings* has that group.

    By look-ups, since a hostile text is full of it.
    """
    parts = what.split(text)
    if len(parts) == 1:
        return text
    parts[1::2] = map(spellings.__getitem__, parts[1::2])
    return b"".join(parts)


def _literal(text: bytes) -> bytes:
    """*text* in canonical spelling, with its ``*`` and ``$`` as escapes, since they are no special characters."""
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
"""How the octets between the wildcards of a pattern are spelled before they are compared."""

_SPELT_AGAIN: Final = (Octets.DECODED, Octets.FORM_DECODED)  # paths; `path_of` has spelled the others
