"""HTTP responses as archives keep them: a head, and a body to which the codings in it are still applied, or not.

The library that reads archives refuses what servers do: a coding that nobody knows, deflate without its header, a
chunk with spaces, or a body that was decoded while its head was kept. What a response means is read as everywhere.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from scrapy_rep.decoders import decoders
from scrapy_rep.directives import refusals
from scrapy_rep.protocol.access import HEADERS, TRUNCATED, RawResponse, headers_read, read

# As Chromium reads it: at most four octets, any version in any case, digits. A tab is a space: RFC 9112 section 4.
_STATUS: Final = re.compile(rb"[\s\S]{0,4}?http[^ \t\r\n]*[ \t]*(\d{0,9})", re.IGNORECASE)
_NO_NUMBER: Final = 200  # of a status line, for Chromium
_HEAD_END: Final = re.compile(rb"\r?\n\r?\n")
_NAMES: Final = "|".join(
    ["location", "content-length", "transfer-encoding", *{*HEADERS, *refusals.HEADERS}]
).encode()
_FIELD: Final = re.compile(rb"^(%s)[ \t]*:[ \t]*([^\r\n]*)" % _NAMES, re.IGNORECASE | re.MULTILINE)
_CHUNK: Final = re.compile(rb"(?:\r?\n)?([0-9a-fA-F]{1,8})[ \t]*(?:;[^\n]*)?\r?\n")


class HttpMessage(NamedTuple):
    """A response. ``location`` is as written, None when there is none or it is empty; ``body`` is decoded.

    ``problem`` says why the site is unreachable where the status does not, such as a body that is cut. ``refused``
    says what status and headers refuse; None if nothing.
    """

    status: int
    location: str | None
    body: bytes
    problem: str = ""
    refused: str | None = None


def http_message(octets: bytes, most: int, truncated: str = "") -> HttpMessage | None:
    """Return the response in *octets*, with the first *most* octets of its body; None if there is no HTTP head.

    *truncated* says why the archive has not all of it; "length" is the limit of a crawler, and no failure.
    """
    status, end = _head(octets)
    while status and end and 100 <= _number(status) < 200:  # "100 Continue" comes before the response
        octets = octets[end.end() :]
        status, end = _head(octets)
    if not status or not end:
        return None
    found = _FIELD.findall(octets, status.end(), end.start())
    pairs = [(name.decode().lower(), _text(value.strip())) for name, value in found]
    location = next((value for name, value in pairs if name == "location"), "")
    transfer = ",".join(value for name, value in pairs if name == "transfer-encoding").lower().split(",")
    body, is_stopped = octets[end.end() :], len(octets) >= most or truncated == "length"
    damage = f"{TRUNCATED} ({truncated})" if truncated and not is_stopped else ""
    if transfer[-1].strip() == "chunked":
        chunks = _chunks(body)
        damage = damage or ("" if is_stopped or not chunks or not chunks[-1] else f"{TRUNCATED} (chunks)")
        body = b"".join(chunks) if chunks else body
        del transfer[-1]
    elif not damage and not is_stopped and len(body) < _length(pairs):
        damage = TRUNCATED
    headers = headers_read(pairs)
    headers["content-encoding"] = ",".join([headers.get("content-encoding", ""), *transfer])
    answer = RawResponse(_number(status), headers, body, damage, is_stopped, may_be_undone=True)
    reading = read(answer, limit=most, decoders=decoders())
    refusal = refusals.read_refusal(answer.status, headers_read(pairs, refusals.HEADERS))
    octets = body if 300 <= answer.status < 500 else reading.body  # nobody looks at the former
    return HttpMessage(
        answer.status, location or None, octets[:most], reading.problem, str(refusal) if refusal else None
    )


def _length(pairs: list[tuple[str, str]]) -> int:
    """What Content-Length says; 0 without one, and where the body may have become shorter in the archive."""
    said = dict(pairs)
    length = said.get("content-length", "")
    return int(length[:12]) if length.isdecimal() and "content-encoding" not in said else 0


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


def _chunks(body: bytes) -> list[bytes]:
    """The chunks in *body*, of which the last one is empty, if it is there; none if it has no chunks."""
    chunks, end = [], 0
    while chunk := _CHUNK.match(body, end):
        end = chunk.end() + int(chunk[1], 16)
        chunks.append(body[chunk.end() : end])
        if end == chunk.end():
            break
    return chunks
