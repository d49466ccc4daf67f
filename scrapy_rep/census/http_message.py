"""HTTP responses as archives keep them: a head, and a body to which the codings in it are still applied, or not.

The library that reads archives refuses what servers do: a coding that nobody knows, deflate without its header, a
chunk with spaces, a body that is cut short, or one that was decoded while its head was kept.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from functools import partial
from io import BytesIO
from typing import Final, NamedTuple

from fastwarc.stream_io import BrotliReader, ZstdReader

# As Chromium reads it: at most four octets, any version in any case, digits. A tab is a space: RFC 9112 section 4.
_STATUS: Final = re.compile(rb"[\s\S]{0,4}?http[^ \t\r\n]*[ \t]*(\d{0,9})", re.IGNORECASE)
_NO_NUMBER: Final = 200  # of a status line, for Chromium
_HEAD_END: Final = re.compile(rb"\r?\n\r?\n")
_FIELD: Final = re.compile(
    rb"^(location|content-encoding|transfer-encoding)[ \t]*:[ \t]*([^\r\n]*)", re.IGNORECASE | re.MULTILINE
)
_CHUNK: Final = re.compile(rb"(?:\r?\n)?([0-9a-fA-F]{1,8})[ \t]*(?:;[^\n]*)?\r?\n")
_GZIP_OR_ZLIB: Final = zlib.MAX_WBITS | 32
_MOST_CODINGS: Final = 4  # that are removed from a body
_PIECE: Final = 16_384  # octets


class HttpMessage(NamedTuple):
    """A response. ``location`` is as written, None when there is none or it is empty; ``body`` is decoded.

    ``is_whole`` is False for a chunked body whose last chunk is missing (RFC 9112 section 8).
    """

    status: int
    location: str | None
    body: bytes
    is_whole: bool = True


def http_message(octets: bytes, most: int) -> HttpMessage | None:
    """Return the response in *octets*, with the first *most* octets of its body; None if there is no HTTP head."""
    status, end = _head(octets)
    while status and end and 100 <= _number(status) < 200:  # "100 Continue" comes before the response
        octets = octets[end.end() :]
        status, end = _head(octets)
    if not status or not end:
        return None
    fields: dict[bytes, list[bytes]] = {}
    for name, value in _FIELD.findall(octets, status.end(), end.start()):
        fields.setdefault(name.lower(), []).append(value.strip())
    codings = [*fields.get(b"content-encoding", ()), *fields.get(b"transfer-encoding", ())]
    names = [name.strip() for name in b",".join(codings).lower().split(b",")]
    coded = octets[end.end() :]
    is_whole = names[-1] != b"chunked" or len(octets) >= most or _has_last_chunk(coded)
    location = _text(fields.get(b"location", [b""])[0]) or None
    return HttpMessage(_number(status), location, _decoded(coded, names, most), is_whole)


def _head(octets: bytes) -> tuple[re.Match[bytes] | None, re.Match[bytes] | None]:
    """The start of the status line in *octets*, and the end of the head."""
    status = _STATUS.match(octets)
    return status, _HEAD_END.search(octets, status.end()) if status else None


def _number(status: re.Match[bytes]) -> int:
    return int(status[1] or _NO_NUMBER)


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _decoded(body: bytes, codings: list[bytes], most: int) -> bytes:
    for coding in reversed(codings[-_MOST_CODINGS:]):
        if decode := _DECODERS.get(coding):
            body = decode(body, most)
    return body[:most]


# Each returns a body as it is when the coding was not applied to it.


def _chunks(body: bytes) -> list[bytes]:
    """The chunks in *body*, of which the last one is empty, if it is there."""
    chunks, end = [], 0
    while chunk := _CHUNK.match(body, end):
        end = chunk.end() + int(chunk[1], 16)
        chunks.append(body[chunk.end() : end])
        if end == chunk.end():
            break
    return chunks


def _has_last_chunk(body: bytes) -> bool:
    """Whether *body* has the last of its chunks, or has no chunks."""
    return (_chunks(body) or [b""])[-1] == b""


def _without_chunks(body: bytes, _: int) -> bytes:
    chunks = _chunks(body)
    return b"".join(chunks) if chunks else body


def _inflated(body: bytes, most: int, kind: int = _GZIP_OR_ZLIB) -> bytes:
    decompressor = zlib.decompressobj(kind)
    try:
        found = decompressor.decompress(body, most)
    except zlib.error:
        return body
    is_all = decompressor.eof or len(found) == most  # anything may start like deflate without a header
    return found if is_all or (found and kind == _GZIP_OR_ZLIB) else body


def _deflated(body: bytes, most: int) -> bytes:
    """Undo deflate with the header of zlib, or, as many servers send it, without."""
    found = _inflated(body, most)
    return found if found is not body else _inflated(body, most, -zlib.MAX_WBITS)


def _read(kind: type[BrotliReader | ZstdReader], body: bytes, most: int) -> bytes:
    reader, pieces, size, failed = kind(BytesIO(body)), [], 0, False
    try:
        while size < most and (piece := reader.read(_PIECE)):
            pieces.append(piece)
            size += len(piece)
    except OSError:
        failed = True
    if failed or not pieces:
        is_text = len(body) > 1 and _is_utf_8(body)  # an empty body takes one octet
        if is_text or (failed and not pieces):
            return body
    return b"".join(pieces)


def _is_utf_8(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


_DECODERS: Final[dict[bytes, Callable[[bytes, int], bytes]]] = {
    b"br": partial(_read, BrotliReader),
    b"chunked": _without_chunks,
    b"deflate": _deflated,
    b"gzip": _inflated,
    b"x-gzip": _inflated,
    b"zstd": partial(_read, ZstdReader),
}
