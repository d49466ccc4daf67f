"""Whole documents: sitemaps, licenses, and web archives with the HTTP responses inside."""

from __future__ import annotations

import gzip
import json
from io import BytesIO, RawIOBase
from typing import IO, Final, cast

from fuzz.inputs import parts, text_of
from scrapy_rep.census.capture import Capture, is_robots_url
from scrapy_rep.census.http_message import http_message
from scrapy_rep.census.warc import WarcReader
from scrapy_rep.directives.rsl import RslFile
from scrapy_rep.directives.sitemap import GZIP, MOST_ENTRIES, MOST_ERRORS, NotASitemapError, Sitemap
from tests.census.archives import record

from .pages import check_statements

_DAY: Final = 86_400
_MOST: Final = 4_096  # octets of a response
_CODED: Final = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"


def sitemap_file(data: bytes) -> None:
    """A sitemap is refused, or its entries are complete; it is the same in pieces, which are members of gzip."""
    body, url = parts(data, 2)
    found = _sitemap(body, text_of(url))
    size = 1 + len(body) // 200
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    if not body.startswith(GZIP):
        assert _sitemap(b"".join(gzip.compress(piece, 1) for piece in pieces), text_of(url)) == found


def _sitemap(body: bytes, url: str) -> object:
    """All that is read of a sitemap, or why it is none."""
    try:
        sitemap = Sitemap(body, url)
    except NotASitemapError as error:
        return str(error)
    entries = [*sitemap]
    assert len(entries) <= MOST_ENTRIES
    assert sitemap.errors <= MOST_ERRORS + 1 or sitemap.kind == "text"
    for entry in entries:
        json.dumps(entry.as_scrapys())
        assert entry.loc
        assert entry.lastmod is None or (entry.lastmod.at.tzinfo and entry.lastmod.at <= entry.lastmod.until)
    return sitemap.kind, sitemap.errors, sitemap.cut, [entry.as_dict(url) for entry in entries]


def license_(data: bytes) -> None:
    """A license says the same as octets and as text, in bounds; nothing is permitted by a broken one."""
    document, url = parts(data, 2)
    file = RslFile(document)
    said = file.statements(text_of(url), "license")
    check_statements(said)
    assert _DAY <= file.max_age < 100_000 * _DAY
    assert not (file.problem and any(one.allows for one in said))
    text = document.decode("utf-8", "replace")
    if text.encode() == document and "encoding" not in text and "\0" not in text:
        other = RslFile(text)
        assert (other.problem, other.max_age) == (file.problem, file.max_age)
        assert other.statements(text_of(url), "license") == said


class _Slowly(RawIOBase):
    """A stream that gives a few octets at a time, as a pipe may."""

    def __init__(self, octets: bytes) -> None:
        self._file = BytesIO(octets)

    def read(self, size: int = -1) -> bytes:
        return self._file.read(min(size, 5) if size >= 0 else 5)


def warc(data: bytes) -> None:
    """An archive gives captures until `ValueError` or its end, in pieces as whole; a response comes back."""
    archive, block = parts(data, 2)
    found = _captures(BytesIO(archive))
    assert _captures(cast("IO[bytes]", _Slowly(archive))) == found
    reader = WarcReader()
    assert len([*reader.captures(BytesIO(record(block)))]) + reader.skipped == 1
    _check_response(block)
    _check_response(archive)
    body = b"# " + block  # neither a gzip file nor the view of a browser
    message = http_message(_CODED + _in_chunks(gzip.compress(body, 1)), _MOST)
    assert message is not None
    assert message.problem == ""
    assert message.body == body[:_MOST]


def _captures(file: IO[bytes]) -> tuple[list[Capture], str]:
    """The captures, and how reading them ended."""
    found: list[Capture] = []
    try:
        for capture in WarcReader().captures(file):
            assert is_robots_url(capture.url)
            assert capture.fetched_at is None or capture.fetched_at.tzinfo
            found.append(capture)
    except ValueError as error:
        return found, str(error)
    return found, ""


def _check_response(octets: bytes) -> None:
    message = http_message(octets, _MOST)
    if message is not None:
        assert 200 <= message.status <= 999 or message.status < 100
        assert len(message.body) <= _MOST
        assert message.location != ""
        assert http_message(octets, _MOST) == message


def _in_chunks(octets: bytes) -> bytes:
    pieces = [octets[at : at + 9] for at in range(0, len(octets), 9)]
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in [*pieces, b""])
