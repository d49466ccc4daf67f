"""The octets of a path, and whether the pattern of a rule matches them: RFC 9309 sections 2.2.2 and 2.2.3.

Knows nothing of rules, groups and lines. A match takes time linear in the pattern and the path: the
wildcards are walked once, leftmost first, which is enough because a later start never helps a
pattern whose last wildcard already leaves the end free.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from typing import Final, NamedTuple

# Single octets are looked for as numbers, runs of them with `find`: CPython takes what stands before ``in`` for a
# number first, and makes an exception where it is none.
_PERCENT: Final = ord("%")
_DOLLAR: Final = ord("$")

_HEX: Final = rb"[0-9A-Fa-f]"

_ESCAPE: Final = re.compile(b"%(" + _HEX + b"{2})")
_STRAY_PERCENT: Final = re.compile(b"%(?!" + _HEX + b"{2})")
_UNRESERVED: Final = rb"2[DdEe]|3[0-9]|4[1-9A-Fa-f]|5[0-9AaFf]|6[1-9A-Fa-f]|7[0-9AaEe]"
# The digits of an escape that may be decoded, or of any other. Decoding stops next to a stray "%": in "%%341"
# it would make an escape that was none, and a second pass another path. What is looked for comes first, what
# stands before it is looked at afterwards: that is fifty times as fast.
_ESCAPE_BESIDE_STRAYS: Final = re.compile(
    rb"%(?:(" + _UNRESERVED + rb")(?<!%%..)(?<!%" + _HEX + rb"%..)|(" + _HEX + rb"{2}))"
)
_DIGITS: Final = [bytes(digits) for digits in product(b"0123456789abcdefABCDEF", repeat=2)]
_KEPT: Final = {digits: b"%" + digits.upper() for digits in _DIGITS}
_DECODED: Final = _KEPT | {
    digits: bytes((int(digits, 16),)) for digits in _DIGITS if re.fullmatch(_UNRESERVED, digits)
}
_BEYOND_ASCII: Final = bytes(range(0x80, 0x100))
_NEVER_PLAIN: Final = (
    bytes(range(0x21)) + b"\"<>[\\]^`{|}'\x7f" + _BEYOND_ASCII
)  # Scrapy's Request escapes them too
COMMON: Final = b"/-_.~?=&+,:;@!()0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Octets of which most paths and patterns consist; they have one spelling."""

_COMMON_OR_SEPARATOR: Final = COMMON + b"*\n"
_CANONICAL: Final = (
    r"[-/_.~?=&+,:;@!()0-9A-Za-z]*"
    r"(?:%(?:[0189A-F][0-9A-F]|2[0-9A-CF]|3[A-F]|40|5[B-E]|60|7[B-DF])[-/_.~?=&+,:;@!()0-9A-Za-z]*)*"
)
_is_canonical = re.compile(_CANONICAL.encode()).fullmatch
PATH: Final = rf"(/{_CANONICAL})([^#]+)?"
"""An expression for a path in a URL: what is spelt as it is compared, in nearly every URL all, and the rest."""

_find_path = re.compile(f"https?://[^/?#;]*{PATH}").match

_START_OF_PATH: Final = re.compile(rb"[/?;]")
_ASCII: Final = bytes(range(0x80))


def octets(text: str | bytes) -> bytes:
    """*text* as UTF-8; surrogate escapes become the octets they stand for."""
    if isinstance(text, bytes):
        return text
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _respelt(escape: re.Match[bytes]) -> bytes:
    decoded = escape[1]
    return _DECODED[decoded] if decoded else _KEPT[escape[2]]


class _Spelling:
    """How a text is respelt: by look-ups in tables, since a hostile text is full of what has to be respelt."""

    def __init__(self, escapes: dict[bytes, bytes], never_plain: bytes) -> None:
        self._escapes = escapes
        self._never_plain = never_plain
        self._spellings = [b"%%%02X" % octet if octet in never_plain else bytes((octet,)) for octet in range(256)]

    def of(self, text: bytes) -> bytes:
        """*text* with its escapes decoded or in upper case, and with the octets escaped that are never plain."""
        if _PERCENT in text:
            if self._escapes is _DECODED and _STRAY_PERCENT.search(text):
                text = _ESCAPE_BESIDE_STRAYS.sub(_respelt, text)
            else:
                parts = _ESCAPE.split(text)
                parts[1::2] = map(self._escapes.__getitem__, parts[1::2])
                text = b"".join(parts)
        if len(text.translate(None, self._never_plain)) == len(text):
            return text
        return b"".join(map(self._spellings.__getitem__, text))


_OF_PATHS: Final = _Spelling(_DECODED, _NEVER_PLAIN)
_OF_PATTERNS: Final = _Spelling(_DECODED, _NEVER_PLAIN.replace(b"\n", b""))  # which stands between two of them
_OF_PATTERNS_AT_GOOGLE: Final = _Spelling(_KEPT, _BEYOND_ASCII)


def canonical(path: bytes) -> bytes:
    """The one spelling of *path* in which octets are compared (RFC 9309 section 2.2.2).

    Hexadecimal digits in upper case, unreserved octets decoded, octets that no URL may hold
    encoded, everything else as written: ``%2F`` is not ``/``. Idempotent.
    """
    return _OF_PATHS.of(path)


