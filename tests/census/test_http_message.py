"""HTTP responses as archives keep them: what is whole, and what is not as it should be."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable

import brotli
import pytest
from fastwarc.stream_io import ZstdWriter

from scrapy_rep.census.http_message import HttpMessage, http_message

RULES = b"User-agent: *\nDisallow: /\n"
MOST = 1_000
READ_AS_BROTLI = (b"-->\n<!--[if IE 8]>      <p>", b"; a comment\nUser-agent: *\n")
"""Texts that, read as Brotli, give some octets or an empty body before the error, if there is one."""


def zstandard(body: bytes) -> bytes:
    out = io.BytesIO()
    with ZstdWriter(out) as writer:
        writer.write(body)
    return out.getvalue()


def in_chunks(body: bytes, form: bytes = b"%x\r\n") -> bytes:
    return b"".join(form % len(piece) + piece + b"\r\n" for piece in (body[:10], body[10:], b""))


def raw_deflate(body: bytes) -> bytes:
    return zlib.compress(body)[2:-4]


def body_of(body: bytes, **head: str) -> bytes:
    fields = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in head.items())
    message = http_message(f"HTTP/1.1 200 OK\r\n{fields}\r\n".encode() + body, MOST)
    assert message
    return message.body


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", gzip.compress(RULES, mtime=0)),
        ("GZIP", gzip.compress(RULES, mtime=0)),
        ("x-gzip", gzip.compress(RULES, mtime=0)),
        ("deflate", zlib.compress(RULES)),
        ("deflate", raw_deflate(RULES)),
        ("br", brotli.compress(RULES)),
        ("zstd", zstandard(RULES)),
        ("gzip, br", brotli.compress(gzip.compress(RULES, mtime=0))),
        ("identity", RULES),
        ("UTF-8", RULES),  # which is no coding, but servers say so
    ],
)
def test_rfc_content_codings_are_removed(coding: str, body: bytes) -> None:
    assert body_of(body, Content_Encoding=coding) == RULES


@pytest.mark.parametrize(
    ("coding", "code"),
    [("gzip", gzip.compress), ("deflate", zlib.compress), ("br", brotli.compress), ("zstd", zstandard)],
)
def test_rfc_an_empty_body_is_decoded_too(coding: str, code: Callable[[bytes], bytes]) -> None:
    assert body_of(code(b""), Content_Encoding=coding) == b""


@pytest.mark.parametrize("form", [b"%x\r\n", b"%X  \r\n", b"%x;name=value\r\n", b"%04x\n"])
def test_rfc_chunks_are_put_together(form: bytes) -> None:
    assert body_of(in_chunks(RULES, form), Transfer_Encoding="chunked") == RULES


def test_rfc_chunks_are_put_together_before_the_content_is_decoded() -> None:
    body = in_chunks(gzip.compress(RULES, mtime=0))
    assert body_of(body, Content_Encoding="gzip", Transfer_Encoding="chunked") == RULES
    assert body_of(body, Transfer_Encoding="gzip, chunked") == RULES


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
@pytest.mark.parametrize("body", [RULES, b"U", b"", "Üser".encode(), *READ_AS_BROTLI])
def test_a_body_that_was_decoded_while_its_head_was_kept_is_taken_as_it_is(coding: str, body: bytes) -> None:
    assert body_of(body, Content_Encoding=coding, Transfer_Encoding="chunked") == body


@pytest.mark.parametrize(
    ("coding", "code"), [("gzip", gzip.compress), ("deflate", zlib.compress), ("br", brotli.compress)]
)
def test_a_body_that_is_cut_in_its_coding_is_read_only_if_the_crawler_cut_it(
    coding: str, code: Callable[[bytes], bytes]
) -> None:
    whole = b"".join(b"Disallow: /%d/%x\n" % (n, n * 7919 % 65_521) for n in range(3_000))
    coded = code(whole)
    octets = b"HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\n\r\n" % coding.encode() + coded[: len(coded) * 3 // 4]
    cut, stopped = http_message(octets, 10**6), http_message(octets, 10**6, "length")
    assert cut
    assert (cut.body, cut.problem) == (b"", f"truncated response ({coding})")
    assert stopped
    assert 1_000 < len(stopped.body) < len(whole)
    assert whole.startswith(stopped.body)
    assert stopped.problem == ""


@pytest.mark.parametrize(
    ("body", "most", "problem"),
    [(in_chunks(RULES), 10**6, ""), (in_chunks(RULES)[:-15], 10**6, "truncated response (chunks)"),
     (in_chunks(RULES)[:-15], 60, ""), (RULES, 10**6, ""), (b"", 10**6, "")],
)  # fmt: skip
def test_rfc_a_chunked_body_without_its_last_chunk_is_not_whole(body: bytes, most: int, problem: str) -> None:
    """Unless it was cut here, at the most octets that are read."""
    message = http_message(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + body, most)
    assert message
    assert message.problem == problem


def test_rfc_what_a_server_sends_before_its_response_is_passed_over() -> None:
    response = b"HTTP/1.1 200 OK\r\n\r\n" + RULES
    early = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    assert http_message(early + response, 10**6) == http_message(response, 10**6)
    assert http_message(early, 10**6) is None


@pytest.mark.parametrize(
    ("coding", "code"),
    [("gzip", gzip.compress), ("deflate", zlib.compress), ("deflate", raw_deflate), ("br", brotli.compress),
     ("zstd", zstandard), ("identity", bytes)],
)  # fmt: skip
def test_no_more_of_a_body_is_decoded_than_was_asked_for(coding: str, code: Callable[[bytes], bytes]) -> None:
    assert body_of(code(b"a" * 10_000_000), Content_Encoding=coding) == b"a" * MOST


def test_many_codings_cost_no_more_than_a_few() -> None:
    body = RULES
    for _ in range(6):
        body = gzip.compress(body, mtime=0)
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\n\r\n" % b",".join([b"gzip"] * 6)
    message = http_message(head + body, MOST)
    assert message
    assert message.problem == "more than 4 content codings"


@pytest.mark.parametrize(
    ("head", "status", "location"),
    [
        (b"HTTP/1.1 301 Moved\r\nLocation: /a\r\nlocation: /b\r\n\r\n", 301, "/a"),
        (b"HTTP/1.0 302\nLOCATION:\t/a \n\n", 302, "/a"),
        (b"HTTP/1.1\t301 Moved\r\nLocation: /a\r\n\r\n", 301, "/a"),
        (b"HTTP/2 301\r\nlocation: /\xc3\xa4\r\n\r\n", 301, "/ä"),
        (b"HTTP/1.1 301 Moved\r\nLocation: /\xe4\r\n\r\n", 301, "/ä"),
        (b"HTTP/1.1 301 Moved\r\nLocation:\r\n\r\n", 301, None),
        (b"HTTP/1.1 200 OK\r\nno colon\r\nX-Location: /a\r\n\r\n", 200, None),
    ],
)
def test_rfc_status_and_location_are_read(head: bytes, status: int, location: str | None) -> None:
    assert http_message(head + RULES, MOST) == HttpMessage(status, location, RULES)


@pytest.mark.parametrize(
    ("line", "status"),
    [
        (b"http/1.1 200 OK", 200), (b"Http/1.1 404 Not Found", 404), (b"HTTP/1.1 404", 404),
        (b"HTTP/1.1 404No", 404),
        (b"HTTP/1.1  404  Not Found", 404), (b"HTTP/1.1 404-x", 404),
        (b"HTTP/1.1 404.0 x", 404), (b"HTTP/1.1 0404 x", 404), (b"HTTP 404 Not Found", 404), (b"HTTP/ 404 x", 404),
        (b"HTTP/1.x 404 x", 404), (b"HTTP/11.1 404 x", 404), (b"HTTPS/1.1 404 x", 404), (b"HTTP1.1 404 x", 404),
        (b" HTTP/1.1 404 x", 404), (b"\r\nHTTP/1.1 404 x", 404), (b"\r\n\r\nHTTP/1.1 404 x", 404),
        (b"\xef\xbb\xbfHTTP/1.1 404 x", 404), (b"HTTP/1.1 2000 OK", 2000), (b"HTTP/1.1 20 OK", 20),
        (b"HTTP/1.1 999 No", 999), (b"HTTP/1.1", 200), (b"HTTP/1.1 ", 200), (b"HTTP/1.1 OK", 200),
        (b"HTTP/1.1 -404 x", 200), (b"HTTP/1.1:404 OK", 200),
        (b"http/1.1 100 Continue\r\n\r\nHTTP/1.1 404 x", 404),
    ],
)  # fmt: skip
def test_a_status_line_is_read_as_browsers_read_it(line: bytes, status: int) -> None:
    """Each was sent to Chromium 156, which takes a missing number for 200."""
    message = http_message(line + b"\r\nLocation: /a\r\n\r\n" + RULES, MOST)
    assert message is not None
    assert (message.status, message.location) == (status, "/a")


def test_a_status_of_many_digits_is_bounded() -> None:
    message = http_message(b"HTTP/1.1 " + b"9" * 10_000 + b"\r\n\r\n", MOST)
    assert message
    assert message.status > 599


@pytest.mark.parametrize(
    "octets",
    [
        b"",
        RULES,
        b"ICY 200 OK\r\n\r\n",
        b"abcdeHTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nA: b\r\n",
        b"\r\n\r\n",
    ],
)
def test_what_has_no_head_is_no_response(octets: bytes) -> None:
    assert http_message(octets, MOST) is None
