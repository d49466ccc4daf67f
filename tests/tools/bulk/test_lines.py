"""Lines of URLs as they come: each says what `decide` does."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import random
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from scrapy_rep.protocol import DIALECTS
from scrapy_rep.tools.bulk import decide, open_source
from scrapy_rep.tools.bulk.lines import _LONGEST_LINE, Damaged, LineDecider, decompressed, lines_in
from scrapy_rep.tools.bulk.verdicts import LONGEST_URL, BulkOptions

BODY = b"""\
User-agent: *
Disallow: /x
Disallow: /*%24$
Disallow: /%C3%A9
Disallow: /a%2Fb
Allow: /x/'
Disallow: /$
"""
STARTS = (
    b"https://a.example", b"http://a.example:80", b"https://a.example:0443", b"HTTPS://A.example", b"ftp://a",
    b"https://u@a.example", b"https://b.example", b"https://a.example:99999", b"https://[::1]", b"https://.", b"",
    b"wss://a.example",
)  # fmt: skip
PARTS = (
    b"/", b"/x", b"?", b"#", b"x", b"$", b"*", b"'", b'"', b"\\", b"%24", b"%78", b"%c3%a9", b"%", b"\xc3\xa9",
    b"\xff", b"a%2Fb", b";p", b"//", b" ", b"\t", b"\r", b"\0", b"\x7f", b"<", b"|", b"\xe2\x80\xae",
    b"://", b"y" * 9_000,
)  # fmt: skip
ODD = (b"https://a.example/" + LONGEST_URL * b"x", b"https://" + 300 * b"a" + b"/", b"\x0b https://a.example/x \f")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.example").write_bytes(BODY)
    return tmp_path


def some_lines() -> list[bytes]:
    source = random.Random(34)  # noqa: S311
    made = [
        source.choice(STARTS) + b"".join(source.choices(PARTS, k=source.randrange(6))).replace(b"\n", b"")
        for _ in range(1_000)
    ]
    return [*made, *ODD]


@pytest.mark.parametrize("dialect", ["google", "google-exact"])
def test_every_line_says_what_decide_says_of_its_url(folder: Path, dialect: str) -> None:
    lines = [line.strip() for line in some_lines()]
    agents = ["Bot", "*"]
    options = BulkOptions(tuple((agent,) for agent in agents), DIALECTS[dialect])
    out, number, unknown = LineDecider(partial(open_source, folder), options)(lines)
    urls = [line.decode("utf-8", "surrogateescape") for line in lines]
    decided = [*decide(urls, open_source(folder), agents, dialect=DIALECTS[dialect])]
    assert [json.loads(line) for line in out.splitlines()] == [
        {"url": url, **verdict.as_facts()} for url, verdict in decided
    ]
    assert number == len(decided)
    assert unknown == Counter(verdict.reason for _, verdict in decided if verdict.allowed is None)


# The input.


LINES = [b"https://%d.example/%s" % (n, b"x" * (n * 7_919 % 300)) for n in range(3_000)]


def read(content: bytes) -> list[bytes]:
    return [*lines_in(decompressed(io.BufferedReader(io.BytesIO(content))))]


@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_each_line_is_read_whatever_compresses_the_list(compress: Callable[[bytes], bytes], end: bytes) -> None:
    assert read(compress(b"\n".join(LINES) + end)) == LINES


@pytest.mark.parametrize("content", [b"", b"\n", b" \n\r\n", b"\xef\xbb\xbf"])
def test_a_blank_list_has_no_line(content: bytes) -> None:
    assert read(content) == []


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_a_byte_order_mark_is_no_part_of_the_first_url(compress: Callable[[bytes], bytes]) -> None:
    assert read(compress(b"\xef\xbb\xbfhttps://a.example/\n\xef\xbb\xbfb")) == [
        b"https://a.example/", b"\xef\xbb\xbfb",
    ]  # fmt: skip


@pytest.mark.parametrize("length", [_LONGEST_LINE - 1, _LONGEST_LINE, _LONGEST_LINE + 1, 5 * _LONGEST_LINE])
@pytest.mark.parametrize("end", [[], [b"https://a.example/"]])
def test_of_a_line_that_is_too_long_the_start_is_kept_and_the_next_one_is_read(
    length: int, end: list[bytes]
) -> None:
    first, second, *rest = read(b"\n".join([b"first", length * b"x", *end]))
    assert (first, set(second), rest) == (b"first", {ord("x")}, end)
    assert LONGEST_URL < len(second) <= _LONGEST_LINE


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_a_compressed_list_that_is_cut_off_raises(compress: Callable[[bytes], bytes]) -> None:
    content = compress(os.urandom(100_000).hex().encode())
    with pytest.raises(Damaged):
        read(content[:50_000])