def path_of(url: str | bytes, *, canonical_octets: bool = True) -> bytes:
    """The part of *url* that rules are matched with: path, params and query, never empty.

    Scheme, authority and fragment are dropped; nothing else is resolved (dot segments, double
    slashes). Without a scheme the URL is a path, as for Google: ``a/b`` is ``/b``. With
    *canonical_octets* the path is in `canonical` spelling and a literal ``*`` or ``$`` is escaped,
    so that it equals ``%2A`` or ``%24`` in a pattern; without, it ends at a NUL, as in Google's parser.
    """
    found = _find_path(url) if isinstance(url, str) else None
    if found is None:
        return spelt_path(_path_in(octets(url)), canonical_octets=canonical_octets)
    path, rest = found.groups()
    return path.encode() if rest is None else spelt_path(octets(path + rest), canonical_octets=canonical_octets)


def spelt_path(path: bytes, *, canonical_octets: bool) -> bytes:
    """The *path* of a URL as `path_of` answers it."""
    # Google's parser hands the path on as a C string.
    return escaped(canonical(path)) if canonical_octets else path.partition(b"\0")[0]


def _path_in(url: bytes) -> bytes:
    after_slashes = 2 if url.startswith(b"//") else 0
    authority = url.find(b"://", after_slashes)
    start = _START_OF_PATH.search(url, after_slashes)
    if authority >= 0 and start and start.start() > authority:
        start = _START_OF_PATH.search(url, authority + 3)
    fragment = url.find(b"#", after_slashes)
    end = len(url) if fragment < 0 else fragment
    if start is None or start.start() > end:
        return b"/"
    path = url[start.start() : end]
    return path if path.startswith(b"/") else b"/" + path


def escaped(path: bytes) -> bytes:
    """*path* with its ``*`` and ``$`` as escapes, since they are no special characters."""
    return path.replace(b"*", b"%2A").replace(b"$", b"%24")


def spelt_at_google(pattern: bytes) -> bytes:
    """*pattern* as Google's parser compares it: hexadecimal digits in upper case, octets beyond ASCII escaped."""
    return _OF_PATTERNS_AT_GOOGLE.of(pattern)


def is_plain(value: bytes) -> bool:
    """Whether a pattern matches the paths that start with just the octets of *value*, in either spelling."""
    return not value.translate(None, COMMON) or bool(_is_canonical(value))


def specificity(value: bytes) -> int:
    """What ranks a rule with the path *value*: Google's count, its octets, where one beyond ASCII counts three."""
    return len(value) if value.isascii() else len(value) + 2 * len(value.translate(None, _ASCII))


def compared(values: list[bytes], *, canonical_octets: bool) -> list[bytes]:
    """How patterns are compared with paths that are written as *values*: with ``*``, and ``$`` at the end alone.

    All in one go, which takes a tenth of the time that one by one would.
    """
    text = b"\n".join(values)
    special = text.translate(None, _COMMON_OR_SEPARATOR)
    if not special or (not special.strip(b"$") and len(special) == (text + b"\n").count(b"$\n")):
        return values
    if not canonical_octets:
        return spelt_at_google(text).split(b"\n")
    text = _OF_PATTERNS.of(text) + b"\n"
    if _DOLLAR in text:  # an anchor, or a literal
        text = text.replace(b"$\n", b"\0\n").replace(b"$", b"%24").replace(b"\0", b"$")
    return text[:-1].split(b"\n")


def pieces_of(pattern: bytes) -> list[bytes]:
    """The octets between the wildcards of a *pattern* as it is `compared`, without its anchor."""
    if pattern.endswith(b"$"):
        pattern = pattern[:-1]
    while pattern.find(b"**") >= 0:  # says what one does, and a hostile body has thousands
        pattern = pattern.replace(b"**", b"*")
    return pattern.split(b"*")


def matches(pieces: Sequence[bytes], anchored: bool, path: bytes) -> bool:
    """Whether the *pieces* of a pattern match *path*, an answer of `path_of`, from its first octet on.

    An empty pattern matches everything; one that starts with neither ``/`` nor ``*`` nothing.
    """
    if not path.startswith(pieces[0]):
        return False
    position, last = len(pieces[0]), pieces[-1]
    if len(pieces) == 1:
        return not anchored or position == len(path)
    # Most patterns fail by their end, which is the cheapest to know; each piece before it has an octet at least.
    if not path.endswith(last) if anchored else path.rfind(last) < position + len(pieces) - 2:
        return False
    if len(pieces) == 2 and not anchored:
        return True
    for piece in pieces[1:-1]:
        position = path.find(piece, position)
        if position < 0:
            return False
        position += len(piece)
    return path.endswith(last, position) if anchored else path.find(last, position) >= 0


class Pattern(NamedTuple):
    """The path of a rule, ready to be matched.

    ``pieces`` are the octets between the wildcards ``*``; ``anchored`` says that the pattern ended
    with ``$``; ``specificity`` ranks rules.
    """

    pieces: tuple[bytes, ...]
    anchored: bool
    specificity: int

    @classmethod
    def of(cls, value: bytes, *, canonical_octets: bool = True) -> Pattern:
        """The pattern that *value*, as written in a robots.txt, stands for.

        ``$`` anchors only as the last octet; elsewhere it is a literal.
        """
        (pattern,) = compared([value], canonical_octets=canonical_octets)
        return cls(tuple(pieces_of(pattern)), value.endswith(b"$"), specificity(value))

    def matches(self, path: bytes) -> bool:
        """Whether *path*, an answer of `path_of`, is matched from its first octet on; see `matches`."""
        return matches(self.pieces, self.anchored, path)
