"""References for the engine: octet by octet, slow, and without a line of its code."""

from __future__ import annotations

from typing import Final

from scrapy_rep.protocol import GOOGLE, Dialect

HEX: Final = b"0123456789ABCDEFabcdef"
UNRESERVED: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
NEVER_PLAIN: Final = bytes(range(0x21)) + b"\"<>[\\]^`{|}'" + bytes(range(0x7F, 0x100))


def is_escape(text: bytes, at: int) -> bool:
    return text[at : at + 1] == b"%" and len(text) > at + 2 and text[at + 1] in HEX and text[at + 2] in HEX


def beside_a_stray_percent(text: bytes, at: int) -> bool:
    before = text[max(at - 2, 0) : at]
    return before.endswith(b"%") or (before.startswith(b"%") and before[1] in HEX)


def spelt(text: bytes, *, decode: bool, always_escaped: bytes) -> bytes:
    """*text* octet by octet: escapes in upper case or decoded, some octets escaped."""
    out, at = b"", 0
    while at < len(text):
        if is_escape(text, at):
            octet = int(text[at + 1 : at + 3], 16)
            plain = decode and octet in UNRESERVED and not beside_a_stray_percent(text, at)
            out += bytes((octet,)) if plain else b"%%%02X" % octet
            at += 3
        else:
            octet = text[at]
            out += b"%%%02X" % octet if octet in always_escaped else bytes((octet,))
            at += 1
    return out


def spelt_path(path: bytes, dialect: Dialect) -> bytes:
    return spelt(path, decode=True, always_escaped=NEVER_PLAIN + b"*$") if dialect is GOOGLE else path


def spelt_pattern(pattern: bytes, dialect: Dialect) -> bytes:
    if dialect is GOOGLE:
        return spelt(pattern, decode=True, always_escaped=NEVER_PLAIN + b"$")
    return spelt(pattern, decode=False, always_escaped=bytes(range(0x80, 0x100)))


def reference(pattern: bytes, path: bytes, dialect: Dialect) -> bool:
    """Whether *pattern* matches, by the set of all positions in the path that its octets may have reached."""
    path = spelt_path(path, dialect)
    anchored = pattern.endswith(b"$")
    positions = {0}
    for octet in spelt_pattern(pattern[:-1] if anchored else pattern, dialect):
        if octet == ord("*"):
            positions = {later for position in positions for later in range(position, len(path) + 1)}
        else:
            positions = {
                position + 1 for position in positions if path[position : position + 1] == bytes((octet,))
            }
    return len(path) in positions if anchored else bool(positions)


def length(pattern: bytes) -> int:
    return sum(3 if octet >= 0x80 else 1 for octet in pattern)
