"""One line of a robots.txt: how much of it counts, and where its key ends and its value starts.

RFC 9309 section 2.2 in Google's reading. Knows nothing of what keys mean.
"""

from __future__ import annotations

import re
from typing import Final

MAX_LINE: Final = 2083 * 8 - 1
"""Octets of a line that are read: Google's parser allows eight times the longest URL of a browser."""

_TWO_WORDS: Final = re.compile(rb"([^ \t]+)[ \t]+([^ \t]+)")


def split(line: bytes) -> tuple[bytes, bytes]:
    """The key and the value on *line*; an empty key when there is no record.

    A NUL ends the line, ``#`` starts a comment, the first colon splits. Without a colon a line of
    exactly two words is accepted, as in Google's parser.
    """
    text = line[:MAX_LINE].partition(b"\0")[0].partition(b"#")[0].strip()
    key, colon, value = text.partition(b":")
    if not colon:
        words = _TWO_WORDS.fullmatch(text)
        if not words:
            return b"", b""
        key, value = words.groups()
    return key.strip(), value.strip()


def mark_length(body: bytes) -> int:
    """The octets of a UTF-8 byte order mark at the start of *body*, which may be a partial one."""
    if not body.startswith(b"\xef"):
        return 0
    return next((length for length in (3, 2) if body.startswith(b"\xef\xbb\xbf"[:length])), 1)
