"""Decoders for Brotli and Zstandard, by whichever library is installed: for `scrapy_rep.protocol.codings`.

Scrapy asks for these codings where its own libraries are installed. FastWARC, which reads archives, brings both. A
library is imported when the first body needs it. Private.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib import import_module
from io import BytesIO
from typing import Any, Final

from .protocol.codings import Decoder, in_members

_PIECE: Final = 65_536  # bytes that are decoded at a time
_LITTLE: Final = 64  # bytes; a block of Zstandard takes four at least and holds 128 KiB at most
_ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"  # RFC 8878 section 3.1.1


def _brotli(module: Any, body: bytes, most: int) -> tuple[bytes, bool]:
    decoder, out, given = module.Decompressor(), bytearray(), body
    try:
        while piece := decoder.process(given, output_buffer_limit=_PIECE):
            out += piece
            given = b""
            if len(out) >= most:
                break
    except module.error as error:
        raise ValueError(str(error)) from None
    return bytes(out[:most]), decoder.is_finished()


def _zstd(module: Any, body: bytes, most: int) -> tuple[bytes, bool]:
    """As `compression.zstd` of Python 3.14 and its backport have it."""

    def frame(left: bytes, most: int) -> tuple[bytes, bool, bytes]:
        decoder = module.ZstdDecompressor()
        try:
            return decoder.decompress(left, most), decoder.eof, decoder.unused_data
        except module.ZstdError as error:
            raise ValueError(str(error)) from None

    return in_members(body, most, _ZSTD_MAGIC, frame)


def _zstandard(module: Any, body: bytes, most: int) -> tuple[bytes, bool]:
    """As the package ``zstandard`` has it, which bounds no output: it is given little at a time."""

    def frame(left: bytes, most: int) -> tuple[bytes, bool, bytes]:
        decoder, out, start = module.ZstdDecompressor().decompressobj(), bytearray(), 0
        try:
            while start < len(left) and not decoder.eof and len(out) < most:
                out += decoder.decompress(left[start : start + _LITTLE])
                start += _LITTLE
        except module.ZstdError as error:
            raise ValueError(str(error)) from None
        return bytes(out[:most]), decoder.eof, decoder.unused_data + left[start:]

    return in_members(body, most, _ZSTD_MAGIC, frame)


def _by_fastwarc(reader: str, module: Any, body: bytes, most: int) -> tuple[bytes, bool]:
    """As FastWARC has it, which does not tell a body that is cut from one that is damaged."""
    source, out = getattr(module, reader)(BytesIO(body)), bytearray()
    try:
        while len(out) < most and (piece := source.read(_PIECE)):
            out += piece
    except OSError as error:
        if not out:
            raise ValueError(str(error)) from None
        return bytes(out[:most]), False
    return bytes(out[:most]), True


_FASTWARC: Final = "fastwarc.stream_io"
_LIBRARIES: Final[dict[str, dict[str, Callable[[Any, bytes, int], tuple[bytes, bool]]]]] = {
    "br": {"brotli": _brotli, "brotlicffi": _brotli, _FASTWARC: partial(_by_fastwarc, "BrotliReader")},
    "zstd": {
        "compression.zstd": _zstd, "backports.zstd": _zstd, "zstandard": _zstandard,
        _FASTWARC: partial(_by_fastwarc, "ZstdReader"),
    },
}  # fmt: skip


@cache
def decoders() -> Mapping[str, Decoder]:
    """The decoders that are installed, by the name of the coding."""
    found: dict[str, Decoder] = {}
    for coding, libraries in _LIBRARIES.items():
        for name, decode in libraries.items():
            try:
                found[coding] = partial(decode, import_module(name))
            except ImportError:
                continue
            break
    return found
