"""Untrusted text made safe to show: on a terminal, in a log, in a message, on a page."""

from __future__ import annotations


def shown(text: str) -> str:
    r"""*text* on one line, with an escape such as ``\x1b`` for each character that is not printable.

    So it can neither steer a terminal (ESC, BEL, C1) nor reorder or break a line (bidi controls, U+2028).
    """
    return text if text.isprintable() else "".join(map(_shown, text))


def number_of(number: int, one: str, many: str) -> str:
    """*number* with its noun, *one* or *many*."""
    return f"{number:,} {one if number == 1 else many}"


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    # Surrogate escapes stand for octets that are no UTF-8.
    is_octet = "\udc80" <= character <= "\udcff"
    return f"\\x{ord(character) & 0xFF:02x}" if is_octet else ascii(character)[1:-1]
