"""Content codings: decompress a body, or raise with the reason why that fails.

Compressed data has an end mark (RFC 1952, RFC 1950, RFC 7932, RFC 8878). A body without that mark is truncated,
even if the HTTP message is complete. Half of a robots.txt allows what the other half disallows. `undo` therefore
raises where Scrapy and browsers show the part they have.

The standard library decodes gzip and deflate. Callers pass decoders for other codings.
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
"""Decodes one coding: takes a body and a limit, returns at most *limit* bytes and whether the end mark was read.

Raises ``ValueError`` for a body that is not in this coding.
"""

GZIP_MAGIC: Final = b"\x1f\x8b\x08"
"""The first bytes of a gzip file: RFC 1952 section 2.3.1, with deflate, the only method in use."""

BOMB: Final = 32 * MAX_SIZE  # bytes; a body that unpacks to more than this and than its reader's limit is a bomb
_MOST_CODINGS: Final = 4
_MOST_MEMBERS: Final = 100  # in a body; each member costs a copy of the rest
_LONGEST_NAME: Final = 40  # characters of a coding's name that messages show
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
    """Undo *codings*, the value of Content-Encoding (RFC 9110 section 8.4); return the body and a warning or "".

    The last coding is undone first. The warning names an unknown coding of a body that is plain text. *limit* is
    the number of bytes that count in the result. With *is_stopped*, the reader stopped within *body*, which then
    needs no end mark. With *may_be_undone*, an archive may have decoded the body but kept the header: text is left
    unchanged. gzip is recognized even without a header. Raises ``ValueError`` with the reason if the body is
    truncated, does not match its coding, has an unknown coding, or is a bomb.
    """
    names = [name for name in map(str.strip, codings.lower().split(",")) if name not in {"", "identity"}]
    warning, undone = "", 0
    while body and (names or body.startswith(GZIP_MAGIC)):
        undone += 1
        if undone > _MOST_CODINGS:  # a gzip file that unpacks to itself exists
            raise ValueError(f"more than {_MOST_CODINGS} content codings")
        name = names.pop() if names else "gzip"
        if may_be_undone and len(body) > 1 and is_text(body):  # an empty body may compress to one byte
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
        decoded = decoded[: max(decoded.rfind(b"\n"), decoded.rfind(b"\r")) + 1]  # drop the truncated last line
    return decoded


def is_text(body: bytes) -> bool:
    """Whether *body* is readable text: almost no control characters, and UTF-8 or mostly ASCII."""
    controls = len(body) - len(body.translate(None, _CONTROLS))
    if 100 * controls > len(body):
        return False
    if 4 * (len(body) - len(body.translate(None, _HIGH))) <= len(body):
        return True
    try:
        codecs.getincrementaldecoder("utf-8")().decode(body)  # the last character may be truncated
    except UnicodeDecodeError:
        return False
    return True


def in_members(
    body: bytes, most: int, magic: bytes, decode: Callable[[bytes, int], tuple[bytes, bool, bytes]]
) -> tuple[bytes, bool]:
    """Decode one or more concatenated members with *decode*, which also returns the bytes after a member.

    Bytes after a member that do not start with *magic* are ignored, as by browsers.
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
    """Decode deflate, with the zlib header or, as many servers send it, without."""
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
"""The decoders of the standard library, by the lower-case name of the coding."""
