"""Content codings: the body as it was before a server compressed it, or the reason why nobody can say.

A coding ends with a mark (RFC 1952, RFC 1950, RFC 7932, RFC 8878). A body without that mark is cut, however well
the message around it ends: half of a robots.txt allows what the other half forbids. `undo` therefore raises where
Scrapy and browsers show what they have.

The standard library undoes gzip and deflate. Whoever can undo more hands its decoders in.
"""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from .display import shown
from .reader import MAX_SIZE

Decoder = Callable[[bytes, int], tuple[bytes, bool]]
"""Undoes one coding: gets a body and a limit, returns at most that many bytes and whether the coding ended.

Raises ``ValueError`` for a body that is not in this coding.
"""

GZIP_MAGIC: Final = b"\x1f\x8b\x08"
"""What a gzip file begins with: RFC 1952 section 2.3.1, with the one method that there is."""

BOMB: Final = 32 * MAX_SIZE  # bytes; a body that unpacks to more, and to more than its reader takes, is a bomb
_MOST_CODINGS: Final = 4
_MOST_MEMBERS: Final = 100  # of a body; each costs a copy of the rest
_LONGEST_NAME: Final = 40  # characters of a coding that are shown
_CONTROLS: Final = bytes({*range(32), 127} - set(b"\t\n\v\f\r"))
_HIGH: Final = bytes(range(128, 256))


def undo(
    body: bytes,
    codings: str,
    *,
    limit: int,
    decoders: Mapping[str, Decoder],
    is_stopped: bool = False,
    may_be_undone: bool = False,
) -> tuple[bytes, str]:
    """Return *body* without *codings*, the value of Content-Encoding (RFC 9110 section 8.4), and a warning or "".

    The last coding is undone first; the warning names one that nobody knows and that was not applied. *limit* is
    how many bytes of the result count. With *is_stopped* the reader took no more of *body*, so that it need not
    end. *may_be_undone*: an archive may have undone the codings and kept the header, so that text is taken as it
    is. gzip is recognized without a header too. Raises ``ValueError``, with the reason, for a body that is cut,
    is not in a coding that it claims, is in an unknown one, or is a bomb.
    """
    names = [name for name in map(str.strip, codings.lower().split(",")) if name not in {"", "identity"}]
    warning, undone = "", 0
    while body and (names or body.startswith(GZIP_MAGIC)):
        undone += 1
        if undone > _MOST_CODINGS:  # there is a gzip file that unpacks to itself
            raise ValueError(f"more than {_MOST_CODINGS} content codings")
        name = names.pop() if names else "gzip"
        if may_be_undone and len(body) > 1 and is_text(body):  # compressed, an empty body may take one byte
            continue
        if decoder := decoders.get(name) or DECODERS.get(name):
            try:
                body = _undo_one(body, name, decoder, limit, is_stopped=is_stopped)
            except ValueError:
                if not (may_be_undone and is_text(body)):
                    raise
        elif is_text(body):
            warning = f"unknown Content-Encoding {shown(name)[:_LONGEST_NAME]!r}: read as plain text"
        else:
            raise ValueError(f"unknown content coding ({shown(name)[:_LONGEST_NAME]})")
    return body, warning


def _undo_one(body: bytes, name: str, decoder: Decoder, limit: int, *, is_stopped: bool) -> bytes:
    most = max(limit, BOMB)
    try:
        decoded, has_end = decoder(body, most + 1)
    except ValueError:
        raise ValueError(f"wrong content coding (not {name})") from None
    if len(decoded) > most:
        raise ValueError(f"larger than {most:,} bytes when decompressed")
    if has_end:
        return decoded
    if not is_stopped:
        raise ValueError(f"truncated response ({name})")
    if len(decoded) <= limit:
        decoded = decoded[: max(decoded.rfind(b"\n"), decoded.rfind(b"\r")) + 1]  # the last line is cut
    return decoded


def is_text(body: bytes) -> bool:
    """Whether people could read *body*: hardly a control, and UTF-8 or mostly ASCII."""
    controls = len(body) - len(body.translate(None, _CONTROLS))
    if 100 * controls > len(body):
        return False
    if 4 * (len(body) - len(body.translate(None, _HIGH))) <= len(body):
        return True
    try:
        codecs.getincrementaldecoder("utf-8")().decode(body)  # its last character may be cut
    except UnicodeDecodeError:
        return False
    return True


def in_members(
    body: bytes, most: int, magic: bytes, decode: Callable[[bytes, int], tuple[bytes, bool, bytes]]
) -> tuple[bytes, bool]:
    """Undo a coding of one member or several, each with *decode*, which also returns what is behind a member.

    What does not begin with *magic* there is ignored, as by browsers.
    """
    pieces, size, left = [], 0, body
    for _ in range(_MOST_MEMBERS):
        decoded, has_end, left = decode(left, most - size)
        pieces.append(decoded)
        size += len(decoded)
        if not has_end or size >= most or not left.startswith(magic):
            return b"".join(pieces), has_end
    raise ValueError(f"more than {_MOST_MEMBERS} members")


def _inflate(body: bytes, most: int) -> tuple[bytes, bool]:
    """Undo deflate: with the header of zlib, or as many servers send it, without."""
    try:
        return _inflated(zlib.MAX_WBITS, body, most)[:2]
    except ValueError:
        return _inflated(-zlib.MAX_WBITS, body, most)[:2]


def _inflated(bits: int, body: bytes, most: int) -> tuple[bytes, bool, bytes]:
    inflater = zlib.decompressobj(bits)
    try:
        return inflater.decompress(body, most), inflater.eof, inflater.unused_data
    except zlib.error as error:
        raise ValueError(str(error)) from None


_gunzip: Final = partial(in_members, magic=GZIP_MAGIC, decode=partial(_inflated, zlib.MAX_WBITS | 16))

DECODERS: Final[Mapping[str, Decoder]] = {"gzip": _gunzip, "x-gzip": _gunzip, "deflate": _inflate}
"""Those of the standard library, by the name of the coding in lower case."""
