"""The octets of a path, and whether the pattern of a rule matches them: RFC 9309 sections 2.2.2 and 2.2.3.

Knows nothing of rules, groups and lines. A match takes time linear in the pattern and the path: the
wildcards are walked once, leftmost first, which is enough because a later start never helps a
pattern whose last wildcard already leaves the end free.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_HEX: Final = rb"[0-9A-Fa-f]"

# Every spelling that has another one in canonical form: an escape that may be decoded, any other
# escape, and an octet that has to be escaped because Scrapy's Request escapes it too. Decoding stops
# beside a stray "%": in "%%341" it would make an escape that was none, and a second pass another path.
_SPELLINGS: Final = re.compile(
    rb"(?<!%)(?<!%" + _HEX + rb")%("
    rb"2[DdEe]|3[0-9]|4[1-9A-Fa-f]|5[0-9AaFf]|6[1-9A-Fa-f]|7[0-9AaEe]"
    rb")|(%" + _HEX + rb"{2})|([\x00-\x20\"<>\[\\\]^`{|}'\x7f-\xff])"
)
_GOOGLE_SPELLINGS: Final = re.compile(rb"()(%" + _HEX + rb"{2})|([\x80-\xff])")
COMMON: Final = b"/-_.~?=&+,:;@!()0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Octets of which most paths and patterns consist; they have one spelling."""

COMMON_OR_WILDCARD: Final = COMMON + b"*"
_CANONICAL: Final = (
    r"[-/_.~?=&+,:;@!()0-9A-Za-z]*"
    r"(?:%(?:[0189A-F][0-9A-F]|2[0-9A-CF]|3[A-F]|40|5[B-E]|60|7[B-DF])[-/_.~?=&+,:;@!()0-9A-Za-z]*)*"
)
_is_canonical = re.compile(_CANONICAL.encode()).fullmatch
_HTTP_URL: Final = r"https?://[^/?#;]*(/%s)(?:#|\Z)"
_find_canonical_path = re.compile(_HTTP_URL % _CANONICAL).match
_find_path = re.compile(_HTTP_URL % r"[^#]*").match

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


def _respell(spelling: re.Match[bytes]) -> bytes:
    unreserved, escape, octet = spelling.groups()
    if octet:
        return b"%%%02X" % octet[0]
    return bytes((int(unreserved, 16),)) if unreserved else escape.upper()


def canonical(path: bytes) -> bytes:
    """The one spelling of *path* in which octets are compared (RFC 9309 section 2.2.2).

    Hexadecimal digits in upper case, unreserved octets decoded, octets that no URL may hold
    encoded, everything else as written: ``%2F`` is not ``/``. Idempotent.
    """
    return _SPELLINGS.sub(_respell, path)


def path_of(url: str | bytes, *, canonical_octets: bool = True) -> bytes:
    """The part of *url* that rules are matched with: path, params and query, never empty.

    Scheme, authority and fragment are dropped; nothing else is resolved (dot segments, double
    slashes). Without a scheme the URL is a path, as for Google: ``a/b`` is ``/b``. With
    *canonical_octets* the path is in `canonical` spelling and a literal ``*`` or ``$`` is escaped,
    so that it equals ``%2A`` or ``%24`` in a pattern.
    """
    if isinstance(url, str):
        found = _find_canonical_path(url) if canonical_octets else None
        if found:  # as in nearly every URL that a crawl asks about
            return found[1].encode()
        found = _find_path(url)
        if found:
            path = octets(found[1])
            return _escaped(canonical(path)) if canonical_octets else path
    raw = octets(url)
    after_slashes = 2 if raw.startswith(b"//") else 0
    authority = raw.find(b"://", after_slashes)
    start = _START_OF_PATH.search(raw, after_slashes)
    if authority >= 0 and start and start.start() > authority:
        start = _START_OF_PATH.search(raw, authority + 3)
    fragment = raw.find(b"#", after_slashes)
    end = len(raw) if fragment < 0 else fragment
    if start is None or start.start() > end:
        return b"/"
    path = raw[start.start() : end]
    if not path.startswith(b"/"):
        path = b"/" + path
    return _escaped(canonical(path)) if canonical_octets else path


def _escaped(path: bytes) -> bytes:
    return path.replace(b"*", b"%2A").replace(b"$", b"%24")


def is_plain(value: bytes) -> bool:
    """Whether a pattern matches the paths that start with just the octets of *value*, in either spelling."""
    return not value.translate(None, COMMON) or bool(_is_canonical(value))


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

    @classmethod
    def of(cls, value: bytes, *, canonical_octets: bool = True) -> Pattern:
        """The pattern that *value*, as written in a robots.txt, stands for.

        ``$`` anchors only as the last octet; elsewhere it is a literal.
        """
        anchored = value.endswith(b"$")
        spelt = value[:-1] if anchored else value
        if spelt.translate(None, COMMON_OR_WILDCARD):
            spelt = (
                canonical(spelt).replace(b"$", b"%24")
                if canonical_octets
                else _GOOGLE_SPELLINGS.sub(_respell, spelt)
            )
        while b"**" in spelt:  # says what one does, and a hostile body has thousands
            spelt = spelt.replace(b"**", b"*")
        return cls(tuple(spelt.split(b"*")), anchored, specificity(value))

    def matches(self, path: bytes) -> bool:
        """Whether *path*, an answer of `path_of`, is matched from its first octet on.

        An empty pattern matches everything; one that starts with neither ``/`` nor ``*`` nothing.
        """
        pieces = self.pieces
        if not path.startswith(pieces[0]):
            return False
        position = len(pieces[0])
        if len(pieces) == 1:
            return not self.anchored or position == len(path)
        for piece in pieces[1:-1]:
            position = path.find(piece, position)
            if position < 0:
                return False
            position += len(piece)
        if self.anchored:
            return path.endswith(pieces[-1], position)
        return path.find(pieces[-1], position) >= 0
