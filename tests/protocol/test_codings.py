"""Content codings: what is undone, and what damage, bombs and tricks come to."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_rep import decoders as room
from scrapy_rep.decoders import decoders
from scrapy_rep.protocol.codings import BOMB, DECODERS, Decoder, is_text, undo
from tests.support.answers import RULES, gz, half, raw_deflate, zstd

CODES: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gz, "deflate": zlib.compress, "raw": raw_deflate, "br": brotli.compress, "zstd": zstd,
}  # fmt: skip


def every_decoder() -> list[tuple[str, Decoder]]:
    """Those of each library that is installed, by the coding."""
    found = [*DECODERS.items()]
    for coding, libraries in room._LIBRARIES.items():
        for name, decode in libraries.items():
            try:
                module = import_module(name)
            except ImportError:
                continue
            found.append((coding, partial(decode, module)))
    return found


def undone(body: bytes, coding: str, limit: int = 1_000_000) -> bytes:
    return undo(body, coding.replace("raw", "deflate"), limit=limit, decoders=decoders())[0]


@pytest.mark.parametrize(("coding", "decoder"), every_decoder())
def test_each_library_says_whether_a_coding_ended(coding: str, decoder: Decoder) -> None:
    code = CODES[coding.removeprefix("x-")]
    assert decoder(code(RULES), 10**6) == (RULES, True)
    assert decoder(code(b""), 10**6) == (b"", True)
    assert decoder(code(bytes(10**6)), 9)[0] == bytes(9)
    try:
        start, has_end = decoder(half(code(RULES)), 10**6)
    except ValueError:
        return  # FastWARC, when nothing could be decoded
    assert not has_end
    assert RULES.startswith(start)


@pytest.mark.parametrize(("coding", "decoder"), every_decoder())
@given(body=st.binary(max_size=60), is_tail=st.booleans())
def test_whatever_a_body_is_a_decoder_raises_nothing_but_a_value_error(
    coding: str, decoder: Decoder, body: bytes, is_tail: bool
) -> None:
    code = CODES[coding.removeprefix("x-")]
    with suppress(ValueError):
        decoder(code(RULES)[:20] + body if is_tail else body, 1_000)


@pytest.mark.parametrize("coding", CODES)
def test_a_bomb_is_refused_at_little_cost(coding: str) -> None:
    bomb = CODES[coding](bytes(40_000_000))
    start = time.process_time()
    with pytest.raises(ValueError, match="larger than 16,384,000 bytes"):
        undone(bomb, coding)
    assert time.process_time() - start < 2


@pytest.mark.parametrize("coding", CODES)
def test_what_is_larger_than_the_limit_and_no_bomb_is_read(coding: str) -> None:
    body = b"a\n" * (BOMB // 4)
    assert undone(CODES[coding](body), coding, limit=1_000) == body


def test_a_reader_of_more_than_a_bomb_gets_what_it_takes() -> None:
    body = bytes(BOMB + 1)
    assert undone(gz(body), "gzip", limit=BOMB + 1) == body


def test_a_body_of_a_thousand_members_is_refused() -> None:
    assert undone(gz(b"a") * 100, "gzip") == b"a" * 100
    with pytest.raises(ValueError, match="not gzip"):
        undone(gz(b"a") * 1_000, "gzip")


def test_gzip_in_gzip_is_undone_a_few_times_only() -> None:
    body = RULES
    for _ in range(4):
        body = gz(body)
    assert undone(body, "") == RULES
    with pytest.raises(ValueError, match="more than 4"):
        undone(gz(body), "")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"", True),
        (RULES, True),
        ("User-agent: é\n".encode(), True),
        ("Disallow: /страница\n".encode(), True),
        ("Disallow: /страница\n".encode()[:-2], True),
        ("# fête\n".encode("latin-1"), True),
        ("Disallow: /a\n".encode("utf-16"), False),
        (gz(RULES), False),
        (bytes(range(256)), False),
        (bytes(range(128, 256)), False),
    ],
)
def test_text_is_what_people_could_read(body: bytes, expected: bool) -> None:
    assert is_text(body) is expected
